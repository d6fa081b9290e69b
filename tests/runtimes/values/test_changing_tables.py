"""Tables that change, or go away, while they are open."""

import sys
from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import TableChangedError, TableError, TableQuery, TableRow
from tests.runtimes.playing import play

FIRST = {
    "python": "live = [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]",
    "r": "live <- data.frame(a = 1:2, b = c('x', 'y'))",
    "javascript": "globalThis.live = [{ a: 1, b: 'x' }, { a: 2, b: 'y' }];",
    "octave": "live = struct('a', {1, 2}, 'b', {'x', 'y'});",
}
LONGER = {
    "python": "live.append({'a': 3, 'b': 'z'})",
    "r": "live[3, ] <- list(3L, 'z')",
    "javascript": "live.push({ a: 3, b: 'z' });",
    "octave": "live(3) = struct('a', 3, 'b', 'z');",
}
RENAMED = {
    "python": "live = [{'a': 1, 'c': 'x'}, {'a': 2, 'c': 'y'}]",
    "r": "live <- data.frame(a = 1:2, c = c('x', 'y'))",
    "javascript": "live = [{ a: 1, c: 'x' }, { a: 2, c: 'y' }];",
    "octave": "live = struct('a', {1, 2}, 'c', {'x', 'y'});",
}
OTHER = {"python": "live = 5", "r": "live <- mean", "javascript": "live = 5;", "octave": "live = 'word';"}
GONE = {
    "python": "del live",
    "r": "rm(live)",
    "javascript": "delete globalThis.live;",
    "octave": "clear live",
}


@pytest.fixture(scope="module")
def computer(language: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    computer = Computer(cwd=tmp_path_factory.mktemp("changing"), python=sys.executable)
    assert play(computer, language, FIRST[language]).state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize("change", [LONGER, RENAMED], ids=["longer", "renamed"])
def test_a_page_of_a_table_that_has_changed_says_so(
    computer: Computer, language: str, change: dict[str, str]
) -> None:
    assert play(computer, language, FIRST[language]).state == "finished"
    table, down = computer.inspector.open_table(language, "live"), TableQuery(sort=0, descending=True)
    table.shape(down)
    # The rows of a page and its columns are part of a table.
    assert [row.cells for row in table.page(down, 1, 9, 1, 1)] == [("x",)]
    assert table.page(down, 5, 9, 0, 2) == []
    assert play(computer, language, change[language]).state == "finished"
    with pytest.raises(TableChangedError, match="live has changed meanwhile"):
        table.page(down, 0, 9, 0, 2)
    rows = table.shape(down).rows
    page = table.page(down, 0, 9, 0, 2)
    assert len(page) == rows
    assert isinstance(page[0], TableRow)


@pytest.mark.parametrize("change", [OTHER, GONE], ids=["other", "gone"])
def test_a_table_that_is_none_any_more_says_why(
    computer: Computer, language: str, change: dict[str, str]
) -> None:
    assert play(computer, language, FIRST[language]).state == "finished"
    table = computer.inspector.open_table(language, "live")
    table.shape(TableQuery())
    assert play(computer, language, change[language]).state == "finished"
    words = "is not a table" if change is OTHER else "There is no variable live"
    for ask in (lambda: table.page(TableQuery(), 0, 9, 0, 2), lambda: table.shape(TableQuery())):
        with pytest.raises(TableError, match=words):
            ask()
