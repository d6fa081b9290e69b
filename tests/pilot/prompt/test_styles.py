"""The styles of the prompt are made when they change, and not with every key."""

import pytest
from textual._text_area_theme import TextAreaTheme
from textual.widgets import TextArea

from tests.pilot.test_chat import open_chat


async def test_a_key_makes_no_styles_anew_and_a_theme_and_the_focus_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[TextArea] = []
    apply_css = TextAreaTheme.apply_css

    def note(theme: TextAreaTheme, area: TextArea) -> None:
        made.append(area)
        apply_css(theme, area)

    async with open_chat() as ui:
        prompt = ui.chat.prompt
        await ui.pilot.press("a")
        await ui.until(lambda: prompt.text == "a")
        monkeypatch.setattr(TextAreaTheme, "apply_css", note)
        await ui.pilot.press(*"bcdef")
        await ui.until(lambda: not prompt._repaint_required and prompt.text == "abcdef")
        assert made == []
        caret = prompt._theme.cursor_style
        ui.app.theme = "oi-light"
        await ui.until(lambda: prompt._theme.cursor_style != caret)
        made.clear()
        ui.chat.set_focus(None)
        await ui.until(lambda: made)
