"""Text in the code that is being edited is found and replaced, all of it as one step to undo."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from oi_tui import paths
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.editor.find_replace_bar import FindReplaceBar
from tests.pilot.waiting import until

CODE = "price = 1\ntotal = price + price\nprint(total, 'Price')\n"


class Editing(App[None]):
    CSS_PATH = paths.styles() / "app.tcss"

    def __init__(self, code: str = CODE) -> None:
        super().__init__()
        self.editor = CodeEditor(code, "python")
        self.line = FindReplaceBar(self.editor, id="replace")

    def compose(self) -> ComposeResult:
        yield self.editor
        yield self.line


@asynccontextmanager
async def finding(text: str = "", code: str = CODE) -> AsyncIterator[tuple[Editing, Pilot[None]]]:
    app = Editing(code)
    async with app.run_test(size=(80, 24)) as pilot:
        app.line.open(text)
        yield app, pilot


def state(app: Editing) -> str:
    return str(app.line.query_one("#replace-state").render())


async def test_what_is_typed_is_found_letter_for_letter_and_shown() -> None:
    async with finding() as (app, pilot):
        await pilot.press(*"price")
        await until(pilot, lambda: "1 of 3" in state(app))
        assert app.editor.selection == ((0, 0), (0, 5))
        await pilot.press("enter")
        await until(pilot, lambda: "2 of 3" in state(app))
        assert app.editor.selection == ((1, 8), (1, 13))
        await pilot.press("up", "up")
        await until(pilot, lambda: "3 of 3" in state(app))


async def test_replacing_goes_on_to_the_next_place() -> None:
    async with finding("price") as (app, pilot):
        await until(pilot, lambda: "1 of 3" in state(app))
        await pilot.press("tab", *"cost")
        await until(pilot, lambda: app.line._found and app.line._found[0].put == "cost")
        await pilot.press("enter")
        await until(pilot, lambda: app.editor.code == CODE.replace("price", "cost", 1))
        await until(pilot, lambda: "1 of 2" in state(app))
        assert app.editor.selection == ((1, 8), (1, 13))


async def test_replacing_all_is_one_step_to_undo() -> None:
    async with finding("price") as (app, pilot):
        await pilot.press("tab", *"cost")
        await until(pilot, lambda: len(app.line._found) == 3 and app.line._found[0].put == "cost")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "3 replaced" in state(app))
        assert app.editor.code == CODE.replace("price", "cost")
        app.editor.undo()
        assert app.editor.code == CODE
        app.editor.redo()
        assert app.editor.code == CODE.replace("price", "cost")


async def test_a_pattern_replaces_with_its_groups() -> None:
    async with finding(r"(\w+) \+ (\w+)", code="a + b\nc + d\n") as (app, pilot):
        await pilot.press("ctrl+t", "tab", *r"\2 - \1")
        await until(pilot, lambda: app.line._found and app.line._found[0].put == "b - a")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.editor.code == "b - a\nd - c\n")


@pytest.mark.parametrize(
    ("pattern", "put", "words"),
    [("(", "", "unterminated"), ("a", r"\9", "invalid group"), ("(a+)+$", "", "takes too long")],
)
async def test_what_is_no_pattern_is_reported_in_words(pattern: str, put: str, words: str) -> None:
    async with finding(pattern, code="a" * 40 + "b") as (app, pilot):
        await pilot.press("ctrl+t", "tab", *put)
        await until(pilot, lambda: words in state(app))
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert app.editor.code == "a" * 40 + "b"


async def test_escape_gives_the_keys_back_to_the_code() -> None:
    async with finding("price") as (app, pilot):
        await until(pilot, lambda: app.editor._found)
        await pilot.press("escape")
        await until(pilot, lambda: app.editor.has_focus)
        assert not app.line.display
        assert app.editor._found == {}


async def test_the_line_fits_every_width() -> None:
    async with finding("price") as (app, pilot):
        for width in (200, 80, 60, 40, 20):
            await pilot.resize_terminal(width, 24)
            await until(pilot, lambda width=width: app.size.width == width)
            await pilot.pause()
            if width >= 60:
                assert all(field.size.width >= 8 for field in app.line.query(Input)), width


async def test_a_search_that_ends_after_the_screen_was_closed_ends_nothing_else() -> None:
    async with finding("pri.e") as (app, pilot):
        await until(pilot, lambda: "not found" in state(app))
        app.line.action_pattern()
        searches = [worker for worker in app.workers if worker.group == "replace"]
        # Closing takes away the fields first, and the bar with its search after them.
        await app.line.remove_children()
        assert searches
        await until(pilot, lambda: all(worker.is_finished for worker in searches))
        assert app.is_running
