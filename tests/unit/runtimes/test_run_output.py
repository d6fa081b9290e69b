"""What a run reports of its output: when, and how a value that is shown again takes its earlier lines."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui.messages import Displayed, Printed, Report, ValueBegan, ValueEnded
from oi_tui.runtimes.runs import output as module
from oi_tui.runtimes.runs.output import FRAME, RunOutput

PNG = "base64.png"
NEVER = float("inf")


class Run:
    """A run's output, and what was reported of it."""

    def __init__(self, places: dict[str, RunOutput] | None = None) -> None:
        self.reports: list[Report] = []
        self.output = RunOutput(self.reports.append, 1.0, places)

    def print(self, text: str) -> None:
        self.output.feed(text.encode())

    def show(self, key: str | None, text: str, *, updates: bool = False) -> None:
        """Show a value that is printed as this text."""
        self.output.begin_value("display", key, updates=updates)
        self.print(text)
        self.output.end_value()

    @property
    def text(self) -> str:
        self.output.flush()
        return "".join(report.text for report in self.reports if isinstance(report, Printed))

    def texts_since(self, act: Callable[[], None]) -> list[str]:
        """What is printed by this, without empty texts."""
        before = len(self.reports)
        act()
        return [report.text for report in self.reports[before:] if isinstance(report, Printed)]


@pytest.fixture
def run() -> Run:
    return Run()


def go_up(lines: int) -> str:
    return f"\x1b[{lines}A\r\x1b[J"


def test_output_is_reported_once_for_each_frame(run: Run) -> None:
    assert round(1 / FRAME) == 60
    assert run.output.due == NEVER
    run.output.flush(now=10.0)
    run.print("one\n")
    assert run.output.due == 10.0 + FRAME
    run.output.flush_if_due(10.0 + FRAME / 2)
    assert run.reports == []
    run.output.flush_if_due(10.0 + FRAME)
    assert run.reports == [Printed("one\n")]
    assert run.output.due == NEVER
    run.output.flush_if_due(20.0)
    assert run.reports == [Printed("one\n")]


def test_long_output_is_reported_before_its_frame_is_over(run: Run) -> None:
    run.output.flush(now=10.0)
    for size, reports in ((256 * 1024 - 1, 0), (1, 1), (1, 1)):
        run.print("x" * size)
        run.output.flush_if_due(10.0)
        assert len(run.reports) == reports


def test_the_first_output_is_reported_at_once(run: Run) -> None:
    run.print("one")
    run.output.flush_if_due(0.5)
    assert run.reports == [Printed("one")]


def test_half_a_character_waits_for_the_other_half(run: Run) -> None:
    run.output.feed("é".encode()[:1])
    run.output.flush()
    assert run.reports == []
    run.output.feed("é".encode()[1:])
    run.output.flush()
    assert run.reports == [Printed("é")]
    run.output.feed("é".encode()[:1])
    run.output.flush(last=True)
    assert run.reports == [Printed("é"), Printed("\ufffd")]


def test_a_carriage_return_waits_for_what_follows_it(run: Run) -> None:
    run.print("one\r")
    run.output.flush()
    assert run.reports == [Printed("one")]
    assert run.output.is_on_a_line
    run.print("\ntwo\r")
    run.output.flush(last=True)
    assert run.reports == [Printed("one"), Printed("\r\ntwo\r")]


def test_what_is_printed_carries_what_the_model_gets_and_its_table(run: Run) -> None:
    run.print("before\n")
    run.output.replace_with("the view", "the table")
    run.print("after\n")
    run.output.replace_with(3, ["no text"])
    run.print("end\n")
    run.output.flush()
    assert run.reports == [Printed("before\n"), Printed("after\n", "the view", "the table"), Printed("end\n")]


def test_the_prompt_is_the_line_of_the_cursor_without_escape_sequences(run: Run) -> None:
    assert (run.output.prompt, run.output.is_on_a_line) == ("", False)
    for printed, prompt in [
        ("one\nna", "na"),
        ("\x1b[1mme\x1b]0;title\x07? ", "name? "),
        ("\rage? ", "age? "),
        ("\n", ""),
    ]:
        run.print(printed)
        assert run.output.is_on_a_line
        run.output.flush()
        assert run.output.prompt == prompt
    assert not run.output.is_on_a_line


