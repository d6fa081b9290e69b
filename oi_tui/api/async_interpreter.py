"""An interpreter for programs that have a connection of their own: chunks in, chunks out."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from oi_tui.api.interpreter import OpenInterpreter
from oi_tui.engine.open_interpreter.chunks import Chunk

_COMPLETE: Chunk = {"role": "server", "type": "status", "content": "complete"}
_PARTS = ("role", "type", "format", "content")


class AsyncInterpreter(OpenInterpreter):
    """An OpenInterpreter that takes messages and returns the reply and its runs, as chunks.

    >>> import asyncio
    >>> from oi_tui import AsyncInterpreter
    >>> async def main():
    ...     with AsyncInterpreter(model="demo", auto_run=True) as interpreter:
    ...         await interpreter.input({"role": "user", "type": "message", "start": True})
    ...         await interpreter.input({"role": "user", "type": "message", "content": "Plot something"})
    ...         await interpreter.input({"role": "user", "type": "message", "end": True})
    ...         chunks = [await interpreter.output()]
    ...         while chunks[-1]["role"] != "server":
    ...             chunks.append(await interpreter.output())
    ...         return chunks
    >>> asyncio.run(main())[-1]["content"]
    'complete'
    """

    _oi_title: ClassVar[str] = "interpreter"

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        #: The message that is being said, part by part.
        self._oi_parts: list[Chunk] = []
        self._oi_outbox = _Outbox()
        self._oi_worker: threading.Thread | None = None
        #: Set when the turn of the worker is stopped.
        self._oi_stopped = threading.Event()
        super().__init__(*arguments, **settings)

    async def input(self, chunk: Chunk) -> None:
        """Take a chunk of a person's message: its start flag, its contents, its end flag.

        A start flag stops the turn in progress, of which nothing more comes, and an end flag begins one. A
        message of type `command` with the content "go" runs the code that the last turn ended with, and
        "stop" stops.
        """
        if "start" in chunk:
            await self._oi_stop_and_wait()
            self._oi_parts = []
        if "content" in chunk:
            self._oi_add(chunk)
        if "end" in chunk:
            parts, self._oi_parts = self._oi_parts, []
            command = parts[-1]["content"] if parts and parts[-1]["type"] == "command" else ""
            if command:
                parts.pop()
            await self._oi_stop_and_wait()
            if command == "stop":
                self._oi_outbox.put(_COMPLETE)
            else:
                self._oi_begin(parts, may_run=command == "go")

    async def output(self) -> Chunk:
        """Wait for the next chunk. One of the role `server` says that a turn is complete, or why it failed.

        The last chunk of a turn has the content "complete".
        """
        return await self._oi_outbox.get()

    def _oi_add(self, chunk: Chunk) -> None:
        """Add content to the message. Text of the same kind as the last part is appended to it."""
        kind, shape, content = chunk.get("type", "message"), chunk.get("format"), chunk["content"]
        last = self._oi_parts[-1] if self._oi_parts else {}
        is_text = isinstance(content, str) and isinstance(last.get("content"), str)
        if is_text and (last["type"], last.get("format")) == (kind, shape):
            last["content"] += content
            return
        part = {"role": chunk.get("role", "user"), "type": kind, "content": content}
        self._oi_parts.append(part | ({"format": shape} if shape else {}))

    def _oi_begin(self, parts: Sequence[Chunk], *, may_run: bool) -> None:
        self._oi_stopped = threading.Event()
        work = partial(self._oi_respond, parts, may_run, self._oi_stopped)
        self._oi_worker = threading.Thread(target=work, name="oi-tui-chat", daemon=True)
        self._oi_worker.start()

    async def _oi_stop_and_wait(self) -> None:
        self._oi_stopped.set()
        if self._oi_worker and self._oi_worker.is_alive():
            self.stop()
            await asyncio.to_thread(self._oi_worker.join)

    def _oi_respond(self, parts: Sequence[Chunk], may_run: bool, stopped: threading.Event) -> None:
        """Work on the message. The turn ends at code that needs approval; with `may_run`, one piece runs."""

        def stop_late() -> None:
            # A stop that came before the turn had begun found none.
            if stopped.is_set():
                self.stop()

        try:
            messages = [*self.messages, *parts]
            if may_run and messages and messages[-1]["type"] == "code":
                # The turn that ended there counts as an answer; without it the code is asked about again.
                messages[-1] = {name: messages[-1].get(name) for name in _PARTS}
            self.messages = messages
            if stopped.is_set():
                return
            stream = self._oi_turns.chunks(None, stop_late)
            for chunk in stream:
                if chunk["type"] == "confirmation":
                    if not may_run:
                        stream.close()
                    may_run = False
                elif not stopped.is_set():
                    self._oi_outbox.put(chunk)
        except Exception as error:  # noqa: BLE001 -- whoever takes the chunks has to know
            self._oi_outbox.put({"role": "server", "type": "error", "content": str(error)})
        if not stopped.is_set():
            self._oi_outbox.put(_COMPLETE)


class _Outbox:
    """Chunks from threads, for tasks of any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chunks: deque[Chunk] = deque()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def put(self, chunk: Chunk) -> None:
        """Add a chunk, and wake the readers that wait."""
        with self._lock:
            self._chunks.append(chunk)
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            # A loop that was closed has no readers any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)

    async def get(self) -> Chunk:
        """Wait for the first chunk, and remove it."""
        while True:
            with self._lock:
                if self._chunks:
                    return self._chunks.popleft()
                reader = asyncio.get_running_loop(), asyncio.Event()
                self._waiting.append(reader)
            try:
                await reader[1].wait()
            finally:
                # A reader that gave up is not woken any more.
                with self._lock, contextlib.suppress(ValueError):
                    self._waiting.remove(reader)
