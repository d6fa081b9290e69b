"""A long text on the screen, of which only visible lines are read and drawn."""

import re
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from oi_tui.widgets.conversation.rows import Span
from oi_tui.widgets.conversation.selection import MARGIN, find_clicked_span, paint_selection
from oi_tui.widgets.conversation.styles import Styles, adapt_program_style, get_styles
from oi_tui.widgets.emulator.ansi_text import AnsiText
from oi_tui.widgets.pager.long_text import LongText
from oi_tui.widgets.truncate import measure_width

if TYPE_CHECKING:
    from textual.timer import Timer

_COLOURS = re.compile(r"(?:\x1b\[|\x9b)([0-9;:]{0,40})m")
#: How far above the view the colours in force are looked for, in lines.
_COLOURS_BACK = 60
#: Of how many lines the drawn text is kept.
_KEPT = 400
#: Seconds between two parts of the work that goes on behind the view.
_PAUSE = 0.005
#: More selected lines than these are not copied.
_COPIED = 100_000


class TextView(ScrollView, can_focus=True):
    """Draws the lines of a `LongText` in the colours that the program gave them.

    The line that a search found is marked. Lines are not wrapped; left and right scroll them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "by(-1)", "Up", show=False, id="text.up"),
        Binding("down,j", "by(1)", "Down", show=False, id="text.down"),
        Binding("pageup,b", "pages(-1)", "Page up", show=False, id="text.page_up"),
        Binding("pagedown,space", "pages(1)", "Page down", show=False, id="text.page_down"),
        Binding("home,g", "go(0)", "Go to start", show=False, id="text.home"),
        Binding("end,G", "end", "Go to end", show=False, id="text.end"),
        Binding("left,h", "across(-16)", "Left", show=False, id="text.left"),
        Binding("right,l", "across(16)", "Right", show=False, id="text.right"),
    ]

    class Moved(Message):
        """Other lines are in view, or more lines are known."""

    def __init__(self, text: LongText, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.text = text
        #: The line that a search found, and what it looked for.
        self.found: tuple[int, re.Pattern[str]] | None = None
        self._spans: dict[int, list[Span]] = {}
        self._widest = 0
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Find the first lines at once, and the others when there is time."""
        self.text.index()
        self._fit()
        self._timer = self.set_interval(_PAUSE, self._index_text)

    def on_resize(self) -> None:
        """Report that other lines are in view."""
        self.post_message(self.Moved())

    def _index_text(self) -> None:
        if not self.text.index() and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._fit()

    def _fit(self) -> None:
        size = Size(self._widest + MARGIN, self.text.line_count)
        if size != self.virtual_size:
            self.virtual_size = size
        self.post_message(self.Moved())

    @property
    def top(self) -> int:
        """The first line in view."""
        return round(self.scroll_y)

    def show(self, line: int, text: str) -> None:
        """Bring the line that a search for `text` found into view, and mark it."""
        self.found = line, re.compile(re.escape(text), re.IGNORECASE)
        self._fit()
        if not self.top <= line < self.top + self.size.height:
            self.action_go(line - self.size.height // 3)
        match = self.found[1].search("".join(text for text, _ in self._get_spans(line)))
        if match:
            self._show_column(match.start(), match.end())
        self.refresh()

    def _show_column(self, start: int, end: int) -> None:
        left, width = round(self.scroll_x), self.size.width - MARGIN
        if not left <= start <= end <= left + width:
            self._fit()
            self.scroll_to(x=max(0, start - width // 3) if end > width else 0, animate=False, force=True)

    # Scrolling

    def action_by(self, lines: int) -> None:
        """Scroll by some lines."""
        self.action_go(self.top + lines)

    def action_pages(self, pages: int) -> None:
        """Scroll by pages."""
        self.action_go(self.top + pages * max(self.size.height - 1, 1))

    def action_go(self, line: int) -> None:
        """Show a line at the top, as far as there is enough below it."""
        self.scroll_to(y=max(line, 0), animate=False, force=True)

    def action_end(self) -> None:
        """Show the last line."""
        self.text.index_all()
        self._fit()
        self.action_go(self.text.line_count)

    def action_across(self, columns: int) -> None:
        """Scroll sideways."""
        self._fit()
        self.scroll_to(x=max(round(self.scroll_x) + columns, 0), animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Say so."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Moved())

    # Selecting

    def on_click(self, event: Click) -> None:
        """Select the word that was clicked twice, or the line that was clicked three times."""
        if event.chain < 2:
            return
        # Textual would select all.
        event.prevent_default()
        _, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        if offset is None:
            return
        span = find_clicked_span(self._get_text(offset.y), offset.x - MARGIN, event.chain)
        if span is not None:
            first, end = (Offset(MARGIN + at, offset.y) for at in span)
            self.screen.selections = {self: Selection(first, end)}

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002
        """Redraw after the selection changed."""
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, without colours."""
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self.text.line_count - 1
        parts: list[str] = []
        for line in range(first, min(last, self.text.line_count - 1, first + _COPIED - 1) + 1):
            start, end = selection.get_span(line) or (0, -1)
            parts.append(
                self._get_text(line)[max(start - MARGIN, 0) : None if end == -1 else max(end - MARGIN, 0)]
            )
        return "\n".join(parts), "\n"

    def _get_text(self, line: int) -> str:
        return "".join(text for text, _ in self._get_spans(line))

    # Drawing

    @property
    def _look(self) -> Styles:
        return get_styles(self.app.current_theme, colourful=not self.app.no_color)

    def _get_spans(self, line: int) -> list[Span]:
        if line not in self._spans:
            if len(self._spans) > _KEPT:
                self._spans.clear()
            self._read(line, line + max(self.size.height, 1))
        return self._spans.get(line, [])

    def _read(self, first: int, last: int) -> None:
        """Draw lines up from the raw text, in the colours that the lines above have set."""
        above = max(first - _COLOURS_BACK, 0)
        colours = ""
        for number, raw in enumerate(self.text.lines(above, last), above):
            if number >= first:
                ansi_text = AnsiText(colours + raw)
                self._spans[number] = ansi_text.spans(0) if ansi_text.line_count else []
                self._widest = max(self._widest, sum(measure_width(text) for text, _ in self._spans[number]))
            for match in _COLOURS.finditer(raw):
                colours = "" if match[1] in ("", "0") else (colours + match.group())[-200:]

    def render_line(self, y: int) -> Strip:
        """Render one line of the view."""
        look, width, line = self._look, self.size.width, self.top + y
        if line >= self.text.line_count:
            return Strip.blank(width, look.base)
        spans = self._get_spans(line)
        strip = Strip([Segment(text, adapt_program_style(look, style)) for text, style in spans])
        margin = Segment(" " * MARGIN, look.base)
        painted: list[tuple[int, int]] = []
        if self.found is not None and line == self.found[0]:
            margin = Segment(">".ljust(MARGIN), look.cursor)
            matches = self.found[1].finditer("".join(text for text, _ in spans))
            painted = [(match.start() + MARGIN, match.end() + MARGIN) for match in matches]
        if (selection := self.text_selection) and (selected := selection.get_span(line)):
            painted.append(selected)
        if painted:
            strip = Strip([margin, *strip])
            for span in painted:
                strip = paint_selection(strip, span, look.selection)
            strip = strip.crop(MARGIN)
        left = round(self.scroll_x)
        # The mouse is told characters of the line, of which some are two cells wide.
        first = len(strip.crop(0, left).text) if left else 0
        strip = strip.crop(left, left + width - MARGIN)
        return Strip([margin, *strip]).adjust_cell_length(width, look.base).apply_offsets(first, line)
