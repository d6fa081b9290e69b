"""The key bindings of the conversation, and of the focused block."""

from collections.abc import Mapping

from textual.actions import parse
from textual.binding import Binding

from oi_tui.widgets.truncate import measure_width

#: What they do is in the actions of the conversation.
KEYS = [
    Binding("up,k,alt+up", "move(-1)", "Previous block", show=False, id="conversation.up"),
    Binding("down,j,alt+down", "move(1)", "Next block", show=False, id="conversation.down"),
    Binding("pageup", "page_up", "Page up", show=False, id="conversation.page_up"),
    Binding("pagedown,space", "page_down", "Page down", show=False, id="conversation.page_down"),
    Binding("home,g", "scroll_home", "Scroll to start", show=False, id="conversation.home"),
    Binding("end,G", "scroll_end", "Scroll to end", show=False, id="conversation.end"),
    Binding("c", "block('copy')", "Copy the block", id="conversation.copy"),
    Binding("C", "block('copy_output')", "Copy the output", id="conversation.copy_output"),
    Binding("o", "block('open')", "Open the output", id="conversation.open_output"),
    Binding("f", "block('fold')", "Fold or unfold", id="conversation.fold"),
    Binding("enter", "block('enter')", "Open the table, else fold or unfold", id="conversation.enter"),
    Binding("v", "block('view')", "Read the full output", id="conversation.view"),
    Binding("question_mark", "app.help_here", "Keys and commands", id="conversation.help"),
    Binding("d", "block('diff')", "Show your changes to the code", id="conversation.diff"),
    Binding("r", "block('run')", "Run the code again", id="conversation.run"),
    Binding("e", "block('edit')", "Edit the code and run it", id="conversation.edit"),
    Binding("p", "block('image')", "Show the image", id="conversation.picture"),
    Binding("w", "block('model_view')", "Show what the model saw, and its tokens", id="conversation.told"),
    Binding("m", "block('read')", "Read the whole block", id="conversation.read"),
    Binding("s", "block('save')", "Save the code", id="conversation.save"),
    Binding("u", "block('restore')", "Restore the files that it changed", id="conversation.restore"),
    Binding("b", "block('back')", "Go back to here", id="conversation.back"),
    Binding("B", "block('branch')", "Go back to here, in a copy", id="conversation.branch"),
    Binding("shift+up,K", "jump(-1)", "Previous message of yours", show=False, id="conversation.own_above"),
    Binding("shift+down,J", "jump(1)", "Next message of yours", show=False, id="conversation.own_below"),
]
#: What is done with the block, by the key of `KEYS`.
BLOCK_ACTIONS = {item.key: str(parse(item.action)[2][0]) for item in KEYS if item.action.startswith("block(")}
_OWN = {item.key.split(",")[0]: item.id or "" for item in KEYS}
_MORE = "? more"
_BETWEEN = " · "


def format_hint(keys: str, room: int, changed: Mapping[str, str]) -> str:
    """Return as many of a block's "c copy · r run" as fit, with the keys that the person chose.

    Where some are left out, the key is there that lists all; "" where not even one fits.
    """
    parts = [_as_chosen(part, changed) for part in keys.split(_BETWEEN)]
    visible_parts = parts
    while visible_parts and measure_width(_BETWEEN.join(visible_parts)) > room:
        parts = parts[:-1]
        visible_parts = [*parts, _as_chosen(_MORE, changed)] if parts else []
    return _BETWEEN.join(visible_parts)


def find_hint(keys: str, hint: str, cell: int) -> str:
    """Return the key whose words stand at a cell of the hint of a block; "" between two of them.

    The key is the one of `keys`, whatever the person chose in its place; "?" asks for all.
    """
    start = 0
    for number, part in enumerate(hint.split(_BETWEEN)):
        end = start + measure_width(part)
        if start <= cell < end:
            own = [item.partition(" ")[0] for item in keys.split(_BETWEEN)]
            is_more = part.endswith(_MORE[1:])
            return "?" if is_more else own[number]
        start = end + len(_BETWEEN)
    return ""


def _as_chosen(part: str, changed: Mapping[str, str]) -> str:
    key, _, words = part.partition(" ")
    name = "conversation.help" if key == "?" else _OWN.get(key, "")
    return f"{changed.get(name, key).split(',')[0]} {words}"
