"""Renders images in a thread, so that keys do not wait."""

import asyncio
import contextvars
import io
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.segment import Segment

from oi_tui.terminal.graphics import ImageProtocol
from oi_tui.widgets.images.decode import Colour, UnreadableError, decode_pixels
from oi_tui.widgets.images.half_blocks import draw_half_blocks, strengthen_lines
from oi_tui.widgets.images.sixel import encode_sixel


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """A request to draw an image in some columns and lines, with a protocol."""

    format: str | None
    content: str = field(repr=False)
    columns: int
    lines: int
    protocol: ImageProtocol
    #: Width and height of a cell, in pixels.
    cell: tuple[int, int]
    #: What shines through where the image does not cover it.
    ground: Colour


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """The result of a request; its parts depend on the protocol."""

    #: A sentence about why it could not be drawn.
    error: str = ""
    #: Half blocks, one list a line.
    blocks: tuple[list[Segment], ...] = ()
    png: bytes = field(default=b"", repr=False)
    sixel: str = field(default="", repr=False)


def draw_image(request: RenderRequest) -> RenderedImage:
    """Draw it now, which takes from a millisecond to a second."""
    try:
        width, height = request.columns * request.cell[0], request.lines * request.cell[1]
        if request.protocol == "kitty":
            png = io.BytesIO()
            fine = decode_pixels(request.format, request.content, (width, height), request.ground, fine=True)
            fine.save(png, "PNG", compress_level=4)
            return RenderedImage(png=png.getvalue())
        size = request.columns, request.lines * 2
        blocks = draw_half_blocks(
            strengthen_lines(decode_pixels(request.format, request.content, size, request.ground, fine=False))
        )
        if request.protocol == "sixel":
            fine = decode_pixels(request.format, request.content, (width, height), request.ground, fine=True)
            return RenderedImage(blocks=tuple(blocks), sixel=encode_sixel(fine))
        return RenderedImage(blocks=tuple(blocks))
    except UnreadableError as error:
        return RenderedImage(error=str(error))


_Work = tuple[RenderRequest, Callable[[RenderedImage], None], asyncio.AbstractEventLoop, contextvars.Context]
#: What was asked for last is looked at now, so it comes first.
_work: "queue.LifoQueue[_Work]" = queue.LifoQueue()
_begin = threading.Lock()
_painter: threading.Thread | None = None


def draw(request: RenderRequest, then: Callable[[RenderedImage], None]) -> None:
    """Queue the request; `then` is called with the result in the event loop that runs now."""
    global _painter
    _work.put((request, then, asyncio.get_running_loop(), contextvars.copy_context()))
    with _begin:
        if _painter is None:
            _painter = threading.Thread(target=_paint, name="painter", daemon=True)
            _painter.start()


def _paint() -> None:
    while True:
        request, then, loop, context = _work.get()
        result = _make_result(request)
        try:
            loop.call_soon_threadsafe(then, result, context=context)
        except RuntimeError:  # the loop was closed, so it is not needed any more
            continue


def _make_result(request: RenderRequest) -> RenderedImage:
    try:
        return draw_image(request)
    except Exception as error:  # noqa: BLE001 -- the end of a worker; the caption says it
        return RenderedImage(error=type(error).__name__)
