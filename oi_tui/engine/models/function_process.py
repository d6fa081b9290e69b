"""The program that runs a trusted profile's `llm.completions`, in a process of its own.

It speaks as `model_process` does: orders as JSON lines on its standard input, pieces of replies as JSON lines
on its standard output. Its first order is the profile: {"do": "profile", "text": ..., "place": ...}.
"""

import json
import os
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from oi_tui.engine.llm.base import ErrorInfo, LlmError, Request
from oi_tui.engine.llm.transport.wire import record_of
from oi_tui.engine.models.function_model import FunctionModel, FunctionReply
from oi_tui.system.environment import close_to_others


class _Part:
    """Takes whatever a profile sets or calls, as Open Interpreter's object does."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        part = _Part()
        object.__setattr__(self, name, part)
        return part

    def __call__(self, *_: object, **__: object) -> "_Part":
        return _Part()

    def __bool__(self) -> bool:
        return False


def load_completions(text: str, place: str) -> Callable[..., Any]:
    """Run the profile; returns its function. Raises what the profile raises, or LookupError."""
    interpreter = _Part()
    module: Any = types.ModuleType("interpreter")
    module.interpreter = interpreter
    module.OpenInterpreter = module.AsyncInterpreter = lambda *_, **__: interpreter
    sys.modules["interpreter"] = module
    space = {"__name__": "__main__", "__file__": place, "interpreter": interpreter}
    exec(compile(text, place, "exec"), space)
    found: Any = interpreter.llm.completions
    if isinstance(found, _Part) or not callable(found):
        raise LookupError("the profile no longer sets llm.completions to a function")
    function: Callable[..., Any] = found
    return function


class _Service:
    """Serves one parent."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._function: Callable[..., Any] | None = None
        self._broken = "the profile was not given"
        self._replies: dict[int, FunctionReply] = {}

    def take(self, order: dict[str, Any]) -> None:
        """Carry an order out."""
        number = order["id"]
        match order["do"]:
            case "profile":
                try:
                    self._function = load_completions(order["text"], order["place"])
                except BaseException as error:  # noqa: BLE001 -- whatever a profile raises is reported
                    self._broken = f"{type(error).__name__}: {error}"
            case "reply":
                threading.Thread(target=self._reply, args=(number, order["request"]), daemon=True).start()
            case "cancel":
                if reply := self._replies.get(number):
                    reply.cancel()
            case "facts":
                self._say(id=number, facts={})
            case "count":
                self._say(id=number, counts=None)

    def _reply(self, number: int, request: dict[str, Any]) -> None:
        try:
            if self._function is None:
                text = f"The profile's llm.completions cannot be used: {self._broken}."
                raise LlmError(ErrorInfo("unknown", text))
            reply = self._replies[number] = FunctionModel(self._function).reply(Request(**request))
            for delta in reply:
                self._say(id=number, **record_of(delta))
        except LlmError as error:
            self._say(id=number, fault=asdict(error.fault))
        finally:
            self._replies.pop(number, None)
            self._say(id=number, end=True)

    def _say(self, **record: Any) -> None:
        data = (json.dumps(record) + "\n").encode()
        with self._lock:
            while data:
                data = data[os.write(self._output, data) :]


def main() -> None:
    """Serve the parent process until our input ends."""
    close_to_others()
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    service = _Service(target)
    with open(source, encoding="utf-8", errors="surrogatepass") as stream:  # noqa: PTH123
        for line in stream:
            service.take(json.loads(line))
    os._exit(0)
