"""The computer as an object: screen, mouse, keyboard, files, mail and more, for code that a model writes.

    from oi_tui.computer import computer

    computer.files.search("invoice", "~/Documents")
    computer.mouse.click("Save")

It needs nothing but the standard library of Python 3.9 or later, because it runs in the interpreter of the
cells, which need not be the one of oi-tui. Names and parameters are those of Open Interpreter.
"""

from __future__ import annotations

from typing import Any

from oi_tui.computer.computer import Computer
from oi_tui.computer.errors import ComputerError

__all__ = ["Computer", "ComputerError", "computer"]

#: The computer that this code runs on.
computer = Computer()


def __getattr__(name: str) -> Any:
    """Let `import computer` and `from computer import mouse` work as in Open Interpreter."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(computer, name)
