"""A table on a screen of its own."""

import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from oi_tui.app import OiTui
from oi_tui.input.table_file import TableFile
from oi_tui.runtimes.tables import (
    Column,
    LiveTable,
    Statistics,
    TableBusyError,
    TableError,
    TableQuery,
    TableRow,
    TableShape,
    TableSource,
)
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.table import TableScreen, format_row, format_statistics
from oi_tui.screens.table_choice import TableChoice
from oi_tui.themes import DARK
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.lists.table_view import TableView
from oi_tui.widgets.pager.text_view import TextView
from tests.pilot.painting import find_lines_painted, paint
from tests.pilot.waiting import until


class Numbers:
    """Ten million rows of 90 columns, none of which is kept anywhere."""

    name = "numbers"
    total = 10_000_000

    def __init__(self) -> None:
        self.busy = False
        self.views: list[TableQuery] = []
        self.fetched = 0

    def shape(self, view: TableQuery) -> TableShape:
        if self.busy:
            raise TableBusyError("Python is busy or not running")
        self.views.append(view)
        columns = tuple(Column(f"c{at}", "int64" if at else "str", at > 0) for at in range(90))
        rows = self.total if not view.words else int(view.words == "a")
        return TableShape("DataFrame", columns, rows, self.total, "id")

    def page(
        self, view: TableQuery, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[TableRow]:
        self.fetched += count
        last = min(first + columns, 90)
        end = min(start + count, 1 if view.words else self.total)
        return [
            TableRow(f"r{n}", tuple(self.cell(n, at) for at in range(first, last))) for n in range(start, end)
        ]

    @staticmethod
    def cell(row: int, column: int) -> str | None:
        return f'x,"{row}\x1b[2J' if column == 0 else None if column == 2 else str(row * column)

    def statistics(self, column: int) -> Statistics:
        return Statistics((("missing", "3"),), ((f"c{column} low", 2), ("high", 4)))


class Stage(App[None]):
    CSS_PATH = [*OiTui.CSS_PATH, *OiTui.LATER_CSS]

    def __init__(self, load: Callable[[], TableSource], folder: Path) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        self._table = load, folder

    def on_mount(self) -> None:
        self.push_screen(TableScreen("numbers", *self._table))

    @property
    def shown(self) -> str:
        view = self.screen.query_one(TableView)
        return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))

    @property
    def head(self) -> str:
        return str(self.screen.query_one("#table-head", Static).render())

    @property
    def foot(self) -> str:
        return str(self.screen.query_one(KeyFooter).render())


@asynccontextmanager
async def looking(
    folder: Path, load: Callable[[], TableSource]
) -> AsyncIterator[tuple[Stage, Pilot[None], Callable]]:
    app = Stage(load, folder)
    async with app.run_test(size=(80, 24)) as pilot:
        yield app, pilot, partial(until, pilot)


async def test_header_and_labels_stay_while_the_rest_scrolls(tmp_path: Path) -> None:
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        assert "10,000,000 rows, 90 columns" in app.head
        lines = app.shown.split("\n")
        assert lines[0].split()[:3] == ["id", "c0", "c1"]
        assert lines[1].split()[:2] == ["str", "int64"]
        assert "NaN" in lines[2]
        assert lines[12][: lines[1].index("int64") + len("int64")].endswith("   10")
        assert "\x1b" not in app.shown
        await pilot.press("G", "end")
        await reached(lambda: "r9999999" in app.shown and str(9_999_999 * 89) in app.shown)
        assert "c89" in app.shown.split("\n")[0]
        assert source.fetched <= 2000


