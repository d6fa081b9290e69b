"""The model process: the only program that imports LiteLLM.

It reads JSON lines from its standard input and writes JSON lines to its standard output:

    {"do": "reply", "id": 7, "request": {...}}     a request (the fields of `llm.Request`)
    {"do": "cancel", "id": 7}                      stop it; its connection is closed
    {"do": "facts", "id": 8, "model": "gpt-4o"}    what LiteLLM's own table says of a model
    {"do": "count", "id": 9, "model": ..., "texts": [...]}    how many tokens each of the texts is
    {"do": "prepare", "id": 0, "model": ..., "api_base": ...}    load what a first request needs; no answer

    {"id": 7, "text": "Hel"}                       and `reasoning`, `call`, `usage`, `finish`, `gap`
    {"id": 7, "waiting": true}                     the server still sends something, be it only comments
    {"id": 7, "error": {...}}                      the reply broke off
    {"id": 7, "end": true}                         always the last line of a reply
    {"id": 8, "facts": {...}}
    {"id": 9, "counts": [...]}

It ends when its standard input does. Both streams are taken away from everything else before LiteLLM is
imported, so that nothing a library prints reaches the protocol or the screen. Where LiteLLM cannot be
imported, the first request gets the reason and the process ends; the next request starts another one.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import Any

from oi_tui.engine.llm import errors
from oi_tui.engine.llm.transport.completion import CompletionCall
from oi_tui.engine.llm.transport.provider import QUIET, Provider
from oi_tui.system.environment import close_to_others

#: So long, in seconds, a piece of a reply may wait for those that came with it.
_MOMENT = 0.01
_PR_SET_DUMPABLE = 4
#: How far behind the application this process stands in the queue for a processor. More would let the import
#: of LiteLLM, and with it the first reply, take a quarter of a minute on a machine that has much to do.
_MODEST = 3


class Service:
    """Serves one parent, whose requests arrive as lines."""

    def __init__(self, output: int) -> None:
        self._output = output
        #: Records that are to be written, and since when the first of them waits.
        self._unsaid: list[str] = []
        self._since = 0.0
        self._provider: Provider | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._preparation: asyncio.Task[None] | None = None

    async def run(self, lines: AsyncIterator[str], provider: Provider) -> None:
        """Serve until the lines end."""
        self._provider = provider
        async for line in lines:
            order = json.loads(line)
            number = order["id"]
            if order["do"] == "cancel":
                if task := self._tasks.get(number):
                    task.cancel()
            elif order["do"] == "facts":
                self._say(id=number, facts=provider.facts(order["model"]))
            elif order["do"] == "count":
                self._tasks[number] = asyncio.create_task(self._count(number, order, provider))
            elif order["do"] == "prepare":
                self._preparation = asyncio.create_task(self._prepare(order, provider))
            else:
                self._start_reply(number, order["request"], provider)

    def _start_reply(self, number: int, request: dict[str, Any], provider: Provider) -> None:
        def end(_: asyncio.Task[None]) -> None:
            # A task that is cancelled before its first step runs none of its own code, so it is removed here.
            del self._tasks[number]
            self._say(id=number, end=True)

        self._tasks[number] = asyncio.create_task(self._reply(number, request, provider))
        self._tasks[number].add_done_callback(end)

    async def _reply(self, number: int, request: dict[str, Any], provider: Provider) -> None:
        try:
            await CompletionCall(provider, request, lambda **piece: self._say(id=number, **piece)).run()
        except Exception as error:  # noqa: BLE001  (what we did wrong must not pass for a reply without words)
            self._say(id=number, error=asdict(errors.make_internal_error(error)))

    async def _prepare(self, order: dict[str, Any], provider: Provider) -> None:
        """Load what a first request needs, unless one is here already: it loads the same."""
        # Orders that came while LiteLLM was imported have their tasks before the first of these begins.
        if self._tasks:
            return
        # What cannot be loaded ahead is reported by the request that needs it.
        with contextlib.suppress(Exception):
            await provider.prepare(order["model"], order["api_base"])

    async def _count(self, number: int, order: dict[str, Any], provider: Provider) -> None:
        """Count beside other work: the first time takes a while."""
        counts: list[int] | None = None
        # An error of a tokenizer means that the count is unknown.
        with contextlib.suppress(Exception):
            counts = await asyncio.to_thread(provider.count, order["model"], order["texts"])
        del self._tasks[number]
        self._say(id=number, counts=counts)

    def _say(self, **record: Any) -> None:
        """Write the record once nothing more is ready, or after a moment: each write wakes the parent."""
        now = time.monotonic()
        if not self._unsaid:
            self._since = now
            asyncio.get_running_loop().call_soon(self._write)
        self._unsaid.append(json.dumps(record))
        if now - self._since > _MOMENT:
            self._write()

    def _write(self) -> None:
        data = "".join(f"{line}\n" for line in self._unsaid).encode()
        self._unsaid.clear()
        while data:
            data = data[os.write(self._output, data) :]


def _settle_in() -> tuple[int, int]:
    """Take the protocol's two streams for ourselves; returns their descriptors."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    try:
        os.nice(_MODEST)
        # The environment holds keys; other processes of this user may not read it from /proc.
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (OSError, AttributeError):
        pass
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(QUIET)
    local = "127.0.0.1,localhost,::1"
    for name in ("NO_PROXY", "no_proxy"):
        if os.environ.get(name) == "*":
            continue
        os.environ[name] = f"{os.environ[name]},{local}" if os.environ.get(name) else local
    return source, target


