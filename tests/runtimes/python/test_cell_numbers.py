"""Errors name a cell by the number that the application gave it, in every language that names cells."""

from collections.abc import Callable

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play
from tests.runtimes.samples import ALL

Make = Callable[..., Computer]

#: For each language, code that fails, and what the error calls the cell `{}`.
FAILING = {
    "python": ("1 / 0", 'File "<cell {}>", line 1'),
    "javascript": ("function f() { throw new Error('oops') }\nf()", "cell-{}.js:1"),
    "typescript": ("function f(): void { throw new Error('oops') }\nf()", "cell-{}.ts:1"),
    "deno": ("function f(): void { throw new Error('oops') }\nf()", "cell-{}.ts:1"),
    "bun": ("function f(): void { throw new Error('oops') }\nf()", "cell-{}.ts:1"),
    "ruby": ("raise 'oops'", "(cell {}):1"),
    "perl": ("die 'oops'", "at cell {} line 1"),
    "lua": ("error('oops')", "cell {}:1"),
    "java": ("int f() { throw new RuntimeException(); }\nf();", "cell {}, line 1"),
    "julia": ('error("oops")', "cell {}:1"),
}
SAMPLES = [sample for sample in ALL if sample.language in FAILING]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_an_error_names_the_cell_by_its_number(shared: Computer, sample: object) -> None:
    code, named = FAILING[sample.language]  # type: ignore[attr-defined]
    # No other test of the shared computer has come so far.
    for number in (40_041, 40_043):
        played = play(shared, sample.language, code, number=number)  # type: ignore[attr-defined]
        assert (played.state, named.format(number) in played.text) == ("failed", True), played.text


def test_without_a_number_cells_are_counted_on(computer: Computer) -> None:
    assert "<cell 1>" in play(computer, "python", "1 / 0").text
    assert "<cell 7>" in play(computer, "python", "1 / 0", number=7).text
    assert "<cell 8>" in play(computer, "python", "1 / 0").text


def test_startup_code_takes_no_number_of_a_cell(make: Make) -> None:
    computer = make()
    computer.use_startup([("python", "def broken():\n    1 / 0")])
    played = play(computer, "python", "broken()", number=1)
    assert 'File "<cell 1>", line 1, in <module>' in played.text
    assert 'File "<cell 0>", line 2, in broken\n    1 / 0' in played.text


def test_other_code_of_the_same_number_has_lines_of_its_own(computer: Computer) -> None:
    """As after going back in the conversation: the cell is gone, the functions that it made are not."""
    play(computer, "python", "def first():\n    1 / 0", number=2)
    play(computer, "python", "def second():\n    [][7]", number=2)
    played = play(computer, "python", "second()", number=3)
    assert 'File "<cell 2, run 2>", line 2, in second\n    [][7]' in played.text
    played = play(computer, "python", "first()", number=4)
    assert 'File "<cell 2>", line 2, in first\n    1 / 0' in played.text
    code = "import inspect\nprint(inspect.getsource(first), inspect.getsource(second))"
    text = play(computer, "python", code, number=5).text
    assert text.index("1 / 0") < text.index("[][7]")


def test_code_that_ran_before_keeps_its_name(computer: Computer) -> None:
    for _ in range(2):
        assert 'File "<cell 2>", line 1' in play(computer, "python", "1 / 0", number=2).text
        play(computer, "python", "pass", number=3)


def test_the_active_line_is_known_also_where_other_code_had_the_number(computer: Computer) -> None:
    play(computer, "python", "def old():\n    pass", number=2)
    play(computer, "python", "import time", number=3)
    code = "for _ in range(2):\n    time.sleep(0.1)\n    time.sleep(0.1)"
    played = play(computer, "python", code, number=2)
    assert {2, 3} <= set(played.lines)


def test_what_cells_define_reaches_processes_and_pickles(computer: Computer) -> None:
    play(computer, "python", "class Point:\n    x = 6", number=5)
    code = (
        "import multiprocessing, pickle\n"
        "def double(point): return point.x * 2\n"
        "with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "    print(pool.map(double, [Point()]), pickle.loads(pickle.dumps(Point())).x)"
    )
    assert play(computer, "python", code, number=9).text == "[12] 6\n"
