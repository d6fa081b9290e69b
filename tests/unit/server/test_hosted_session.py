"""A session of the server, without the server: stops and ends of turns that come at odd moments."""

import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")

from oi_tui.engine.events import Event, TurnEnded
from oi_tui.engine.session import Prompt
from oi_tui.engine.settings.profile import Profile
from oi_tui.server.backend import WorkspaceBackend
from oi_tui.server.event_log import LogItem
from oi_tui.server.hosted_session import ConflictError, HostedSession
from oi_tui.server.options import ServerLimits
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, call

TIMEOUT = 20.0


def test_a_stop_before_the_first_step_of_a_turn_is_not_lost() -> None:
    computer, llm, stopped = Computer(), Llm([call("print(1)")]), threading.Event()

    class Backend(WorkspaceBackend):
        def turn(self, prompt: Prompt) -> Iterator[Event]:
            assert stopped.wait(TIMEOUT)
            yield from super().turn(prompt)

    workspace = Workspace(Profile(model="x", auto_run=True), llm=llm, computer=computer)
    session = HostedSession("s", Backend(workspace), ServerLimits())
    session.say("Hello")
    session.stop()
    stopped.set()
    assert session.wait(TIMEOUT)
    assert computer.ran == []
    ended = session.snapshot().ended
    assert ended
    assert ended.outcome == "interrupted"
    # The next turn is one like any other.
    session.propose("python", "print(2)")
    assert session.wait(TIMEOUT)
    assert computer.ran == [("python", "print(2)")]


def test_whoever_waited_for_the_end_of_a_turn_finds_it_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(Profile(model="x"), llm=Llm(), computer=Computer())
    session = HostedSession("s", WorkspaceBackend(workspace), ServerLimits())
    append, numbers = session.log.append, list[int]()

    def wait() -> None:
        assert session.wait(TIMEOUT)
        numbers.append(session.log.last)

    waiter = threading.Thread(target=wait)

    def append_late(item: LogItem) -> None:
        if isinstance(item, TurnEnded):
            waiter.start()
            waiter.join(0.1)
        append(item)

    monkeypatch.setattr(session.log, "append", append_late)
    session.say("Hello")
    assert session.wait(TIMEOUT)
    waiter.join(TIMEOUT)
    assert numbers == [session.log.last]
    assert isinstance(session.log.after(session.log.last - 1)[-1].item, TurnEnded)


def test_a_session_whose_turn_gets_no_thread_says_so_and_is_free_for_the_next_one() -> None:
    workspace = Workspace(Profile(model="x"), llm=Llm(), computer=Computer())
    session = HostedSession("s", WorkspaceBackend(workspace), ServerLimits())

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(ConflictError, match="refused another thread"):
            session.say("Hello")
    assert not session.busy
    session.say("Hello")
    assert session.wait(TIMEOUT)
