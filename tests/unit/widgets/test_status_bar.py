"""The first and the last line fit into any width, and what matters most is left out last."""

import itertools

import pytest
from rich.cells import cell_len

from oi_tui.engine.events import MessageRecorded, RunReported
from oi_tui.engine.llm.base import Text, Usage
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.messages import InputReceived, InputRequested, LineReached, Message, Stopping
from oi_tui.screens.chat import status
from oi_tui.screens.chat.turn.progress import TurnProgress
from oi_tui.widgets.status_bar import Fact, fit_facts
from tests.unit.engine.test_session import make, run_turn

LONG = "please summarise all of the sales of the last ten years and plot them by month " * 5
WIDE = "売上を月ごとにまとめて図にしてください" * 8
EVIL = "a\x1b[2J\nb\u202e[/bold] [red]x" + "e\u0301" * 50 + "👩‍👩‍👧‍👦" * 20
#: Every width where little fits, and then enough of them.
WIDTHS = (*range(1, 50), *range(50, 201, 5))
MODES = ("approval on", "AUTO: runs without asking", f"auto-approves: {LONG}")
STATES: list[tuple[tuple[Fact, ...], tuple[Fact, ...]]] = [
    *(
        (
            (("oi-tui", "bold"), (title, "")),
            ((mode, ""), (model, ""), (context, ""), (cost, "")),
        )
        for title, mode, model, (context, cost) in itertools.product(
            ("", "short", LONG, WIDE, EVIL),
            MODES,
            ("gpt-4o", "x" * 40, "模" * 20),
            (("", ""), ("ctx 12%", "$0.03"), ("1,234,567 tokens", "at least $123.45")),
        )
    ),
    *(
        status.write_status(doing, seconds)
        for doing in ("", "running python", LONG, WIDE, EVIL)
        for seconds in (0, 3, 123456)
    ),
    ((), ()),
    ((("", ""),), (("\x00", ""),)),
]


@pytest.mark.slow
@pytest.mark.parametrize("keeps_right", [True, False])
def test_no_state_overflows_at_any_width(keeps_right: bool) -> None:
    for (left, right), width in itertools.product(STATES, (0, *WIDTHS)):
        line = fit_facts(left, right, width, keeps_right=keeps_right)
        assert line.cell_length <= width, (left, right, width)
        assert "\n" not in line.plain
        assert "\x1b" not in line.plain


@pytest.mark.slow
def test_a_fact_is_shown_only_when_all_that_matter_more_are() -> None:
    for (left, right), width in itertools.product(STATES, WIDTHS):
        shown = fit_facts(left, right, width).plain
        facts = [text for text, _ in right if text.strip("\x00")]
        if any(character in "".join(facts) for character in "\x1b\n"):
            continue
        there = [text in shown for text in facts]
        assert there == sorted(there, reverse=True), (shown, facts)


def test_however_long_the_title_the_mode_is_there_wherever_it_fits() -> None:
    facts = (("AUTO: runs without asking", ""), ("gpt-4o", ""), ("ctx 12%", ""), ("$0.03", ""))
    for title, width in itertools.product((LONG, WIDE, EVIL, ""), range(25, 201)):
        shown = fit_facts((("oi-tui", ""), (title, "")), facts, width, keeps_right=True).plain
        assert "AUTO: runs without asking" in shown, (width, shown)
        if width >= 80:
            assert all(text in shown for text, _ in facts), (width, shown)
            assert shown.startswith("oi-tui")


def test_the_header_has_tokens_where_the_context_window_is_unknown_and_says_that_the_cost_is() -> None:
    replies = [Text("Hello."), Usage(1900, 4, None)]
    unknown = make(replies)
    run_turn(unknown)
    _, facts = status.write_headline(unknown, 1904)
    assert [text for text, _ in facts[-2:]] == ["1.9k tokens", "cost unknown"]
    known = make(replies, facts=ModelInfo(context_window=19_040))
    run_turn(known)
    assert status.write_headline(known, 1904)[1][-2][0] == "ctx 10%"
    demo = make(model="demo")
    assert [text for text, _ in status.write_headline(demo, 1904)[1][-2:]] == ["1.9k tokens", ""]


def test_the_header_says_that_the_model_may_use_the_screen() -> None:
    session = make()
    assert "OS mode" not in dict(status.write_headline(session, 0)[1])
    session.profile = session.profile.with_changes("changed", os=True)
    facts = status.write_headline(session, 0)[1]
    assert "OS mode" in dict(facts)
    assert len(facts) == len(status.HEADLINE_COMMANDS)


