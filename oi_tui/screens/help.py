"""Keys and commands, on one page made from their declarations."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Input, Static

from oi_tui.commands import COMMANDS
from oi_tui.commands.groups import group_commands
from oi_tui.screens.dialog import Dialog, link_hints
from oi_tui.screens.keymap import KEYS_RUN_CODE
from oi_tui.widgets.field import Field

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
    ("alt+z", "While editing: wrap long lines, or cut them at the edge"),
    ("f9", "Bring back the variables that were kept with the conversation"),
    ("ctrl+g", "Edit in your own editor"),
    ("ctrl+c", "Copy the selection, or stop; twice quits"),
    ("page up / down", "Scroll; end scrolls to the newest line"),
    ("%% ...", "Run a shell command yourself"),
)
#: This key runs code: it is pressed where the code is in sight, and not in the help.
_RUNS_CODE = "ctrl+enter"
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


def list_help() -> list[tuple[str, str]]:
    """Return each key or name, and what it does; an empty key begins a section."""
    rows = [("", "Keys"), *OTHER_KEYS]
    keys = {key for key, _ in OTHER_KEYS}
    with_keys = [item for item in COMMANDS.values() if item.keys and item.keys not in keys]
    rows += [(command.keys, command.summary) for command in with_keys]
    rows += [("", "In the conversation"), *BLOCK_KEYS]
    for title, commands in group_commands().items():
        rows += [("", f"Commands: {title}"), *((command.title, command.summary) for command in commands)]
    return rows


def link_keys(keys: Iterable[str]) -> dict[str, str]:
    """Return what a click on a row of keys does: it presses the first key. Keys in a row press nothing."""
    first = {key: key.split("  ")[0] for key in keys}
    return {key: f"screen.press_below({one!r})" for key, one in first.items() if " " not in one}


def link_help() -> dict[str, str]:
    """Return what a click does on a row of the help: it presses the key, or chooses the command."""
    keys = [key for key, _ in OTHER_KEYS if " " not in key and key[0] not in "@%" and key != _RUNS_CODE]
    names = {command.title: f"screen.choose({command.name!r})" for command in COMMANDS.values()}
    return link_keys([*keys, *(command.keys for command in COMMANDS.values() if command.keys)]) | names


def link(row: Content, action: str, width: int) -> Content:
    """Return a row that carries out the action when its key is clicked, which is in the first cells."""
    key = row.plain[:width].rstrip()
    indent = len(key) - len(key.lstrip())
    # Words below a key begin further to the right.
    if not action or not key.strip() or indent > _INDENT:
        return row
    return row.stylize(Style.from_meta({"@click": action}), indent, len(key))


#: The cells before a key.
_INDENT = 2
#: The widest and the narrowest column of rows where there is more than one, and the cells between them.
_WIDEST, _NARROWEST, _GAP = 85, 64, 4
#: The cells of the box beside its rows: its edges, its padding and the scrollbar.
_AROUND = 7
#: In fewer cells than these, the words stand below the keys.
_BESIDE = 44


class HelpScreen(Dialog[None]):
    """A page over the conversation, with a field that searches it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,enter", "dismiss", "Close", id="help.close")]

    def __init__(self, place: str = "", rows: Sequence[tuple[str, str]] = ()) -> None:
        """`rows` are the keys of what has the focus, which `place` names."""
        super().__init__()
        here = {key for keys, _ in rows for key in keys.split()}
        others = [row for row in list_help() if row[0] not in here]
        self._rows = [*([("", place), *rows] if rows else []), *others]
        here_too = () if place in KEYS_RUN_CODE else rows
        self._links = link_help() | link_keys(key for key, _ in here_too)
        #: The width of the screen for which the rows are laid out.
        self._width = 0

    def compose(self) -> ComposeResult:
        """Mount the rows in two columns."""
        with VerticalScroll(id="help") as page:
            page.border_title = "Help"
            yield Field(placeholder="type to search keys and commands", id="help-search")
            yield Static(id="help-rows", markup=False)

    def on_mount(self) -> None:
        """Focus the search."""
        self._show()
        self.query_one(Input).focus()

    def on_resize(self) -> None:
        """Use the width of the screen: more columns, or the words below the keys."""
        if self.app.size.width != self._width:
            self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what has the words that are typed."""
        event.stop()
        self._show()

    def on_input_submitted(self) -> None:
        """Close with enter, as when nothing is typed."""
        self.dismiss()

    async def action_choose(self, name: str) -> None:
        """Choose the command that was clicked."""
        self.dismiss()
        await self.app.run_action(f"choose_command({name!r})")

    def _show(self) -> None:
        self._width = self.app.size.width
        room = int(self._width * 0.95) - _AROUND
        columns = min(3, max(1, (room + _GAP) // (_NARROWEST + _GAP)))
        width = min(_WIDEST, (room - _GAP * (columns - 1)) // columns)
        page = self.query_one("#help")
        page.styles.width = columns * width + (columns - 1) * _GAP + _AROUND
        hint = "click a key or a command to use it · " if width >= _BESIDE else ""
        page.border_subtitle = link_hints(f"{hint}esc close")
        rows = filter_rows(self._rows, self.query_one(Input).value)
        text = (
            lay_out(rows, width, columns, self._links)
            if rows
            else Content("No key or command has these words.")
        )
        self.query_one("#help-rows", Static).update(text)


def filter_rows(rows: Sequence[tuple[str, str]], sought: str) -> list[tuple[str, str]]:
    """Return the rows that have all the words, below the titles of their sections."""
    words = sought.lower().split()
    matches: list[tuple[str, str]] = []
    title: tuple[str, str] | None = None
    for row in rows:
        if not row[0]:
            title = row
        elif all(word in f"{row[0]} {row[1]}".lower() for word in words):
            if title:
                matches.append(title)
                title = None
            matches.append(row)
    return matches


def lay_out(
    rows: Sequence[tuple[str, str]], width: int, columns: int = 1, links: Mapping[str, str] | None = None
) -> Content:
    """Lay out the rows in columns of equal width, read one after the other; no section is torn apart.

    `links` has what a click on a row does, by its key.
    """
    # At least the two before the key: a terminal may have any width.
    key_width = max(2, min(max(len(key) for key, _ in rows) + 4, max(width // 3, _LONGEST_KEY)))
    lay_out_row = (
        partial(_draw_beside, width=width, key_width=key_width)
        if width >= _BESIDE
        else partial(_draw_below, width=width)
    )
    sections: list[list[Content]] = []
    for key, words in rows:
        if not key or not sections:
            sections.append([])
        action = (links or {}).get(key, "")
        sections[-1] += (
            [link(part, action, key_width) for part in lay_out_row(key, words)]
            if key
            else [Content.styled(words, "bold")]
        )
    filled = _share_out(sections, columns)
    blank = Content("")
    lines = []
    for row in zip_longest(*filled, fillvalue=blank):
        cells = [cell.pad_right(max(0, width + _GAP - cell.cell_length)) for cell in row]
        lines.append(Content("").join(cells).rstrip())
    return Content("\n").join(lines)


#: The cells of "shift+enter" and of what stands around it.
_LONGEST_KEY = 15


def _share_out(sections: Sequence[list[Content]], columns: int) -> list[list[Content]]:
    """Put the sections into columns, in their order, so that the longest column is as short as can be."""
    total = sum(len(section) + 1 for section in sections)
    for most in range(-(-total // columns), total):
        filled: list[list[Content]] = [[]]
        for section in sections:
            if filled[-1] and len(filled[-1]) + 1 + len(section) > most:
                filled.append([])
            filled[-1] += [Content(""), *section] if filled[-1] else section
        if len(filled) <= columns:
            return filled
    return [[line for section in sections for line in (*section, Content(""))][:-1]]


def _draw_beside(key: str, words: str, *, width: int, key_width: int) -> list[Content]:
    """Return a key, and beside it what it does: neither touches the other."""
    keys = _wrap_key(key, max(8, key_width - 4))
    parts = textwrap.wrap(words, max(10, width - key_width))
    return [
        Content.assemble((f"  {left:<{key_width - 2}}", "$text-accent"), right)
        for left, right in zip_longest(keys, parts, fillvalue="")
    ]


def _draw_below(key: str, words: str, *, width: int) -> list[Content]:
    """Return a key, and below it what it does: for a screen with few columns."""
    keys = [Content.styled(f"  {part}", "$text-accent") for part in _wrap_key(key, max(8, width - 2))]
    return [*keys, *(Content(f"    {part}") for part in textwrap.wrap(words, max(10, width - 4)))]


def _wrap_key(key: str, width: int) -> list[str]:
    """Break keys, or a command with its arguments, at spaces and behind each bar."""
    parts = textwrap.wrap(key.replace("|", "| "), width, break_on_hyphens=False)
    return [part.replace("| ", "|") for part in parts]
