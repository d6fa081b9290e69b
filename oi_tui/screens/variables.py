"""The screen of variables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from oi_tui import paths
from oi_tui.input.mentions import write_mention
from oi_tui.runtimes.variables import Detail, Memory, VariableSource, is_table
from oi_tui.screens.dialog import Page
from oi_tui.screens.pager import PagerScreen
from oi_tui.text import clean_line
from oi_tui.widgets.field import Field
from oi_tui.widgets.footer import KeyFooter, Keys
from oi_tui.widgets.lists.variable_list import VariableList, make_rows
from oi_tui.widgets.pager.long_text import LongText

_KEYS: Keys = (
    ("enter", "insert name"),
    ("ctrl+o", "inspect"),
    ("up/down", "choose"),
    ("f5", "refresh"),
)
#: With a table selected.
_TABLE_KEYS: Keys = (
    ("enter", "open table"),
    ("tab", "insert name"),
    ("up/down", "choose"),
    ("f5", "refresh"),
)
_NONE = "No variables yet. They appear here once code has run."
#: While something runs, what is remembered is read again after this many seconds.
_AGAIN = 1.0


def mention_variable(language: str, name: str, memories: Sequence[Memory]) -> str:
    """Write the variable as the prompt mentions it: with its language where another has the name, too."""
    shared = sum(any(v.name == name for v in memory.variables) for memory in memories) > 1
    return write_mention(f"{language}:{name}" if shared else name)


class VariablesScreen(Page[str | None]):
    """Shows variables by language, and those that are sought as one types.

    It closes with the chosen variable as it is mentioned in the prompt, `@name`, or with None. `busy` says
    whether something runs, so that what is shown may be out of date soon.
    """

    CSS_PATH = paths.styles() / "variables.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="variables.leave", show=False),
        Binding("up", "move(-1)", "Up", id="variables.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="variables.down", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", id="variables.page_up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", id="variables.page_down", show=False, priority=True),
        Binding("ctrl+o", "look", "Show details", id="variables.look", show=False, priority=True),
        Binding(
            "tab", "name", "Insert its name in the prompt", id="variables.name", show=False, priority=True
        ),
        Binding("f5", "ask", "Reload", id="variables.ask", show=False),
    ]

    @dataclass
    class MemoriesLoaded(Message):
        """The languages have answered."""

        memories: tuple[Memory, ...]

    @dataclass
    class DetailLoaded(Message):
        """A variable was looked at."""

        language: str
        name: str
        detail: Detail | None

    def __init__(
        self,
        known: VariableSource,
        busy: Callable[[], bool] = lambda: False,
        sought: str = "",
        open_table: Callable[[str, str], None] | None = None,
    ) -> None:
        """`open_table` takes a language and the name of a table."""
        super().__init__()
        self._sought = sought
        self._known = known
        self._busy = busy
        self._open_table = open_table
        self._memories: Sequence[Memory] | None = None
        self._list = VariableList(id="variables-list")
        self._keys = KeyFooter(id="variables-keys")

    def compose(self) -> ComposeResult:
        """Mount the title, the field for a filter, the list, and the keys."""
        yield Static(Content("Variables"), id="variables-head", markup=False)
        words = "filter by name, type or language"
        yield Field(self._sought, placeholder=words, id="variables-search", select_on_focus=False)
        yield Static(Content("loading…"), id="variables-none", markup=False)
        yield self._list
        yield self._keys

    def on_mount(self) -> None:
        """Load the variables, and load them again when the present run has ended."""
        self.query_one(Input).focus()
        self._list.display = False
        self.action_ask()
        self.set_interval(_AGAIN, self._ask_again)

    def on_resize(self) -> None:
        """Show as many keys as fit."""
        self._show_keys()

    def action_ask(self) -> None:
        """Learn from the languages what they remember now."""
        self.run_worker(
            lambda: self.post_message(self.MemoriesLoaded(tuple(self._known.read_memories()))),
            thread=True,
            group="variables",
            exclusive=True,
            exit_on_error=False,
        )

    def _ask_again(self) -> None:
        if (
            self._memories
            and any(memory.state in ("busy", "starting") for memory in self._memories)
            and not self._busy()
        ):
            self.action_ask()

    @on(MemoriesLoaded)
    def handle_memories_loaded(self, event: MemoriesLoaded) -> None:
        """Show what is remembered; of a busy language, what was known before."""
        before = {memory.language: memory for memory in self._memories or () if memory.state == "known"}
        self._memories = [
            before.get(memory.language, memory) if memory.state == "busy" and self._busy() else memory
            for memory in event.memories
        ]
        self._show()

    def on_input_changed(self) -> None:
        """Narrow the list as one types."""
        self._show_keys()
        self._show()

    def _show_keys(self) -> None:
        query = self.query_one(Input).value
        keys = _TABLE_KEYS if self._selected_table else _KEYS
        self._keys.show((*keys, ("esc", "clear" if query else "back")))

    def _show(self) -> None:
        if self._memories is None:
            return
        sought = self.query_one(Input).value
        rows = make_rows(self._memories, sought)
        self._list.display = bool(rows)
        nothing = self.query_one("#variables-none", Static)
        nothing.display = not rows
        words = f"No variable matches “{clean_line(sought, 40)}”." if sought else _NONE
        nothing.update(Content(words))
        self._list.show(rows)
        self._show_keys()

    @property
    def _selected_table(self) -> tuple[str, str] | None:
        """The language and the name of the selected table; None where none is selected."""
        row = self._list.selected
        if not self._open_table or row is None or row.variable is None:
            return None
        opens = is_table(row.language, row.variable.type)
        return (row.language, row.variable.name) if opens else None

    def action_move(self, by: int) -> None:
        """Move the selection by `by` variables."""
        self._list.move(by)
        self._show_keys()

    def action_page(self, by: int) -> None:
        """Select the variable a screenful further down."""
        self._list.move(by * max(1, self._list.size.height - 2))
        self._show_keys()

    def on_input_submitted(self) -> None:
        """Open a table; name another variable in the prompt."""
        self._choose()

    @on(VariableList.Opened)
    def handle_opened(self) -> None:
        """Open a table; name another variable in the prompt."""
        self._choose()

    def _choose(self) -> None:
        if self._open_table and (table := self._selected_table):
            self._open_table(*table)
        else:
            self.action_name()

    def action_name(self) -> None:
        """Close, and put the variable's name into the prompt."""
        row = self._list.selected
        if row is None or row.variable is None:
            return
        self.dismiss(mention_variable(row.language, row.variable.name, self._memories or ()))

    def action_look(self) -> None:
        """Show the beginning of the variable's value."""
        row = self._list.selected
        if row is None or row.variable is None:
            return
        language, name = row.language, row.variable.name
        if self._open_table and self._selected_table:
            self._open_table(language, name)
            return
        self.run_worker(
            lambda: self.post_message(self.DetailLoaded(language, name, self._known.inspect(language, name))),
            thread=True,
            group="look",
            exclusive=True,
            exit_on_error=False,
        )

    @on(DetailLoaded)
    def handle_detail_loaded(self, event: DetailLoaded) -> None:
        """Show the value on its own screen."""
        show_detail(self.app, event.language, event.name, event.detail)

    def action_leave(self) -> None:
        """Empty the field, else close."""
        field = self.query_one(Input)
        if field.value:
            field.value = ""
        else:
            self.dismiss(None)


def show_detail(app: App[Any], language: str, name: str, detail: Detail | None) -> None:
    """Show the beginning of a variable's value on its own screen."""
    label = clean_line(name, 60)
    if detail is None:
        words = f"{label} cannot be shown now: it was deleted, or {language} is busy."
        app.notify(words, markup=False)
        return
    title = f"{label}  {clean_line(detail.description, 200)}"
    where = f"This is only the beginning; the full value is in {language}."
    app.push_screen(PagerScreen(title, LongText.of(detail.preview), where))
