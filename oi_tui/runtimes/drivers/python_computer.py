"""The computer object: found by an import in every cell, and a name of its own where the application asks."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys

#: Set by the application where cells get the object without an import.
VARIABLE = "OI_TUI_COMPUTER_API"
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def find(name):
    """The package of the application: the one that is installed in this interpreter, else the running one."""
    from importlib.machinery import ModuleSpec, PathFinder

    found = PathFinder.find_spec(name)
    if found is not None and found.loader is not None:
        return found
    # Only the folder: what it is made with may be missing in this interpreter.
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [_OURS]
    return spec


def give(driver):
    """Make `computer` a name that every cell knows."""
    from oi_tui.computer import cells, computer

    cells.count_with(lambda: driver.cells)
    builtins.computer = computer
    return computer


def cell_stopped():
    """Let go of keys and buttons after a cell that did not come to its end."""
    cells = sys.modules.get("oi_tui.computer.cells")
    if cells is not None:
        cells.stopped()