def test_what_goes_on_and_for_how_long_is_the_last_to_go() -> None:
    for doing, width in itertools.product(
        ("running python", "stopping javascript; it will be ended in 1 s"), range(1, 201)
    ):
        shown = fit_facts(*status.write_status(doing, 12), width).plain
        assert shown.startswith(doing[: max(0, min(width, len(doing)) - 1)]), (width, shown)
        if width >= cell_len(doing) + len("  12 s"):
            assert "12 s" in shown, (width, shown)


@pytest.mark.parametrize("width", [80, 120])
def test_what_happens_by_itself_is_counted_down_and_is_never_cut(width: int) -> None:
    left, right = status.write_status("stopping javascript; it will be ended", 1.2, 2.4)
    shown = fit_facts(left, right, width).plain
    assert shown.startswith("stopping javascript; it will be ended in 3 s ")
    assert "esc stop" in shown
    assert "trying again in 0 s" in fit_facts(*status.write_status("trying again", 9, -0.3), width).plain


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, ""), (12, "12 s"), (2896, "48 min"), (11_100, "3 h 05 min")]
)
def test_a_long_wait_is_named_in_minutes_and_hours(seconds: float, words: str) -> None:
    left, _ = status.write_status("waiting for your approval", seconds)
    assert [text for text, _ in left if text] == ["waiting for your approval", *filter(None, [words])]


def test_a_run_that_is_waited_for_says_for_how_long_and_what_another_escape_does() -> None:
    progress = TurnProgress(lambda: None)
    progress.follow(MessageRecorded(Message(role="assistant", type="code", format="python", state="running")))
    at_stake = "python and its variables: df, model, …"
    progress.follow(RunReported("id", Stopping("interrupt", None, at_stake)))
    shown = fit_facts(*status.write_status(progress.doing, 12, None, progress.choice), 100).plain
    assert shown.startswith(f"stopping python  12 s  esc again ends {at_stake}")
    assert "esc stop" not in shown
    # The program may take what was typed before, and ask once more.
    progress.follow(RunReported("id", InputReceived()))
    assert (progress.doing, progress.choice) == ("stopping python", f"esc again ends {at_stake}")
    progress.follow(RunReported("id", InputRequested("", masked=False)))
    assert progress.choice == f"esc again ends {at_stake}"


def test_the_line_of_running_code_is_named_where_there_are_several() -> None:
    progress = TurnProgress(lambda: None)

    def shown() -> str:
        return fit_facts(*status.write_status(progress.doing, 12, line=progress.line), 100).plain

    code = Message(role="assistant", type="code", format="python", content="a\nb\nc", state="running")
    progress.follow(MessageRecorded(code))
    progress.follow(RunReported("id", LineReached(2)))
    assert shown().startswith("running python  line 2 of 3  12 s")
    progress.follow(RunReported("id", InputRequested("", masked=False)))
    assert "line" not in shown()
    progress.follow(MessageRecorded(code.replace(content="a")))
    progress.follow(RunReported("id", LineReached(1)))
    assert shown().startswith("running python  12 s")


def test_the_last_line_says_that_the_model_has_the_mouse() -> None:
    shown = fit_facts(*status.write_status("running python", 12, pointer=True), 80).plain
    assert shown.startswith("the model has the mouse: move it to pause  running python")
    assert "mouse" not in fit_facts(*status.write_status("running python", 12), 80).plain


def test_hints_follow_the_keyboard() -> None:
    shown = fit_facts(*status.write_status("editing", 12, place="editing"), 100).plain
    assert "esc cancel" in shown
    assert "esc stop" not in shown
    assert "c copy" in fit_facts(*status.write_status("", 0, place="blocks"), 100).plain
    assert "esc stop" in fit_facts(*status.write_status("running python", 2, place="blocks"), 100).plain


@pytest.mark.parametrize("place", ["editing", "reason", "granting", "finding", "sidebar"])
def test_where_escape_does_something_else_no_stop_is_promised(place: str) -> None:
    right = fit_facts(*status.write_status("waiting for your approval", 2, place=place), 120).plain
    assert "esc stop" not in right
    assert right != fit_facts(*status.write_status("waiting for your approval", 2), 120).plain
