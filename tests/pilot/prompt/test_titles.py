"""Titles that the model thinks of while nothing else goes on."""

import threading

import pytest

from oi_tui.engine.llm import titles
from oi_tui.engine.llm.base import ErrorInfo, Text, Usage
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.screens.chat import view
from oi_tui.services.model import ModelService
from tests.pilot.test_chat import Desk, sitting


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "_IDLE", 0.01)


def title(desk: Desk) -> str:
    return desk.workspace.store.summaries()[0].title


async def test_the_model_names_a_conversation_once_and_the_cost_is_counted() -> None:
    named = [Text('"Counting sheep."\n'), Usage(50, 5, 0.25)]
    async with sitting([Text("One.")], named, [Text("Two.")], model_titles=True) as desk:
        await desk.type("count the sheep for me")
        await desk.until(lambda: desk.bench.session.messages and title(desk) == "Counting sheep")
        assert desk.bench.session.ledger.cost == 0.25
        assert desk.workspace.conversation.title == "Counting sheep"
        await desk.type("go on")
        await desk.until(lambda: desk.bench.session.messages[-1].content == "Two." and not desk.bench.busy)
        await desk.pilot.pause(0.1)
        assert len(desk.llm.requests) == 3
        assert [m.content for m in desk.bench.session.messages][:2] == ["count the sheep for me", "One."]
        assert not desk.llm.requests[1].tools


async def test_nothing_is_asked_unless_it_is_wanted() -> None:
    async with sitting([Text("One.")]) as desk:
        await desk.type("count")
        await desk.idle()
        await desk.pilot.pause(0.1)
        assert len(desk.llm.requests) == 1
        assert title(desk) == "count"


async def test_a_name_that_a_person_gave_stays() -> None:
    asked = threading.Event()
    async with sitting([Text("One.")], [asked, Text("Other")], model_titles=True) as desk:
        await desk.type("count")
        await desk.until(asked.is_set)
        desk.workspace.store.rename(desk.workspace.conversation.id, "Mine")
        desk.workspace.side_requests.stop_naming()
        await desk.until(lambda: desk.workspace.side_requests._naming is None)
        assert title(desk) == "Mine"
        desk.workspace.store.suggest_title(desk.workspace.conversation.id, "Theirs")
        assert title(desk) == desk.workspace.conversation.title == "Mine"


async def test_the_first_line_has_the_name_that_a_conversation_was_given() -> None:
    async with sitting([Text("One.")], [Text("Two.")]) as desk:
        await desk.type("count the sheep")
        await desk.idle()
        assert desk.workspace.conversation.title == ""
        id_ = desk.workspace.conversation.id
        desk.workspace.store.rename(id_, "Mine")
        await desk.type("go on")
        await desk.until(lambda: any(text == "Mine" for text, _ in desk.chat._headline.left))
        desk.workspace.store.given.clear()
        desk.workspace.conversation.resume(id_)
        assert desk.workspace.conversation.title == "Mine"


async def test_a_turn_does_not_wait_for_a_title() -> None:
    asked = threading.Event()
    async with sitting([Text("One.")], [asked], [Text("Two.")], model_titles=True) as desk:
        await desk.type("count")
        await desk.until(asked.is_set)
        await desk.type("go on")
        await desk.until(lambda: desk.bench.session.messages[-1].content == "Two." and not desk.bench.busy)
        assert title(desk) == "count"


async def test_a_fault_is_silent_and_a_spent_budget_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelService, "facts", lambda *_: ModelInfo(prompt_price=1e-6))
    broken = [ErrorInfo("server", "It broke.")]
    async with sitting([Text("One.")], broken, model_titles=True) as desk:
        await desk.type("count")
        await desk.until(lambda: len(desk.llm.requests) == 2 and desk.workspace.side_requests._naming is None)
        assert title(desk) == "count"
    async with sitting([Text("One."), Usage(1, 1, 2.0)], model_titles=True, max_budget=1.0) as desk:
        await desk.type("count")
        await desk.idle()
        await desk.pilot.pause(0.1)
        assert len(desk.llm.requests) == 1


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
    assert titles.cleaned(words) == name
