"""The sidebar: when it is there, what it shows, and what its rows do."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import Input

from oi_tui.engine.llm.base import Text, Usage
from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.messages import Message
from oi_tui.runtimes.variables import Detail, Memory, Variable
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.variables import VariablesScreen
from oi_tui.widgets.sidebar.plan import PlanItem, find_plan
from oi_tui.widgets.sidebar.rows import SidebarFacts, format_count, list_rows
from oi_tui.widgets.sidebar.sidebar import Sidebar
from tests.fakes import call
from tests.pilot.conversation.test_cells import screen_lines
from tests.pilot.conversation.test_restore_files import answered, working
from tests.pilot.test_chat import ChatDriver, open_chat

DATA = Memory(
    "python",
    "known",
    (
        Variable("total", "float", "12.5"),
        Variable("df", "DataFrame", "DataFrame 1200x8"),
        Variable("load", "function", "function load"),
    ),
    3,
)


def sidebar(ui: ChatDriver) -> Sidebar:
    return ui.chat.query_one(Sidebar)


def read_sidebar(ui: ChatDriver) -> list[str]:
    """The rows on the screen, "" as long as there is no sidebar."""
    if not ui.view.sidebar.shown:
        return []
    bar = sidebar(ui)
    return [" ".join(bar.render_line(y).text.split()) for y in range(bar.size.height)]


@asynccontextmanager
async def wide(*replies: object, columns: int = 200, **settings: object) -> AsyncIterator[ChatDriver]:
    async with open_chat(*replies, auto_run=True, **settings) as ui:
        await ui.pilot.resize_terminal(columns, 50)
        ui.computer.remembered = (DATA,)
        yield ui


async def test_the_scroll_bar_hides_no_end_of_a_row() -> None:
    async with wide([call("a"), Usage(1000, 50, 0.02)], [Text("Done."), Usage(1900, 50, 0.02)]) as ui:
        await ui.type("go")
        await ui.until(lambda: "2 requests $0.04" in read_sidebar(ui))
        await ui.pilot.resize_terminal(200, 9)
        await ui.until(lambda: sidebar(ui).show_vertical_scrollbar)
        sidebar(ui).scroll_end(animate=False)
        row = r"2 requests .*\$0\.04"
        await ui.until(lambda: any(re.search(row, line) for line in screen_lines(ui)))


async def test_it_shows_variables_and_cost_after_a_run() -> None:
    async with wide([call("a"), Usage(1000, 50, 0.02)], [Text("Done."), Usage(1900, 50, 0.02)]) as ui:
        assert not ui.view.sidebar.shown, "there is nothing to show yet"
        await ui.type("go")
        await ui.until(lambda: "2 requests $0.04" in read_sidebar(ui))
        await ui.until(lambda: "df DataFrame 1200x8" in read_sidebar(ui))
        rows = read_sidebar(ui)
        assert rows[rows.index("Variables 3") + 1 :][:3] == [
            "df DataFrame 1200x8",
            "total 12.5",
            "… 1 function or class f4",
        ]
        assert "Files changed" in rows
        assert ui.chat.focused is ui.chat.prompt


async def test_another_run_brings_it_up_to_date() -> None:
    async with wide([call("a")], [Text("Done.")], [call("b")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.until(lambda: "df DataFrame 1200x8" in read_sidebar(ui))
        await ui.until(lambda: not ui.view.busy)
        ui.computer.remembered = (Memory("python", "known", (Variable("new", "int", "3"),), 1),)
        await ui.type("go")
        await ui.until(lambda: "new 3" in read_sidebar(ui))
        assert "df DataFrame 1200x8" not in read_sidebar(ui)


async def test_a_busy_language_keeps_what_it_told() -> None:
    async with wide([call("a")], [Text("Done.")], [call("b")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.until(lambda: "df DataFrame 1200x8" in read_sidebar(ui) and not ui.view.busy)
        ui.computer.remembered = (
            Memory("python", "busy"),
            Memory("shell", "known", (Variable("x", "string", "1"),), 1),
        )
        await ui.type("go")
        await ui.until(lambda: "x 1" in read_sidebar(ui))
        assert "df DataFrame 1200x8" in read_sidebar(ui)


async def test_nothing_is_asked_while_it_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    async with wide([call("a")], [Text("Done.")], columns=139) as ui:
        asked: list[int] = []

        def memories() -> tuple[Memory, ...]:
            asked.append(1)
            return (DATA,)

        monkeypatch.setattr(ui.computer, "read_memories", memories)
        await ui.type("go")
        await ui.until(lambda: ui.view.session.messages and not ui.view.busy)
        assert asked == []
        assert not ui.chat.query(Sidebar)
        await ui.pilot.press("ctrl+b")
        await ui.until(lambda: "> df DataFrame 1200x8" in read_sidebar(ui))
        assert asked == [1]


async def test_the_key_hides_it_and_that_is_remembered(tmp_path: Path) -> None:
    async with wide([Text("Hello.")]) as ui:
        ui.workspace.profile_path = tmp_path / "profile.yaml"
        await ui.type("go")
        await ui.until(lambda: ui.view.sidebar.shown)
        width = ui.view.conversation.size.width
        await ui.pilot.press("ctrl+b")
        await ui.until(lambda: ui.view.conversation.size.width > width)
        assert not ui.view.sidebar.shown
        assert "sidebar: false" in (tmp_path / "profile.yaml").read_text()
        await ui.type("%sidebar on")
        await ui.until(lambda: ui.view.conversation.size.width == width)
        assert "sidebar" not in (tmp_path / "profile.yaml").read_text()


async def test_it_follows_the_width_of_the_screen() -> None:
    async with wide([Text("Hello.")]) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.sidebar.shown)
        await ui.pilot.resize_terminal(100, 40)
        await ui.until(lambda: not ui.view.sidebar.shown)
        assert ui.view.conversation.size.width == 100
        await ui.pilot.resize_terminal(200, 50)
        await ui.until(lambda: ui.view.sidebar.shown)
        assert ui.view.conversation.size.width == 200 - sidebar(ui).outer_size.width


async def test_a_narrow_screen_has_a_drawer_that_escape_closes() -> None:
    async with wide([Text("Hello.")], columns=120) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.session.messages and not ui.view.busy)
        await ui.pilot.press("ctrl+b")
        await ui.until(lambda: ui.chat.focused is sidebar(ui))
        assert ui.view.conversation.size.width == 120, "it covers the conversation and moves nothing"
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.chat.focused is ui.chat.prompt)
        assert not ui.view.sidebar.shown
        await ui.pilot.press("ctrl+b")
        await ui.until(lambda: ui.chat.focused is sidebar(ui))
        await ui.pilot.press("ctrl+b")
        await ui.until(lambda: not ui.view.sidebar.shown)
        assert ui.workspace.profile.sidebar, "the drawer is not what is remembered"


async def test_before_the_first_message_the_key_says_when_it_opens() -> None:
    async with wide(columns=100) as ui:
        await ui.pilot.press("ctrl+b")
        await ui.until(lambda: ui.app._notifications)
        assert not ui.view.sidebar.shown


async def test_tab_goes_there_and_enter_names_the_variable() -> None:
    async with wide([call("a")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.until(lambda: "df DataFrame 1200x8" in read_sidebar(ui) and not ui.view.busy)
        await ui.pilot.press("tab", "tab")
        await ui.until(lambda: ui.chat.focused is sidebar(ui))
        assert "> df DataFrame 1200x8" in read_sidebar(ui)
        await ui.pilot.press("down", "enter")
        await ui.until(lambda: ui.prompt == "@total ")
        assert ui.view.sidebar.shown
        sidebar(ui).focus()
        await ui.pilot.press("x", "y")
        await ui.until(lambda: ui.prompt == "@total xy")


async def test_values_open_and_the_last_row_lists_all_variables() -> None:
    async with wide([call("a")], [Text("Done.")]) as ui:
        ui.computer.details = {("python", "total"): Detail("float", "12.5")}
        await ui.type("go")
        await ui.until(lambda: "total 12.5" in read_sidebar(ui) and not ui.view.busy)
        sidebar(ui).focus()
        await ui.pilot.press("down", "ctrl+o")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.app.screen is ui.chat)
        sidebar(ui).focus()
        await ui.pilot.press("down", "enter")
        await ui.until(lambda: isinstance(ui.app.screen, VariablesScreen))
        assert ui.app.screen.query_one(Input).value == ""


async def test_files_are_listed_and_a_click_on_undo_restores_them(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("before")
    async with working(tmp_path, "data.csv after") as ui:
        await ui.pilot.resize_terminal(200, 40)
        await ui.until(lambda: "~ data.csv [1] undo" in read_sidebar(ui))
        bar = sidebar(ui)
        assert await ui.pilot.click(
            Sidebar, offset=(bar.outer_size.width - 4, read_sidebar(ui).index("~ data.csv [1] undo"))
        )
        await answered(ui, "y")
        await ui.until(lambda: (tmp_path / "data.csv").read_text() == "before")
        assert "undo" in "\n".join(screen_lines(ui))


async def test_the_code_of_a_turn_with_several_pieces_is_listed_with_its_state() -> None:
    async with wide([call("a")], [call("fail")], [Text("Done.")], [call("b")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.until(lambda: "Steps of this turn 1 of 2 done" in read_sidebar(ui))
        rows = read_sidebar(ui)
        start = rows.index("Steps of this turn 1 of 2 done")
        assert rows[start + 1].startswith("[1] python")
        assert rows[start + 2] == "[2] python failed"
        await ui.until(lambda: not ui.view.busy)
        await ui.type("go on")
        await ui.until(lambda: not ui.view.busy and len(ui.view.session.messages) > 6)
        # A turn with one piece needs no list.
        await ui.until(lambda: not any(row.startswith("Steps") for row in read_sidebar(ui)))


def said(content: str, type: str = "message") -> Message:
    return Message(role="assistant", type=type, content=content)


@pytest.mark.parametrize(
    ("messages", "plan"),
    [
        (
            [said("Plan:\n1. **Read** it\n2. Plot `it`\n"), said("x", "code")],
            [("Read it", None), ("Plot it", None)],
        ),
        ([said("- [x] Read\n- [ ] Plot"), said("x", "code")], [("Read", True), ("Plot", False)]),
        (
            [said("1. a\n2. b"), said("x", "code"), said("- [x] a\n- [ ] b"), said("1. c\n2. d")],
            [("a", True), ("b", False)],
        ),
        ([said("1. a\n2. b")], []),
        ([said("1. a"), said("x", "code")], []),
        ([said("```\n1. a\n2. b\n```"), said("x", "code"), said("1. found\n2. too")], []),
    ],
)
def test_a_plan_is_what_the_model_wrote_before_its_code(
    messages: list[Message], plan: list[tuple[str, bool | None]]
) -> None:
    assert [(item.text, item.done) for item in find_plan(messages)] == plan


def test_a_long_plan_shows_what_is_still_to_do() -> None:
    items = tuple(PlanItem(f"item {n}", n < 5) for n in range(12))
    rows = [f"{row.text} {row.note}".strip() for row in list_rows(SidebarFacts(plan=items), 50)]
    assert rows[:2] == ["Plan 5 of 12 done", "· item 5"]
    rows = [row.text for row in list_rows(SidebarFacts(plan=items[:6]), 50)]
    assert rows[1:7] == ["✓ item 0", "✓ item 1", "✓ item 2", "✓ item 3", "✓ item 4", "· item 5"]
    numbered = SidebarFacts(plan=(PlanItem("a"), PlanItem("b")))
    assert [row.text for row in list_rows(numbered, 9)][:3] == ["Plan", "1. a", "… 1 more"]


def texts(facts: SidebarFacts, height: int = 40) -> list[str]:
    return [f"{row.text} {row.note}".strip() for row in list_rows(facts, height)]


def test_the_rows_fit_however_many_variables_and_files_there_are() -> None:
    many = Memory("python", "known", tuple(Variable(f"v{n}", "int", "1") for n in range(900)), 1000)
    changes = tuple(FileChange(f"f{n}", "created") for n in range(80))
    codes = tuple(
        (n, Message(role="assistant", type="code", format="python", state="finished")) for n in range(9)
    )
    facts = SidebarFacts(
        (many,), codes, (), ((1, ChangeSet("a", "/", changes)),), 900, 1000, 3, "cost unknown"
    )
    for height in (24, 30, 50, 100):
        rows = texts(facts, height)
        assert len(rows) <= height, height
        assert rows[-1] == "3 requests cost unknown"
    hidden = next(row for row in rows if "more f4" in row)
    listed = sum(row.startswith("v") for row in rows)
    assert hidden == f"… {1000 - listed} more f4"


def test_code_is_counted_and_a_text_about_code_is_data() -> None:
    found = (
        Variable("Shape", "ABCMeta", "class Shape"),
        Variable("note", "string", "class starts at nine"),
        Variable("draw", "function", "function draw"),
    )
    rows = texts(SidebarFacts((Memory("shell", "known", found, 3),)))
    assert rows[:3] == ["Variables 3", "note class starts at nine", "… 2 functions and classes f4"]


def test_numbers_are_short_and_other_text_is_as_it_is() -> None:
    found = (
        Variable("mean", "float", "299.84194248353583"),
        Variable("small", "float", "1.2345678901234e-300"),
        Variable("place", "str", "299.84194248353583 m"),
        Variable("half", "float", "0.5"),
    )
    rows = texts(SidebarFacts((Memory("python", "known", found, 4),)))
    assert rows[1:5] == ["half 0.5", "place 299.84194248353583 m", "small 1.234568e-300", "mean 299.8419"]


def test_the_newest_files_come_first() -> None:
    steps = (
        (1, ChangeSet("a", "/", (FileChange("old.txt", "created"),))),
        (4, ChangeSet("b", "/", (FileChange("new.txt", "deleted"),))),
    )
    rows = texts(SidebarFacts(change_sets=steps))
    assert rows[rows.index("Files changed 2") + 1 :][:2] == ["- new.txt [4] undo", "+ old.txt [1] undo"]


def test_context_is_a_share_where_the_window_is_known() -> None:
    rows = texts(SidebarFacts(tokens=29_400, window=128_000, requests=1, price="$0.04"))
    assert rows[-3:] == [
        "━━━━━───────────────  23%".replace("  ", " "),
        "29.4k of 128k tokens",
        "1 request $0.04",
    ]
    assert "tokens not reported" in texts(SidebarFacts(requests=1, price="cost unknown"))
    assert "2.5k tokens limit unknown" in texts(SidebarFacts(tokens=2_480, requests=1, price="cost unknown"))


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0"), (999, "999"), (1000, "1.0k"), (99_960, "100k"), (1_048_576, "1.0M")]
)
def test_counts_are_short(number: int, words: str) -> None:
    assert format_count(number) == words


async def test_on_a_very_wide_screen_values_stay_near_their_names() -> None:
    async with wide([Text("Done.")], columns=300) as ui:
        await ui.type("go")
        await ui.until(lambda: bool(read_sidebar(ui)))
        assert sidebar(ui).outer_size.width == 60
