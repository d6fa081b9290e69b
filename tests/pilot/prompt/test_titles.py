"""Titles that the model thinks of while nothing else goes on."""

import threading

import pytest

from oi_tui.engine.llm import titles
from oi_tui.engine.llm.base import ErrorInfo, Text, Usage
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.screens.chat.turn import title_timer
from oi_tui.services.model import ModelService
from tests.pilot.test_chat import ChatDriver, open_chat


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(title_timer, "_IDLE", 0.01)


def title(ui: ChatDriver) -> str:
    return ui.workspace.store.list_summaries()[0].title


async def test_the_model_names_a_conversation_once_and_the_cost_is_counted() -> None:
    named = [Text('"Counting sheep."\n'), Usage(50, 5, 0.25)]
    async with open_chat([Text("One.")], named, [Text("Two.")], model_titles=True) as ui:
        await ui.type("count the sheep for me")
        await ui.until(lambda: ui.view.session.messages and title(ui) == "Counting sheep")
        assert ui.view.session.usage.totals.cost == 0.25
        assert ui.workspace.conversation.title == "Counting sheep"
        await ui.type("go on")
        await ui.until(lambda: ui.view.session.messages[-1].content == "Two." and not ui.view.busy)
        await ui.pilot.pause(0.1)
        assert len(ui.llm.requests) == 3
        assert [m.content for m in ui.view.session.messages][:2] == ["count the sheep for me", "One."]
        assert not ui.llm.requests[1].tools


async def test_nothing_is_asked_unless_it_is_wanted() -> None:
    async with open_chat([Text("One.")]) as ui:
        await ui.type("count")
        await ui.idle()
        await ui.pilot.pause(0.1)
        assert len(ui.llm.requests) == 1
        assert title(ui) == "count"


async def test_a_name_that_a_person_gave_stays() -> None:
    asked = threading.Event()
    async with open_chat([Text("One.")], [asked, Text("Other")], model_titles=True) as ui:
        await ui.type("count")
        await ui.until(asked.is_set)
        ui.workspace.store.rename(ui.workspace.conversation.id, "Mine")
        ui.workspace.side_requests.stop_naming()
        await ui.until(lambda: ui.workspace.side_requests._naming is None)
        assert title(ui) == "Mine"
        ui.workspace.store.suggest_title(ui.workspace.conversation.id, "Theirs")
        assert title(ui) == ui.workspace.conversation.title == "Mine"


async def test_the_first_line_has_the_name_that_a_conversation_was_given() -> None:
    async with open_chat([Text("One.")], [Text("Two.")]) as ui:
        await ui.type("count the sheep")
        await ui.idle()
        assert ui.workspace.conversation.title == ""
        id_ = ui.workspace.conversation.id
        ui.workspace.store.rename(id_, "Mine")
        await ui.type("go on")
        await ui.until(lambda: any(text == "Mine" for text, _ in ui.chat._headline.left))
        ui.workspace.store.given.clear()
        ui.workspace.conversation.resume(id_)
        assert ui.workspace.conversation.title == "Mine"


async def test_a_turn_does_not_wait_for_a_title() -> None:
    asked = threading.Event()
    async with open_chat([Text("One.")], [asked], [Text("Two.")], model_titles=True) as ui:
        await ui.type("count")
        await ui.until(asked.is_set)
        await ui.type("go on")
        await ui.until(lambda: ui.view.session.messages[-1].content == "Two." and not ui.view.busy)
        assert title(ui) == "count"


async def test_a_fault_is_silent_and_a_spent_budget_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelService, "facts", lambda *_: ModelInfo(prompt_price=1e-6))
    broken = [ErrorInfo("server", "It broke.")]
    async with open_chat([Text("One.")], broken, model_titles=True) as ui:
        await ui.type("count")
        await ui.until(lambda: len(ui.llm.requests) == 2 and ui.workspace.side_requests._naming is None)
        assert title(ui) == "count"
    async with open_chat([Text("One."), Usage(1, 1, 2.0)], model_titles=True, max_budget=1.0) as ui:
        await ui.type("count")
        await ui.idle()
        await ui.pilot.pause(0.1)
        assert len(ui.llm.requests) == 1


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("**Fit a curve**", "Fit a curve"),
        ("Title: Fit a curve\nand more", "Fit a curve"),
        ("<think>hm</think>\n\n# „Kurve“", "Kurve"),
        ("<think>never ends", ""),
        ("x" * 200, ""),
        ("a\x1b[2Jb", "a␛[2Jb"),
        ("", ""),
    ],
)
def test_a_title_is_one_clean_line(words: str, name: str) -> None:
    assert titles.clean(words) == name
