"""Lists of records of a class, and dictionaries of lists, are tables."""

import json
import sys
from collections.abc import Iterator

import pytest

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import TableError, TableQuery
from tests.runtimes.playing import play

SETUP = """
import array, collections, dataclasses, datetime, enum, typing

class Kind(enum.Enum):
    NEW = "n"
    OLD = "o"
    def __str__(self): raise SystemExit

@dataclasses.dataclass
class Order:
    number: int
    city: str
    kind: Kind = Kind.NEW
    password: str = dataclasses.field(default="s3cret", repr=False)
    shared: typing.ClassVar[int] = 1
    @property
    def total(self): raise SystemExit

@dataclasses.dataclass(frozen=True, **({"slots": True} if __import__("sys").version_info >= (3, 10) else {}))
class Slotted:
    a: int
    b: float

Point = collections.namedtuple("Point", "x y")

class Plain:
    def __init__(self, a): self.a = a
    def __repr__(self): return f"Plain({self.a})"

orders = [Order(n, f"city {n}", Kind.OLD if n % 2 else Kind.NEW) for n in range(200)]
orders[3].city = None
unset = [Order(1, 'x'), Order(2, 'y')]
del unset[0].city
slotted = [Slotted(n, n / 2) for n in range(5)]
points = [Point(n, n * n) for n in range(5)]
columns = {"day": [datetime.date(2024, 1, n + 1) for n in range(4)], "n": (4, 3, None, 1)}
grouped = collections.defaultdict(list, {"k": [1, 2, 3], "v": ["a", "b", "c"]})
long = {"loss": [n / 3 for n in range(1000)], "step": list(range(1000))}
ragged = {"a": [1, 2, 3], "b": [1]}
mixed = [Order(1, "x"), Point(1, 2), Order(2, "y")]
plain = [Plain(1), Plain(2), Plain(3)]
one = {"a": [1, 2, 3]}
nested = {"a": [[1], [2], [3]], "b": [1, 2, 3]}
numbered = {1: [1, 2, 3], 2: [4, 5, 6]}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    computer = Computer(cwd=tmp_path_factory.mktemp("records"), python=sys.executable)
    assert play(computer, "python", SETUP).state == "finished"
    yield computer
    computer.close()


def show(python: Computer, code: str) -> Printed | None:
    """What a cell shows as a table; None where it shows none."""
    reports = [item for _, item in play(python, "python", code).reports]
    return next((item for item in reports if isinstance(item, Printed) and item.table), None)


@pytest.mark.parametrize(
    ("name", "kind", "columns", "row"),
    [
        ("orders", "list of Order", ["number", "city", "kind"], ("2", "city 2", "Kind.NEW")),
        ("slotted", "list of Slotted", ["a", "b"], ("2", "1")),
        ("points", "list of Point", ["x", "y"], ("2", "4")),
        ("columns", "dict of lists", ["day", "n"], ("2024-01-03", None)),
        ("grouped", "dict of lists", ["k", "v"], ("3", "c")),
    ],
)
def test_records_of_a_class_and_lists_by_name_are_tables(
    python: Computer, name: str, kind: str, columns: list[str], row: tuple[str | None, ...]
) -> None:
    table = python.inspector.open_table("python", name)
    shape = table.shape(TableQuery())
    assert (shape.kind, [column.name for column in shape.columns]) == (kind, columns)
    assert table.page(TableQuery(), 2, 1, 0, 9)[0].cells == row
    shown = show(python, name)
    assert shown is not None
    assert json.loads(shown.table or "")["kind"] == kind
    assert "s3cret" not in (shown.table or "") + (shown.view or "") + shown.text


def test_they_are_sorted_filtered_and_described(python: Computer) -> None:
    orders = python.inspector.open_table("python", "orders")
    assert orders.page(TableQuery(), 3, 1, 0, 2)[0].cells == ("3", None)
    assert orders.shape(TableQuery(words="kind = Kind.OLD")).rows == 100
    assert orders.page(TableQuery(sort=0, descending=True, words="number < 9"), 0, 1, 0, 1)[0].label == "8"
    unset = python.inspector.open_table("python", "unset")
    assert [row.cells[1] for row in unset.page(TableQuery(), 0, 9, 0, 2)] == [None, "y"]
    columns = python.inspector.open_table("python", "columns")
    assert [row.label for row in columns.page(TableQuery(sort=1), 0, 9, 0, 1)] == ["3", "1", "0", "2"]
    assert columns.shape(TableQuery(words="day >= 2024-01-03")).rows == 2
    assert ("missing", "1") in columns.statistics(1).facts


def test_the_model_sees_the_columns_of_long_ones(python: Computer) -> None:
    orders, long = show(python, "orders"), show(python, "long")
    assert orders is not None
    assert long is not None
    assert (orders.view or "").startswith(
        "list of Order: 200 rows by 3 columns\nColumns: number int, city str (1 missing), kind Kind\n"
    )
    assert (long.view or "").startswith(
        "dict of lists: 1,000 rows by 2 columns\nColumns: loss float, step int\n"
    )


@pytest.mark.parametrize(
    "code", ["ragged", "mixed", "plain", "one", "nested", "numbered", "points[:2]", "{}", "[[]]"]
)
def test_other_lists_and_dictionaries_stay_as_python_prints_them(python: Computer, code: str) -> None:
    assert show(python, code) is None


def test_lists_of_different_lengths_are_named_as_the_reason(python: Computer) -> None:
    with pytest.raises(
        TableError, match="ragged is not a table: its lists have different lengths, from 1 to 3"
    ):
        python.inspector.open_table("python", "ragged").shape(TableQuery())


LIBRARIES = {
    "pydantic": """
