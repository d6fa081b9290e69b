"""The hosts that a person's own ssh configuration names."""

import glob
import re
from pathlib import Path

from oi_tui import paths

#: Larger files, and files included by included ones, are not read.
_LONGEST = 1_000_000
_DEEPEST = 3


def list_known(folder: Path | None = None) -> tuple[str, ...]:
    """Return the names after `Host`, without patterns, in their order; of included files as well."""
    folder = folder or paths.find_home() / ".ssh"
    return tuple(dict.fromkeys(_list_hosts(folder / "config", folder, 0)))


def _list_hosts(path: Path, folder: Path, depth: int) -> list[str]:
    try:
        if not path.is_file():
            return []
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_LONGEST)
    except OSError:
        return []
    hosts: list[str] = []
    for line in text.splitlines():
        word, *values = re.split(r"[\s=]+", line.strip().replace('"', ""))
        if word.lower() == "host":
            hosts += [value for value in values if re.fullmatch(r"[\w.@:-]+", value)]
        elif word.lower() == "include" and depth < _DEEPEST:
            for value in values:
                for included in _include(value, folder):
                    hosts += _list_hosts(included, folder, depth + 1)
    return hosts


def _include(pattern: str, folder: Path) -> list[Path]:
    """Return the files that a pattern after `Include` names; a relative one begins in the folder of ssh."""
    whole = folder / paths.expand_typed(pattern)
    return [Path(name) for name in sorted(glob.glob(str(whole)))]  # noqa: PTH207 -- a pattern may be absolute
