"""Reads and writes a protocol of JSON lines, and reserves standard input and output for it."""

import asyncio
import json
import os
import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO


def claim_streams() -> tuple[BinaryIO, int]:
    """Return standard input, and the descriptor of standard output.

    What else is printed goes to standard error, and whoever else reads standard input gets nothing.
    """
    # Threads may still wait at these descriptors when everything else has ended; they are never closed.
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(source, "rb", closefd=False), target


def read_lines(source: BinaryIO, longest: int) -> Iterator[bytes | None]:
    """Read lines; None stands for one that has more bytes, which are not kept."""
    while line := source.readline(longest + 1):
        if len(line) <= longest:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = source.readline(longest)
        yield None


def parse_damaged(line: bytes | str) -> Any:
    """Return the value of a line of JSON, with "?" for half characters. Raises ValueError.

    Programs in JavaScript cut texts in the middle of a character, and send the half.
    """
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    try:
        value = json.loads(text.removeprefix("\ufeff"))
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


class LineWriter:
    """Writes lines in a separate thread, so that a peer that does not read delays nothing else."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]]] = queue.SimpleQueue()
        threading.Thread(target=self._write_lines, daemon=True).start()

    async def write(self, text: str) -> bool:
        """Write a line, and wait until it is written. Return False where the peer no longer reads."""
        completion: asyncio.Future[bool] = self._loop.create_future()
        self._lines.put((text.encode("utf-8", "replace") + b"\n", completion))
        return await completion

    def _write_lines(self) -> None:
        while True:
            line, completion = self._lines.get()
            with suppress(OSError):
                while line:
                    line = line[os.write(self._target, line) :]
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(_settle, completion, not line)


def _settle(future: "asyncio.Future[bool]", value: bool) -> None:
    if not future.done():
        future.set_result(value)
