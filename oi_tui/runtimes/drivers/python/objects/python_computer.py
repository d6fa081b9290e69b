"""The computer object: every cell can import it, and it is a variable where the application asks for that."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys

#: Set by the application where cells get the object without an import.
VARIABLE = "OI_TUI_COMPUTER_API"
#: The oldest Python for the whole application, and for the computer object.
_WHOLE, _OBJECT = (3, 11), (3, 9)
_OURS = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))


def find(name):
    """Return the package of the application: the one that is installed in this interpreter,
    else the running one.
    """
    from importlib.machinery import ModuleSpec, PathFinder

    installed_spec = PathFinder.find_spec(name) if sys.version_info >= _WHOLE else None
    if installed_spec is not None and installed_spec.loader is not None:
        return installed_spec
    # Only the folder: what it is made with may be missing in this interpreter.
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [_OURS]
    return spec


def install(driver):
    """Make `computer` a name that every cell knows; an older Python gets one that says what it needs."""
    if sys.version_info < _OBJECT:
        builtins.computer = UnavailableComputer()
        return builtins.computer
    from oi_tui.computer import cells, computer

    cells.count_with(lambda: driver.cells)
    cells.show_with(driver.shows.show_text)
    builtins.computer = computer
    return computer


class UnavailableComputer:
    """Stands for the computer object where the interpreter is too old for it."""

    def __getattr__(self, name):
        text = "computer.{} needs Python {}.{} or later; this is Python {}.{} (see the setting python)"
        raise AttributeError(text.format(name, *_OBJECT, *sys.version_info[:2]))


def cell_ended(finished):
    """Give mouse and keyboard back; release what is pressed after a cell that did not finish."""
    cells = sys.modules.get("oi_tui.computer.cells")
    if cells is not None:
        cells.end(finished=finished)
