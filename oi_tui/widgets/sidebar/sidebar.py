"""The sidebar, which redraws only when its rows changed."""

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from oi_tui.widgets.sidebar.rows import SidebarFacts, SidebarRow, list_rows
from oi_tui.widgets.truncate import fit


class Sidebar(ScrollView, can_focus=True):
    """Variables, changed files, context and cost; `>` marks the selected row while it has the keyboard."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "sidebar--heading",
        "sidebar--entry",
        "sidebar--facts",
        "sidebar--warning",
        "sidebar--selected",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back to the prompt", id="sidebar.leave", show=False),
        Binding("up", "move(-1)", "Up", id="sidebar.up", show=False),
        Binding("down", "move(1)", "Down", id="sidebar.down", show=False),
        Binding("enter", "act", "Insert the variable, or restore files", id="sidebar.act", show=False),
        Binding("ctrl+o", "open", "Show the variable", id="sidebar.open", show=False),
    ]

    @dataclass
    class Chosen(Message):
        """A row was chosen. `look` asks to show its value."""

        row: SidebarRow
        look: bool = False

    @dataclass
    class FocusReturned(Message):
        """The keyboard goes back to the prompt, with what was typed here; `closed` by escape."""

        text: str = ""
        closed: bool = False

    class Moved(Message):
        """The sidebar appeared or disappeared, which changes the width of its neighbours."""

    def __init__(self) -> None:
        super().__init__(id="sidebar")
        self._facts = SidebarFacts()
        self._rows: list[SidebarRow] = []
        self._selected = -1

    def show(self, facts: SidebarFacts) -> None:
        """Show these facts; draw nothing if they are the same as before."""
        if facts != self._facts or not self._rows:
            self._facts = facts
            self._fill()

    def on_resize(self) -> None:
        """Cut the sections for the new height."""
        self._fill()

    def _fill(self) -> None:
        selected = self.selected
        self._rows = list_rows(self._facts, self.size.height)
        keys = {row.key: number for number, row in enumerate(self._rows) if row.action}
        self._selected = keys.get(selected.key, -1) if selected else -1
        if self._selected < 0:
            self._selected = min(keys.values(), default=-1)
        self.virtual_size = Size(self.size.width, len(self._rows))
        self.refresh()

    @property
    def selected(self) -> SidebarRow | None:
        """The selected row; None where there is none that does something."""
        return self._rows[self._selected] if 0 <= self._selected < len(self._rows) else None

    def action_move(self, by: int) -> None:
        """Select the next row that does something."""
        places = [number for number, row in enumerate(self._rows) if row.action]
        if self._selected in places:
            index = places.index(self._selected) + by
            self._selected = places[min(max(index, 0), len(places) - 1)]
            self.scroll_to_region(Region(0, self._selected, 1, 1), animate=False)
            self.refresh()

    def action_act(self) -> None:
        """Insert the variable, restore the files of the cell, or list all variables."""
        if self.selected:
            self.post_message(self.Chosen(self.selected))

    def action_open(self) -> None:
        """Show the value of the variable."""
        if self.selected and self.selected.action == "variable":
            self.post_message(self.Chosen(self.selected, look=True))

    def action_leave(self) -> None:
        """Go back to the prompt."""
        self.post_message(self.FocusReturned(closed=True))

    def on_key(self, event: events.Key) -> None:
        """Type into the prompt from here, too."""
        if event.is_printable and event.character:
            event.stop()
            self.post_message(self.FocusReturned(event.character))

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the prompt from here, too."""
        event.stop()
        self.post_message(self.FocusReturned(event.text))

    def on_click(self, event: events.Click) -> None:
        """Select with the first click; a second one, or one on "undo", acts."""
        if (offset := event.get_content_offset(self)) is None:
            return
        number = int(offset.y + self.scroll_offset.y)
        if not 0 <= number < len(self._rows) or not self._rows[number].action:
            return
        self._selected = number
        self.refresh()
        row = self._rows[number]
        on_note = offset.x >= self.size.width - cell_len(row.note)
        if event.chain > 1 or (row.action == "restore" and on_note) or row.action == "more":
            self.action_act()

    def on_focus(self) -> None:
        """Mark what is selected."""
        self.refresh()

    def on_blur(self) -> None:
        """Mark nothing."""
        self.refresh()

    # -- drawing

    def render_line(self, y: int) -> Strip:
        """Render one line of the screen."""
        number, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if number >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row, selected = self._rows[number], self.has_focus and number == self._selected
        return Strip(self._draw_segments(row, selected, width), width)

    def _draw_segments(self, row: SidebarRow, selected: bool, width: int) -> list[Segment]:
        mark = "" if row.kind == "heading" else "> " if selected else "  "
        note = row.note
        if selected and row.action == "restore":
            note = f"[{row.name}] enter: undo"
        room = max(0, width - len(mark))
        left = min(cell_len(row.text), max(room - cell_len(note) - 1, room // 2 if note else room))
        right = max(0, room - left)
        return [
            Segment(mark + fit(row.text, left), self._style(row.kind, selected)),
            Segment(_align_right(note, right), self._style("facts", selected)),
        ]

    def _style(self, name: str, selected: bool) -> Style:
        ink = self.get_component_rich_style(f"sidebar--{name}")
        paper = self.get_component_rich_style("sidebar--selected") if selected else self.rich_style
        return paper + Style(color=ink.color, bold=ink.bold)


def _align_right(text: str, width: int) -> str:
    """Align the text to the right, after at least one blank."""
    fitted = fit(text, min(cell_len(text), max(0, width - 1)))
    return " " * (width - cell_len(fitted)) + fitted
