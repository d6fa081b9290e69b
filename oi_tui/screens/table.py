"""A full screen for a table: a data frame in a variable, or a file."""

import logging
import textwrap
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from oi_tui import paths
from oi_tui.input.table_export import export, write_csv_line, write_csv_lines
from oi_tui.runtimes.tables import (
    Column,
    LiveTable,
    Statistics,
    TableBusyError,
    TableChangedError,
    TableError,
    TableQuery,
    TableRow,
    TableShape,
    TableSource,
    find_unknown_column,
)
from oi_tui.screens.dialog import Page
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.table_choice import TableChoice
from oi_tui.terminal.clipboard import copy
from oi_tui.text import clean_line
from oi_tui.widgets.field import Field
from oi_tui.widgets.footer import KeyFooter, Keys
from oi_tui.widgets.lists.table_view import COLUMNS, ROWS, PageKey, TableView
from oi_tui.widgets.pager.long_text import LongText

if TYPE_CHECKING:
    from oi_tui.input.table_file import TableFile

_log = logging.getLogger(__name__)

_KEYS: Keys = (
    ("/", "filter"),
    ("enter", "whole row"),
    ("f", "find column"),
    ("s", "sort"),
    ("e", "export"),
    ("i", "statistics"),
    ("c", "copy cell"),
    ("r", "copy row"),
    ("C", "copy column"),
    ("f5", "reload"),
    ("esc", "back"),
)
#: The keys that work where there is no table to show: it is not read yet, or cannot be.
_KEYS_WITHOUT_TABLE: Keys = (("f5", "reload"), ("esc", "back"))
#: Rows of a column that go to the clipboard.
_COPIED = 100_000
#: Said where a filter leaves nothing.
_NO_ROW = "No row matches. Filter by a text, or by a condition on a column: price > 5"
#: In a row that is shown whole: the longest name of a column, and the longest text, in characters.
_NAME, _LONGEST = 40, 100_000
#: The room for the texts of such a row that is there in any window.
_NARROWEST = 20
#: What is left and right of a text on a screen.
_MARGINS = 6
#: The width of the longest bar of a histogram.
_BAR = 40
#: After this many seconds a page is requested again that did not come, and a table whose language was busy.
_AGAIN = 1.0
_LATER = 0.3
#: Seconds that the end of a file is waited for, which is nearly always enough.
_CLOSING = 0.1
#: Seconds for which a file is read before other questions about it are answered.
_STEP = 0.25

T = TypeVar("T")


