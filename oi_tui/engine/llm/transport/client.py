"""The application's end of the process that talks to language models."""

import itertools
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from types import TracebackType
from typing import Any, Self

from oi_tui.engine.llm import errors
from oi_tui.engine.llm.base import Delta, ErrorInfo, LlmError, Request
from oi_tui.engine.llm.transport.child import ModelChild, start_child
from oi_tui.engine.llm.transport.proxies import may_use_proxies, remove_proxies
from oi_tui.engine.llm.transport.wire import parse_delta
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.system.failures import describe_refusal
from oi_tui.system.forks import call_in_forked_child

#: Beyond the request's own limit of silence: for the start of the process and for a busy machine.
_TIMEOUT = 30.0
#: LiteLLM takes seconds to load, on a busy machine many; what it knows is worth the wait.
_LOADING = 60.0


def _describe_end(status: int | None) -> str:
    """Return how the process ended without being told to, by the status that it left."""
    if status is None or status >= 0:
        return "ended unexpectedly"
    if status == -signal.SIGKILL:
        return "was ended by SIGKILL, as happens where memory runs out"
    return f"was ended by signal {-status}"


def _explain_end(child: ModelChild) -> ErrorInfo:
    """Explain that the process has ended; one that could not even begin is not worth another try."""
    status = child.process.returncode
    # Without memory or threads it may answer some orders and end at the next.
    begins = child.answered and not describe_refusal(child.last_words)
    if begins or status in (-signal.SIGKILL, -signal.SIGTERM) or not (status or child.last_words):
        return errors.explain_process_ended(_describe_end(status))
    return errors.explain_process_cannot_begin(_describe_end(status), child.last_words)


class ModelReply:
    """A reply on its way from the model process."""

    def __init__(self, child: ModelChild, number: int, request: Request) -> None:
        self._child = child
        self._number = number
        self._limit = request.timeout + _TIMEOUT
        self._cancelled = threading.Event()
        self._ended = False
        self._answers = child.ask(number, {"do": "reply", "request": asdict(request)})

    def __iter__(self) -> Iterator[Delta]:
        error: ErrorInfo | None = None
        while not self._ended and not self._cancelled.is_set():
            try:
                record = self._answers.get(timeout=self._limit)
            except queue.Empty:
                # It keeps watch over silence itself; when even that fails, it hangs.
                self._child.process.kill()
                error = errors.explain_process_ended("stopped responding")
                break
            if self._cancelled.is_set():
                return
            if "end" in record:
                break
            if "gone" in record:
                error = _explain_end(self._child)
                break
            if "error" in record:
                error = ErrorInfo(**record["error"])
            elif delta := parse_delta(record):
                yield delta
        if self._cancelled.is_set():
            return
        self._ended = True
        self._child.forget(self._number)
        if error:
            raise LlmError(error)

    def cancel(self) -> None:
        """End the reply, from any thread: the iteration stops at once and the connection is closed."""
        if self._ended or self._cancelled.is_set():
            return
        self._cancelled.set()
        self._child.forget(self._number)
        self._child.send({"do": "cancel", "id": self._number})
        self._answers.put({})


class ModelProcess:
    """Language models, reached through LiteLLM in a child process that starts when it is needed.

    HTTP libraries take proxies from the environment of their process. So requests that may use no proxy have
    a second process, where the environment names proxies.

    All methods may be called from any thread.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        keys: Callable[[str, str | None], str | None] = lambda _model, _api_base: None,
        program: tuple[str, str] | None = None,
    ) -> None:
        """`keys` finds the kept key for a model and its base, for requests that bring none.

        `program` is the text and the place of a trusted profile whose function answers instead of LiteLLM.
        """
        self._program = program
        self._environment = environment
        self._keys = keys
        self._lock = threading.Lock()
        #: By whether no proxy may be used.
        self._children: dict[bool, ModelChild] = {}
        self._numbers = itertools.count(1)
        call_in_forked_child(self._forget_child)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The number of the child process, while there is one."""
        return next((child.process.pid for child in list(self._children.values()) if not child.gone), None)

    def start(self, *, direct: bool | None = None) -> None:
        """Start the process ahead of the first reply; returns at once. `direct` as in its request."""
        # Where it cannot be started, the first request tells why.
        with suppress(LlmError):
            self._ensure_running(direct=direct)

    def prepare(self, model: str, api_base: str | None, *, direct: bool | None = None) -> None:
        """Have the process load what a first request to this model needs; returns at once.

        `direct` is that of the request.
        """
        with suppress(LlmError):
            child = self._ensure_running(direct=direct)
            child.send({"do": "prepare", "id": 0, "model": model, "api_base": api_base})

    def reply(self, request: Request) -> ModelReply:
        """Send the request. Returns at once; waiting happens while iterating. Raises `LlmError`, rarely."""
        if not request.api_key:
            request = replace(request, api_key=self._keys(request.model, request.api_base))
        return ModelReply(self._ensure_running(direct=request.direct), next(self._numbers), request)

    def facts(self, model: str, timeout: float = _LOADING) -> ModelInfo | None:
        """Return the facts about a model without asking its provider.

        None if it takes longer than `timeout`, or the process cannot be started.
        """
        facts = self._look_up({"do": "facts", "model": model}, timeout).get("facts")
        return None if facts is None else ModelInfo(**facts)

    def count(self, model: str, texts: Sequence[str], timeout: float = 5.0) -> list[int] | None:
        """Count the tokens of each text with the model's own tokenizer where LiteLLM has it.

        Asks no network. None when it takes longer than `timeout`, in seconds, or the process cannot start.
        """
        counts = self._look_up({"do": "count", "model": model, "texts": list(texts)}, timeout).get("counts")
        return counts if isinstance(counts, list) else None

    def _look_up(self, order: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Return the answer to the order; empty if none came in time."""
        try:
            child = self._ensure_running()
        except LlmError:
            return {}
        number = next(self._numbers)
        try:
            return child.ask(number, order).get(timeout=timeout)
        except queue.Empty:
            child.forget(number)
            return {}

    def close(self) -> None:
        """End the process. Another reply would start a new one."""
        with self._lock:
            children, self._children = self._children, {}
        for child in children.values():
            child.end()

    def _forget_child(self) -> None:
        """Leave the process to the one that started it."""
        self._lock, self._children = threading.Lock(), {}

    def _ensure_running(self, *, direct: bool | None = None) -> ModelChild:
        """Return the process for requests that may use no proxy (`direct`) or may; any process for None."""
        with self._lock:
            running = {key: child for key, child in self._children.items() if not child.gone}
            if direct is None:
                direct = next(iter(running), False)
            # What a function of a profile does with the network is its own.
            is_direct = direct and not self._program and may_use_proxies(self._environment)
            if is_direct not in running:
                running[is_direct] = self._start_child(direct=is_direct)
            self._children = running
            return running[is_direct]

    def _start_child(self, *, direct: bool) -> ModelChild:
        try:
            if self._program:
                child = start_child("models.function_process", self._environment)
                text, place = self._program
                child.send({"do": "profile", "id": 0, "text": text, "place": place})
                return child
            return start_child(environment=remove_proxies(self._environment) if direct else self._environment)
        except OSError as error:
            raise LlmError(errors.explain_process_ended(f"could not be started ({error})")) from error