@pytest.mark.parametrize(
    ("printed", "prompt"),
    [
        # As vi draws its screen, and puts the cursor back; and a program that asks on a cleared screen.
        ("\x1b[?1049h\x1b[1;1Hname,price\x1b[24;1Hprices.csv\x1b[24;63H1,1\x1b[11CTop\x1b[1;1H", ""),
        ("Loading.\x1b[2J\x1b[HPassword: ", "Password: "),
        ("\x1b[?1049h\x1b[2Jmenu\x1b[?1049lAgain? ", "Again? "),
    ],
)
def test_the_prompt_has_nothing_that_stands_elsewhere_on_the_screen(
    run: Run, printed: str, prompt: str
) -> None:
    run.print(printed)
    run.output.flush()
    assert run.output.prompt == prompt


@pytest.mark.parametrize("parts", [["a" * 600, "b" * 999], ["a" * 1000 + "b" * 999], ["a", "b" * 1000]])
def test_of_a_long_line_the_last_thousand_characters_are_remembered(run: Run, parts: list[str]) -> None:
    for part in parts:
        run.print(part)
        run.output.flush()
    assert run.output.prompt == "".join(parts)[-1000:]


def test_a_value_that_is_shown_again_takes_the_lines_of_the_first(run: Run) -> None:
    run.print("begins\n")
    run.show("a", "1\n2\n")
    run.print("below\n")
    again = run.texts_since(lambda: run.show("a", "3\n", updates=True))
    # Up over both lines of the value and the one below it; then that one is written again.
    assert again == ["below\n", go_up(3), "3\n", "below\n"]
    assert run.texts_since(lambda: run.show("a", "4\n", updates=True)) == [go_up(2), "4\n", "below\n"]


def test_a_value_under_another_key_or_not_updated_is_shown_at_the_end(run: Run) -> None:
    run.show("a", "1\n")
    assert run.texts_since(lambda: run.show("b", "2\n", updates=True)) == ["2\n"]
    assert run.texts_since(lambda: run.show("a", "3\n")) == ["3\n"]
    # From now on the newest is the one that is updated.
    assert run.texts_since(lambda: run.show("a", "4\n", updates=True)) == [go_up(1), "4\n"]


def test_two_values_are_each_updated_in_their_place(run: Run) -> None:
    run.show("a", "a1\n")
    run.print("between\n")
    run.show("b", "b1\nb1\n")
    assert run.texts_since(lambda: run.show("a", "a2\n", updates=True)) == [
        go_up(4),
        "a2\n",
        "between\n",
        "b1\nb1\n",
    ]
    assert run.texts_since(lambda: run.show("b", "b2\n", updates=True)) == [go_up(2), "b2\n"]
    assert run.texts_since(lambda: run.show("a", "a3\n", updates=True)) == [
        go_up(3),
        "a3\n",
        "between\n",
        "b2\n",
    ]


@pytest.mark.parametrize("kind", ["result", "display", "else"])
def test_a_value_begins_and_ends(run: Run, kind: str) -> None:
    run.output.begin_value(kind)
    run.output.end_value()
    assert run.reports == [ValueBegan("result" if kind == "result" else "display"), ValueEnded()]


@pytest.mark.parametrize("text", ["no line", "a line\nand more"])
def test_a_value_that_does_not_end_its_line_is_not_updated_in_its_place(run: Run, text: str) -> None:
    run.show("a", text)
    assert run.texts_since(lambda: run.show("a", "2\n", updates=True)) == ["2\n"]


def test_a_value_that_begins_behind_other_text_is_not_updated_in_its_place(run: Run) -> None:
    run.print("label: ")
    run.show("a", "1\n")
    assert run.texts_since(lambda: run.show("a", "2\n", updates=True)) == ["2\n"]


@pytest.mark.parametrize("moves", ["\x1b[A", "\x1b[3;1H", "\x1b7", "\b", "50%\r60%\n", "\x1b[2J"])
def test_where_the_cursor_was_moved_no_line_is_written_again(run: Run, moves: str) -> None:
    run.show("a", "1\n")
    run.print(f"{moves}\n")
    run.output.flush()
    assert run.texts_since(lambda: run.show("a", "2\n", updates=True)) == ["2\n"]


