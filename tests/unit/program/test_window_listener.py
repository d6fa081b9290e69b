"""The listener of a window, and the list of windows that are open."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from oi_tui.window import address, listener
from oi_tui.window.address import WindowAddress
from oi_tui.window.listener import Host, Listener

_BOUND = 10.0


async def answer(_host: Host, name: str, _arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"called": name}


async def test_calls_that_are_given_up_at_once_leave_their_place_to_others(tmp_path: Path) -> None:
    opened = Listener(answer)
    await opened.open(tmp_path)
    try:
        (window,) = address.list_published(tmp_path)
        reader, writer = await asyncio.open_unix_connection(window.socket)
        writer.write(json.dumps({"token": window.token, "host": "test"}).encode() + b"\n")
        assert await asyncio.wait_for(reader.readline(), _BOUND)
        for number in range(listener._MOST_CALLS):
            call = {"id": number, "call": "run", "arguments": {}}
            writer.write(f"{json.dumps(call)}\n{json.dumps({'cancel': number})}\n".encode())
        # The cancelled calls have no answer, so that only the last one says that all were read.
        last = {"id": -1, "call": "variables", "arguments": {}}
        received: dict[str, Any] = {}
        async with asyncio.timeout(_BOUND):
            while "result" not in received:
                writer.write(json.dumps(last).encode() + b"\n")
                received = json.loads(await reader.readline())
                last["id"] -= 1
                assert last["id"] > -100, received
        assert received["result"] == {"called": "variables"}
        writer.close()
    finally:
        await opened.close()


async def test_a_window_that_cannot_be_published_does_not_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers: list[asyncio.Server] = []
    start = asyncio.start_unix_server

    async def start_server(*arguments: Any, **options: Any) -> asyncio.Server:
        servers.append(await start(*arguments, **options))
        return servers[0]

    def refuse(_: WindowAddress) -> None:
        raise OSError("no room")

    monkeypatch.setattr(asyncio, "start_unix_server", start_server)
    monkeypatch.setattr(address, "publish", refuse)
    with pytest.raises(OSError, match="no room"):
        await Listener(answer).open(tmp_path)
    assert not servers[0].is_serving()


def test_a_window_that_closes_meanwhile_hides_no_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address.find_directory()
    windows = [address.create(tmp_path) for _ in range(2)]
    for window in windows:
        address.publish(window)
    read_text = Path.read_text
    read_files: list[Path] = []

    def read(path: Path, *arguments: Any, **options: Any) -> str:
        read_files.append(path)
        return read_text(path, *arguments, **options)

    def look(_: int) -> bool:
        # The window that is read first closes before its time is read.
        read_files[0].unlink(missing_ok=True)
        return True

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(address, "_is_running", look)
    remaining = address.list_published(tmp_path)
    assert remaining == [window for window in windows if window.file != read_files[0]]
    for window in windows:
        address.withdraw(window)
