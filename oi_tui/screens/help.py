"""Keys and commands, on one page made from their declarations."""

import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from oi_tui.commands import COMMANDS
from oi_tui.commands.groups import grouped
from oi_tui.screens.dialog import Dialog

#: Keys that are no commands, with where they work.
OTHER_KEYS = (
    ("?", "With nothing typed: the keys that act now"),
    ("enter", "Send; queues while the model works"),
    ("alt+enter", "New line; also shift+enter and ctrl+j"),
    ("ctrl+r", "Search your messages for what is typed; with nothing typed, all conversations"),
    ("esc esc", "Clear the prompt; with nothing typed, choose an earlier message to go back to"),
    ("ctrl+d", "Quit, with nothing typed"),
    ("alt+d", "Delete the next word"),
    ("up / down", "History: all messages, or those that begin with what you typed"),
    ("@name", "Insert a file or a variable; tab completes"),
    ("tab", "Complete; otherwise move to the open question"),
    ("ctrl+t", "Show the long paste at the cursor"),
    ("y  e  n  a", "Run, edit, reject, always: at the question, when you stop typing"),
    ("f5", "Finish editing; the question comes back"),
    ("ctrl+enter", "Finish editing and run (f6 too); dangerous code is asked about first"),
    ("f8", "Show your changes to the model's code"),
    ("f9", "Bring back the variables that were kept with the conversation"),
    ("ctrl+g", "Edit in your own editor"),
    ("ctrl+c", "Copy the selection, or stop; twice quits"),
    ("page up / down", "Scroll; end scrolls to the newest line"),
    ("%% ...", "Run a shell command yourself"),
)
#: Keys on a block of the conversation, once ctrl+up has put the focus there.
BLOCK_KEYS = (
    ("up / down", "Move from block to block"),
    ("c", "Copy the code or the text"),
    ("C", "Copy the output"),
    ("o", "Open or fold the output"),
    ("f", "Fold or unfold the block"),
    ("v", "Read the full output; / searches it"),
    ("m", "Read the whole block, code and output"),
    ("p", "Show its image in full size; o opens it in the system's viewer"),
    ("w", "Show what the model saw of it, and how many tokens that was"),
    ("r", "Run the code again"),
    ("e", "Edit the code in the prompt, or your message in a copy of the conversation"),
    ("d", "Show your changes to the model's code"),
    ("s", "Save the code as a file"),
    ("shift+up / down", "Move between your own messages"),
    ("u", "Restore the files that it changed"),
    ("b", "Go back to here; %redo restores what followed"),
    ("B", "Go back to here in a copy; this conversation stays as it is"),
)


def help_rows() -> list[tuple[str, str]]:
    """Return each key or name, and what it does; an empty key begins a section."""
    rows = [("", "Keys"), *OTHER_KEYS]
    listed = {key for key, _ in OTHER_KEYS}
    with_keys = [item for item in COMMANDS.values() if item.keys and item.keys not in listed]
    rows += [(command.keys, command.summary) for command in with_keys]
    rows += [("", "In the conversation"), *BLOCK_KEYS]
    for title, commands in grouped().items():
        rows += [("", f"Commands: {title}"), *((command.title, command.summary) for command in commands)]
    return rows


#: The widest box, as its style sheet says it.
_MOST_COLUMNS = 92


class HelpScreen(Dialog[None]):
    """A page over the conversation, with a field that searches it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,enter", "dismiss", "Close", id="help.close")]

    def __init__(self, place: str = "", rows: Sequence[tuple[str, str]] = ()) -> None:
        """`rows` are the keys of what has the focus, which `place` names."""
        super().__init__()
        here = {key for keys, _ in rows for key in keys.split()}
        others = [row for row in help_rows() if row[0] not in here]
        self._rows = [*([("", place), *rows] if rows else []), *others]

    def compose(self) -> ComposeResult:
        """Mount the rows in two columns."""
        with VerticalScroll(id="help") as page:
            page.border_title = "Help"
            page.border_subtitle = "esc close"
            yield Input(placeholder="type to search keys and commands", id="help-search")
            yield Static(id="help-rows", markup=False)

    def on_mount(self) -> None:
        """Let what is typed search."""
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    def on_resize(self) -> None:
        """Wrap the words beside the keys, never below them."""
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what has the words that are typed."""
        event.stop()
        self._show()

    def on_input_submitted(self) -> None:
        """Close with enter, as when nothing is typed."""
        self.dismiss()

    def _show(self) -> None:
        width = min(_MOST_COLUMNS, int(self.size.width * 0.95)) - 8
        rows = matching(self._rows, self.query_one(Input).value)
        page = _page(rows, width) if rows else Content("No key or command has these words.")
        self.query_one("#help-rows", Static).update(page)


def matching(rows: Sequence[tuple[str, str]], sought: str) -> list[tuple[str, str]]:
    """The rows that have all the words, below the titles of their sections."""
    words = sought.lower().split()
    found: list[tuple[str, str]] = []
    title: tuple[str, str] | None = None
    for row in rows:
        if not row[0]:
            title = row
        elif all(word in f"{row[0]} {row[1]}".lower() for word in words):
            if title:
                found.append(title)
                title = None
            found.append(row)
    return found


def _page(rows: Sequence[tuple[str, str]], width: int) -> Content:
    # At least the two before the key: a terminal may have any width.
    column = max(2, min(max(len(key) for key, _ in rows) + 4, width // 3))
    lines: list[Content] = []
    for key, words in rows:
        if not key:
            lines.append(Content.styled(f"\n{words}" if lines else words, "bold"))
            continue
        # A key or a name never touches the words beside it.
        keys = textwrap.wrap(key, max(8, column - 4), break_on_hyphens=False)
        parts = textwrap.wrap(words, max(10, width - column))
        for left, right in zip_longest(keys, parts, fillvalue=""):
            lines.append(Content.assemble((f"  {left:<{column - 2}}", "$text-accent"), right))
    return Content("\n").join(lines)
