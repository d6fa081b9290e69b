"""The hosts that a person's own ssh configuration names."""

import re
from pathlib import Path

#: Larger files, and files included by included ones, are not read.
_LONGEST = 1_000_000
_DEEPEST = 3


def known(folder: Path | None = None) -> tuple[str, ...]:
    """The names after `Host`, without patterns, in their order; of included files as well."""
    folder = folder or Path.home() / ".ssh"
    return tuple(dict.fromkeys(_hosts(folder / "config", folder, 0)))


def _hosts(path: Path, folder: Path, depth: int) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:_LONGEST]
    except OSError:
        return []
    found: list[str] = []
    for line in text.splitlines():
        word, *values = re.split(r"[\s=]+", line.strip().replace('"', ""))
        if word.lower() == "host":
            found += [value for value in values if re.fullmatch(r"[\w.@:-]+", value)]
        elif word.lower() == "include" and depth < _DEEPEST:
            for value in values:
                for each in (
                    sorted(folder.glob(value.removeprefix("~/.ssh/"))) if value[:1] != "/" else [Path(value)]
                ):
                    found += _hosts(each, folder, depth + 1)
    return found
