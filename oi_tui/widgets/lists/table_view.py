"""A table of any length: header and row labels stay in place; rows are fetched when visible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from oi_tui.runtimes.tables import Cell, TableQuery, TableRow, TableShape
from oi_tui.text import escape_controls

#: Rows and columns of one page; pages that are kept before the oldest goes.
ROWS, COLUMNS, _KEPT = 100, 40, 60
_WIDEST, _NARROWEST, _HEADER = 32, 3, 2
#: Where the place of a page among the others is: its number down, and its number to the right.
PageKey = tuple[int, int]


class TableView(ScrollView, can_focus=True):
    """Cells of a table. Pages that are missing are asked for with a message, once each."""

    #: The mouse selects a cell, and no text.
    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table-view--header",
        "table-view--type",
        "table-view--cell",
        "table-view--missing",
        "table-view--cursor",
        "table-view--row",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1, 0)", "Up", id="table.up", show=False),
        Binding("down", "step(1, 0)", "Down", id="table.down", show=False),
        Binding("left", "step(0, -1)", "Left", id="table.left", show=False),
        Binding("right", "step(0, 1)", "Right", id="table.right", show=False),
        Binding("pageup", "page(-1)", "Page up", id="table.page_up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="table.page_down", show=False),
        Binding("home", "edge(-1)", "First column", id="table.home", show=False),
        Binding("end", "edge(1)", "Last column", id="table.end", show=False),
        Binding("ctrl+home,g", "far(-1)", "First row", id="table.top", show=False),
        Binding("ctrl+end,G", "far(1)", "Last row", id="table.bottom", show=False),
    ]

    @dataclass
    class PageRequested(Message):
        """A page is in sight that is not here."""

        place: PageKey

    class Moved(Message):
        """Another cell is selected."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shape: TableShape | None = None
        self.view = TableQuery()
        self.row = self.column = 0
        self._left = 0
        self._pages: dict[PageKey, Sequence[TableRow]] = {}
        self._asked: set[PageKey] = set()
        self._widths: list[int] = []
        self._widest_label = 1

    def show(self, shape: TableShape, view: TableQuery) -> None:
        """Show a table, or the same one in another order; the selected cell stays if it is still there."""
        if self.shape is None or self.shape.columns != shape.columns:
            self._widths = [_fit(column.name, column.type) for column in shape.columns]
            self._left = 0
        self.shape, self.view = shape, view
        self._pages, self._asked = {}, set()
        self._widest_label = max(cell_len(shape.index[:_WIDEST]), len(f"{shape.total}"))
        self.virtual_size = Size(0, shape.rows + _HEADER)
        self._select(self.row, self.column)
        self.refresh()

    def grow(self, shape: TableShape) -> None:
        """Show the same table with more rows below, and perhaps more columns; full pages stay."""
        if self.shape is None or shape.columns is not self.shape.columns:
            fits = [_fit(column.name, column.type) for column in shape.columns]
            old_widths = self._widths + [0] * (len(fits) - len(self._widths))
            self._widths = [max(pair) for pair in zip(fits, old_widths, strict=True)]
        for place in [place for place, rows in self._pages.items() if len(rows) < ROWS]:
            del self._pages[place]
            self._asked.discard(place)
        self.shape = shape
        self._widest_label = max(self._widest_label, len(f"{shape.total}"))
        self.virtual_size = Size(0, shape.rows + _HEADER)
        self.refresh()

    def is_like(self, shape: TableShape) -> bool:
        """Return whether a table has the columns and the number of rows of the one that is shown."""
        return self.shape is not None and (self.shape.columns, self.shape.total) == (
            shape.columns,
            shape.total,
        )

    def renew(self, shape: TableShape, pages: Mapping[PageKey, Sequence[TableRow]]) -> None:
        """Show new values of the same table: these pages now, and others when they are in sight."""
        self.shape = shape
        self._pages, self._asked = {}, set(pages)
        self.virtual_size = Size(0, shape.rows + _HEADER)
        for place, rows in pages.items():
            self.set_page(place, rows)
        self._select(self.row, self.column)
        self.refresh()

    def set_page(self, place: PageKey, rows: Sequence[TableRow]) -> None:
        """Set the rows of a page."""
        if place not in self._asked:
            return
        while len(self._pages) >= _KEPT:
            oldest = next(iter(self._pages))
            del self._pages[oldest]
            self._asked.discard(oldest)
        self._pages[place] = rows
        for row in rows:
            label = cell_len(_make_one_line(row.label))
            self._widest_label = min(_WIDEST, max(self._widest_label, label))
            for at, cell in enumerate(row.cells, place[1] * COLUMNS):
                if at < len(self._widths):
                    width = min(_WIDEST, cell_len(_make_one_line(cell or "")))
                    self._widths[at] = max(self._widths[at], width)
        self._reveal()
        self.refresh()

    def forget_request(self, place: PageKey) -> None:
        """Allow a page that did not come to be requested again."""
        self._asked.discard(place)

    def get_row(self, number: int, column: int) -> TableRow | None:
        """Return the row with this number, as far as its page is here."""
        page = self._pages.get((number // ROWS, column // COLUMNS))
        at = number % ROWS
        return page[at] if page is not None and at < len(page) else None

    # -- moving

    def action_step(self, down: int, right: int) -> None:
        """Select the cell beside."""
        self._select(self.row + down, self.column + right)

    def action_page(self, by: int) -> None:
        """Select the cell a screenful away."""
        self._select(self.row + by * max(1, self.size.height - _HEADER - 1), self.column)

    def action_edge(self, by: int) -> None:
        """Select the first or the last column."""
        self._select(self.row, -1 if by < 0 else len(self._widths))

    def action_far(self, by: int) -> None:
        """Select the first or the last row."""
        self._select(-1 if by < 0 or self.shape is None else self.shape.rows, self.column)

    def select_column(self, column: int) -> None:
        """Select another cell of the row."""
        self._select(self.row, column)

    def _select(self, row: int, column: int) -> None:
        if self.shape is None:
            return
        before, left = self.row, self._left
        self.row = max(0, min(row, self.shape.rows - 1))
        self.column = max(0, min(column, len(self._widths) - 1))
        self._reveal()
        if self._left != left:
            self.refresh()
        else:
            self.refresh(Region(0, 0, self.size.width, _HEADER))
            # Where the view scrolled, that has drawn all rows.
            self.refresh_line(before + _HEADER)
            self.refresh_line(self.row + _HEADER)
        self.post_message(self.Moved())

    def _reveal(self) -> None:
        """Scroll until the selected cell is in sight."""
        room = max(1, self.size.height - _HEADER)
        top = self.scroll_offset.y
        if not top <= self.row < top + room:
            self.scroll_to(y=self.row if self.row < top else self.row - room + 1, animate=False, force=True)
        self._left = min(self._left, self.column)
        # From the selected column to the left: there may be many thousands before it.
        first, width = self.column, self._label_width + self._measure(self.column) + 2 if self._widths else 0
        while first > self._left and width + self._measure(first - 1) + 2 <= self.size.width:
            first -= 1
            width += self._measure(first) + 2
        self._left = first

    @property
    def _label_width(self) -> int:
        """The width of the labels: at most half of the window."""
        return min(self._widest_label, max(1, self.size.width // 2))

    def _measure(self, column: int) -> int:
        """Return the width of a column: at most that of the window, so
        that numbers at its right are in sight.
        """
        room = self.size.width - self._label_width - 2
        return min(self._widths[column], max(_NARROWEST, room))

    def on_resize(self) -> None:
        """Keep what is selected in sight."""
        if self.size.height:
            self._reveal()

    def on_click(self, event: events.Click) -> None:
        """Select the cell."""
        at, left = self._left, self._label_width + 2
        while at < len(self._widths) - 1 and event.x >= left + self._measure(at) + 1:
            left += self._measure(at) + 2
            at += 1
        row = self.row if event.y < _HEADER else int(event.y - _HEADER + self.scroll_offset.y)
        self._select(row, at)

    # -- drawing

    def render_line(self, y: int) -> Strip:
        """Render one line of the screen."""
        width = self.size.width
        if self.shape is None:
            return Strip.blank(width, self.rich_style)
        segments = self._draw_head(y) if y < _HEADER else self._draw_body(y - _HEADER + self.scroll_offset.y)
        # Cells of one look are one segment: on a slow link each segment more is felt.
        return Strip(segments).simplify().adjust_cell_length(width, self.rich_style).crop(0, width)

    def _choose_columns(self) -> range:
        last, width = self._left, self._label_width
        while last < len(self._widths) and width < self.size.width:
            width += self._measure(last) + 2
            last += 1
        return range(self._left, last)

    def find_places_in_sight(self) -> list[PageKey]:
        """Return the pages of which a part is on the screen."""
        if self.shape is None:
            return []
        top = int(self.scroll_offset.y)
        below = min(self.shape.rows, top + max(1, self.size.height - _HEADER))
        blocks = sorted({at // COLUMNS for at in self._choose_columns()})
        return [(row, block) for row in sorted({at // ROWS for at in range(top, below)}) for block in blocks]

    def _draw_head(self, y: int) -> list[Segment]:
        assert self.shape is not None
        style = self._style("header" if y == 0 else "type")
        parts = [Segment(_fit_to_width(self.shape.index if y == 0 else "", self._label_width), style)]
        for at in self._choose_columns():
            column = self.shape.columns[at]
            mark = "" if at != self.view.sort else " ↓" if self.view.descending else " ↑"
            text = (_make_one_line(column.name) if y == 0 else column.type) + (mark if y == 0 else "")
            highlight = self._style("row") if at == self.column else Style()
            parts.append(
                Segment(
                    "  " + _fit_to_width(text, self._measure(at), right=column.numeric), style + highlight
                )
            )
        return parts

    def _draw_body(self, number: int) -> list[Segment]:
        assert self.shape is not None
        if number >= self.shape.rows:
            return []
        columns = self._choose_columns()
        for block in {at // COLUMNS for at in columns}:
            self._request_page((number // ROWS, block))
        ground = self._style("row") if number == self.row else Style()
        first = self.get_row(number, self._left)
        label = _make_one_line(first.label) if first else ""
        parts = [Segment(_fit_to_width(label, self._label_width, right=True), self._style("type") + ground)]
        for at in columns:
            row = self.get_row(number, at)
            cell = row.cells[at % COLUMNS] if row and at % COLUMNS < len(row.cells) else None
            selected = number == self.row and at == self.column
            style = self._style("missing" if cell is None else "cell")
            style += self._style("cursor") if selected else ground
            text = self._fit_cell(cell, at, here=row is not None)
            parts += [Segment("  ", self.rich_style + ground if selected else style), Segment(text, style)]
        return parts

    def _fit_cell(self, cell: Cell, at: int, *, here: bool) -> str:
        assert self.shape is not None
        text = _make_one_line(cell) if cell is not None else "NaN" if here else "…"
        return _fit_to_width(text, self._measure(at), right=self.shape.columns[at].numeric)

    def _request_page(self, place: PageKey) -> None:
        if place not in self._asked:
            self._asked.add(place)
            self.post_message(self.PageRequested(place))

    def _style(self, name: str) -> Style:
        styles = self.get_component_styles(f"table-view--{name}")
        ink = self.get_component_rich_style(f"table-view--{name}")
        if name in ("cursor", "row"):
            return Style(bgcolor=ink.bgcolor, bold=ink.bold, underline=ink.underline)
        return self.rich_style + Style(color=ink.color, bold=styles.text_style.bold)


def _make_one_line(text: str) -> str:
    """Return the text as it can stand in one line."""
    return escape_controls(text).replace("\n", " ").replace("\t", " ")


def _fit(name: str, kind: str) -> int:
    return min(_WIDEST, max(_NARROWEST, cell_len(_make_one_line(name)) + 2, cell_len(kind)))


def _fit_to_width(text: str, width: int, *, right: bool = False) -> str:
    """Return the text in exactly `width` cells, with "…" where it was cut."""
    missing = width - cell_len(text)
    if missing >= 0:
        return " " * missing + text if right else text + " " * missing
    return set_cell_size(set_cell_size(text, max(0, width - 1)) + "…", width)