import pydantic
class Row(pydantic.BaseModel):
    n: int
    s: str | None = None
    key: str = pydantic.Field("hidden", repr=False)
""",
    "attrs": """
import attrs
@attrs.define
class Row:
    n: int
    s: str | None = None
    key: str = attrs.field(default="hidden", repr=lambda value: "***")
""",
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_records_of_libraries_are_tables(python: Computer, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    code = f"{LIBRARIES[library]}\nrows = [Row(n=n) for n in range(4)]"
    assert play(python, "python", code).state == "finished"
    table = python.inspector.open_table("python", "rows")
    assert [column.name for column in table.shape(TableQuery()).columns] == ["n", "s"]
    assert table.page(TableQuery(), 3, 1, 0, 9)[0].cells == ("3", None)
    shown = show(python, "rows")
    assert shown is not None
    assert "hidden" not in (shown.table or "")


def test_a_long_dictionary_of_lists_opens_without_a_look_at_all_its_rows(computer: Computer) -> None:
    size = 3_000_000
    code = f"""
long = {{"a": list(range({size})), "b": [None, *range({size} - 1)], "c": ["x"] * {size}}}
def visit():
    import time
    began = time.process_time()
    for column in long.values():
        for item in column: pass
    return time.process_time() - began
def open_page():
    import json, sys, time
    asked = dict(name="long", do="page", start={size} - 50, count=50, first=0, columns=9, whole=False)
    began = time.process_time()
    answer = sys.modules["python_tables"].answer({{"long": long}}, json.dumps(asked).encode().hex())
    return time.process_time() - began, answer["page"][-1][1]
"""
    assert play(computer, "python", code).state == "finished"
    # The text may come in pieces, which have the same table.
    (printed,) = {
        report.table
        for _, report in play(computer, "python", "long").reports
        if isinstance(report, Printed) and report.table
    }
    assert [column[1:] for column in json.loads(printed)["columns"]] == [
        *(["int", True], ["int", True], ["str", False]),
    ]
    seen = play(
        computer, "python", "time, row = open_page(); print(row, min(visit() for _ in range(3)) > time)"
    ).text
    assert seen.strip() == f"['{size - 1}', '{size - 2}', 'x'] True"


def test_a_text_far_below_among_numbers_is_described_with_them(computer: Computer) -> None:
    assert play(
        computer, "python", "odd = {'a': [*range(100_001)], 'b': [0] * 100_001}; odd['a'][3] = 'x'"
    ).state == ("finished")
    table = computer.inspector.open_table("python", "odd")
    assert table.shape(TableQuery()).columns[0].type == "mixed"
    assert play(computer, "python", "odd['a'][3] = 3; odd['a'][90_001] = 'far below'").state == "finished"
    assert table.shape(TableQuery()).columns[0].type == "int"
    assert dict(table.statistics(0).facts)["distinct"] == "100,001"
    assert table.page(TableQuery(sort=0), 0, 2, 0, 1)[0].cells
