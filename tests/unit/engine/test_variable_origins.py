"""Which cells are run again for variables that are lost."""

import pytest

from oi_tui.engine.variable_origins import find_cells_to_rerun
from oi_tui.messages import Message


def cells(*codes: str, language: str = "python", state: str = "finished") -> list[Message]:
    return [
        Message(role="assistant", type="code", format=language, content=code, state=state)  # type: ignore[arg-type]
        for code in codes
    ]


@pytest.mark.parametrize(
    ("codes", "lost", "numbers"),
    [
        (("a = 1", "b = 2", "a = 3", "c = a"), {"a"}, (3,)),
        (("link = open()", "rows = link.all()", "x = 1"), {"rows", "link"}, (1, 2)),
        # What is not lost is there, so the cell that made it is not needed.
        (("link = open()", "rows = link.all()"), {"rows"}, (2,)),
        (("n = 1", "n = n + 1"), {"n"}, (1, 2)),
        # What was used is what there was at that time.
        (("a = 1", "b = a", "a = 2"), {"a", "b"}, (1, 2, 3)),
        (("def load():\n    inner = 1", "inner = 2"), {"load", "inner"}, (1, 2)),
        (
            ("for row in rows: pass", "with open(f) as file: pass", "import csv as c"),
            {"row", "file", "c"},
            (1, 2, 3),
        ),
        (("%time\nvalue = 3", "!ls\nother == value"), {"value"}, (1,)),
        (("a = 1",), {"gone"}, ()),
    ],
)
def test_the_last_cell_that_made_each_variable_is_found(
    codes: tuple[str, ...], lost: set[str], numbers: tuple[int, ...]
) -> None:
    assert find_cells_to_rerun(cells(*codes), "python", lost) == numbers


def test_other_languages_and_cells_that_failed_are_counted_and_left_out() -> None:
    messages = [*cells("m <- 1", language="r"), *cells("m = 1", state="failed"), *cells("m = 2", "m.x <- 3")]
    assert find_cells_to_rerun(messages, "python", {"m"}) == (3,)
    assert find_cells_to_rerun(messages, "r", {"m"}) == (1,)
