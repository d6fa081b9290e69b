"""Saves which commands were chosen last in the palette."""

import json
from pathlib import Path

from oi_tui import paths
from oi_tui.commands.registry import COMMANDS, Command

#: How many are listed, and kept.
MOST = 4


def load() -> list[Command]:
    """Return the last chosen commands, the newest first; none where the file is missing or damaged."""
    try:
        names = json.loads(_find_file().read_text("utf-8"))
    except (OSError, ValueError):
        return []
    if not isinstance(names, list):
        return []
    valid_names = dict.fromkeys(name for name in names if isinstance(name, str) and name in COMMANDS)
    return [COMMANDS[name] for name in valid_names][:MOST]


def add(command: Command) -> None:
    """Note that the command was chosen. A folder that cannot be written to costs only this memory."""
    names = [command.name, *(item.name for item in load() if item.name != command.name)]
    try:
        paths.make_private(paths.state())
        _find_file().write_text(json.dumps(names[:MOST]), "utf-8")
    except OSError:
        return


def _find_file() -> Path:
    return paths.state() / "recent_commands.json"
