"""The process that talks to models, as the application sees it: started, asked and ended.

It is kept light, so that the process can be started before the application has loaded.
"""

import errno
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from oi_tui.engine.credentials import child_environment
from oi_tui.system.failures import describe_failure
from oi_tui.system.threads import start_threads

#: Imports nothing from the current folder: our own package is found last, and by its full path.
_BOOT = (
    "import sys; sys.path.append(sys.argv.pop()); "
    "from oi_tui.engine.credentials.child_environment import receive; receive(); "
    "from oi_tui.engine.{} import main; main()"
)
_ROOT = str(Path(__file__).resolve().parents[4])
_MODULE = "llm.transport.process"
#: How much is kept of what a process wrote last, in bytes and in lines.
_LAST_WORDS, _LAST_LINES = 4_000, 8
#: The process that was started ahead, until somebody takes it.
_ahead: "queue.SimpleQueue[ModelChild]" = queue.SimpleQueue()


class ModelChild:
    """One run of the process; its answers go to their requests by number."""

    def __init__(self, environment: Mapping[str, str], command: Sequence[str]) -> None:
        public, first_line = child_environment.divide(environment)
        #: The last words of one that ended, if it had any.
        self.last_words = ""
        #: Where it writes before it has closed its standard error: why it could not begin.
        self._errors = os.memfd_create("model-errors") if hasattr(os, "memfd_create") else None
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if self._errors is None else self._errors,
                cwd="/",
                env=public,
                start_new_session=True,
            )
        except OSError:
            self._read_last_words()
            raise
        self.gone = False
        #: Whether it has answered anything: until then it is not known to have begun.
        self.answered = False
        self._lock = threading.Lock()
        self._listeners: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._orders: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._orders.put(first_line)
        try:
            self._threads = start_threads(
                self.process, {"model-writer": self._write, "model-reader": self._read}
            )
        except RuntimeError as error:
            self._orders.put(None)
            self._read_last_words()
            raise OSError(errno.EAGAIN, describe_failure(error)) from None

    def ask(self, number: int, order: dict[str, Any]) -> "queue.SimpleQueue[dict[str, Any]]":
        """Send an order; its answers arrive in the queue."""
        answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        with self._lock:
            if self.gone:
                answers.put({"gone": True})
                return answers
            self._listeners[number] = answers
        self.send({**order, "id": number})
        return answers

    def send(self, order: dict[str, Any]) -> None:
        """Send a request without waiting for answers; never blocks."""
        self._orders.put((json.dumps(order) + "\n").encode())

    def forget(self, number: int) -> None:
        """Ignore these answers: nothing waits for them."""
        with self._lock:
            self._listeners.pop(number, None)

    def end(self) -> None:
        """End the process; first ask it to, by closing its input."""
        self._orders.put(None)
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join(5)

    def _write(self) -> None:
        stream = self.process.stdin
        assert stream
        with suppress(OSError), stream:
            while (data := self._orders.get()) is not None:
                stream.write(data)
                if self._orders.empty():
                    stream.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream
        with stream:
            for line in stream:
                try:
                    record = json.loads(line)
                except ValueError:
                    break
                self.answered = True
                with self._lock:
                    listener = self._listeners.get(record["id"])
                    if "end" in record or "facts" in record or "counts" in record:
                        self._listeners.pop(record["id"], None)
                if listener:
                    listener.put(record)
        with self._lock:
            self.gone = True
            listeners = list(self._listeners.values())
            self._listeners.clear()
        self._orders.put(None)
        if self.process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(1)
            self.process.kill()
            self.process.wait()
        self._read_last_words()
        # Its status is known now, for whoever says why it ended.
        for listener in listeners:
            listener.put({"gone": True})

    def _read_last_words(self) -> None:
        """Keep what it wrote last, and close its file."""
        errors, self._errors = self._errors, None
        if errors is None:
            return
        with suppress(OSError):
            size = os.fstat(errors).st_size
            text = os.pread(errors, _LAST_WORDS, max(0, size - _LAST_WORDS)).decode("utf-8", "replace")
            self.last_words = "\n".join(text.strip().splitlines()[-_LAST_LINES:])
        os.close(errors)


def start_child(module: str = _MODULE, environment: Mapping[str, str] | None = None) -> ModelChild:
    """Start the process, or take the one that was started ahead. Raises OSError.

    `module` is its main module within `oi_tui.engine`; `environment` is ours by default.
    """
    if module == _MODULE and environment is None:
        with suppress(queue.Empty):
            return _ahead.get_nowait()
    command = [sys.executable, "-P", "-c", _BOOT.format(module), _ROOT]
    return ModelChild(os.environ if environment is None else environment, command)


@contextmanager
def start_ahead() -> Iterator[None]:
    """Start the process before the first request, where another processor is free to load LiteLLM.

    It is ended at the end, unless somebody took it.
    """
    if _count_processors() > 1:
        with suppress(OSError):
            _ahead.put(start_child())
    try:
        yield
    finally:
        with suppress(queue.Empty):
            _ahead.get_nowait().end()


def _count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
