"""SQL in Python cells, on the data frames of the program and on files."""

import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

SETUP = """
import pandas
sales = pandas.DataFrame({
    "region": ["north", "south", "north"], "amount": [1.5, 2.0, None],
    "day": pandas.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
})
"""
#: Python without DuckDB, so that SQLite is used wherever the tests run.
WITHOUT_DUCKDB = "import sys\nsys.modules['duckdb'] = None"
ENGINES = {"sqlite": WITHOUT_DUCKDB, "duckdb": "import duckdb"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database."""
    folder = tmp_path_factory.mktemp("sql")
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("create table orders (id integer, price real)")
        database.execute("insert into orders values (1, 9.5), (2, 3.0)")
    database.close()
    return folder


@pytest.fixture(scope="module", params=ENGINES)
def python(request: pytest.FixtureRequest, folder: Path) -> Iterator[Computer]:
    """A computer whose Python has a data frame, and one of the engines."""
    if request.param == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
    computer = Computer(cwd=folder, python=sys.executable)
    assert play(computer, "python", SETUP + ENGINES[request.param]).state == "finished"
    yield computer
    computer.close()


def run_text(computer: Computer, code: str) -> str:
    return play(computer, "python", code).text.strip()


def test_data_frames_are_tables_by_their_names(python: Computer) -> None:
    query = "select region, sum(amount) as total, count(*) as n from sales group by region order by region"
    assert run_text(python, f"rows = %sql {query}\nrows.to_dict('records')") == (
        "[{'region': 'north', 'total': 1.5, 'n': 2},\n {'region': 'south', 'total': 2.0, 'n': 1}]"
    )
    assert run_text(python, "one = %sql select count(amount) as n from sales\nint(one.n[0])") == "2"
    assert play(python, "python", "sales.loc[0, 'amount'] = 10.0").state == "finished"
    assert run_text(python, "new = %sql select max(amount) as most from sales\nfloat(new.most[0])") == "10.0"
    assert play(python, "python", "sales.loc[0, 'amount'] = 1.5").state == "finished"


def test_records_columns_and_lists_by_name_are_tables_too(python: Computer) -> None:
    code = """
import dataclasses
@dataclasses.dataclass
class Town:
    name: str
    size: int
towns = [Town("Ulm", 3), Town("Bonn", None)]
orders = [{"id": 1, "n": "a"}, {"id": 2, "n": None}, {"id": 3}]
sums = {"step": [1, 2, 3], "loss": (0.5, 0.25, None)}
amounts = sales["amount"]
odd = [{"a": {"b": 1}}, {"a": [1]}]
periods = pandas.DataFrame({"year": pandas.period_range("2024", periods=2, freq="Y"), "n": [1, 2]})
"""
    assert play(python, "python", code).state == "finished"
    for query, expected in (
        ("select name from towns where size > 2", "[('Ulm',)]"),
        ("select count(n), max(id) from orders", "[(1, 3)]"),
        ("select count(*), sum(step), sum(loss) from sums", "[(3, 6, 0.75)]"),
        ("select t.name, o.n from towns t join orders o on o.id = t.size - 2", "[('Ulm', 'a')]"),
        ("select max(amount) from amounts", "[(2.0,)]"),
        ("select count(*) from odd", "[(2,)]"),
        ("select year, n from periods where n = 2", "[('2025', 2)]"),
        # A word that is no table stays what it is.
        ("select 1 as orders, 2 as odd", "[(1, 2)]"),
    ):
        rows = f"rows = %sql {query}\n[tuple(row) for row in rows.values.tolist()] == {expected}"
        assert run_text(python, rows) == "True", query


@pytest.mark.parametrize("kind", ["table", "temp table", "view"])
def test_a_table_that_a_cell_makes_is_found_before_the_data_frame_of_its_name(
    python: Computer, kind: str
) -> None:
    play(python, "python", "stock = pandas.DataFrame({'a': [1, 2, 3]})")
    # A query before it has the frame as a table.
    first = "select count(*) as n from stock;\n" if kind == "temp table" else ""
    code = f"%%sql made <<\n{first}create {kind} stock as select 7 as b;\nselect * from stock"
    assert run_text(python, code) == ""
    assert run_text(python, "made.values.tolist()") == "[[7]]"
    assert run_text(python, "again = %sql select b from stock\nagain.values.tolist()") == "[[7]]"
    # When it is dropped, the frame is found again.
    end = f"%%sql rest <<\ndrop {kind.split()[-1]} stock;\nselect sum(a) as s from stock"
    assert run_text(python, end) == ""
    assert run_text(python, "int(rest.s[0])") == "6"


def test_a_temporary_view_of_a_data_frame_reads_it_as_it_is_now(python: Computer) -> None:
    play(python, "python", "boxes = pandas.DataFrame({'a': [1, 2]})")
    code = "%%sql\ncreate temp view weights as select sum(a) as s from boxes;\n"
    assert run_text(python, f"{code}create temp view doubled as select s * 2 as d from weights") == ""
    assert run_text(python, "found = %sql select d from doubled\nint(found.d[0])") == "6"
    play(python, "python", "boxes.loc[2] = 50")
    assert run_text(python, "found = %sql select s from WEIGHTS\nint(found.s[0])") == "53"
    assert run_text(python, "%%sql\ndrop view doubled;\ndrop view weights") == ""


def test_a_view_that_stays_is_of_tables_only_in_sqlite(python: Computer) -> None:
    play(python, "python", "price = crates = pandas.DataFrame({'a': [1, 2]})")
    played = play(python, "python", "%%sql\n\ncreate view lasting as select a from crates")
    is_duckdb = played.state == "finished"
    if not is_duckdb:
        words = (
            "SqlError: line 3: only a temporary view can read the data frame crates: write CREATE TEMP VIEW"
        )
        assert words in played.text
        # Nothing is left of it; and the name of a column may be that of a frame.
        assert run_text(python, "%sql create view lasting as select 1 as a union select 2") == ""
    assert run_text(python, "%%sql\ncreate table goods (price integer);\ninsert into goods values (7)") == ""
    assert run_text(python, "%sql create view prices as select price from main.goods") == ""
    assert run_text(python, "found = %sql select price from prices\nint(found.price[0])") == "7"
    assert run_text(python, "found = %sql select sum(a) as s from lasting\nint(found.s[0])") == "3"
    assert run_text(python, "%%sql\ndrop view prices;\ndrop view lasting;\ndrop table goods") == ""


@pytest.mark.parametrize("kind", ["table", "temp table"])
def test_a_data_frame_can_be_kept_as_a_table_of_its_name(python: Computer, kind: str) -> None:
    play(python, "python", "shelf = pandas.DataFrame({'a': [1, 2, 3]})")
    code = (
        f"%%sql kept <<\ncreate {kind} shelf as select a * 2 as b from shelf;\nselect sum(b) as s from shelf"
    )
    assert run_text(python, code) == ""
    assert run_text(python, "int(kept.s[0])") == "12"
    assert run_text(python, "%%sql\ndrop table shelf") == ""


def test_a_cell_of_statements_shows_the_rows_of_the_last_one_as_a_table(python: Computer) -> None:
    code = "%%sql\ncreate table kept (a integer, b text); -- a comment; with a semicolon\n"
    code += "insert into kept values (1, 'x;y'), (2, 'z');\n\nselect * from kept order by a"
    played = play(python, "python", code)
    tables = [report.table for _, report in played.reports if isinstance(report, Printed) and report.table]
    assert tables
    assert '"x;y"' in tables[0]
    assert run_text(python, "%%sql\ndrop table kept;") == ""


def test_rows_can_be_kept_as_a_variable(python: Computer) -> None:
    assert run_text(python, "%%sql found <<\nselect 1 as a, 2 as a") == ""
    assert run_text(python, "list(found.columns), len(found)") == "(['a', 'a_1'], 1)"


def test_an_error_names_the_line_of_the_statement(python: Computer) -> None:
    played = play(python, "python", "%%sql\nselect 1;\n\nselect *\nfrom nowhere")
    assert played.state == "failed"
    # DuckDB tells the line within the statement, too.
    assert "SqlError: line 4:" in played.text or "SqlError: line 5:" in played.text
    assert "nowhere" in played.text
    assert "python_sql.py" not in played.text


def test_a_query_can_be_stopped_and_the_tables_stay(python: Computer) -> None:
    assert run_text(python, "%%sql\ncreate table stays as select 7 as n;") == ""
    endless = (
        "print('begun', flush=True)\n"
        "get_ipython().run_cell_magic('sql', '', '''with recursive n(i) as "
        "(select 1 union all select i + 1 from n) select count(*) from n''')"
    )
    begun, reports = threading.Event(), []

    def run() -> None:
        for report in python.run("python", endless):
            reports.append(report)
            if isinstance(report, Printed):
                begun.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(20)
    python.interrupt()
    thread.join(20)
    assert not thread.is_alive()
    assert reports[-1].state == "interrupted"  # type: ignore[union-attr]
    assert run_text(python, "kept = %sql select n from stays\nint(kept.n[0])") == "7"
    assert run_text(python, "%%sql\ndrop table stays") == ""


def test_an_interrupt_that_a_database_forgets_is_repeated(python: Computer) -> None:
    # DuckDB forgets one that comes after the thread began and before the query did.
    code = """
import _thread, sys, threading
ended, interrupts = threading.Event(), []
def interrupt():
    interrupts.append(len(interrupts))
    if len(interrupts) == 3:
        ended.set()
def work():
    _thread.interrupt_main()
    ended.wait(20)
try:
    sys.modules["python_sql"].run_interruptibly(work, interrupt)
except KeyboardInterrupt:
    print(len(interrupts), "interrupts")
"""
    assert run_text(python, "%sql select 1") != ""
    assert run_text(python, code) == "3 interrupts"


def test_an_address_before_a_query_or_alone_is_the_database_from_then_on(folder: Path) -> None:
    computer = Computer(cwd=folder, python=sys.executable)
    try:
        assert play(computer, "python", WITHOUT_DUCKDB).state == "finished"
        assert run_text(computer, "%sql sqlite:///shop.db") == ""
        assert run_text(computer, "%sql select max(price) as top from orders") == "[{'top': 9.5}]"
        assert run_text(computer, "%sql sqlite://") == ""
        assert run_text(computer, "%sql") == "[]"
        assert run_text(computer, "%%sql sqlite:///shop.db\nselect min(id) as n from orders") == "[{'n': 1}]"
        assert run_text(computer, "%sql sqlite:// select 1 as one") == "[{'one': 1}]"
        words = run_text(computer, "%sql postgresql://ana:secret@127.0.0.1:1/shop")
        assert "leave the password out of the address" in words
        assert "secret" not in words.partition("SqlError")[2]
        assert run_text(computer, "%sql rows << select 2 as two\nrows") == "[{'two': 2}]"
    finally:
        computer.close()


def test_a_file_is_the_database_from_then_on(folder: Path) -> None:
    computer = Computer(cwd=folder, python=sys.executable)
    try:
        assert play(computer, "python", WITHOUT_DUCKDB).state == "finished"
        assert run_text(computer, "%%sql shop.db\nselect * from orders order by id") == (
            "[{'id': 1, 'price': 9.5}, {'id': 2, 'price': 3.0}]"
        )
        assert run_text(computer, "%sql select max(price) as top from orders") == "[{'top': 9.5}]"
        assert run_text(computer, "%sql") == "[{'name': 'orders', 'type': 'table'}]"
        assert "There is no folder" in run_text(computer, "%%sql missing/shop.db\nselect 1")
        assert "%pip install duckdb" in run_text(computer, "%%sql x.duckdb\nselect 1")
        assert run_text(computer, "%sql select count(*) as n from orders") == "[{'n': 2}]"
    finally:
        computer.close()
