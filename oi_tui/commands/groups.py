"""Groups the commands by subject, for the palette and the help."""

from collections.abc import Iterable

from oi_tui.commands.registry import COMMANDS, Command

#: The title of each group, and its commands.
GROUPS: dict[str, tuple[str, ...]] = {
    "Conversation": (
        *("new", "conversations", "undo", "redo", "rewind", "fork", "continue", "stop", "compact", "tokens"),
        *("find", "history", "copy", "blocks", "prompt", "print", "quit"),
    ),
    "Code": (
        *("run", "rerun", "offer", "output", "variables", "table", "files", "restore", "restart", "focus"),
        *("snapshot", "languages"),
    ),
    "Permissions": ("auto_run", "permissions", "sandbox", "trust", "os"),
    "Model and settings": ("model", "profile", "theme", "sidebar", "mouse", "skills", "mcp"),
    "Other machines and databases": ("target", "on", "detach", "attach", "get", "put", "connect"),
    "Save and load": ("export", "markdown", "jupyter", "html", "script", "save_message", "load_message"),
    "Help": ("help", "keys", "palette", "info", "doctor", "log", "verbose", "debug"),
}
#: The title above commands that no group names.
OTHERS = "Others"


def group_commands(commands: Iterable[Command] | None = None) -> dict[str, list[Command]]:
    """Sort the commands, or all of them, into their groups; groups without any are left out."""
    commands_by_name = {item.name: item for item in (COMMANDS.values() if commands is None else commands)}
    groups = {
        title: [commands_by_name.pop(name) for name in names if name in commands_by_name]
        for title, names in GROUPS.items()
    }
    groups[OTHERS] = list(commands_by_name.values())
    return {title: items for title, items in groups.items() if items}