class TableScreen(Page[None]):
    """Shows a table. `load` gives its source and may take a moment; exports go to `folder`.

    `pythons` finds interpreters that may have libraries for exports, and `refuse` says why a file is not
    written where it would be.
    """

    CSS_PATH = paths.styles() / "table.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", id="table.leave", show=False),
        # Done before the next key is given to a widget: that one may be for the field already.
        Binding("slash,ctrl+f", "filter", "Filter rows", id="table.filter", show=False, priority=True),
        Binding(
            "f", "find_column", "Find a column by its name", id="table.find_column", show=False, priority=True
        ),
        Binding("enter", "show_row", "Show the whole row", id="table.show_row", show=False),
        Binding("s", "sort", "Sort by this column", id="table.sort", show=False),
        Binding("i", "statistics", "Column statistics", id="table.statistics", show=False),
        Binding("c", "copy_cell", "Copy the cell", id="table.copy_cell", show=False),
        Binding("r", "copy_row", "Copy the row", id="table.copy_row", show=False),
        Binding("C", "copy_column", "Copy the column", id="table.copy_column", show=False),
        Binding("t", "choose", "Another table of the file", id="table.choose", show=False),
        Binding(
            "e", "export", "Export as CSV, Parquet or Excel", id="table.export", show=False, priority=True
        ),
        Binding("f5", "reload", "Reload", id="table.reload", show=False),
    ]

    @dataclass
    class WorkFinished(Message):
        """Something that took its time has its result; `then` takes it."""

        then: Callable[[], object]

    def __init__(
        self,
        name: str,
        load: Callable[[], TableSource],
        folder: Path,
        pythons: Callable[[], Sequence[str]] = tuple,
        refuse: Callable[[Path], str | None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._refuse = refuse
        self._pythons = pythons
        self._called = name
        self._load = load
        self._folder = folder
        self._source: TableSource | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._table = TableView(id="table-view")
        self._footer = KeyFooter(id="table-keys")
        self._head = Static(
            Content(f"{clean_line(self._called, 80)}  loading…"), id="table-head", markup=False
        )
        # A key may come before the parts are on the screen, and an answer after they have gone.
        self._field = Field(id="table-field")
        self._is_reading = False
        #: What is done with the text of the field.
        self._then: Callable[[str], object] = self._filter
        #: The text by which a column was found last.
        self._column_words = ""
        #: The name of the column that was sorted by last.
        self._sorted_by = ""
        #: How many questions the source has not answered.
        self._questions = 0

    def compose(self) -> ComposeResult:
        """Mount the title, the table, the field for a filter or a file name, and the keys."""
        yield self._head
        yield self._table
        yield self._field
        yield self._footer

    def on_mount(self) -> None:
        """Open the table."""
        self._field.display = False
        self._table.focus()
        self.action_reload()

    def on_unmount(self) -> None:
        """Close a file."""
        self._closed = True
        self._close_source()

    def _close_source(self) -> None:
        """Close a file, which waits for a batch of rows that is being read."""
        if close := getattr(self._source, "close", None):
            closing = threading.Thread(target=close, name="table end", daemon=True)
            closing.start()
            closing.join(_CLOSING)

    def on_resize(self) -> None:
        """Show as many keys as fit."""
        self._say("")

    def _say(self, words: str) -> None:
        keys = _KEYS if self._table.shape else _KEYS_WITHOUT_TABLE
        if len(self._tables) > 1:
            keys = (("t", "other tables"), *keys)
        self._footer.show(keys, words)

    @property
    def _tables(self) -> Sequence[str]:
        """The tables of the file, where it can have several."""
        return getattr(self._source, "tables", ())

    def action_choose(self) -> None:
        """Choose another table of the file."""
        if len(self._tables) < 2:
            self._say(
                "There are no other tables in this file." if self._tables else "This is the only table."
            )
            return

        def open_other(name: str | None) -> None:
            if name is not None and name != getattr(self._source, "table", ""):
                self._say("loading…")
                self._ask(
                    lambda source: cast("TableFile", source).open_other(name),
                    lambda other: self._use(other, TableQuery()),
                )

        now = getattr(self._source, "table", "")
        self.app.push_screen(TableChoice(self._tables, now), open_other)

    def _use(self, source: TableSource, view: TableQuery) -> None:
        """Show this view of another source in place of the one before."""
        self._close_source()
        self._source = source
        self._called = source.name
        self._show(view)

    # -- asking the source

    def _ask(
        self,
        work: Callable[[TableSource], T],
        then: Callable[[T], object],
        failed: Callable[[], object] | None = None,
        busy: Callable[[], object] | None = None,
    ) -> None:
        """Ask the source in a thread, one question after the other, and go on with the answer here.

        `busy` asks again later, where the source cannot be asked now; without it, that is a failure.
        """
        self._questions += 1

        def ask() -> None:
            try:
                with self._lock:
                    if self._closed:
                        return
                    if self._source is None:
                        self._source = self._load()
                    answer = work(self._source)
            except TableBusyError as error:
                words = str(error)
                self.post_message(self.WorkFinished(lambda: self._report_busy(words, failed, busy)))
            except TableChangedError as error:
                words = str(error)
                self.post_message(self.WorkFinished(lambda: self._report_change(words)))
            except (TableError, OSError) as error:
                words = str(error)
                self.post_message(self.WorkFinished(lambda: self._report_failure(words, failed)))
            except Exception as error:  # noqa: BLE001
                # Files and variables hold anything; a screen that waits for ever helps nobody.
                _log.exception("A table cannot be read")
                words = f"this table cannot be read: {type(error).__name__}: {error}; the log says where"
                self.post_message(self.WorkFinished(lambda: self._report_failure(words, failed)))
            else:
                self.post_message(self.WorkFinished(lambda: then(answer)))
            if self._closed:
                self._close_source()

        self.run_worker(ask, thread=True, exit_on_error=False)

    @on(WorkFinished)
    def handle_work_finished(self, event: WorkFinished) -> None:
        """Handle a result."""
        self._questions -= 1
        event.then()

    def _report_busy(
        self, words: str, failed: Callable[[], object] | None, again: Callable[[], object] | None
    ) -> None:
        if again is None:
            self._report_failure(f"{words}; try again when it is done (f5).", failed)
        else:
            self._report_failure(f"{words}; the table opens as soon as it is done.", again)

    def _report_change(self, words: str) -> None:
        """Show the changed table, and report that it changed."""
        self._show(self._table.view, f"{words}; it is shown as it is now.")

    def _report_failure(self, words: str, failed: Callable[[], object] | None) -> None:
        if self._table.shape is None:
            text = words if words.startswith(self._called) else f"{self._called}: {words}"
            self._head.add_class("failed")
            self._head.update(Content(clean_line(text, 500)))
        # It is said once: in the head where there is no table to show.
        self._say(words if self._table.shape else "")
        if failed:
            failed()

    def action_reload(self) -> None:
        """Show the table as it is now; a file is read again."""
        if not hasattr(self._source, "open_other"):
            self._show(self._table.view)
            return

        def read(source: TableSource) -> tuple[TableSource, TableShape]:
            file = cast("TableFile", source)
            other = file.open_other(file.table)
            return other, other.shape(TableQuery())

        def apply(found: tuple[TableSource, TableShape]) -> None:
            view = self._table.view
            sort = None if view.sort is None else self._find_sorted(found[1], view.sort)
            self._use(found[0], replace(view, sort=sort))

        self._say("loading…")
        self._ask(read, apply)

    def follow(self) -> None:
        """Show the values that a table in memory has now; what is in sight changes at once, without a gap."""
        if not isinstance(self._source, LiveTable) or self._table.shape is None:
            return
        view, places = self._table.view, self._table.find_places_in_sight()

        def read(source: TableSource) -> tuple[TableShape, dict[PageKey, list[TableRow]]]:
            shape = source.shape(view)
            return shape, {place: _fetch_page(source, view, place) for place in places}

        def apply(found: tuple[TableShape, dict[PageKey, list[TableRow]]]) -> None:
            shape, pages = found
            if self._table.view != view:
                return
            if self._table.is_like(shape):
                self._table.renew(shape, pages)
                self._describe(shape, view)
            else:
                self._apply(shape, view, f"{self._called} has changed; it is shown as it is now.")

        self._ask(read, apply, busy=lambda: self.set_timer(_AGAIN, self.follow))

    def _show(self, view: TableQuery, note: str = "") -> None:
        """Show this view, and say the note, if there is one."""

        def retry() -> None:
            self.set_timer(_LATER, lambda: self._show(view, note))

        self._ask(
            lambda source: source.shape(view),
            lambda shape: self._apply(shape, view, note),
            busy=retry if self._table.shape is None else None,
        )

    def _apply(self, shape: TableShape, view: TableQuery, note: str) -> None:
        if view.sort is not None and view.sort != (sort := self._find_sorted(shape, view.sort)):
            self._show(replace(view, sort=sort), note)
            return
        self._table.show(shape, view)
        self._describe(shape, view)
        self._say(note or (_explain_no_row(view.words, shape) if view.words and not shape.rows else ""))
        if shape.reading:
            self._read_on()

    def _find_sorted(self, shape: TableShape, sort: int) -> int | None:
        """Return where the column by which the rows are sorted is now; None where it has gone."""
        names = [column.name for column in shape.columns]
        if names[sort : sort + 1] == [self._sorted_by]:
            return sort
        return names.index(self._sorted_by) if self._sorted_by in names else None

    def _describe(self, shape: TableShape, view: TableQuery) -> None:
        self._head.remove_class("failed")
        rows = f"{shape.total:,} row{'s' * (shape.total != 1)}"
        if shape.rows != shape.total:
            rows = f"{shape.rows:,} of {rows}"
        if shape.reading:
            rows += " so far"
        if len(self._tables) > 1 and self._source is not None:
            self._called = self._source.name
        many = len(shape.columns)
        kind, _, remarks = shape.kind.partition(", ")
        words = f"{self._called} · {kind} · {rows}, {many:,} column{'s' * (many != 1)}"
        if view.words:
            words += f" · filter: {view.words}"
        if len(self._tables) > 1:
            words += f" · {len(self._tables):,} tables"
        # What is unusual about a file may be long, and is cut first in a narrow window.
        if remarks:
            words += f" · {remarks}"
        self._head.update(Content(clean_line(words, 300)))

    def _read_on(self) -> None:
        """Read more of a file when nothing else is asked; show how far it is, and at the end all of it."""
        if self._is_reading:
            return
        if self._questions:
            self.set_timer(_STEP, self._read_on)
            return
        self._is_reading = True

        def read(source: TableSource) -> TableShape:
            cast("TableFile", source).read_on(_STEP)
            return source.shape(TableQuery())

        def apply(shape: TableShape) -> None:
            self._is_reading = False
            if not shape.reading:
                self._show(self._table.view)
                return
            if self._table.view == TableQuery():
                self._table.grow(shape)
            if self._table.shape is not None:
                self._describe(replace(shape, rows=self._table.shape.rows), self._table.view)
            self._read_on()

        self._ask(read, apply)

    def _is_complete(self, action: str) -> bool:
        """Return whether all rows are here; says that the action needs them where they are not."""
        shape = self._table.shape
        if shape is not None and shape.reading:
            self._say(f"The file is still being read. {action} when all rows are here.")
            return False
        return shape is not None

    @on(TableView.PageRequested)
    def handle_page_requested(self, event: TableView.PageRequested) -> None:
        """Fetch a page that is in sight."""
        view, place = self._table.view, event.place

        def put(rows: list[TableRow]) -> None:
            if self._table.view == view:
                self._table.set_page(place, rows)

        def retry() -> None:
            self._table.forget_request(place)
            self.set_timer(_AGAIN, self._table.refresh)

        self._ask(lambda source: _fetch_page(source, view, place), put, retry)

    # -- order and filter

    def action_sort(self) -> None:
        """Sort by the selected column: upwards, downwards, not at all."""
        view, column = self._table.view, self._table.column
        if self._table.shape is None or not self._table.shape.columns:
            return
        self._sorted_by = self._table.shape.columns[column].name
        if view.sort != column:
            view = replace(view, sort=column, descending=False)
        elif not view.descending:
            view = replace(view, descending=True)
        else:
            view = replace(view, sort=None, descending=False)
        self._say("sorting…")
        self._show(view)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave letters to the field while it is open."""
        return not (action in ("filter", "find_column", "export") and self._field.display)

    def action_filter(self) -> None:
        """Ask which text the rows contain."""
        words = "show rows that contain this text, or a condition: price > 5; empty shows all"
        self._ask_for(words, self._table.view.words, self._filter)

    def _filter(self, words: str) -> None:
        self._say("filtering…")
        self._show(replace(self._table.view, words=words))

    def action_find_column(self) -> None:
        """Ask for the name of a column, or a part of it."""
        self._ask_for("go to the next column with this in its name", self._column_words, self._find_column)

    def _find_column(self, words: str) -> None:
        """Select the column of this name, else the next one whose name contains it."""
        table, needle = self._table, words.casefold()
        if table.shape is None or not words:
            return
        self._column_words = words
        names = [column.name.casefold() for column in table.shape.columns]
        order = [*range(table.column + 1, len(names)), *range(table.column + 1)]
        matches = [at for at in order if names[at] == needle] or [at for at in order if needle in names[at]]
        if not matches:
            self._say(f"No column has {clean_line(words, 60)} in its name.")
            return
        table.select_column(matches[0])
        many = sum(needle in name for name in names)
        self._say(f"{many:,} columns have it in their names; f and enter go to the next." if many > 1 else "")

    def action_export(self) -> None:
        """Ask for the name of the file."""
        if not self._is_complete("Export the table"):
            return
        self._ask_for("file name", f"{Path(self._called.split()[0]).stem}_export.csv", self._export)
        self._say("The extension sets the format: .csv, .parquet or .xlsx")

    def _ask_for(self, words: str, value: str, then: Callable[[str], object]) -> None:
        if self._table.shape is None:
            return
        self._then = then
        field = self._field
        field.placeholder, field.value, field.display = words, value, True
        self.set_focus(field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Filter, find a column, or export."""
        self._close_field()
        self._then(event.value.strip())

    def _close_field(self) -> None:
        self._field.display = False
        self._table.focus()

    def action_leave(self) -> None:
        """Close the field, else the screen."""
        if self._field.display:
            self._close_field()
        else:
            self.dismiss()

    # -- statistics

    def action_statistics(self) -> None:
        """Show the selected column in figures."""
        shape, column = self._table.shape, self._table.column
        if not self._is_complete("Ask for statistics") or not shape or not shape.columns:
            return
        self._say("counting…")
        name = clean_line(f"{shape.columns[column].name} ({shape.columns[column].type})", 100)

        def show(found: Statistics) -> None:
            self._say("")
            text = LongText.of(format_statistics(found))
            self.app.push_screen(
                PagerScreen(name, text, "These figures cover all rows; the filter does not apply.")
            )

        self._ask(lambda source: source.statistics(column), show)

    # -- a row

    def action_show_row(self) -> None:
        """Show the selected row with all its columns, one below the other, and their whole texts."""
        shape, view, number = self._table.shape, self._table.view, self._table.row
        if shape is None or not shape.rows:
            return

        def show(rows: list[TableRow]) -> None:
            if rows:
                text = LongText.of(format_row(shape.columns, rows[0], self.size.width - _MARGINS))
                title = f"{clean_line(self._called, 60)} · row {clean_line(rows[0].label, 60)}"
                where = "All columns of the row, in their order; NaN stands for a missing value."
                self.app.push_screen(PagerScreen(title, text, where))

        self._ask(lambda source: source.page(view, number, 1, 0, len(shape.columns), whole=True), show)

    # -- copies

    def action_copy_text(self) -> None:
        """Copy what the mouse selected in the title, else the cell."""
        if self._table.has_focus and not self.get_selected_text():
            self.action_copy_cell()
        else:
            super().action_copy_text()

    def action_copy_cell(self) -> None:
        """Copy the selected cell."""
        column = self._table.column
        self._copy(lambda row: [row.cells[0] or ""] if row.cells else [], column, 1, plain=True)

    def action_copy_row(self) -> None:
        """Copy the selected row as CSV."""
        width = len(self._table.shape.columns) if self._table.shape else 0
        self._copy(lambda row: [cell or "" for cell in row.cells], 0, width)

    def _copy(
        self, cells: Callable[[TableRow], list[str]], first: int, width: int, *, plain: bool = False
    ) -> None:
        if self._table.shape is None:
            return
        view, number = self._table.view, self._table.row

        def put(rows: list[TableRow]) -> None:
            if rows:
                values = cells(rows[0])
                self._say(copy("".join(values) if plain else write_csv_line(values).rstrip("\n"), self.app))

        self._ask(lambda source: source.page(view, number, 1, first, width, whole=True), put)

    def action_copy_column(self) -> None:
        """Copy the selected column as CSV, with its name."""
        shape, view, column = self._table.shape, self._table.view, self._table.column
        if not self._is_complete("Copy the column") or not shape or not shape.columns:
            return
        if shape.rows > _COPIED:
            self._say(f"A column of more than {_COPIED:,} rows is not copied; export it with e.")
            return
        self._ask(
            lambda source: "".join(write_csv_lines(source, shape, view, column, 1)),
            lambda text: self._say(copy(text, self.app)),
        )

    def _export(self, name: str) -> None:
        shape, view = self._table.shape, self._table.view
        if shape is None or not name:
            return
        path = self._folder / paths.expand_typed(name)
        if reason := self._refuse(path):
            self._say(f"Not written. {reason}.")
            return
        self._say("exporting…")
        self._ask(
            lambda source: export(source, shape, view, path, self._pythons()),
            lambda _: self._say(f"Wrote {shape.rows:,} row{'s' * (shape.rows != 1)} to {path}"),
        )


def _explain_no_row(words: str, shape: TableShape) -> str:
    """Return why a filter leaves nothing: perhaps it is a condition on a column that does not exist."""
    name = find_unknown_column(words, [column.name for column in shape.columns])
    if name is None:
        return _NO_ROW
    return (
        f"No row matches, and no column is called {clean_line(name, 40)} (f finds one by a part of its name)."
    )


def _fetch_page(source: TableSource, view: TableQuery, place: PageKey) -> list[TableRow]:
    return source.page(view, place[0] * ROWS, ROWS, place[1] * COLUMNS, COLUMNS)


def format_row(columns: Sequence[Column], row: TableRow, width: int) -> str:
    """Return a row as text: a line for each column, and more lines for a text that needs some."""
    names = [clean_line(column.name, _NAME) for column in columns]
    wide = max(map(cell_len, names), default=0)
    room = max(_NARROWEST, width - wide - 2)
    lines = []
    for name, cell in zip(names, row.cells, strict=False):
        text = "NaN" if cell is None else cell
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}… ({len(text):,} characters)"
        first, *others = [part for line in text.splitlines() or [""] for part in _wrap(line, room)]
        lines.append(f"{set_cell_size(name, wide)}  {first}".rstrip())
        lines += [f"{'':{wide}}  {line}".rstrip() for line in others]
    return "\n".join(lines)


def _wrap(line: str, room: int) -> list[str]:
    """Return a line in parts that fit, broken at spaces where it has some."""
    if cell_len(line) <= room:
        return [line]
    # Letters that take two cells each are counted as one.
    most = room if cell_len(line) == len(line) else room // 2
    # A line of spaces alone has no words, and spaces are a part of the text.
    return textwrap.wrap(line, most, expand_tabs=False, replace_whitespace=False, drop_whitespace=False)


def format_statistics(found: Statistics) -> str:
    """Return statistics as text: the facts, then a bar for each value or range."""
    wide = max((len(name) for name, _ in found.facts), default=0)
    text = [f"{name:{wide}}  {value}" for name, value in found.facts]
    if found.bars:
        most = max(many for _, many in found.bars) or 1
        label = min(40, max(cell_len(name) for name, _ in found.bars))
        text.append("")
        for name, many in found.bars:
            bar = "█" * round(many * _BAR / most)
            text.append(f"{set_cell_size(clean_line(name, label), label)}  {bar:{_BAR}}  {many:,}")
    return "\n".join(text)
