"""Large tables of R, JavaScript and Octave are searched in parts, between which a cell can begin."""

import sys
import threading
from collections.abc import Iterator, Mapping

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import LiveTable, TableBusyError, TableError, TableQuery
from tests.processes import wait_until
from tests.runtimes.playing import play

#: A table of more cells than are searched at once, with a text at the end, and one that is searched for long.
LARGE = {
    "r": """
large <- data.frame(n = seq_len(300000) / 8, t = rep(c("Ulm", "Bonn"), 150000))
large$t[300000] <- "K\\u00d6LN"
larger <- as.data.frame(matrix("some text", 200000, 40))""",
    "javascript": """
var large = Array.from({ length: 300000 }, (_, n) => ({ n: n / 8 + 0.125, t: n % 2 ? 'Bonn' : 'Ulm' }));
large[299999].t = 'KÖLN';
var larger = Array.from({ length: 200000 }, () => Array(60).fill('some text'));""",
    "octave": """
large = struct ("n", {(1:60000)' / 8}, "t", {repmat({"Ulm"; "Bonn"}, 30000, 1)});
large.t{60000} = "KoeLN";
larger = repmat ({"some text"}, 60000, 60);""",
}

CELLS = {"r": "cat('ran')", "javascript": "console.log('ran')", "octave": "disp('ran')"}


def test_a_search_in_parts_goes_on_until_its_end() -> None:
    asked: list[Mapping[str, object]] = []

    def answer(query: Mapping[str, object]) -> Mapping[str, object]:
        asked.append(dict(query))
        return {"unfinished": True} if len(asked) < 3 else {"columns": [], "rows": "2", "total": "9"}

    assert LiveTable("t", "R", answer).shape(TableQuery(words="x")).rows == 2
    assert ["continues" in query for query in asked] == [False, True, True]


def test_a_search_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oi_tui.runtimes.tables._SEARCH", 0.0)
    with pytest.raises(TableError, match=r"too large to search all its cells\. Filter by a condition"):
        LiveTable("t", "R", lambda _: {"unfinished": True}).shape(TableQuery(words="x"))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("r", marks=pytest.mark.needs("R")),
        pytest.param("javascript", marks=pytest.mark.needs("node")),
        pytest.param("octave", marks=pytest.mark.needs("octave")),
    ],
)
def computer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    computer = Computer(cwd=tmp_path_factory.mktemp("searches"), python=sys.executable)
    assert play(computer, request.param, LARGE[request.param]).state == "finished"
    yield computer
    computer.close()


def find_language(computer: Computer) -> str:
    return next(memory.language for memory in computer.inspector.read_memories() if memory.variables)


@pytest.mark.slow
def test_a_text_is_found_in_all_cells_of_a_large_table(computer: Computer) -> None:
    table = computer.inspector.open_table(find_language(computer), "large")
    total = table.shape(TableQuery()).total
    for words, rows in (("bonn", total // 2 - 1), ("ln", 1), (f"{total / 8:g}", 1), ("nothing", 0)):
        assert table.shape(TableQuery(words=words)).rows == rows, words
    last = table.page(TableQuery(sort=0, descending=True, words="bonn"), 0, 1, 0, 1)
    assert last[0].cells == (f"{(total - 2) / 8}",)


@pytest.mark.slow
def test_a_cell_begins_while_a_large_table_is_searched(computer: Computer) -> None:
    language = find_language(computer)
    table = computer.inspector.open_table(language, "larger")
    table.shape(TableQuery())
    parts: list[object] = []
    ask = table._ask

    def count(query: Mapping[str, object]) -> Mapping[str, object] | None:
        parts.append(query)
        return ask(query)

    table._ask = count
    ends: list[TableError | int] = []

    def search() -> None:
        try:
            ends.append(table.shape(TableQuery(words="nowhere")).rows)
        except TableError as error:
            ends.append(error)

    thread = threading.Thread(target=search)
    thread.start()
    assert wait_until(lambda: len(parts) > 1, 60)
    run = play(computer, language, CELLS[language])
    assert (run.state, run.text.strip()) == ("finished", "ran")
    thread.join(60)
    # It was given up for the cell, went on behind it, or took too long on a busy machine.
    (end,) = ends
    assert end == 0 or isinstance(end, TableBusyError) or "too large to search" in str(end)
