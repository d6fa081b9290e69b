"""Cells of SQL: one state, in the process of Python, with its data frames in reach."""

import json
import re
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import LANGUAGES, python
from oi_tui.runtimes.tables import TableQuery, TableRow
from tests.runtimes.playing import Played, living, play

#: Python without DuckDB, so that SQLite is used wherever the tests run.
WITHOUT_DUCKDB = "import sys\nsys.modules['duckdb'] = None"
ENGINES = {"sqlite": WITHOUT_DUCKDB, "duckdb": "import duckdb"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database and a file of rows."""
    folder = tmp_path_factory.mktemp("sql-cells")
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("create table orders (id integer, price real)")
        database.execute("insert into orders values (1, 9.5), (2, 3.0)")
    database.close()
    (folder / "prices.csv").write_text("name,price\na,1.5\nb,2.5\n")
    (folder / "more.sql").write_text(
        "create temp table read_in (n integer);\ninsert into read_in values (3);\n"
    )
    return folder


@pytest.fixture(scope="module", params=ENGINES)
def sql(request: pytest.FixtureRequest, folder: Path) -> Iterator[Computer]:
    """A computer whose Python has one of the engines."""
    if request.param == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
    computer = Computer(cwd=folder, python=sys.executable)
    assert play(computer, "python", ENGINES[request.param]).state == "finished"
    yield computer
    computer.close()


@pytest.fixture
def fresh(folder: Path) -> Iterator[Computer]:
    """A computer of the test's own, without DuckDB."""
    computer = Computer(cwd=folder, python=sys.executable, startup=[("python", WITHOUT_DUCKDB)])
    yield computer
    computer.close()


def run_text(computer: Computer, code: str, language: str = "sql") -> str:
    played = play(computer, language, code)
    assert played.state == "finished", played.text
    return played.text.strip()


def views(played: Played) -> list[str]:
    """What the model gets of the values."""
    return [item.view for _, item in played.reports if isinstance(item, Printed) and item.view]


def test_each_query_is_a_table_for_the_person_and_whole_for_the_model(sql: Computer) -> None:
    code = (
        "create temp table t (a integer, b text);\ninsert into t values (1, 'x;y'), (2, null);\n"
        "select a, b from t order by a;\nselect count(*) as n from t where a > 9"
    )
    played = play(sql, "sql", code)
    assert played.state == "finished"
    assert "2 rows changed\n" in played.text
    assert "a  b\n-  ----\n1  x;y\n2  NULL\n(2 rows)\n" in played.text
    columns, rows = "Columns: a int, b str (1 missing)", "Rows as CSV (the columns):"
    assert views(played) == [
        f"Result: 2 rows by 2 columns\n{columns}\n{rows}\n\n1,x;y\n2,",
        f"Result: 1 row by 1 column\nColumns: n int\n{rows}\n\n0",
    ]
    tables = [item.table for _, item in played.reports if isinstance(item, Printed) and item.table]
    assert len(tables) == 2
    assert '"total": 2' in tables[0]
    opened = sql.inspector.open_table("sql", json.loads(tables[0])["key"])
    assert opened.page(TableQuery(words="x;y"), 0, 9, 0, 2) == [TableRow("0", ("1", "x;y"))]
    assert run_text(sql, "drop table t") == ""


def test_data_frames_are_tables_and_the_last_rows_are_a_name_in_python(sql: Computer) -> None:
    frame = "import pandas\nsales = pandas.DataFrame({'region': ['n', 's', 'n'], 'amount': [1.5, 2.0, 4.0]})"
    assert run_text(sql, frame, "python") == ""
    query = "select region, sum(amount) as total from sales group by region order by region"
    assert "n         5.5\ns         2.0\n" in run_text(sql, query)
    assert (
        run_text(sql, "print(_sql.to_dict('list'))", "python")
        == "{'region': ['n', 's'], 'total': [5.5, 2.0]}"
    )


def test_wide_letters_and_numbers_are_aligned_and_control_characters_are_shown(sql: Computer) -> None:
    code = "select '日本' as n, 1.25 as x, '\x1b[31m' as c union all select 'ab', 22.25, 'tab\t'"
    assert play(sql, "sql", code).text == (
        "n         x  c\n----  -----  --------\n日本   1.25  \\x1b[31m\nab    22.25  tab\\t\n(2 rows)\n"
    )


def test_definitions_and_plans_are_printed_line_by_line(sql: Computer) -> None:
    printed = run_text(sql, "select 'create table a (\n  n integer\n)' as sql")
    assert printed.replace("\r", "") == "create table a (\n  n integer\n)"
    plan = run_text(sql, "explain select 41 + 1").splitlines()
    assert len(plan) > 3
    assert not any("\\n" in line for line in plan)


def test_a_long_result_is_cut_in_the_middle_and_kept_whole(sql: Computer) -> None:
    query = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i from n"
    printed = run_text(sql, query)
    assert "… 4,975 more rows …" in printed
    assert printed.endswith("5000\n(5,000 rows)")
    assert run_text(sql, "print(len(_sql))", "python") == "5000"


def test_an_error_names_the_line_and_what_ran_before_stays(sql: Computer) -> None:
    played = play(sql, "sql", "create table kept as select 1 as n;\n\nselect *\nfrom nowhere;")
    assert played.state == "failed"
    assert "nowhere" in played.reason
    assert played.reason.startswith(("line 3: ", "line 4: "))
    assert "python_sql" not in played.text
    assert run_text(sql, ".mode list\nselect n from kept;\ndrop table kept") == "1"


def test_a_statement_that_cannot_be_read_keeps_those_before_it_from_running(sql: Computer) -> None:
    played = play(sql, "sql", "create table never (n integer);\nselect 1;\nselec 2")
    assert played.state == "failed"
    assert played.reason.startswith("line 3: ")
    assert "never" not in run_text(sql, ".tables")
    played = play(sql, "sql", "create table never (n integer);\n.nonsense")
    assert played.reason == "line 2: .nonsense is not known; .help lists what is"
    assert "never" not in run_text(sql, ".tables")


def test_a_transaction_spans_cells_and_can_be_taken_back(sql: Computer) -> None:
    assert (
        run_text(sql, "create table ledger (n integer);\nbegin;\ninsert into ledger values (1)")
        == "1 row changed"
    )
    assert run_text(sql, ".mode list\nselect count(*) from ledger") == "1"
    assert run_text(sql, "rollback;\n.mode list\nselect count(*) from ledger;\ndrop table ledger") == "0"


def test_files_can_be_read_and_databases_opened(sql: Computer) -> None:
    assert run_text(sql, ".read more.sql\n.mode list\nselect n from read_in;\ndrop table read_in").endswith(
        "3"
    )
    assert sql.find_database("sql") == "a database in memory"
    assert (
        run_text(sql, ".open shop.db\n.mode csv\nselect * from orders order by id")
        == "id,price\n1,9.5\n2,3.0"
    )
    assert sql.find_database("sql") == "SQLite, shop.db"
    assert sql.describe("sql").endswith(": SQLite, shop.db")
    assert run_text(sql, ".mode list\n.schema orders") == "orders|id|INTEGER\norders|price|REAL"
    assert run_text(sql, ".databases") == "shop.db  SQLite, shop.db\n:memory:"
    assert run_text(sql, ".open :memory:") == ""
    assert sql.find_database("sql") == "a database in memory"
    missing = play(sql, "sql", ".open nowhere/x.db")
    assert re.match(r"line 1: There is no folder \S*nowhere for the database", missing.reason)
    assert run_text(sql, ".close shop.db\n.databases") == ":memory:"


def test_duckdb_reads_files_of_the_folder(folder: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    computer = Computer(cwd=folder, python=sys.executable)
    try:
        assert run_text(computer, ".mode list\nselect sum(price) from 'prices.csv'") == "4.0"
        assert run_text(computer, ".open new.duckdb\ncreate table t as select 1 as n") == ""
        assert computer.find_database("sql") == "DuckDB, new.duckdb"
    finally:
        computer.close()


def test_a_trigger_is_one_statement(fresh: Computer) -> None:
    code = (
        "create table a (n); create table b (n);\n"
        "create trigger copied after insert on a begin insert into b values (new.n); select 1; end;\n"
        "insert into a values (5);\n.mode list\nselect n from b"
    )
    assert run_text(fresh, code).endswith("5")


def test_python_and_sql_share_a_process_and_its_end(fresh: Computer) -> None:
    assert run_text(fresh, "create table t as select 7 as n") == ""
    assert run_text(fresh, "%sql select n from t", "python") == "[{'n': 7}]"
    assert run_text(fresh, "kept = 1", "python") == ""
    assert len(set(living(fresh).values())) == 1
    played = play(fresh, "sql", ".shell kill -9 $PPID; sleep 1")
    assert played.state == "lost"
    assert "Python ended" in played.reason
    assert "kept" in played.reason
    assert "no such table" in play(fresh, "sql", "select n from t").text


def test_sql_is_not_offered_where_python_is_a_language_of_another_program(folder: Path) -> None:
    other = replace(python.LANGUAGE, note="another one")
    computer = Computer(cwd=folder, declared=(*LANGUAGES[1:], other))
    try:
        assert "sql" not in computer.languages
        assert computer.explain_missing("sql")
    finally:
        computer.close()


@pytest.fixture(scope="module")
def typing_sql(folder: Path) -> Iterator[Computer]:
    """A computer with a few tables and a data frame."""
    computer = Computer(cwd=folder, python=sys.executable, startup=[("python", WITHOUT_DUCKDB)])
    frame = "import pandas\nstock = pandas.DataFrame({'item': [1], 'on hand': [1]})"
    assert play(computer, "python", frame).state == "finished"
    assert computer.inspector.can_complete("sql")
    code = ".open shop.db\ncreate temp view cheap as select id from orders;\n"
    assert play(computer, "sql", code).state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("before", "typed", "first"),
    [
        ("select * from ord", 3, ("orders", "table with 2 columns")),
        ("select * from sto", 3, ("stock", "table with 2 columns")),
        ("select o.pr", 0, None),
        ("select * from orders o where o.", 0, ("id", "integer")),
        ("select * from orders where pri", 3, ("price", "real")),
        ("SELECT * FROM Orders AS o JOIN stock s ON s.", 0, ("item", "int64")),
        ("select * from stock where o", 1, ('"on hand"', "int64")),
        ("select pri", 3, ("price", "real")),
        ("select cou", 3, ("count", "function")),
        ("SELECT id FROM orders GRO", 3, ("GROUP", "")),
        ("select 1; dele", 4, ("delete", "")),
        (".schema ord", 3, ("orders", "table with 2 columns")),
        ("select * from 'pri", 3, ("prices.csv", "")),
        ("select 'pri", 3, None),
        ("select 1 -- pri", 0, None),
    ],
)
def test_code_is_completed(
    typing_sql: Computer, before: str, typed: int, first: tuple[str, str] | None
) -> None:
    found = typing_sql.inspector.complete("sql", before)
    assert found
    assert [(item.text, item.facts) for item in found.found[:1]] == ([first] if first else [])
    if first:
        assert found.typed == typed


def test_new_tables_are_completed_after_their_cell(typing_sql: Computer) -> None:
    assert play(typing_sql, "sql", "create temp table fresh_one (size integer);").state == "finished"
    found = typing_sql.inspector.complete("sql", "select * from fresh_one where si")
    assert found
    assert [item.text for item in found.found] == ["size"]
