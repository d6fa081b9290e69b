"""Where nothing happens, nothing is done, and yet nothing on the screen is out of date."""

import threading

import pytest
from textual.app import App
from textual.timer import Timer
from textual.widgets import Input

from oi_tui.engine.llm.base import Text
from oi_tui.messages import VariablesLost
from oi_tui.screens.chat.turn import title_timer
from oi_tui.screens.permissions import PermissionsScreen
from oi_tui.widgets.conversation.blocks import NoticeBlock
from tests.fakes import call
from tests.pilot.test_chat import open_chat

LOSS = VariablesLost("python", "Python ended between runs (killed); its variables are lost: x")


def list_ticking(app: App[str]) -> list[Timer]:
    """The timers of the conversation and of the application that are not paused."""
    nodes = (app, *(node for screen in app.screen_stack for node in screen.walk_children(with_self=True)))
    return [timer for node in nodes for timer in node._timers if timer._active.is_set()]


async def test_no_timer_ticks_before_the_first_and_after_a_turn() -> None:
    async with open_chat([call("a")], [Text("All done.")]) as ui:
        await ui.until(lambda: not list_ticking(ui.app))
        await ui.type("go")
        await ui.asked()
        assert list_ticking(ui.app)
        await ui.pilot.press("y")
        await ui.idle()
        await ui.until(lambda: not list_ticking(ui.app))


async def test_the_guard_of_a_question_does_not_tick_once_keys_answer() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.until(lambda: not any(timer._active.is_set() for timer in ui.view.approval._timers))
        # Keys that answer nothing close it, and it opens again by itself.
        await ui.pilot.press("x")
        await ui.until(lambda: ui.prompt == "x")
        await ui.until(lambda: ui.view.approval.armed)


async def test_a_language_that_ends_at_rest_is_reported_at_once() -> None:
    async with open_chat([Text("Hello.")]) as ui:
        await ui.type("hello")
        await ui.idle()
        await ui.until(lambda: not list_ticking(ui.app))
        thread = threading.Thread(target=ui.computer.lose, args=(LOSS,))
        thread.start()
        notices = ui.view.conversation.transcript
        await ui.until(
            lambda: any(isinstance(b, NoticeBlock) and LOSS.reason in b.text for b in notices.blocks)
        )
        thread.join()


async def test_a_title_that_arrives_at_rest_is_in_the_first_line_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(title_timer, "_IDLE", 0.01)
    async with open_chat([Text("One.")], [Text("Counting sheep")], model_titles=True) as ui:
        await ui.type("count the sheep for me")
        await ui.until(lambda: "Counting sheep" in str(ui.chat._headline.render()))


async def test_an_auto_approval_revoked_on_its_screen_is_gone_from_the_first_line() -> None:
    async with open_chat([call("a")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("a")
        await ui.until(lambda: ui.view.approval.place == "granting")
        await ui.pilot.press("1")
        await ui.idle()
        await ui.until(lambda: "auto-approves" in str(ui.chat._headline.render()))
        await ui.type("%permissions")
        await ui.until(lambda: isinstance(ui.app.screen, PermissionsScreen))
        await ui.pilot.press("enter", "escape")
        await ui.until(lambda: "approval on" in str(ui.chat._headline.render()))


async def test_a_command_changes_the_first_line_at_once() -> None:
    async with open_chat([Text("Hello.")], auto_run=True) as ui:
        await ui.until(lambda: "AUTO" in str(ui.chat._headline.render()))
        await ui.type("%auto_run off")
        await ui.until(lambda: "approval on" in str(ui.chat._headline.render()))


async def test_the_mode_of_vi_is_shown_as_it_changes() -> None:
    async with open_chat(editing="vi") as ui:
        await ui.pilot.press("a", "escape")
        await ui.until(lambda: "NORMAL" in str(ui.chat._status.render()))
        await ui.pilot.press("i")
        await ui.until(lambda: "INSERT" in str(ui.chat._status.render()))


@pytest.mark.parametrize("key", ["f1", "f2", "ctrl+p", "ctrl+f"])
async def test_no_caret_blinks_in_a_field(key: str) -> None:
    async with open_chat() as ui:
        await ui.pilot.press(key)
        await ui.until(lambda: isinstance(ui.app.focused, Input))
        field = ui.app.focused
        await ui.until(lambda: all(timer.target is not field for timer in list_ticking(ui.app)))