class Genes(Numbers):
    """More columns than anyone passes one by one."""

    total = 3

    def shape(self, view: TableQuery) -> TableShape:
        columns = tuple(Column(f"gene{at}", "int64", numeric=True) for at in range(20_000))
        return TableShape("DataFrame", columns, self.total, self.total)

    def page(
        self, view: TableQuery, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[TableRow]:
        last = min(first + columns, 20_000)
        return [TableRow(f"r{n}", tuple(self.cell(n, at) for at in range(first, last))) for n in range(3)]


async def test_the_last_of_many_thousand_columns_is_there_at_once(tmp_path: Path) -> None:
    async with looking(tmp_path, Genes) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        assert "20,000 columns" in app.head
        began = time.process_time()
        await pilot.press("end")
        await reached(lambda: str(2 * 19_999) in app.shown)
        # Measuring all columns before it again and again took minutes.
        assert time.process_time() - began < 10
        names = app.shown.split("\n")[0].split()
        assert names[-1] == "gene19999"
        assert "gene19995" in names
        await pilot.press("left", *["left"] * 5)
        assert app.shown.split("\n")[0].split()[0] == "gene19993"


async def test_a_column_is_found_by_its_name(tmp_path: Path) -> None:
    async with looking(tmp_path, Genes) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        view = app.screen.query_one(TableView)
        await pilot.press("f", *"GENE777", "enter")
        await reached(lambda: view.column == 777)
        await reached(lambda: "gene777" in app.shown and str(2 * 777) in app.shown)
        assert "11 columns have it" in app.foot
        # A part of a name goes on to the next.
        await pilot.press("f", *"1999", "enter")
        await reached(lambda: view.column == 1999)
        await pilot.press("f", "enter")
        await reached(lambda: view.column == 11999)
        await pilot.press("f", *"x9", "enter")
        await reached(lambda: "No column has x9 in its name" in app.foot)
        assert view.column == 11999


class Long(Numbers):
    """One row, whose label and whose column have long names."""

    total = 1

    def shape(self, view: TableQuery) -> TableShape:
        return TableShape("DataFrame", (Column("n" * 10_000, "int64", numeric=True),), 1, 1, "label")

    def page(
        self, view: TableQuery, start: int, count: int, first: int, columns: int, *, whole: bool = False
    ) -> list[TableRow]:
        return [TableRow("l" * 100, ("12345",))][start:]


async def test_a_narrow_window_shows_the_numbers_of_a_wide_column(tmp_path: Path) -> None:
    async with looking(tmp_path, Long) as (app, pilot, reached):
        for width in (80, 30, 16):
            await pilot.resize_terminal(width, 10)
            await reached(lambda width=width: 0 < width - app.screen.query_one(TableView).size.width < 4)
            await reached(lambda: app.shown.split("\n")[2].startswith("l") and "12345" in app.shown)


class Odd(Numbers):
    """A table with which something goes wrong that nobody thought of."""

    def shape(self, view: TableQuery) -> TableShape:
        raise ZeroDivisionError("division by zero")


async def test_an_unexpected_error_is_shown_and_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with looking(tmp_path, Odd) as (app, pilot, reached):
        await reached(lambda: "cannot be read: ZeroDivisionError: division by zero" in app.head)
        assert "Traceback" in caplog.text
        await pilot.press("escape")
        await reached(lambda: not isinstance(app.screen, TableScreen))


async def test_a_column_is_sorted_both_ways_and_back(tmp_path: Path) -> None:
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("right", "s")
        await reached(lambda: "c1 ↑" in app.shown)
        await pilot.press("s")
        await reached(lambda: "c1 ↓" in app.shown)
        await pilot.press("s")
        await reached(lambda: "↓" not in app.shown)
        assert source.views[1:] == [TableQuery(sort=1), TableQuery(sort=1, descending=True), TableQuery()]


async def test_a_filter_is_shown_and_removed(tmp_path: Path) -> None:
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("slash", "a", "enter")
        await reached(lambda: "1 of 10,000,000 rows" in app.head and "filter: a" in app.head)
        await reached(lambda: "r0" in app.shown and "r1" not in app.shown)
        await pilot.press("slash", "backspace", "enter")
        await reached(lambda: "filter" not in app.head and "r1" in app.shown)


async def test_a_filter_that_leaves_nothing_says_what_it_compares(tmp_path: Path) -> None:
    async with looking(tmp_path, Numbers) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("slash", *"c1", "enter")
        await reached(lambda: "0 of 10,000,000 rows" in app.head and "No row matches." in app.foot)
        await pilot.press("slash", "backspace", "backspace", "a", "enter")
        await reached(lambda: "filter: a" in app.head and "No row" not in app.foot)


def test_bars_begin_in_one_column_however_wide_the_letters_are() -> None:
    lines = format_statistics(Statistics((), (("é日本", 2), ("plain", 1)))).splitlines()
    assert len({cell_len(line.partition("█")[0]) for line in lines if line}) == 1


async def test_enter_shows_a_row_whole(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('name;remark;price\nZoë;"one\ntwo";\nLi;"long",5\n')
    async with looking(tmp_path, lambda: TableFile(tmp_path / "a.csv")) as (app, pilot, reached):
        await reached(lambda: "Zoë" in app.shown)
        # What is unusual about the file comes last.
        assert app.head == "numbers · CSV with semicolons · 2 rows, 3 columns · 1 shorter row"
        await pilot.press("enter")
        await reached(lambda: isinstance(app.screen, PagerScreen))
        view = app.screen.query_one(TextView)
        lines = [view.render_line(y).text.removeprefix("  ").rstrip() for y in range(4)]
        assert lines == ["name    Zoë", "remark  one", "        two", "price   NaN"]


def test_a_row_has_whole_texts_up_to_a_bound() -> None:
    columns = [Column("name", "text"), Column("n", "int")]
    text = format_row(columns, TableRow("1", ("x" * 200_000, None)), 120_000)
    assert text == f"name  {'x' * 100_000}… (200,000 characters)\nn     NaN"
    narrow = format_row(columns, TableRow("1", ("several words in a row\n表" + "格" * 12, "5")), 26)
    assert narrow.split("\n") == [
        "name  several words in a",
        "      row",
        "      表格格格格格格格格格",
        "      格格格",
        "n     5",
    ]


def test_a_row_keeps_the_spaces_of_its_texts() -> None:
    columns = [Column("a", "text"), Column("b", "text")]
    text = format_row(columns, TableRow("1", (" " * 50, f"x{' ' * 30}y")), 26)
    # There is room for 23 characters in a line.
    assert text.split("\n") == ["a", "", "", "b  x", f"   {' ' * 8}y"]


async def test_a_condition_on_no_column_says_so(tmp_path: Path) -> None:
    async with looking(tmp_path, Numbers) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("/", *"c100>5", "enter")
        await reached(lambda: "No row matches, and no column is called c100 (f finds one" in app.foot)


async def test_statistics_have_bars(tmp_path: Path) -> None:
    async with looking(tmp_path, Numbers) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("i")
        await reached(lambda: isinstance(app.screen, PagerScreen))


async def test_cells_rows_and_exports_are_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr("oi_tui.screens.table.copy", lambda text, _: copied.append(text) or "copied")
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("down", "c")
        await reached(lambda: len(copied) == 1)
        assert copied[0] == 'x,"1\x1b[2J'
        await pilot.press("r")
        await reached(lambda: len(copied) == 2)
        assert copied[1].startswith('"x,""1\x1b[2J",1,,3,')
        await pilot.press("C")
        await reached(lambda: "not copied" in app.foot)
        await pilot.press("slash", "a", "enter")
        await reached(lambda: "filter: a" in app.head)
        for words in ("Wrote 1 row to", "exists"):
            await pilot.press("e")
            assert app.screen.query_one(Input).value == "numbers_export.csv"
            await pilot.press("enter")
            await reached(lambda words=words: words in app.foot)
        written = (tmp_path / "numbers_export.csv").read_text().split("\n")
        assert written[0].startswith("c0,c1,c2")
        assert len(written) == 3


async def test_the_ending_of_the_name_is_the_format_of_an_export(tmp_path: Path) -> None:
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("e")
        assert ".csv, .parquet or .xlsx" in app.foot
        app.screen.query_one(Input).value = "all.xlsx"
        await pilot.press("enter")
        await reached(lambda: "export this table as .parquet" in app.foot)
        assert not (tmp_path / "all.xlsx").exists()


async def test_an_export_to_the_name_of_nobody_is_a_file_of_that_name(tmp_path: Path) -> None:
    source = Numbers()
    source.total = 3
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        await pilot.press("e")
        app.screen.query_one(Input).value = "~nobody-here.csv"
        await pilot.press("enter")
        await reached(lambda: "Wrote 3 rows to" in app.foot)
    assert (tmp_path / "~nobody-here.csv").exists()


async def test_a_table_of_a_busy_language_opens_by_itself_when_that_is_done(tmp_path: Path) -> None:
    source = Numbers()
    source.busy = True
    async with looking(tmp_path, lambda: source) as (app, _, reached):
        await reached(lambda: "busy or not running; the table opens as soon as it is done" in app.head)
        source.busy = False
        await reached(lambda: "r0" in app.shown)


async def test_why_there_is_no_table_is_said_once(tmp_path: Path) -> None:
    def load() -> TableSource:
        raise TableError("There is no file nope.csv")

    async with looking(tmp_path, load) as (app, _, wait):
        await wait(lambda: "There is no file nope.csv" in app.head)
        assert "nope.csv" not in app.foot


async def test_without_a_table_only_the_keys_that_work_are_shown(tmp_path: Path) -> None:
    sources: list[TableSource] = []

    def load() -> TableSource:
        if not sources:
            raise TableError("There is no file late.csv")
        return sources[0]

    async with looking(tmp_path, load) as (app, pilot, wait):
        await wait(lambda: "There is no file late.csv" in app.head)
        assert app.foot.strip() == "f5 reload   esc back"
        for key in ("slash", "f", "s", "i", "c", "r", "C", "e"):
            await pilot.press(key)
        await pilot.pause()
        assert app.foot.strip() == "f5 reload   esc back"
        assert not app.screen.query_one(Input).display
        sources.append(Numbers())
        await pilot.press("f5")
        await wait(lambda: "/ filter" in app.foot)


async def test_an_open_table_of_a_busy_language_says_how_to_try_again(tmp_path: Path) -> None:
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        source.busy = True
        await pilot.press("f5")
        await reached(lambda: "busy or not running; try again when it is done (f5)." in app.foot)
        source.busy = False
        await pilot.press("f5")
        await reached(lambda: "/ filter" in app.foot)


async def test_why_a_table_does_not_open_is_shown_whole(tmp_path: Path) -> None:
    why = (
        "numbers needs the Python package pyarrow, which oi-tui does not have; " + "install it, please. " * 4
    )

    def fail() -> TableSource:
        raise TableError(why)

    async with looking(tmp_path, fail) as (app, _, reached):
        await reached(lambda: app.head == why.strip())
        head = app.screen.query_one("#table-head", Static)
        await reached(lambda: head.size.height == 2)


async def test_a_sentence_below_the_table_is_shown_whole(tmp_path: Path) -> None:
    name = f"{'deep_' * 30}/numbers.csv"
    async with looking(tmp_path, Numbers) as (app, pilot, reached):
        await reached(lambda: "/ filter" in app.foot)
        foot = app.screen.query_one(KeyFooter)
        await pilot.press("e")
        app.screen.query_one(Input).value = name
        await pilot.press("enter")
        await reached(lambda: name in app.foot and foot.size.height > 1)
        await pilot.press("c")
        await reached(lambda: "/ filter" in app.foot and foot.size.height == 1)


async def test_a_cell_that_was_clicked_twice_is_what_is_copied(tmp_path: Path) -> None:
    async with looking(tmp_path, Numbers) as (app, pilot, reached):
        await reached(lambda: "/ filter" in app.foot and "     7" in app.shown)
        at = app.shown.split("\n")[9].index("     7") + 5
        await pilot.click(TableView, offset=(at, 9), times=2)
        assert app.screen.query_one(TableView).row == 7
        await pilot.press("ctrl+c")
        await reached(lambda: app.clipboard == "7")


class Stepwise(TableFile):
    """A file that is read only as far as the test lets it."""

    allowed = threading.Semaphore(0)

    def read_on(self, seconds: float) -> bool:
        return super().read_on(0) if self.allowed.acquire(timeout=seconds) else True


async def test_a_long_file_is_there_before_all_of_it_is_read(tmp_path: Path) -> None:
    lines = ["id,name", *(f"{number},n{number}" for number in range(2345))]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    file = Stepwise(tmp_path / "long.csv", gradually=True)
    async with looking(tmp_path, lambda: file) as (app, pilot, reached):
        await reached(lambda: "n0" in app.shown)
        assert app.head == "numbers · CSV · 1,000 rows so far, 2 columns"
        for key, words in (("i", "Ask for statistics"), ("C", "Copy the column"), ("e", "Export the table")):
            await pilot.press(key)
            said = f"The file is still being read. {words} when all rows are here."
            await reached(lambda said=said: said in app.foot)
        await pilot.press("down")
        file.allowed.release()
        await reached(lambda: "2,000 rows so far" in app.head)
        await pilot.press("G")
        await reached(lambda: "n1999" in app.shown)
        file.allowed.release(9)
        await reached(lambda: "2,345 rows, 2 columns" in app.head)
        await pilot.press("G")
        await reached(lambda: "n2344" in app.shown)
        await pilot.press("i")
        await reached(lambda: isinstance(app.screen, PagerScreen))


async def test_another_table_of_the_file_is_chosen_from_a_list(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "shop.db")
    database.executescript("create table one (a); insert into one values ('first');")
    database.executescript("create table two (b); insert into two values ('second');")
    database.close()
    async with looking(tmp_path, lambda: TableFile(tmp_path / "shop.db")) as (app, pilot, reached):
        await reached(lambda: "first" in app.shown)
        assert app.head == "shop.db::one · SQLite table · 1 row, 1 column · 2 tables"
        assert "t other tables" in app.foot
        await pilot.press("t")
        await reached(lambda: isinstance(app.screen, TableChoice))
        await pilot.press("down", "enter")
        await reached(lambda: isinstance(app.screen, TableScreen) and "second" in app.shown)
        assert app.head.startswith("shop.db::two")


async def test_reload_reads_a_file_again_and_keeps_its_order_and_filter(tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("city,n\nUlm,1\nBonn,2\nUlmen,3\n")
    async with looking(tmp_path, lambda: TableFile(file)) as (app, pilot, reached):
        await reached(lambda: "Bonn" in app.shown)
        await pilot.press("right", "s", "s", "slash", *"ulm", "enter")
        await reached(lambda: "2 of 3 rows" in app.head and "n ↓" in app.shown)
        file.write_text("id,city,n\na,Ulm,7\nb,Ulm,9\nc,Bonn,8\nd,Ulm,5\n")
        await pilot.press("f5")
        await reached(lambda: "3 of 4 rows, 3 columns" in app.head and "n ↓" in app.shown)
        await reached(lambda: [line.split()[-1] for line in app.shown.split("\n")[2:5]] == ["9", "7", "5"])
        # A file without that column, then none: its rows stay.
        file.write_text("city\nUlm\n")
        await pilot.press("f5")
        await reached(lambda: "1 row, 1 column" in app.head and "↓" not in app.shown)
        file.unlink()
        await pilot.press("f5")
        await reached(lambda: "There is no file" in app.foot)
        assert "Ulm" in app.shown


async def test_an_answer_that_comes_after_escape_is_no_failure(tmp_path: Path) -> None:
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        screen = app.screen
        assert isinstance(screen, TableScreen)
        await pilot.press("escape")
        await reached(lambda: app.screen is not screen and not screen.is_attached)
        screen._table.shape = None
        screen._report_failure("too late", None)
        screen._close_field()


async def test_a_table_that_takes_long_to_close_does_not_hold_the_screen(tmp_path: Path) -> None:
    source, asked, may_close, closed = Numbers(), threading.Event(), threading.Event(), threading.Event()

    def close() -> None:
        asked.set()
        may_close.wait(30)
        closed.set()

    source.close = close  # type: ignore[attr-defined]
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        screen = app.screen
        await pilot.press("escape")
        await reached(lambda: app.screen is not screen and not screen.is_attached and asked.is_set())
        assert not closed.is_set()
        may_close.set()
        await reached(closed.is_set)


class Changing:
    """A language that has one table; `rows` may change at any time."""

    def __init__(self) -> None:
        self.names = ["price", "name"]
        self.rows: list[list[object]] | None = [[3, "c"], [1, "a"], [2, "b"]]

    def answer(self, query: Mapping[str, object]) -> Mapping[str, object] | None:
        if self.rows is None:
            return {"error": "There is no variable df."}
        sort, rows = query["sort"], list(self.rows)
        if isinstance(sort, int):
            rows.sort(key=lambda row: row[sort], reverse=bool(query["descending"]))  # type: ignore[return-value, arg-type]
        if query["do"] == "shape":
            columns = [[name, "any", False] for name in self.names]
            return {"kind": "DataFrame", "columns": columns, "rows": len(rows), "total": len(rows)}
        page = [[str(at), row] for at, row in enumerate(rows)]
        return {"page": page, "names": self.names, "total": len(rows)}


async def test_a_table_that_changes_while_it_is_open_is_shown_as_it_is_now(tmp_path: Path) -> None:
    language = Changing()
    language.rows = [[at, "c"] for at in range(2000)]
    async with looking(tmp_path, lambda: LiveTable("df", "Python", language.answer)) as (app, pilot, reached):
        await reached(lambda: "2,000 rows, 2 columns" in app.head)
        await pilot.press("s")
        await reached(lambda: "price ↑" in app.shown and app.shown.split("\n")[2].split() == ["0", "0", "c"])
        language.names = ["name", "extra", "price"]
        language.rows = [["y", 0, 1000 - at] for at in range(1000)]
        # The next page that is asked for says that it is of another table.
        await pilot.press("G")
        await reached(lambda: "df has changed meanwhile; it is shown as it is now." in app.foot)
        await reached(lambda: "1,000 rows, 3 columns" in app.head and "price ↑" in app.shown)
        await pilot.press("g")
        await reached(lambda: app.shown.split("\n")[2].split() == ["0", "y", "0", "1"])


async def test_a_table_that_goes_away_while_it_is_open_says_so_and_keeps_its_rows(tmp_path: Path) -> None:
    language = Changing()
    async with looking(tmp_path, lambda: LiveTable("df", "Python", language.answer)) as (app, pilot, reached):
        await reached(lambda: "c" in app.shown.split("\n")[2])
        rows, language.rows = language.rows, None
        await pilot.press("f5")
        await reached(lambda: "There is no variable df." in app.foot)
        assert "c" in app.shown.split("\n")[2]
        await pilot.press("e", "enter")
        await reached(lambda: "There is no variable df." in app.foot)
        assert not list(tmp_path.iterdir())
        language.rows = rows
        await pilot.press("f5")
        await reached(lambda: "/ filter" in app.foot)


async def test_keys_that_arrive_together_go_to_the_field_that_the_first_one_opens(tmp_path: Path) -> None:
    source = Numbers()
    async with looking(tmp_path, lambda: source) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        # As from a slow connection. Letters of the text are keys of the table, too.
        for key, character in (("slash", "/"), ("e", "e"), ("s", "s"), ("slash", "/"), ("q", "q")):
            app.post_message(events.Key(key, character))
        field = app.screen.query_one("#table-field", Input)
        await reached(lambda: field.value == "es/q")
        assert field.has_focus
        await pilot.press("enter")
        await reached(lambda: "filter: es/q" in app.head)
        for key in ("e", "s", "q"):
            app.post_message(events.Key(key, key))
        await reached(lambda: field.value.endswith("sq"))
        assert not list(tmp_path.iterdir())


async def test_moving_in_a_table_paints_its_head_and_two_rows(tmp_path: Path) -> None:
    async with looking(tmp_path, Numbers) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        view = app.screen.query_one(TableView)
        assert await find_lines_painted(pilot, view, "down") == [0, 1, 2, 3]
        assert await find_lines_painted(pilot, view, "right") == [0, 1, 3]
        for key in ("end", "pagedown", "up", "left", "home", "ctrl+end", "up", "ctrl+home", "right"):
            await find_lines_painted(pilot, view, key)
        # On a slow link each key is felt by what it writes.
        assert max(len(list(strip)) for strip in paint(view)) < 12


async def test_the_selected_cell_differs_from_its_row_also_without_colours(tmp_path: Path) -> None:
    async with looking(tmp_path, Numbers) as (app, pilot, reached):
        await reached(lambda: "r0" in app.shown)
        view = app.screen.query_one(TableView)
        await pilot.press("right")
        marked = [text for text, style, _ in view.render_line(2) if style and style.underline]
        assert [text.strip() for text in marked] == [Numbers.cell(0, 1)]
