"""A list of variables that draws only the visible rows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from oi_tui.runtimes.variables import Memory, Variable, is_code, is_table
from oi_tui.text import clean_line
from oi_tui.widgets.truncate import fit

#: What is shown of languages instead of their variables.
_WORDS = {
    "busy": "busy, shown when done",
    "starting": "starting, no variables yet",
    "unstarted": "not started, no variables yet",
    "silent": "variables cannot be listed",
}
#: What stands for a value that is too long to be shown.
_COUNT = re.compile(r"of ([\d,]+)(?: (characters|bytes|bits))?")
#: Room for a type and for a size, in cells.
_TYPE = 16
_SIZE = 9


@dataclass(frozen=True, slots=True)
class VariableRow:
    """A line of the list: a heading, or a variable of the language."""

    language: str
    heading: str = ""
    variable: Variable | None = None
    #: Whether it is the heading of a language that tells nothing.
    mute: bool = False


def make_rows(memories: Sequence[Memory], wanted: str) -> list[VariableRow]:
    """Return the lines for what is remembered, of the variables with all the words in their name or type."""
    words = wanted.lower().split()
    rows: list[VariableRow] = []
    if all(memory.state == "unstarted" for memory in memories):
        return rows
    for memory in memories:
        if memory.state != "known":
            continue
        matching = [variable for variable in memory.variables if _matches(memory.language, variable, words)]
        if words and not matching:
            continue
        rows.append(
            VariableRow(memory.language, f"{memory.language}: {_count(memory, len(matching), bool(words))}")
        )
        matching.sort(key=partial(_rank, memory.language))
        rows += [VariableRow(memory.language, variable=item) for item in matching]
    return rows if words else [*rows, *_describe_languages_without_variables(memories)]


def _describe_languages_without_variables(memories: Sequence[Memory]) -> Iterator[VariableRow]:
    """Name the languages that list nothing, in one line for each reason. The names may be many."""
    for state, reason in _WORDS.items():
        if names := [memory.language for memory in memories if memory.state == state]:
            yield VariableRow(names[0], f"{reason}: {', '.join(names)}", mute=True)


def _rank(language: str, variable: Variable) -> tuple[int, int]:
    """Put tables first, then other data, each from large to small, and functions and classes last."""
    if is_code(variable):
        return 2, 0
    return not is_table(language, variable.type), -(variable.size or 0)


def _matches(language: str, variable: Variable, words: list[str]) -> bool:
    text = f"{variable.name} {variable.type} {language}".lower()
    return all(word in text for word in words)


def _count(memory: Memory, matching: int, sought: bool) -> str:
    if sought:
        return f"{matching:,} of {memory.total:,}"
    if memory.total > len(memory.variables):
        return f"the {len(memory.variables):,} newest of {memory.total:,}"
    if memory.is_over and memory.total:
        return f"{memory.total:,} of its last cell"
    return f"{memory.total:,}" if memory.total else "nothing yet"


def format_size(size: int | None) -> str:
    """Return bytes as text: "28 B", "1.2 kB", "3.4 MB"; "" if unknown."""
    if size is None:
        return ""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def shorten_summary(variable: Variable) -> str:
    """Return the summary without what the columns for name and type show: `1200x8`, `2 items`."""
    if variable.summary in (variable.type, f"{variable.type} {variable.name}"):
        return ""
    rest = variable.summary.removeprefix(f"{variable.type} ")
    count = _COUNT.fullmatch(rest)
    return f"{count[1]} {count[2] or 'item' + 's' * (count[1] != '1')}" if count else rest


class VariableList(ScrollView):
    """Variables under the names of their languages; `>` marks the selected one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "variable-list--heading",
        "variable-list--name",
        "variable-list--facts",
        "variable-list--selected",
    }

    class Opened(Message):
        """A variable was chosen with the mouse."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[VariableRow] = []
        self._selected = -1

    @property
    def selected(self) -> VariableRow | None:
        """The selected variable, or None."""
        return self._rows[self._selected] if 0 <= self._selected < len(self._rows) else None

    def show(self, shown: list[VariableRow]) -> None:
        """Show these rows; what was selected stays so, if it is still there."""
        before = self.selected
        self._rows = shown
        same = [
            number
            for number, row in enumerate(shown)
            if before
            and before.variable
            and row.variable
            and row.language == before.language
            and row.variable.name == before.variable.name
        ]
        first = next((number for number, row in enumerate(shown) if row.variable), -1)
        self._selected = same[0] if same else first
        self.virtual_size = Size(self.size.width, len(shown))
        self._reveal()
        self.refresh()

    def move(self, by: int) -> None:
        """Move the selection down."""
        step = 1 if by > 0 else -1
        number = self._selected
        for _ in range(abs(by)):
            beyond = number + step
            while 0 <= beyond < len(self._rows) and self._rows[beyond].variable is None:
                beyond += step
            if not 0 <= beyond < len(self._rows):
                break
            number = beyond
        self._select(number)
        self._reveal()

    def _select(self, number: int) -> None:
        self.refresh_line(self._selected)
        self._selected = number
        self.refresh_line(number)

    def _reveal(self) -> None:
        if self._selected >= 0 and self.size.height:
            # The first of a language is shown with its heading.
            above = int(self._selected > 0 and self._rows[self._selected - 1].variable is None)
            top = self._selected - above
            self.scroll_to_region(Region(0, top, self.size.width, 1 + above), animate=False, force=True)

    def on_resize(self) -> None:
        """Keep what is selected in sight."""
        self.virtual_size = Size(self.size.width, len(self._rows))
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        """Select with the first click, choose with a double one."""
        number = int(event.y + self.scroll_offset.y)
        if number < len(self._rows) and self._rows[number].variable:
            self._select(number)
            if event.chain > 1:
                self.post_message(self.Opened())

    # -- drawing

    def render_line(self, y: int) -> Strip:
        """Render one line of the screen."""
        number, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if number >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[number]
        if row.variable is None:
            style = self._style("facts" if row.mute else "heading")
            return Strip([Segment(fit(row.heading, width), style)], width)
        return Strip(self._draw_variable(row.variable, number == self._selected, width), width)

    def _style(self, name: str, selected: bool = False) -> Style:
        ink = self.get_component_rich_style(f"variable-list--{name}")
        paper = self.get_component_rich_style("variable-list--selected") if selected else self.rich_style
        return paper + Style(color=ink.color, bold=ink.bold)

    def _draw_variable(self, variable: Variable, selected: bool, width: int) -> list[Segment]:
        wide = width >= 60
        name_width = max(10, min(30, (width - _TYPE - _SIZE) // 3))
        name = fit(clean_line(variable.name, 200), name_width)
        kind = fit(clean_line(variable.type, 100), _TYPE) + " " if wide else ""
        summary = shorten_summary(variable) if wide else variable.summary
        size = f"{format_size(variable.size):>{_SIZE}} " if wide else ""
        room = max(0, width - 3 - name_width - cell_len(kind) - cell_len(size))
        facts = self._style("facts", selected)
        return [
            Segment("> " if selected else "  ", self._style("name", selected)),
            Segment(name, self._style("name", selected)),
            Segment(" " + kind, facts),
            Segment(fit(clean_line(summary, 300), room), facts),
            Segment(size, facts),
        ]
