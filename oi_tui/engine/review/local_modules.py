"""Files of the working directory that a language would run in place of what it comes with."""

import re
import sys
from collections.abc import Iterator, Set
from functools import cache

from oi_tui.engine.review.folder import Folder

#: The settings of matplotlib, which may name modules and programs.
_SETTINGS = "matplotlibrc"
#: Files that a language reads in the folder where it starts, which name or hold code that it then runs.
#: Octave runs functions of a folder `@double` in place of its own, also to show a value.
_STARTUP_FILES = {
    "r": re.compile(r"\.Renviron"),
    "octave": re.compile(r"PKG_ADD|@\w+"),
    "bun": re.compile(r"bunfig\.toml"),
    "rust": re.compile(r"rust-toolchain(?:\.toml)?"),
}
#: R: `data(x)` runs `data/x.R` of the folder, or loads what is kept there.
_R_DATA_CALL = re.compile(
    r"\bdata\s*\(|(?:\|>|%>%)\s*data\b|\b(?:\w*apply|map\w*|walk|Map|Filter|Reduce)\s*\([^\n]*\bdata\s*[,)]"
)
_R_DATA = (".r", ".rda", ".rdata", ".rdb", ".rds")
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


def find_startup_files(language: str, folder: Folder, code: str) -> Iterator[str]:
    """Yield files of the folder that a language runs by itself, at its start or for what the code says."""
    pattern = _STARTUP_FILES.get(language)
    try:
        if pattern is not None:
            for entry, _ in folder.names() or ():
                if pattern.fullmatch(entry):
                    yield entry
        if language == "r" and _R_DATA_CALL.search(code):
            for entry, _ in folder.names("data") or ():
                if entry.lower().endswith(_R_DATA):
                    yield f"data/{entry}"
    except (OSError, ValueError):
        return


def _is_loadable(folder: Folder, entry: str, ending: str) -> bool:
    if ending:
        return ending.endswith(_LOADABLE)
    return any(folder.kind(f"{entry}/__init__{item}") != "" for item in _LOADABLE)


@cache
def _list_standard_modules() -> frozenset[str]:
    return frozenset(sys.stdlib_module_names)
