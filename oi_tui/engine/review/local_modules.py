"""Files of the working directory that a language would run in place of what it comes with."""

import re
import sys
from collections.abc import Set
from functools import cache

from oi_tui.engine.review.folder import Folder

#: The settings of matplotlib, which may name modules and programs.
_SETTINGS = "matplotlibrc"
_LOADABLE = (".py", ".pyc", ".so", ".pyd")


def find_shadowing(folder: Folder, besides: Set[str]) -> str | None:
    """Return a file or folder that is named like a standard module or one of `besides`, if any.

    A file with settings for matplotlib counts as well.
    """
    names = _list_standard_modules() | besides
    try:
        for entry, _ in folder.names() or ():
            name, dot, rest = entry.partition(".")
            if entry == _SETTINGS or (name in names and _is_loadable(folder, entry, dot + rest)):
                return entry
    except (OSError, ValueError):
        return None
    return None


def find_script(folder: Folder, code: str) -> str | None:
    """Return a file that Octave would run for a word of the code, if any: its name is that of a command."""
    words = frozenset(re.findall(r"\w+", code))
    try:
        for entry, _ in folder.names() or ():
            name, dot, ending = entry.rpartition(".")
            if dot and ending in ("m", "mex", "oct") and name in words:
                return entry
    except (OSError, ValueError):
        return None
    return None


def _is_loadable(folder: Folder, entry: str, ending: str) -> bool:
    if ending:
        return ending.endswith(_LOADABLE)
    return any(folder.kind(f"{entry}/__init__{item}") != "" for item in _LOADABLE)


@cache
def _list_standard_modules() -> frozenset[str]:
    return frozenset(sys.stdlib_module_names)
