"""The program that runs a trusted profile's `llm.completions` in a separate process.

It speaks as `model_process` does: orders as JSON lines on its standard input, pieces of replies as JSON lines
on its standard output. Its first order is the profile: {"do": "profile", "text": ..., "place": ...}.
"""

import json
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.machinery import ModuleSpec
from typing import Any

from oi_tui.engine.llm.base import ErrorInfo, LlmError, Request
from oi_tui.engine.llm.transport.wire import record_of
from oi_tui.engine.models.function_model import FunctionModel, FunctionReply
from oi_tui.system.environment import close_to_others


class _Part:
    """Accepts everything that a profile sets or calls, as Open Interpreter's object does."""

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

    def __add__(self, _: object) -> "_Part":
        return _Part()

    __radd__ = __iadd__ = __getitem__ = __add__

    def __setitem__(self, _key: object, _value: object) -> None:
        return

    def __delitem__(self, _: object) -> None:
        return

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class _BaseLanguage:
    """What classes of languages begin with in Open Interpreter."""


class _Module(types.ModuleType):
    """The module `interpreter`, or one inside of it; in version 0.1, the module was the interpreter."""

    def __init__(self, name: str, interpreter: _Part) -> None:
        super().__init__(name)
        self._part = interpreter

    def __getattr__(self, name: str) -> Any:
        if name in ("OpenInterpreter", "AsyncInterpreter", "Interpreter"):
            return lambda *_, **__: self._part
        if name == "BaseLanguage":
            return _BaseLanguage
        return self._part if name == "interpreter" else getattr(self._part, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_") or isinstance(value, types.ModuleType):
            super().__setattr__(name, value)
        else:
            setattr(self._part, name, value)


class _Finder:
    """Finds `interpreter` and all modules inside of it."""

    def __init__(self, interpreter: _Part) -> None:
        self._part = interpreter

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Find one of these modules."""
        ours = name.partition(".")[0] == "interpreter"
        return ModuleSpec(name, self, is_package=True) if ours else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Make the module."""
        return _Module(spec.name, self._part)

    def exec_module(self, _module: types.ModuleType) -> None:
        """Do nothing more."""


def load_completions(text: str, place: str) -> Callable[..., Any]:
    """Run the profile; returns its function. Raises what the profile raises, or LookupError."""
    interpreter = _Part()
    sys.meta_path.insert(0, _Finder(interpreter))
    space = {"__name__": "__main__", "__file__": place, "interpreter": interpreter}
    exec(compile(text, place, "exec"), space)
    completions: Any = interpreter.llm.completions
    if isinstance(completions, _Part) or not callable(completions):
        raise LookupError("the profile no longer sets llm.completions to a function")
    function: Callable[..., Any] = completions
    return function


class _Service:
    """Serves one parent."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._function: Callable[..., Any] | None = None
        self._broken = "the profile was not given"
        self._replies: dict[int, FunctionReply] = {}

    def handle(self, order: dict[str, Any]) -> None:
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
            self._say(id=number, error=asdict(error.info))
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
            service.handle(json.loads(line))
    os._exit(0)