def test_colours_and_line_ends_of_a_terminal_move_nothing(run: Run) -> None:
    run.show("a", "\x1b[31m1\x1b[0m\r\n")
    assert run.texts_since(lambda: run.show("a", "2\r\n", updates=True)) == [go_up(1), "2\r\n"]


@pytest.mark.parametrize(("size", "is_written"), [(8_000, True), (8_001, False)])
def test_a_long_text_below_a_value_is_not_written_again(run: Run, size: int, is_written: bool) -> None:
    run.show("a", "1\n")
    run.print("x" * (size - 1) + "\n")
    run.output.flush()
    again = run.texts_since(lambda: run.show("a", "2\n", updates=True))
    assert (again[0] == go_up(2)) is is_written


@pytest.mark.parametrize(("size", "is_updated"), [(100_000 - 2, True), (100_000 - 1, False)])
def test_only_so_much_is_remembered_to_find_the_lines_of_a_value(
    run: Run, size: int, is_updated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONGEST_BELOW", 1_000_000)
    run.show("a", "1\n")
    run.print("x" * (size - 1) + "\n")
    run.output.flush()
    assert (run.texts_since(lambda: run.show("a", "2\n", updates=True))[0] != "2\n") is is_updated


@pytest.mark.parametrize("kind", ["forms", "pages", "long pages"])
def test_what_is_remembered_of_values_that_are_updated_has_a_limit(run: Run, kind: str) -> None:
    """The forms and pages of 20 values are more than the limit: only the values since are remembered."""
    sizes = []
    for number in range(20):
        key = f"value {number}"
        for updates in (False, True):
            run.output.begin_value("display", key, updates=updates)
            run.print("1\n")
            if kind != "forms":
                run.output.replace_with("rows", None)
                run.output.display("html", "x" * (20_000 if kind == "pages" else 90_000), None)
                run.output.replace_with(None, None)
            run.output.end_value({"text/html": "x" * 40_000} if kind == "forms" else None)
        log = run.output._log
        sizes.append(
            sum(len(item.content) for item in log if isinstance(item, Displayed))
            + sum(len(form) for item in log if isinstance(item, ValueEnded) for form in item.forms.values())
        )
    assert max(sizes) <= 100_000


def test_a_value_after_much_output_is_updated_in_its_place(run: Run) -> None:
    run.show("a", "1\n")
    run.print("x" * 200_000 + "\n")
    run.show("a", "2\n")
    assert run.texts_since(lambda: run.show("a", "3\n", updates=True)) == [go_up(1), "3\n"]


def test_an_image_is_reported_and_no_line_above_it_is_written_again(run: Run) -> None:
    run.show("a", "1\n")
    run.output.replace_with("a plot", None)
    run.output.display(PNG, "data", None)
    run.output.replace_with(None, None)
    assert run.reports[-1] == Displayed(PNG, "data", "a plot")
    assert run.texts_since(lambda: run.show("a", "2\n", updates=True)) == ["2\n"]


def test_an_image_that_takes_the_place_of_another_changes_no_line(run: Run) -> None:
    run.output.display(PNG, "first", "p")
    run.show("a", "1\n")
    run.output.display(PNG, "second", "p")
    assert run.reports[-1] == Displayed(PNG, "second", None, "p")
    assert run.texts_since(lambda: run.show("a", "2\n", updates=True)) == [go_up(1), "2\n"]
    # Another key is another image.
    run.output.display(PNG, "third", "q")
    assert run.texts_since(lambda: run.show("a", "3\n", updates=True)) == ["3\n"]


def test_an_image_without_a_key_of_text_takes_no_place(run: Run) -> None:
    for key in (7, None):
        run.output.display(PNG, "data", key)
        assert run.reports[-1] == Displayed(PNG, "data")
    run.show("a", "1\n")
    run.output.display(PNG, "data", None)
    assert run.texts_since(lambda: run.show("a", "2\n", updates=True)) == ["2\n"]


@pytest.mark.parametrize(
    ("view", "size", "is_updated"), [("rows", 20_000, True), ("rows", 20_001, False), (None, 10, False)]
)
def test_a_page_below_a_value_is_shown_once_more_where_it_is_a_short_form_of_a_value(
    run: Run, view: str | None, size: int, is_updated: bool
) -> None:
    run.show("a", "1\n")
    run.output.replace_with(view, None)
    run.output.display("html", "x" * size, None)
    run.output.replace_with(None, None)
    page = run.reports[-1]
    before = len(run.reports)
    run.show("a", "2\n", updates=True)
    assert (page in run.reports[before:]) is is_updated
    assert (Printed(go_up(1)) in run.reports) is is_updated


def test_a_page_within_a_value_goes_with_it(run: Run) -> None:
    run.output.begin_value("display", "a")
    run.print("1\n")
    run.output.display("html", "<b>1</b>", None)
    run.output.end_value()
    before = len(run.reports)
    run.show("a", "2\n", updates=True)
    assert run.reports[before:] == [
        Printed(go_up(1)),
        ValueBegan("display", "a"),
        Printed("2\n"),
        ValueEnded(),
    ]


def test_a_run_that_ends_within_an_updated_value_shows_what_stood_below_it(run: Run) -> None:
    run.show("a", "1\n")
    run.print("below\n")
    run.output.begin_value("display", "a", updates=True)
    run.print("2\n")
    assert run.texts_since(lambda: run.output.flush(last=True)) == ["2\n", "below\n"]


def test_a_value_without_a_key_has_no_part_in_the_one_before_it(run: Run) -> None:
    run.show("a", "1\n")
    run.show(None, "other\n")
    assert run.texts_since(lambda: run.show("a", "2\n", updates=True)) == [go_up(2), "2\n", "other\n"]


def test_a_prompt_below_an_updated_value_is_the_line_of_the_cursor_again(run: Run) -> None:
    run.show("a", "1\n")
    run.print("line\nname? ")
    run.show("a", "2\n", updates=True)
    assert run.output.prompt == "name? "


def test_a_value_of_an_earlier_run_is_updated_there() -> None:
    places: dict[str, RunOutput] = {}
    first, second = Run(places), Run(places)
    first.show("a", "1\n")
    second.print("now\n")
    second.output.begin_value("display", "a", updates=True)
    second.print("2\n")
    second.output.replace_with("view", None)
    second.output.display("html", "<b>2</b>", None)
    second.output.end_value()
    second.print("on\n")
    second.output.flush()
    assert second.reports == [
        Printed("now\n"),
        ValueBegan("display", "a", is_earlier=True),
        Printed(go_up(1)),
        Printed("2\n"),
        Displayed("html", "<b>2</b>", "view"),
        ValueEnded(),
        Printed("on\n"),
    ]


def test_a_value_of_an_earlier_run_that_is_not_updated_is_this_ones() -> None:
    places: dict[str, RunOutput] = {}
    first, second = Run(places), Run(places)
    first.show("a", "1\n")
    second.show("a", "2\n")
    assert second.reports == [ValueBegan("display", "a"), Printed("2\n"), ValueEnded()]
    assert second.texts_since(lambda: second.show("a", "3\n", updates=True)) == [go_up(1), "3\n"]


def test_the_end_of_a_run_ends_the_value_of_an_earlier_one() -> None:
    places: dict[str, RunOutput] = {}
    first, second = Run(places), Run(places)
    first.show("a", "1\n")
    second.output.begin_value("display", "a", updates=True)
    second.print("2")
    second.output.flush(last=True)
    assert second.reports[1:] == [Printed(go_up(1)), Printed("2"), ValueEnded()]


def test_the_places_of_the_last_200_values_are_remembered() -> None:
    places: dict[str, RunOutput] = {}
    first = Run(places)
    for number in range(200):
        first.show(f"key {number}", "x\n")
    assert list(places) == [f"key {number}" for number in range(200)]
    # One that is shown again is a new one.
    first.show("key 0", "x\n")
    first.show("new", "x\n")
    assert list(places) == [*(f"key {number}" for number in range(2, 200)), "key 0", "new"]


def test_the_time_of_the_last_output_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    places: dict[str, RunOutput] = {}
    first, second = Run(places), Run(places)
    first.show("a", "1\n")
    assert second.output.last_at == 1.0
    clock: Any = SimpleNamespace(now=5.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(module, "time", clock)
    second.print("x")
    assert second.output.last_at == 5.0
    second.output.begin_value("display", "a", updates=True)
    clock.now = 6.0
    second.print("2\n")
    assert second.output.last_at == 6.0