def _watch_parent(parent: int) -> None:
    """End this process when the parent has ended although our input is still open somewhere."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


def _explain_missing_library(lines: "queue.SimpleQueue[str]", output: int, error: Exception) -> None:
    """Answer the first request with the reason why LiteLLM cannot be loaded, other orders with nothing."""
    while True:
        order = json.loads(lines.get())
        records: list[dict[str, Any]] = [{}]
        if is_request := order["do"] == "reply":
            records = [{"error": asdict(errors.explain_import_failed(error))}, {"end": True}]
        for record in records:
            os.write(output, f"{json.dumps({'id': order['id'], **record})}\n".encode())
        if is_request:
            return


def main() -> None:
    """Serve the parent process; what ends that by surprise is said on the first standard error."""
    stderr_fd = os.dup(2)
    try:
        _serve()
    except Exception as error:
        # The parent reads it from there; our own standard error is closed to everything that libraries print.
        with contextlib.suppress(OSError, MemoryError):
            os.write(stderr_fd, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace"))
        raise


class _Inbox:
    """Reads lines from the start, so that the application never waits at a full pipe while LiteLLM loads."""

    def __init__(self, source: int) -> None:
        self._lock = threading.Lock()
        self._early: list[str] = []
        self._take: Callable[[str], object] = self._early.append
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def _read(self, source: int) -> None:
        with open(source, encoding="utf-8", errors="surrogatepass") as stream:
            for line in stream:
                with self._lock:
                    self._take(line)
        os._exit(0)

    def pass_on(self, take: Callable[[str], object]) -> None:
        """Give the lines that came so far to `take`, and from now on each new one."""
        with self._lock:
            for line in self._early:
                take(line)
            self._take = take


def _serve() -> None:
    close_to_others()
    source, target = _settle_in()
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()
    inbox = _Inbox(source)
    try:
        provider = Provider()
    except Exception as error:  # noqa: BLE001 -- whatever a library raises that is not installed rightly
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        inbox.pass_on(waiting.put)
        _explain_missing_library(waiting, target, error)
        return
    try:
        asyncio.run(_answer(inbox, target, provider))
    except BrokenPipeError:
        sys.exit(0)


async def _answer(inbox: _Inbox, target: int, provider: Provider) -> None:
    """Carry out what the application asks for."""
    orders: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    inbox.pass_on(lambda line: loop.call_soon_threadsafe(orders.put_nowait, line))

    async def lines() -> AsyncIterator[str]:
        while True:
            yield await orders.get()

    await Service(target).run(lines(), provider)


if __name__ == "__main__":
    main()
