"""Detects which image protocol the terminal supports: Kitty, sixel or half blocks."""

import asyncio
import fcntl
import os
import struct
import sys
import termios
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.signal import Signal

from oi_tui.terminal.driver import TerminalAnswered, TerminalDriver
from oi_tui.terminal.queries import Answers

if TYPE_CHECKING:
    from oi_tui.terminal.graphics import ImageProtocol, Tmux
    from oi_tui.widgets.images.kitty import KittyImages

#: The lines of the terminal that an image leaves to others, and its height in any case.
_OTHERS, _LEAST, _MOST = 8, 8, 24


@dataclass(frozen=True, slots=True)
class ImageSupport:
    """The image protocol in use, and the sizes that images are drawn in."""

    protocol: "ImageProtocol" = "blocks"
    #: Width and height of a cell in pixels, as far as known.
    cell: tuple[int, int] | None = None
    #: How much higher than wide a cell is. It decides about the lines of images, so it stays.
    slant: float = 2.0
    #: The most lines that an image has.
    highest: int = 16
    #: Where Kitty's images are kept.
    kitty: "KittyImages | None" = None

    def limit_to(self, lines: int, *, whole: bool = False) -> "ImageSupport":
        """Return the same for a terminal with this many lines; with `whole`, for an image
        that has all of them.
        """
        highest = max(lines, 1) if whole else min(max(lines - _OTHERS, _LEAST), _MOST)
        return self if highest == self.highest else replace(self, highest=highest)

    @property
    def fine(self) -> tuple[int, int]:
        """Width and height of a cell in pixels, where they are drawn; a guess where that is not known."""
        return self.cell or (10, 20)


BLOCKS = ImageSupport()


class ImageSupportMixin(App[str]):
    """An application that knows how it can show images, and finds out which there are."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.image_support = BLOCKS
        self.image_support_changed: Signal[ImageSupport] = Signal(self, "image support")
        self._images = "blocks"
        self._asked = False
        self._answers = Answers()
        self._tmux: Tmux | None = None

    def show_images(self, wanted: str) -> None:
        """Show images as the setting says, as well as the terminal can; ask the terminal where needed."""
        from oi_tui.terminal.graphics import is_worth_asking

        self._images = wanted
        self._decide()
        if self._asked or self.is_headless or not isinstance(self._driver, TerminalDriver):
            return
        if "TMUX" in os.environ and wanted == "auto":
            self._asked = True
            self.run_worker(self._ask_tmux(), exit_on_error=False)
        elif is_worth_asking(wanted):
            self._asked = True
            self._driver.ask()

    def on_terminal_answered(self, event: TerminalAnswered) -> None:
        """Use better image support if the terminal's answer shows it."""
        event.stop()
        self._answers = event.answers
        self._decide()

    def on_app_focus(self) -> None:
        """Send images again: tmux drops what is sent while it is detached."""
        if "TMUX" in os.environ and self._images == "auto" and not self.is_headless:
            kitty = self.image_support.kitty
            if kitty is not None and kitty.doubtful:
                self.send_again()
            self.run_worker(self._ask_tmux(), exit_on_error=False)

    async def _ask_tmux(self) -> None:
        from oi_tui.terminal.graphics import ask_tmux

        self._tmux = await asyncio.to_thread(ask_tmux)
        self._decide()

    def _decide(self) -> None:
        from oi_tui.terminal.graphics import choose_protocol

        window = _read_cell_size()
        answers = replace(self._answers, cell=self._answers.cell or window)
        protocol = choose_protocol(self._images, answers, self._tmux)
        depth = self.console.color_system
        if self.is_headless or (protocol == "kitty" and depth not in ("truecolor", "256")):
            protocol = "off" if protocol == "off" else "blocks"
        kitty = (self.image_support.kitty or self._make_kitty()) if protocol == "kitty" else None
        slant = min(max(window[1] / window[0], 1.5), 3.0) if window else 2.0
        self.use_image_support(ImageSupport(protocol, answers.cell, slant, kitty=kitty))

    def _make_kitty(self) -> "KittyImages":
        from oi_tui.widgets.images.kitty import KittyImages

        true_colours = self.console.color_system == "truecolor"
        kitty = KittyImages(
            self.write_as_it_is,
            tmux="TMUX" in os.environ,
            true_colours=true_colours and (self._tmux is None or self._tmux.colours),
            watched=lambda: self.app_focus,
        )
        if isinstance(self._driver, TerminalDriver):
            self._driver.restoring = kitty.write_reset
        return kitty

    def send_again(self) -> None:
        """Send visible images again, because the terminal may have lost them."""
        if self.image_support.kitty is not None:
            self.write_as_it_is(self.image_support.kitty.write_reset())
            self.use_image_support(replace(self.image_support, kitty=self._make_kitty()))

    def use_image_support(self, image_support: ImageSupport) -> None:
        """Show images in this way from now on."""
        if image_support != self.image_support:
            self.image_support = image_support
            self.image_support_changed.publish(image_support)

    def write_as_it_is(self, sequence: str) -> None:
        """Write to the terminal, where there is one."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()


def _read_cell_size() -> tuple[int, int] | None:
    """Return width and height of a cell in pixels, as the terminal gave it to the system.

    None where it did not.
    """
    try:
        answer = fcntl.ioctl(sys.__stdout__.fileno() if sys.__stdout__ else 1, termios.TIOCGWINSZ, bytes(8))
    except (OSError, ValueError):
        return None
    rows, columns, width, height = struct.unpack("HHHH", answer)
    if not (rows and columns):
        return None
    cell = width // columns, height // rows
    return cell if all(4 <= item <= 200 for item in cell) else None


def use_images(app: App[Any], wanted: str) -> None:
    """Show the images of an application as the setting says."""
    if isinstance(app, ImageSupportMixin):
        app.show_images(wanted)


def find_image_support(app: App[Any]) -> ImageSupport:
    """Return how an application can show images, for the height of its screen."""
    image_support = app.image_support if isinstance(app, ImageSupportMixin) else BLOCKS
    return image_support.limit_to(app.size.height)
