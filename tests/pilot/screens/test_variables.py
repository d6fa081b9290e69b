"""What the languages remember, on a screen of its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
from textual.app import App
from textual.pilot import Pilot

from oi_tui.app import OiTui
from oi_tui.runtimes.variables import Detail, Memory, Variable
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.variables import VariablesScreen
from oi_tui.themes import DARK
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.lists.variable_list import VariableList, format_size, make_rows, shorten_summary
from tests.fakes import Computer
from tests.pilot.painting import find_lines_painted
from tests.pilot.test_chat import open_chat
from tests.pilot.waiting import until

PYTHON = Memory(
    "python",
    "known",
    (
        Variable("df", "DataFrame", "DataFrame 1200x8", 76_800),
        Variable("name", "str", "'[bold]x'", 50),
        Variable("日本語の長い名前がここにある", "int", "3", 28),
    ),
    3,
)
SHELL = Memory("shell", "known", (Variable("name", "string", "x", 1),), 5000)


class Stage(App[None]):
    CSS_PATH = [*OiTui.CSS_PATH, *OiTui.LATER_CSS]

    def __init__(self, *memories: Memory) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        self.computer = Computer()
        self.computer.remembered = memories
        self.computer.details = {("python", "df"): Detail("DataFrame, 1200 rows", "a b\n1 2")}
        self.busy = False
        self.chosen: list[str | None] = []
        self.tables: list[tuple[str, str]] = []

    def on_mount(self) -> None:
        screen = VariablesScreen(self.computer, lambda: self.busy, open_table=self.open_table)
        self.push_screen(screen, self.chosen.append)

    def open_table(self, language: str, name: str) -> None:
        self.tables.append((language, name))

    @property
    def shown(self) -> str:
        list_ = self.screen.query_one(VariableList)
        if not list_.display:
            return str(self.screen.query_one("#variables-none").render())
        return "\n".join(list_.render_line(y).text.rstrip() for y in range(list_.size.height)).rstrip()


@asynccontextmanager
async def looking(
    *memories: Memory, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Stage, Pilot[None], Callable]]:
    app = Stage(*memories)
    async with app.run_test(size=size) as pilot:
        reached = partial(until, pilot)
        await reached(lambda: isinstance(app.screen, VariablesScreen) and "asking" not in app.shown)
        yield app, pilot, reached


async def test_variables_stand_under_their_languages_and_silence_is_explained() -> None:
    others = (
        Memory("javascript", "unstarted"),
        Memory("perl", "silent"),
        Memory("ruby", "busy"),
        Memory("java", "unstarted"),
    )
    async with looking(PYTHON, SHELL, *others, Memory("r", "known")) as (app, _, _until):
        lines = app.shown.split("\n")
        assert lines[0] == "python: 3"
        assert lines[1].split() == [[">", "df"][0], "df", "DataFrame", "1200x8", "76.8", "kB"]
        assert "'[bold]x'" in lines[2]
        assert lines[4] == "shell: the 1 newest of 5,000"
        assert lines[6:] == [
            "r: nothing yet",
            "busy, shown when done: ruby",
            "not started, no variables yet: javascript, java",
            "variables cannot be listed: perl",
        ]


async def test_a_list_of_languages_that_is_too_long_ends_with_a_mark() -> None:
    others = (Memory(name, "unstarted") for name in ("javascript", "typescript", "powershell", "octave"))
    async with looking(PYTHON, *others, size=(60, 15)) as (app, _, _until):
        assert app.shown.endswith("not started, no variables yet: javascript, typescript, po…")


async def test_before_any_code_ran_the_languages_are_not_counted_up() -> None:
    async with looking(*(Memory(name, "unstarted") for name in ("python", "shell", "r"))) as (app, _, until):
        await until(lambda: "No variables yet" in app.shown)
        assert "shell" not in app.shown


async def test_a_value_that_was_cut_has_its_mark_beside_the_scroll_bar() -> None:
    many = tuple(Variable(f"v{number}", "str", "x" * 100, 149) for number in range(50))
    async with looking(Memory("python", "known", many, 50), size=(50, 20)) as (app, _, reached):
        await reached(lambda: app.screen.query_one(VariableList).show_vertical_scrollbar)
        await reached(lambda: "x…" in "".join(s.text for s in app.screen._compositor.render_strips()[8]))


async def test_typing_narrows_the_list_and_enter_names_the_variable() -> None:
    async with looking(PYTHON, SHELL) as (app, pilot, until):
        await pilot.press(*"NA")
        await until(lambda: "python: 1 of 3" in app.shown and "df" not in app.shown)
        await pilot.press("down", "enter")
        await until(lambda: app.chosen == ["@shell:name"])


async def test_enter_opens_a_table_and_tab_names_it() -> None:
    async with looking(PYTHON, SHELL) as (app, pilot, until):
        foot = app.screen.query_one(KeyFooter)
        await until(lambda: "enter open table" in str(foot.render()))
        await pilot.press("enter")
        await until(lambda: app.tables == [("python", "df")])
        await pilot.press("down")
        await until(lambda: "enter insert name" in str(foot.render()))
        await pilot.press("up", "tab")
        await until(lambda: app.chosen == ["@df"])
        assert len(app.tables) == 1


async def test_escape_empties_the_field_before_it_closes() -> None:
    async with looking(PYTHON) as (app, pilot, until):
        await pilot.press(*"zebra")
        await until(lambda: "No variable matches “zebra”" in app.shown)
        assert "esc clear" in str(app.screen.query_one(KeyFooter).render())
        await pilot.press("enter", "escape")
        await until(lambda: "df" in app.shown)
        assert "esc back" in str(app.screen.query_one(KeyFooter).render())
        assert app.chosen == []
        await pilot.press("escape")
        await until(lambda: app.chosen == [None])


async def test_a_variable_can_be_looked_into_and_one_that_is_gone_is_reported_to_be() -> None:
    async with looking(PYTHON) as (app, pilot, until):
        app.computer.details[("python", "name")] = Detail("str", "x")
        await pilot.press("down", "ctrl+o")
        await until(lambda: isinstance(app.screen, PagerScreen))
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, VariablesScreen))
        await pilot.press("down", "ctrl+o")
        await until(
            lambda: any(
                "cannot be shown now" in str(notification.message) for notification in app._notifications
            )
        )


async def test_what_a_busy_language_told_before_stays_and_is_asked_for_again_when_it_is_done() -> None:
    async with looking(PYTHON) as (app, pilot, until):
        app.busy = True
        app.computer.remembered = (Memory("python", "busy"),)
        await pilot.press("f5")
        await pilot.pause(0.1)
        assert "df" in app.shown
        app.busy = False
        await pilot.press("f5")
        await until(lambda: "busy" in app.shown)
        app.computer.remembered = (PYTHON,)
        await until(lambda: "df" in app.shown)


async def test_thousands_of_variables_are_moved_through_and_resized_with_the_selection_in_sight() -> None:
    many = tuple(Variable(f"v{number}", "int", str(number), 28) for number in range(2000))
    async with looking(Memory("python", "known", many, 2000)) as (app, pilot, until):
        await pilot.press(*["pagedown"] * 20)
        await until(lambda: "> v" in app.shown)
        for size in ((20, 6), (200, 50), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await until(lambda: "> v" in app.shown)


@pytest.mark.parametrize(
    ("size", "words"),
    [(None, ""), (0, "0 B"), (999, "999 B"), (1200, "1.2 kB"), (3_400_000, "3.4 MB"), (5e12, "5000.0 GB")],
)
def test_sizes_are_reported_in_a_word(size: int | None, words: str) -> None:
    assert format_size(size) == words


@pytest.mark.parametrize(
    ("type", "summary", "shown"),
    [
        ("DataFrame", "DataFrame 1200x8", "1200x8"),
        ("list", "list of 2,000", "2,000 items"),
        ("dict", "dict of 1", "1 item"),
        ("str", "str of 300 characters", "300 characters"),
        ("function", "function value", ""),
        ("Model", "Model", ""),
        ("str", "'list of 2'", "'list of 2'"),
    ],
)
def test_the_summary_repeats_neither_type_nor_name(type: str, summary: str, shown: str) -> None:
    assert shorten_summary(Variable("value", type, summary)) == shown


def test_a_word_is_looked_for_in_names_types_and_languages() -> None:
    assert [row.variable.name for row in make_rows([PYTHON, SHELL], "frame") if row.variable] == ["df"]
    assert [row.variable.name for row in make_rows([PYTHON, SHELL], "shell name") if row.variable] == ["name"]


async def test_the_key_and_the_command_open_the_screen_and_the_name_goes_into_the_prompt() -> None:
    async with open_chat() as ui:
        ui.computer.remembered = (PYTHON,)
        ui.chat.prompt.insert("plot ")
        await ui.pilot.press("f4")
        await ui.until(lambda: isinstance(ui.app.screen, VariablesScreen))
        list_ = ui.app.screen.query_one(VariableList)
        await ui.until(lambda: list_.selected)
        await ui.pilot.press("tab")
        await ui.until(lambda: ui.prompt == "plot @df ")
        await ui.pilot.press("ctrl+u")
        await ui.type("%variables na")
        await ui.until(lambda: isinstance(ui.app.screen, VariablesScreen))
        list_ = ui.app.screen.query_one(VariableList)
        await ui.until(lambda: list_.selected)
        await ui.pilot.press("enter")
        await ui.until(lambda: ui.prompt == "@name ")


def test_tables_come_first_then_what_is_large_and_code_last() -> None:
    found = (
        Variable("load", "function", "function load", 900),
        Variable("total", "int", "3", 28),
        Variable("Sale", "type", "class Sale", 1_000),
        Variable("count", "int", "4", 28),
        Variable("rows", "list", "list of 2,000", 16_000),
        Variable("df", "DataFrame", "DataFrame 3x2", 400),
    )
    listed = make_rows([Memory("python", "known", found, 6)], "")
    names = [row.variable.name for row in listed if row.variable]
    assert names == ["df", "rows", "total", "count", "load", "Sale"]


def test_variables_of_a_program_that_has_ended_are_those_of_its_last_cell() -> None:
    memory = Memory("php", "known", (Variable("$n", "int", "3", 16),), 1, is_over=True)
    heading, row = make_rows([memory], "")
    assert heading.heading == "php: 1 of its last cell"
    assert row.variable is memory.variables[0]


async def test_moving_among_variables_paints_the_two_that_change() -> None:
    async with looking(PYTHON, SHELL) as (app, pilot, _):
        view = app.screen.query_one(VariableList)
        assert len(await find_lines_painted(pilot, view, "down")) == 2
        for key in ("down", "down", "down", "up", "up"):
            await find_lines_painted(pilot, view, key)
