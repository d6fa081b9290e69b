"""The log can be watched, and read afterwards."""

import logging
from collections.abc import Iterator

import pytest

from oi_tui import log
from oi_tui.engine.llm.base import Text
from oi_tui.screens.pager import PagerScreen
from tests.fakes import call
from tests.pilot.test_chat import sitting


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


def shown(desk: object) -> str:
    return str(desk.bench.log_panel.render())


async def test_verbose_shows_steps_and_times_and_no_words_of_the_conversation() -> None:
    async with sitting([call("print(1)")], [Text("All done.")]) as desk:
        assert not desk.bench.log_panel.display
        await desk.type("%verbose")
        await desk.until(lambda: desk.bench.log_panel.display)
        await desk.type("a question")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.idle()
        await desk.until(lambda: "turn done after" in shown(desk))
        assert "running python, 1 line, approved" in "\n".join(log.recent.lines)
        assert "a question" not in "\n".join(log.recent.lines)
        assert "turn done after" in log.file().read_text()
        await desk.type("%verbose off")
        await desk.until(lambda: not desk.bench.log_panel.display)
        count = log.recent.count
        await desk.type("another")
        await desk.until(lambda: not desk.bench.busy and desk.llm.requests[2:])
        assert log.recent.count == count


async def test_debug_notes_what_goes_to_the_model_and_comes_back() -> None:
    async with sitting([Text("An answer.")]) as desk:
        await desk.type("%debug on")
        await desk.type("a question")
        await desk.until(lambda: "turn done after" in "\n".join(log.recent.lines))
        reported = "\n".join(log.recent.lines)
        assert "a question" in reported
        assert "An answer." in reported
        await desk.type("%debug off")
        await desk.until(lambda: not desk.workspace.profile.debug)


async def test_the_log_can_be_read_whole() -> None:
    async with sitting() as desk:
        logging.getLogger("oi_tui.test").warning("a fault of yesterday")
        await desk.type("%log")
        await desk.until(lambda: isinstance(desk.app.screen, PagerScreen))
        await desk.pilot.press("escape")
        await desk.until(lambda: not isinstance(desk.app.screen, PagerScreen))


async def test_it_is_shown_from_the_beginning_when_asked_for() -> None:
    async with sitting(verbose=True) as desk:
        assert desk.bench.log_panel.display


async def test_foreign_words_in_the_log_control_nothing() -> None:
    async with sitting(verbose=True) as desk:
        logging.getLogger("oi_tui.test").warning("[bold]x[/] \x1b[2J \u202e")
        await desk.until(lambda: "[bold]x[/]" in shown(desk))
        assert "\x1b" not in shown(desk)
        assert "\u202e" not in shown(desk)
