"""Key hints of the status line and of footers can be clicked, for people who use the mouse alone."""

import pytest
from textual import events
from textual.app import App
from textual.widget import Widget
from textual.widgets import Input

from oi_tui.engine.llm.base import Text, Usage
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.diff import DiffScreen
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.models import ModelsScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.permissions import PermissionsScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.key_hints import find_key, press
from oi_tui.widgets.status_bar import StatusBar
from tests.fakes import call
from tests.pilot.test_chat import ChatDriver, open_chat


async def click(ui: ChatDriver, widget: Widget, words: str) -> None:
    """Click on the last letter of these words."""
    lines = [widget.render_line(y).text for y in range(widget.size.height)]
    y = next((y for y, line in enumerate(lines) if words in line), None)
    assert y is not None, lines
    assert await ui.pilot.click(widget, offset=(lines[y].index(words) + len(words) - 1, y))


def read_screen(ui: ChatDriver) -> str:
    """What is on the screen."""
    return "\n".join(strip.text for strip in ui.app.screen._compositor.render_strips())


def status(ui: ChatDriver) -> StatusBar:
    return ui.chat.query_one("#status", StatusBar)


async def test_a_click_on_a_hint_opens_the_screen_and_closes_it() -> None:
    async with open_chat() as ui:
        await click(ui, status(ui), "f2 settings")
        await ui.until(lambda: isinstance(ui.app.screen, ProfileEditor))
        await click(ui, ui.app.screen.query_one(KeyFooter), "esc back")
        await ui.until(lambda: isinstance(ui.app.screen, ChatScreen))
        await click(ui, status(ui), "f1 help")
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen))


async def test_a_click_leaves_a_long_text() -> None:
    async with open_chat() as ui:
        await ui.type("%log")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
        await click(ui, ui.app.screen.query_one("#reader-status"), "esc back")
        await ui.until(lambda: isinstance(ui.app.screen, ChatScreen))


async def test_a_click_beside_the_hints_types_nothing() -> None:
    async with open_chat() as ui:
        await click(ui, status(ui), "ready")
        await click(ui, ui.chat.query_one("#headline", StatusBar), "oi-tui")
        await ui.pilot.pause()
        assert ui.prompt == ""
        assert ui.chat.focused is ui.chat.prompt


async def test_a_click_on_a_fact_of_the_header_shows_what_belongs_to_it() -> None:
    async with open_chat([Text("Hello."), Usage(1900, 4, None)]) as ui:
        await ui.type("hi")
        await ui.idle()
        header = ui.chat.query_one("#headline", StatusBar)
        await click(ui, header, "openai/test")
        await ui.until(lambda: isinstance(ui.app.screen, ModelsScreen))
        await ui.pilot.press("escape")
        await ui.until(lambda: isinstance(ui.app.screen, ChatScreen))
        await click(ui, header, "approval on")
        await ui.until(lambda: isinstance(ui.app.screen, PermissionsScreen))
        await ui.pilot.press("escape")
        await ui.until(lambda: isinstance(ui.app.screen, ChatScreen))
        await click(ui, header, "cost unknown")
        await ui.until(lambda: "Context window: 32,000" in read_screen(ui))


async def test_a_click_on_esc_stop_stops() -> None:
    async with open_chat([call("a")], [Text("Never.")]) as ui:
        await ui.type("go")
        await ui.asked()
        await click(ui, status(ui), "esc stop")
        await ui.idle()
        assert ui.computer.ran == []


@pytest.mark.parametrize(
    ("hint", "key", "character"),
    [
        ("esc back", "escape", None),
        ("f4 default", "f4", None),
        ("ctrl+s save", "ctrl+s", None),
        ("ctrl+] back", "ctrl+right_square_bracket", None),
        ("ctrl+down prompt", "ctrl+down", None),
        ("? more", "question_mark", "?"),
        ("/ filter", "slash", "/"),
        ("C copy column", "C", "C"),
    ],
)
async def test_a_hint_presses_the_key_that_it_names(hint: str, key: str, character: str | None) -> None:
    pressed: list[tuple[str, str | None]] = []

    class Page(App[None]):
        def on_key(self, event: events.Key) -> None:
            pressed.append((event.key, event.character))

    app = Page()
    async with app.run_test() as pilot:
        press(app, find_key(f"日本  {hint}  x", 6, [hint]))
        await pilot.pause()
    assert pressed == [(key, character)]


@pytest.mark.parametrize(
    "hint", ["type search", "page up/down read", "up/down choose", "up / down scroll", ":q! cancel"]
)
def test_words_that_name_no_single_key_press_none(hint: str) -> None:
    assert find_key(hint, 0, [hint]) == ""


async def test_the_hints_follow_what_is_typed() -> None:
    async with open_chat() as ui:

        def hints() -> str:
            return status(ui).render().plain

        assert "ctrl+r conversations" in hints()
        await ui.type("x", "y")
        await ui.until(lambda: "ctrl+r history" in hints())
        assert "conversations" not in hints()
        await ui.pilot.press("backspace", "backspace")
        await ui.until(lambda: "ctrl+r conversations" in hints())


async def test_hints_in_the_question_are_clicked_while_code_is_edited() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("e")
        await ui.until(lambda: ui.view.conversation.cell_editor.is_open)
        title = ui.chat.query_one("#question")
        # A click beside the hints leaves the keyboard to the editor, and takes it back there.
        for _ in range(2):
            assert await ui.pilot.click(title, offset=(2, 0))
            await ui.pilot.press("b")
            ui.chat.prompt.focus()
        await click(ui, title, "f8 your changes")
        await ui.until(lambda: isinstance(ui.app.screen, DiffScreen))
        await ui.pilot.press("escape")
        await ui.until(lambda: isinstance(ui.app.screen, ChatScreen))
        await click(ui, title, "f5 done")
        await ui.asked()
        assert ui.view.approval.code == "bba"
        assert ui.prompt == ""


async def test_a_reason_is_chosen_with_the_mouse() -> None:
    async with open_chat([call("a")], [Text("Why?")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("n")
        title = ui.chat.query_one("#question")
        await ui.until(lambda: "2 too risky" in title.render_line(1).text)
        ui.chat.prompt.focus()
        await click(ui, title, "2 too risky")
        await ui.until(lambda: ui.chat.query_one("#why", Input).value == "too risky")
        await click(ui, status(ui), "enter reject")
        await ui.idle()
        assert "too risky" in str(ui.view.session.messages)
        assert ui.prompt == ""
