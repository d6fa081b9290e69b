"""Short notices go away, whenever they come to a screen."""

import pytest
from textual.widgets._toast import Toast

from oi_tui.widgets.notice import Notice
from tests.pilot.test_chat import open_chat


@pytest.mark.parametrize("timeout", [-1e-5, 0.0, 1e-5])
async def test_a_notice_whose_time_is_over_as_it_is_shown_goes_away(timeout: float) -> None:
    async with open_chat() as ui:
        # Textual's own one would stop the application here, for ever.
        await ui.app.screen.mount(Toast(Notice("Copied.", timeout=timeout)))
        await ui.until(lambda: not ui.app.screen.query(Toast))


async def test_all_notices_are_such(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_chat() as ui:
        monkeypatch.setattr(type(ui.app), "NOTIFICATION_TIMEOUT", 60.0)
        ui.chat.prompt.notify("One", title="Title", severity="warning", markup=False)
        ui.app.notify("Two", timeout=120)
        await ui.until(lambda: len(ui.app._notifications) == 2)
        one, two = ui.app._notifications
        assert isinstance(one, Notice)
        assert isinstance(two, Notice)
        assert (one.message, one.title, one.severity, one.markup) == ("One", "Title", "warning", False)
        assert (one.timeout, two.timeout) == (60, 120)
        assert not one.has_expired


def test_a_notice_that_is_over_is_not_shown_on_another_screen() -> None:
    assert Notice("x", timeout=-1).has_expired
    assert not Notice("x", timeout=5).has_expired
    assert Notice("x", timeout=5).time_left > 4
