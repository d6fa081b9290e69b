"""What the driver of the language says about the cells that use this package."""

from __future__ import annotations

from collections.abc import Callable

#: What is done when a cell ends in another way than by coming to its end.
_when_stopped: list[Callable[[], None]] = []
_number: Callable[[], int] = lambda: 0  # noqa: E731


def number() -> int:
    """The number of the cell that runs; always 0 outside of oi-tui."""
    return _number()


def count_with(counter: Callable[[], int]) -> None:
    """Have the driver of the language say which cell runs."""
    global _number
    _number = counter


def when_stopped(act: Callable[[], None]) -> None:
    """Have this done whenever a cell fails or is interrupted."""
    _when_stopped.append(act)


def stopped() -> None:
    """A cell failed or was interrupted."""
    for act in _when_stopped:
        act()
