"""What watching clients are sent: made once for all of them, whole, and without holding the others up."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")

from oi_tui.engine.events import MessageGrew
from oi_tui.engine.settings.profile import Profile
from oi_tui.server import wire
from oi_tui.server.backend import WorkspaceBackend
from oi_tui.server.event_log import MessagesReplaced
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.options import ServerLimits
from oi_tui.server.session_records import SessionRecord, SessionRecords, Turnstile
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm

TIMEOUT = 20.0


@pytest.fixture
def session() -> HostedSession:
    workspace = Workspace(Profile(model="x"), llm=Llm(), computer=Computer())
    return HostedSession("s", WorkspaceBackend(workspace), ServerLimits(history_bytes=20_000))


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, TIMEOUT))


def grow(session: HostedSession, *texts: str) -> None:
    for text in texts:
        session.log.append(MessageGrew("m", text))


async def take(records: SessionRecords, after: int | None, last: Callable[[], int]) -> list[SessionRecord]:
    """The records up to the newest event."""
    found: list[SessionRecord] = []
    async for batch in records.read(after):
        found += batch
        if found[-1].number >= last():
            break
    return found


def count_calls(monkeypatch: pytest.MonkeyPatch, name: str) -> list[object]:
    calls: list[object] = []
    real = getattr(wire, name)

    def counted(*arguments: object) -> Any:
        calls.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(wire, name, counted)
    return calls


def test_ten_clients_get_the_same_text_that_is_made_once(
    session: HostedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded, described = count_calls(monkeypatch, "encode_entry"), count_calls(monkeypatch, "describe_state")
    records = SessionRecords(session, Turnstile())

    async def watch(begun: list[object]) -> list[SessionRecord]:
        found: list[SessionRecord] = []
        async for batch in records.read(None):
            found += batch
            if len(found) == 1:
                begun.append(batch)
            if len(found) == 41:
                break
        return found

    async def watch_all() -> None:
        begun: list[object] = []
        readers = [asyncio.create_task(watch(begun)) for _ in range(10)]
        while len(begun) < 10:
            await asyncio.sleep(0)
        grow(session, *map(str, range(40)))
        taken = await asyncio.gather(*readers)
        assert all(item == taken[0] for item in taken)
        assert [json.loads(record.text).get("text") for record in taken[0]] == [None, *map(str, range(40))]

    run(watch_all())
    assert (len(encoded), len(described)) == (40, 1)


def test_a_client_that_comes_later_gets_a_state_and_what_follows(
    session: HostedSession,
) -> None:
    records = SessionRecords(session, Turnstile())

    async def watch() -> None:
        async for _ in records.read(None):  # keeps what was made
            grow(session, "a", "b")
            late = await take(records, None, lambda: session.log.last)
            assert [record.number for record in late] == list(
                range(late[0].number, late[0].number + len(late))
            )
            assert [json.loads(record.text)["event"] for record in late] == ["state", *["message.grew"] * 2]
            break

    run(watch())


def test_a_client_that_was_away_too_long_gets_a_new_state(session: HostedSession) -> None:
    records = SessionRecords(session, Turnstile())

    async def watch() -> None:
        async for _ in records.read(None):
            grow(session, *["x" * 1000] * 50)
            late = await take(records, session.log.start, lambda: session.log.last)
            state = json.loads(late[0].text)
            assert (state["event"], state["number"]) == ("state", session.log.last)
            break

    run(watch())


def test_a_state_from_before_the_messages_were_replaced_is_not_sent_again(session: HostedSession) -> None:
    records = SessionRecords(session, Turnstile())

    async def watch() -> None:
        async for _ in records.read(None):
            grow(session, "before")
            session.log.append(MessagesReplaced())
            grow(session, "after")
            late = await take(records, session.log.start, lambda: session.log.last)
            assert [json.loads(record.text)["event"] for record in late] == ["state"]
            assert late[0].number == session.log.last
            break

    run(watch())


def test_the_loop_does_other_work_between_many_clients() -> None:
    turnstile = Turnstile()
    done: list[str] = []

    async def client() -> None:
        await turnstile.wait()
        done.append("client")

    async def other() -> None:
        while done.count("client") < 100:
            done.append("other")
            await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(other(), *(client() for _ in range(100)))

    run(both())
    assert done.count("client") == 100
    assert done.count("other") >= 50
