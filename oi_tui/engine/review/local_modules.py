"""Files of the working directory that Python would load in place of installed modules."""

import os
import sys
from collections.abc import Set
from functools import cache
from pathlib import Path

_LOADABLE = (".py", ".pyc", ".so", ".pyd")


def in_the_way(cwd: Path, besides: Set[str]) -> str | None:
    """Return a file or folder that is named like a standard module or one of `besides`, if any."""
    names = _standard() | besides
    try:
        with os.scandir(cwd) as entries:
            for entry in entries:
                name, dot, rest = entry.name.partition(".")
                if name in names and _loads(entry, dot + rest):
                    return entry.name
    except (OSError, ValueError):
        return None
    return None


def _loads(entry: "os.DirEntry[str]", ending: str) -> bool:
    if ending:
        return ending.endswith(_LOADABLE)
    return any((Path(entry.path) / f"__init__{item}").exists() for item in _LOADABLE)


@cache
def _standard() -> frozenset[str]:
    return frozenset(sys.stdlib_module_names)
