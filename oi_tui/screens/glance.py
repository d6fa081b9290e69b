"""The keys that act now, on one page in columns."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from oi_tui.commands import COMMANDS
from oi_tui.screens.dialog import Dialog
from oi_tui.screens.help import link, link_keys
from oi_tui.screens.keymap import KEYS_RUN_CODE

if TYPE_CHECKING:
    from oi_tui.screens.chat.view import ChatView

Rows = Sequence[tuple[str, str]]
#: A column of keys, with its title.
Group = tuple[str, Rows]
#: The cells that a column takes, and those of the key in it.
_COLUMN, _KEY = 32, 11
_PROMPT = (
    ("enter", "send"),
    ("alt+enter", "new line"),
    ("up", "earlier messages"),
    ("ctrl+s", "search them"),
    ("@", "file or variable"),
    ("!", "shell command"),
    ("%", "command"),
    ("esc esc", "clear, or go back"),
    ("ctrl+g", "your own editor"),
)
_WORKING = (("escape", "stop"), ("enter", "queue a message"), ("up", "edit the queued one"))
_EDITING = (
    ("f5", "done"),
    ("escape", "cancel"),
    ("f8", "your changes"),
    ("ctrl+f", "find and replace"),
    ("alt+z", "wrap long lines"),
)
_CONVERSATION = ("blocks", "find", "copy", "focus", "variables")
_SCREENS = ("help", "palette", "new", "conversations", "model", "profile", "quit")
_SHORT = {
    "blocks": "move by block",
    "find": "find text",
    "copy": "copy the last code",
    "focus": "last output",
    "variables": "variables",
    "help": "all keys, all commands",
    "palette": "search commands",
    "new": "new conversation",
    "conversations": "conversations",
    "model": "choose a model",
    "profile": "settings",
    "quit": "quit",
}


def list_groups(view: "ChatView") -> list[Group]:
    """Return the keys that act now, by where they act; what waits for an answer first."""
    groups: list[Group] = []
    if view.conversation.cell_editor.is_open:
        in_vi = view.conversation.cell_editor.code_editor.vi is not None
        groups.append(
            ("In the code", [(":q!" if in_vi and key == "escape" else key, what) for key, what in _EDITING])
        )
    elif view.approval.display:
        groups.append(("At the question", view.approval.short_help))
    if view.busy:
        groups.append(("While it works", _WORKING))
    groups.append(("At the prompt", _PROMPT))
    if view.session.messages:
        groups.append(("Conversation", _list_commands(_CONVERSATION)))
    return [*groups, ("Screens", _list_commands(_SCREENS))]


def _list_commands(names: Sequence[str]) -> Rows:
    return [(COMMANDS[name].keys, _SHORT[name]) for name in names if COMMANDS[name].keys]


class GlanceScreen(Dialog[str | None]):
    """Over the conversation; every key closes it, and a character goes on to the prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "dismiss", "Close", id="glance.close"),
    ]

    def __init__(self, shown: Sequence[Group]) -> None:
        super().__init__()
        self._groups = shown

    def compose(self) -> ComposeResult:
        """Mount a page that is as wide as its columns."""
        with VerticalScroll(id="glance") as page:
            page.border_title = "Keys"
            page.border_subtitle = "any key closes · ? again types ?"
            yield Static(id="glance-rows", markup=False)

    def on_resize(self) -> None:
        """Show as many columns as fit."""
        columns = min(3, max(1, (self.size.width - 8) // _COLUMN))
        self.query_one("#glance-rows", Static).update(lay_out(self._groups, columns))

    def on_key(self, event: events.Key) -> None:
        """Close; a typed character goes to the prompt."""
        if event.is_printable:
            event.stop()
            self.dismiss(event.character)


def lay_out(shown: Sequence[Group], columns: int) -> Content:
    """Lay out groups in columns; each goes to the column that is the shortest so far."""
    filled: list[list[Content]] = [[] for _ in range(columns)]
    for title, rows in shown:
        column = min(filled, key=len)
        if column:
            column.append(Content(""))
        column.append(Content.styled(title, "bold"))
        links = {} if title in KEYS_RUN_CODE else link_keys(key for key, _ in rows)
        column += [
            link(Content.assemble((f"{key:<{_KEY}}", "$text-accent"), words), links.get(key, ""), _KEY)
            for key, words in rows
        ]
    blank = Content("")
    lines = []
    for row in zip_longest(*filled, fillvalue=blank):
        cells = [cell.pad_right(max(0, _COLUMN - cell.cell_length)) for cell in row]
        lines.append(Content("").join(cells).rstrip())
    return Content("\n").join(lines)
