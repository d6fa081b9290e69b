"""A stop counts from the moment that a turn begins, before it has a model and a session."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oi_tui
from oi_tui.api.async_interpreter import _Outbox
from oi_tui.api.interpreter import TurnError
from oi_tui.api.notebook import NotebookQuestion
from tests.event_loop import until


def hold(monkeypatch: pytest.MonkeyPatch, place: object, name: str, gate: threading.Event) -> None:
    """Have a method wait for the gate before it begins."""
    method: Callable[..., Any] = getattr(place, name)

    def wait_first(*arguments: Any) -> Any:
        assert gate.wait(60)
        return method(*arguments)

    monkeypatch.setattr(place, name, wait_first)


@pytest.mark.parametrize("place", ["chunks", "begin"])
def test_a_stop_right_after_go_runs_nothing(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, stopped = tmp_path / "ran", threading.Event()
    code = {"role": "assistant", "type": "code", "format": "python", "content": f"open({str(ran)!r}, 'w')"}

    async def main(interpreter: oi_tui.AsyncInterpreter) -> None:
        for content in ("go", "stop"):
            for part in ({"content": content}, {"end": True}):
                await interpreter.input({"role": "user", "type": "command", **part})
        assert (await interpreter.output())["content"] == "complete"

    with oi_tui.AsyncInterpreter(auto_run=True, conversation_history=False) as made:
        made.messages = [{"role": "user", "type": "message", "content": "Make it"}, code]
        turns = made._oi_turns
        stop = turns.stop

        def stop_and_go_on() -> None:
            stop()
            stopped.set()

        hold(monkeypatch, turns, place, stopped)
        monkeypatch.setattr(turns, "stop", stop_and_go_on)
        asyncio.run(main(made))
        assert not made.responding
    assert not ran.exists()


def test_closing_stops_a_turn_in_the_background_that_has_only_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    closed, questions = threading.Event(), list[Any]()

    def reply(messages: Any) -> Any:
        questions.append(messages)
        return iter(["Hello"])

    with oi_tui.OpenInterpreter(auto_run=True, conversation_history=False) as made:
        made.llm.completions = reply
        hold(monkeypatch, made._oi_turns, "begin", closed)
        made.chat("go", display=False, blocking=False)
    closed.set()
    made.wait()
    assert questions == []


def test_a_stop_before_a_turn_does_not_stop_it() -> None:
    with oi_tui.OpenInterpreter(conversation_history=False) as made:
        made.llm.completions = lambda messages: iter(["Hello"])
        made.stop()
        assert made.chat("go", display=False)[0]["content"] == "Hello"


def test_a_second_turn_in_the_background_is_refused_and_the_first_is_kept() -> None:
    go = threading.Event()

    def reply(messages: Any) -> Any:
        assert go.wait(60)
        return iter([messages[-1]["content"].upper()])

    with oi_tui.OpenInterpreter(conversation_history=False) as made:
        made.llm.completions = reply
        made.chat("one", display=False, blocking=False)
        assert made.responding
        with pytest.raises(TurnError, match="Another chat"):
            made.chat("two", display=False, blocking=False)
        go.set()
        assert [item["content"] for item in made.wait()] == ["ONE"]


def test_a_question_that_was_withdrawn_before_its_buttons_are_there_is_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed here")
    monkeypatch.setattr("oi_tui.api.notebook._find_shell", object)
    question, answers = NotebookQuestion(), list[bool | None]()
    question.begin_turn()
    question.withdraw()
    asking = threading.Thread(target=lambda: answers.append(question.ask()), daemon=True)
    asking.start()
    asking.join(30)
    assert answers == [False]


def test_readers_that_give_up_leave_nothing_behind_and_a_closed_loop_keeps_no_chunk() -> None:
    outbox = _Outbox()

    async def give_up() -> None:
        reader = asyncio.create_task(outbox.get())
        await until(lambda: outbox._waiting)
        reader.cancel()
        await asyncio.wait([reader])

    for _ in range(3):
        asyncio.run(give_up())
    assert outbox._waiting == []
    closed = asyncio.new_event_loop()
    closed.close()
    outbox._waiting.append((closed, asyncio.Event()))
    outbox.put({"content": "later"})
    assert asyncio.run(outbox.get()) == {"content": "later"}
