"""Converts the chunks of a language written for Open Interpreter into reports."""

import base64
from collections.abc import Iterator, Mapping

from oi_tui import paths
from oi_tui.messages import Displayed, LineReached, Printed, Report

#: The largest image file, in bytes.
_LARGEST_IMAGE = 50_000_000


def convert_chunk(chunk: object) -> Iterator[Report]:
    """Convert a chunk into reports; flags and "no line runs" give none. Raises ValueError for a wrong chunk.

    Beside the chunks of Open Interpreter 0.4.3 those of its first versions are understood (`{"output": ...}`,
    `{"active_line": ...}`), and text that is no chunk at all.
    """
    if chunk is None:
        return
    if isinstance(chunk, (str, bytes)):
        yield Printed(_convert_text(chunk))
        return
    if not isinstance(chunk, Mapping):
        raise ValueError(f"run() yielded {_describe(chunk)}, which is not a chunk")
    kind, form, content = chunk.get("type"), chunk.get("format"), chunk.get("content")
    if kind is None:
        yield from _convert_oldest(chunk)
    elif content is None:
        return
    elif kind in ("console", "message", "error") and form == "active_line":
        if isinstance(content, int) and content > 0:
            yield LineReached(content)
    elif kind in ("console", "message", "error"):
        yield Printed(_convert_text(content))
    elif kind == "image":
        yield _convert_image(str(form), content)
    elif kind == "code":
        yield Displayed(str(form or "text"), _convert_text(content))
    elif kind not in ("confirmation", "review", "status"):
        raise ValueError(f"run() yielded a chunk of the unknown type {_describe(kind)}")


def _convert_oldest(chunk: Mapping[object, object]) -> Iterator[Report]:
    line = chunk.get("active_line")
    if isinstance(line, int) and line > 0:
        yield LineReached(line)
    if chunk.get("output") is not None:
        yield Printed(_convert_text(chunk["output"]))
    if not {"active_line", "output", "start", "end", "start_of_code", "end_of_execution"} & chunk.keys():
        raise ValueError(f"run() yielded {_describe(dict(chunk))}, which is not a chunk: it has no type")


def _convert_image(form: str, content: object) -> Report:
    if form == "path":
        try:
            path = paths.expand_typed(_convert_text(content))
            if path.stat().st_size > _LARGEST_IMAGE or not path.is_file():
                raise ValueError(f"{path} is not an image")
            data = path.read_bytes()
        except OSError as error:
            raise ValueError(f"run() yielded an image that cannot be read: {error}") from None
        kind = "jpeg" if data.startswith(b"\xff\xd8") else "png"
        return Displayed(f"base64.{kind}", base64.b64encode(data).decode())
    if isinstance(content, bytes):
        content = base64.b64encode(content).decode()
    return Displayed(
        "base64.jpeg" if form.endswith(("jpeg", "jpg")) else "base64.png", _convert_text(content)
    )


def _convert_text(content: object) -> str:
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else str(content)


def _describe(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
