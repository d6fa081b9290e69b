"""The log can be watched, and read afterwards."""

import logging
from collections.abc import Iterator

import pytest

from oi_tui import log
from oi_tui.engine.llm.base import Text
from oi_tui.screens.pager import PagerScreen
from tests.fakes import call
from tests.pilot.test_chat import open_chat


@pytest.fixture(autouse=True)
def logging_begun() -> Iterator[None]:
    root = logging.getLogger("oi_tui")
    before = list(root.handlers)
    log.recent.lines.clear()
    log.begin()
    yield
    for handler in set(root.handlers) - set(before):
        root.removeHandler(handler)
        if handler is not log.recent:
            handler.close()
    root.propagate = True


def read_log(ui: object) -> str:
    return str(ui.view.log_panel.render())


async def test_verbose_shows_steps_and_times_and_no_words_of_the_conversation() -> None:
    async with open_chat([call("print(1)")], [Text("All done.")]) as ui:
        assert not ui.view.log_panel.display
        await ui.type("%verbose")
        await ui.until(lambda: ui.view.log_panel.display)
        await ui.type("a question")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.idle()
        await ui.until(lambda: "turn done after" in read_log(ui))
        assert "running python, 1 line, approved" in "\n".join(log.recent.lines)
        assert "a question" not in "\n".join(log.recent.lines)
        assert "turn done after" in log.file().read_text()
        await ui.type("%verbose off")
        await ui.until(lambda: not ui.view.log_panel.display)
        count = log.recent.count
        await ui.type("another")
        await ui.until(lambda: not ui.view.busy and ui.llm.requests[2:])
        assert log.recent.count == count


async def test_debug_notes_what_goes_to_the_model_and_comes_back() -> None:
    async with open_chat([Text("An answer.")]) as ui:
        await ui.type("%debug on")
        await ui.type("a question")
        await ui.until(lambda: "turn done after" in "\n".join(log.recent.lines))
        reported = "\n".join(log.recent.lines)
        assert "a question" in reported
        assert "An answer." in reported
        await ui.type("%debug off")
        await ui.until(lambda: not ui.workspace.profile.debug)


async def test_the_log_can_be_read_whole() -> None:
    async with open_chat() as ui:
        logging.getLogger("oi_tui.test").warning("a fault of yesterday")
        await ui.type("%log")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
        await ui.pilot.press("escape")
        await ui.until(lambda: not isinstance(ui.app.screen, PagerScreen))


async def test_it_is_shown_from_the_beginning_when_asked_for() -> None:
    async with open_chat(verbose=True) as ui:
        assert ui.view.log_panel.display


async def test_foreign_words_in_the_log_control_nothing() -> None:
    async with open_chat(verbose=True) as ui:
        logging.getLogger("oi_tui.test").warning("[bold]x[/] \x1b[2J \u202e")
        await ui.until(lambda: "[bold]x[/]" in read_log(ui))
        assert "\x1b" not in read_log(ui)
        assert "\u202e" not in read_log(ui)


async def test_a_narrow_panel_shows_how_to_hide_it_in_full() -> None:
    async with open_chat([]) as ui:
        await ui.type("%verbose")
        await ui.until(lambda: ui.view.log_panel.display)
        await ui.until(
            lambda: ui.view.log_panel.border_subtitle == "%verbose off hides this · %log shows all"
        )
        await ui.pilot.resize_terminal(40, 12)
        await ui.until(lambda: ui.view.log_panel.border_subtitle == "%verbose off hides this")
