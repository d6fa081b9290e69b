"""Key hints of the status line and of footers can be clicked, for people who use the mouse alone."""

import pytest
from textual import events
from textual.app import App
from textual.widget import Widget

from oi_tui.engine.llm.base import Text
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.key_hints import find_key, press
from oi_tui.widgets.status_bar import StatusBar
from tests.fakes import call
from tests.pilot.test_chat import ChatDriver, open_chat


async def click(ui: ChatDriver, widget: Widget, words: str) -> None:
    """Click on the last letter of these words."""
    line = "".join(segment.text for segment in widget.render_line(0))
    assert words in line, line
    assert await ui.pilot.click(widget, offset=(line.index(words) + len(words) - 1, 0))


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
        await click(ui, ui.chat.query_one("#headline", StatusBar), "approval on")
        await ui.pilot.pause()
        assert ui.prompt == ""
        assert ui.chat.focused is ui.chat.prompt


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
