"""What the language's driver reports about the cells that use this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oi_tui.computer.desktop.screenshot import Screenshot

#: What is done when a cell ends in another way than by coming to its end.
_when_stopped: list[Callable[[], None]] = []
#: What is done whenever a cell ends.
_when_ended: list[Callable[[], None]] = []
_number: Callable[[], int] | None = None
#: How a text is shown to person and model, with images that only the person sees.
_show: Callable[[str, Sequence[Screenshot]], None] | None = None


def read_number() -> int:
    """Return the number of the cell that runs; always 0 outside of oi-tui."""
    return _number() if _number else 0


def are_counted() -> bool:
    """Return whether oi-tui runs this code, and says when a cell ends."""
    return _number is not None


def count_with(counter: Callable[[], int]) -> None:
    """Have the driver of the language say which cell runs."""
    global _number
    _number = counter


def show_with(show: Callable[[str, Sequence[Screenshot]], None]) -> None:
    """Have the driver of the language show what `show` gets."""
    global _show
    _show = show


def show(text: str, images: Sequence[Screenshot]) -> None:
    """Show a text under the cell, with images that the model does not get."""
    if _show:
        _show(text, images)


def when_stopped(act: Callable[[], None]) -> None:
    """Call this whenever a cell fails or is interrupted."""
    _when_stopped.append(act)


def when_ended(act: Callable[[], None]) -> None:
    """Call this whenever a cell ends, however it ends."""
    _when_ended.append(act)


def end(*, finished: bool) -> None:
    """Do what is to be done at the end of a cell; more where it failed or was interrupted.

    Errors are printed: each act is done, and none of them ends the language.
    """
    for act in (*([] if finished else _when_stopped), *_when_ended):
        try:
            act()
        except Exception:  # noqa: BLE001 -- the cell is over, so nobody else can report it
            import traceback

            traceback.print_exc()
