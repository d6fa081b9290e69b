"""The process that talks to MCP servers: reads requests as lines of JSON, and answers by number."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from oi_tui.mcp_client.child.errors import ServerError, SessionOverError
from oi_tui.mcp_client.child.owner import ServerConnection


class McpHost:
    """The servers, and the orders in progress."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._owners: dict[str, ServerConnection] = {}
        #: Connections that end with their last order, because another one took their place.
        self._retiring: dict[ServerConnection, asyncio.Task[None]] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        self._over = asyncio.Event()

    async def serve(self) -> None:
        """Work until the application closes the input."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        await self._over.wait()
        owners = (*self._owners.values(), *self._retiring)
        await asyncio.gather(*(owner.close() for owner in owners), return_exceptions=True)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(self._handle_order, json.loads(line))
        loop.call_soon_threadsafe(self._over.set)

    def _handle_order(self, order: Mapping[str, Any]) -> None:
        number = order["id"]
        if order["do"] == "cancel":
            if task := self._working.get(number):
                task.cancel()
            return
        if order["do"] == "answer":
            for owner in self._find_owners(order["server"]):
                owner.deliver_answer(number, order["result"])
            return
        if order["do"] == "renew":
            for owner in self._find_owners(order["server"]):
                owner.deliver_claim(order["kept"])
            return
        task = asyncio.create_task(self._answer(number, order))
        self._working[number] = task
        task.add_done_callback(lambda _: self._working.pop(number, None))

    async def _answer(self, number: int, order: Mapping[str, Any]) -> None:
        try:
            self._send({"id": number, "result": await self._carry_out(order)})
        except ServerError as error:
            is_over = isinstance(error, SessionOverError)
            self._send({"id": number, "error": str(error), "session_over": is_over})
        except asyncio.CancelledError:
            self._send({"id": number, "error": "it was stopped"})
        except Exception as error:  # noqa: BLE001 -- one order fails, the others go on
            self._send({"id": number, "error": f"{type(error).__name__}: {error}"})

    async def _carry_out(self, order: Mapping[str, Any]) -> Any:
        name = order["server"]
        if order["do"] == "connect":
            await self._make_room(name)
            spec = order["spec"]
            owner = self._owners[name] = ServerConnection(
                spec, lambda event: self._send({"server": name, "url": spec["url"], **event})
            )
            return await owner.ready()
        if order["do"] == "end":
            return await self._end(name)
        if name not in self._owners:
            raise ServerError("it is not connected")
        return await self._owners[name].do(order)

    def _find_owners(self, name: str) -> list[ServerConnection]:
        """Return the connections to a server, also those that end with their last order."""
        retiring = [owner for owner in self._retiring if owner.name == name]
        return [self._owners[name], *retiring] if name in self._owners else retiring

    async def _make_room(self, name: str) -> None:
        """End the connection to a server; one whose session is over keeps the orders in progress."""
        owner = self._owners.get(name)
        if owner is None or not owner.is_forgotten:
            await self._end(name)
            return
        del self._owners[name]
        self._retiring[owner] = task = asyncio.create_task(owner.retire())
        task.add_done_callback(lambda _: self._retiring.pop(owner))

    async def _end(self, name: str) -> None:
        if owner := self._owners.pop(name, None):
            await owner.close()

    def _send(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record).encode() + b"\n"
        with suppress(OSError):
            while line:
                line = line[os.write(self._target, line) :]


def main() -> None:
    """Serve the application on standard input and output."""
    target = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_serve(target))


async def _serve(target: int) -> None:
    await McpHost(target).serve()
