"""In every list the chosen row has a mark as well as a colour."""

import ast
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets.option_list import Option

import oi_tui
from oi_tui.widgets.lists.choice_list import ChoiceList
from tests.pilot.painting import find_lines_painted, paint


class Shell(App[None]):
    def compose(self) -> ComposeResult:
        yield ChoiceList(Option("heading", disabled=True), Option("one two three"), Option("four"))

    def rows(self) -> list[str]:
        choices = self.query_one(ChoiceList)
        return [choices.render_line(y).text.rstrip() for y in range(choices.size.height)]


async def test_the_mark_stands_before_the_first_row_of_what_is_chosen() -> None:
    app = Shell()
    app.CSS = "ChoiceList { width: 14; height: auto; }"
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("home")
        assert app.rows() == ["  heading", "> one two", "  three", "  four"]
        await pilot.press("down")
        assert app.rows() == ["  heading", "  one two", "  three", "> four"]
        assert app.query_one(ChoiceList).size.height == 4


async def test_a_list_without_any_room_can_be_paged_through() -> None:
    app = Shell()
    app.CSS = "ChoiceList { width: 0; height: 0; min-width: 0; border: none; padding: 0; }"
    async with app.run_test(size=(40, 10)) as pilot:
        choices = app.query_one(ChoiceList)
        choices.focus()
        choices.highlighted = 1
        await pilot.press("pagedown")
        assert choices.highlighted == 2
        await pilot.press("pageup")
        assert choices.highlighted == 1


async def test_a_click_on_the_mark_chooses_its_row() -> None:
    app = Shell()
    app.CSS = "ChoiceList { width: 30; height: auto; border: none; padding: 0; }"
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.click(ChoiceList, offset=(0, 2))
        assert app.rows() == ["  heading", "  one two three", "> four"]


async def test_another_chosen_row_draws_only_the_rows_that_change() -> None:
    app = Shell()
    app.CSS = "ChoiceList { width: 14; height: auto; border: none; padding: 0; }"
    async with app.run_test(size=(40, 10)) as pilot:
        choices = app.query_one(ChoiceList)
        await pilot.press("home")
        assert await find_lines_painted(pilot, choices, "down") == [1, 2, 3]
        choices.highlighted = None
        assert paint(choices)[3].text.startswith("  four")


def test_no_screen_has_a_list_without_the_mark() -> None:
    lists = ("OptionList", "SelectionList", "CommandList")
    made = {
        f"{path.name}: {node.func.id}"
        for path in Path(oi_tui.__file__).parent.rglob("*.py")
        if any(name in (text := path.read_text("utf-8")) for name in lists)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in lists
    }
    assert made == set()
