"""The keys at the lower border of a dialog, clicked."""

from collections.abc import Callable

import pytest
from textual.widgets import OptionList

from oi_tui.screens.dialog import Dialog, link_hints
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.question import QuestionDialog
from oi_tui.screens.themes import ThemesScreen
from tests.pilot.test_chat import ChatDriver, open_chat


async def click(ui: ChatDriver, text: str) -> None:
    """Click on the first place of the screen with this text."""

    def place() -> tuple[int, int] | None:
        rows = [strip.text for strip in ui.app.screen._compositor.render_strips()]
        return next(((row.index(text), number) for number, row in enumerate(rows) if text in row), None)

    await ui.until(place)
    await ui.pilot.click(offset=place())


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (HelpScreen, "esc close"),
        (ThemesScreen, "esc cancel"),
        (lambda: QuestionDialog("ssh", "Password?", masked=True), "esc cancel"),
    ],
)
async def test_a_click_on_a_key_presses_it_whatever_has_the_focus(
    make: Callable[[], Dialog[object]], hint: str
) -> None:
    async with open_chat() as ui:
        conversation = ui.app.screen
        ui.app.push_screen(make())
        await ui.until(lambda: ui.app.screen is not conversation)
        await click(ui, hint)
        await ui.until(lambda: ui.app.screen is conversation)


async def test_a_click_on_enter_takes_what_is_chosen() -> None:
    async with open_chat() as ui:
        taken: list[str | None] = []
        ui.app.push_screen(ThemesScreen(), taken.append)
        await ui.until(lambda: isinstance(ui.app.screen, ThemesScreen))
        await ui.until(lambda: isinstance(ui.app.focused, OptionList))
        await click(ui, "enter apply")
        await ui.until(lambda: taken)
        assert taken == [ui.app.theme]


async def test_a_letter_goes_to_the_next_theme_that_begins_with_it() -> None:
    async with open_chat() as ui:
        ui.app.push_screen(ThemesScreen())
        await ui.until(lambda: isinstance(ui.app.focused, OptionList))
        themes = []
        for key in "nrRrrx":
            await ui.pilot.press(key)
            themes.append(ui.app.theme)
        assert themes == ["nord", "rose-pine", "rose-pine-moon", "rose-pine-dawn", "rose-pine", "rose-pine"]


def test_only_keys_are_links() -> None:
    assert link_hints("the field opens when you stop typing · esc cancel") == (
        "the field opens when you stop typing · [@click=screen.press('esc')]esc cancel[/]"
    )
    assert link_hints("A revoke all") == "[@click=screen.press('A')]A revoke all[/]"
