"""Keys and commands, on one page made from their declarations."""

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from oi_tui.commands import COMMANDS
from oi_tui.screens.dialog import Dialog

#: Keys that are no commands, with where they work.
OTHER_KEYS = (
    ("enter", "Send; while a turn goes on, queue"),
    ("ctrl+j", "New line"),
    ("up / down", "History: of all you said, or of what began with what you typed"),
    ("@name", "A file or a variable; tab takes the one that is marked"),
    ("tab", "Complete what is typed; go to what waits for an answer"),
    ("ctrl+t", "Open the long paste beside the caret"),
    ("y  e  n  a", "Run, edit, reject, always: at the question, once you stopped typing"),
    ("f5", "Done editing; the question comes again"),
    ("f8", "What you changed in the model's code"),
    ("ctrl+g", "Edit in your own editor"),
    ("ctrl+c", "Copy the selection, else stop; twice leaves"),
    ("page up / down", "Scroll; end goes to the newest line"),
    ("%% ...", "Run a shell command of your own"),
)
#: Keys on a block of the conversation, once ctrl+up has put the focus there.
BLOCK_KEYS = (
    ("up / down", "Move from block to block"),
    ("c", "Copy the code or the text"),
    ("C", "Copy the output"),
    ("o", "Open or fold the output"),
    ("f", "Fold or unfold the block"),
    ("v", "Read all of the output on a screen of its own; / searches it"),
    ("m", "See all of it, code and output, on a screen of its own"),
    ("p", "Look at its picture in full; o there opens the system's own viewer"),
    ("w", "What the model saw of it, and about how many tokens that was"),
    ("r", "Run the code again"),
    ("e", "Edit the code in the prompt, to run it; your own message in a copy of the conversation"),
    ("d", "What you changed in the model's code"),
    ("s", "Save the code as a file"),
    ("shift+up / down", "Move between your own messages"),
    ("u", "Put the files back that it changed, as they were before"),
    ("b", "Go back to here; %redo brings back what followed"),
    ("B", "Go back to here in a copy; the conversation stays as it is"),
)


def help_rows() -> list[tuple[str, str]]:
    """Key or name, and what it does; an empty key begins a section."""
    rows = [("", "Keys"), *OTHER_KEYS]
    rows += [(each.keys, each.summary) for each in COMMANDS.values() if each.keys]
    rows += [("", "In the conversation"), *BLOCK_KEYS, ("", "Commands")]
    rows += [(each.title, each.summary) for each in COMMANDS.values()]
    return rows


class HelpScreen(Dialog[None]):
    """A page over the conversation; any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter,question_mark", "dismiss", "Close", id="help.close")
    ]

    def __init__(self, place: str = "", rows: Sequence[tuple[str, str]] = ()) -> None:
        """`rows` are the keys of what has the focus, which `place` names."""
        super().__init__()
        self._rows = [*([("", place), *rows] if rows else []), *help_rows()]

    def compose(self) -> ComposeResult:
        """The rows in two columns."""
        with VerticalScroll(id="help") as page:
            page.border_title = "Help"
            page.border_subtitle = "escape closes"
            yield Static(id="help-rows", markup=False)

    def on_resize(self) -> None:
        """Wrap the words beside the keys, never below them."""
        width = min(76, int(self.size.width * 0.95)) - 8
        self.query_one("#help-rows", Static).update(_page(self._rows, width))


def _page(rows: Sequence[tuple[str, str]], width: int) -> Content:
    column = min(max(len(key) for key, _ in rows) + 4, 28)
    lines: list[Content] = []
    for key, words in rows:
        if not key:
            lines.append(Content.styled(f"\n{words}" if lines else words, "bold"))
            continue
        first, *rest = textwrap.wrap(words, max(10, width - column)) or [""]
        lines.append(Content.assemble((f"  {key:<{column - 2}}", "$text-accent"), first))
        lines += [Content(" " * column + more) for more in rest]
    return Content("\n").join(lines)
