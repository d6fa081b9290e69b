"""A model that is a Python function, like Open Interpreter's `llm.completions`."""

import asyncio
import inspect
import queue
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any

from oi_tui.engine.credentials.redaction import redact
from oi_tui.engine.llm.base import (
    Delta,
    ErrorInfo,
    Finish,
    LlmError,
    Reasoning,
    Request,
    Text,
    ToolCallPiece,
    Usage,
)
from oi_tui.engine.llm.transport.raw_stream import split_delta

#: Takes `messages`, and of `model`, `stream`, `tools`, `max_tokens`, `temperature`, `api_base`, `api_key` and
#: `api_version` what it declares; yields or returns chunks of OpenAI's format, or just text.
Completions = Callable[..., Any]
#: Longest piece of an error's own words.
_LONGEST = 400


class FunctionModel:
    """Answers requests by calling a function in a separate thread."""

    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    def reply(self, request: Request) -> "FunctionReply":
        """Call the function. Returns at once; waiting happens while iterating."""
        return FunctionReply(self._completions, request)


class FunctionReply:
    """A reply on its way from a function. One that is cancelled is abandoned when it next gives something."""

    def __init__(self, completions: Completions, request: Request) -> None:
        self._completions = completions
        self._request = request
        self._cancelled = threading.Event()
        self._came: queue.SimpleQueue[Delta | ErrorInfo | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="completions", daemon=True).start()

    def __iter__(self) -> Iterator[Delta]:
        has_content = False
        while not self._cancelled.is_set():
            piece = self._came.get()
            if self._cancelled.is_set():
                return
            if isinstance(piece, ErrorInfo):
                raise LlmError(piece)
            if piece is None:
                break
            has_content = (
                has_content
                or isinstance(piece, ToolCallPiece)
                or (isinstance(piece, Text | Reasoning) and bool(piece.text.strip()))
            )
            yield piece
        if not has_content and not self._cancelled.is_set():
            raise LlmError(
                ErrorInfo("empty", f"{self._name} returned nothing: no text and no call.", "model")
            )

    def cancel(self) -> None:
        """End the reply, from any thread: the iteration stops at once."""
        self._cancelled.set()
        self._came.put(None)

    @property
    def _name(self) -> str:
        return f"The function {getattr(self._completions, '__name__', 'llm.completions')}"

    def _run(self) -> None:
        try:
            result = self._completions(**self._make_arguments())
            if inspect.isawaitable(result) or hasattr(result, "__aiter__"):
                asyncio.run(self._follow(result))
            else:
                self._read_result(result)
        except BaseException as error:  # noqa: BLE001  (the end of the worker; it reports)
            self._came.put(self._describe_fault(error))
        self._came.put(None)

    def _make_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments that the function accepts; its first parameter gets the messages."""
        request = self._request
        offered: dict[str, Any] = {
            "messages": [dict(message) for message in request.messages],
            "model": request.model,
            "stream": True,
        }
        optional = ("max_tokens", "temperature", "api_base", "api_key", "api_version")
        offered |= {name: value for name in optional if (value := getattr(request, name)) is not None}
        if request.tools:
            offered["tools"] = [dict(tool) for tool in request.tools]
        try:
            parameters = inspect.signature(self._completions).parameters
        except (TypeError, ValueError):
            return offered
        if any(item.kind is item.VAR_KEYWORD for item in parameters.values()):
            return offered
        arguments = {name: offered.get(name) for name in parameters if name in offered or name in optional}
        first = next(iter(parameters), None)
        if "messages" not in parameters and first is not None and first not in arguments:
            arguments[first] = offered["messages"]
        return arguments

    async def _follow(self, given: Any) -> None:
        if inspect.isawaitable(given):
            given = await given
        if not hasattr(given, "__aiter__"):
            self._read_result(given)
            return
        stream: AsyncIterator[Any] = aiter(given)
        async for chunk in stream:
            if self._cancelled.is_set():
                return
            self._read_chunk(chunk)

    def _read_result(self, given: Any) -> None:
        # A whole completion of a library may be an object that can be iterated, over its fields.
        is_whole = isinstance(given, str | bytes | dict) or isinstance(_get(given, "choices"), Sequence)
        if is_whole or not isinstance(given, Iterable):
            self._read_chunk(given)
            return
        chunks = iter(given)
        for chunk in chunks:
            if self._cancelled.is_set():
                break
            self._read_chunk(chunk)
        if close := getattr(chunks, "close", None):
            close()

    def _read_chunk(self, chunk: Any) -> None:
        """Read one item of what the function gave: text, a chunk, a delta, or a whole completion."""
        if isinstance(chunk, str):
            self._came.put(Text(chunk))
            return
        if isinstance(chunk, bool | int | float | bytes | Sequence):
            raise TypeError(f"it gave {chunk!r:.80}, which is neither text nor a chunk of OpenAI's format")
        for choice in _get(chunk, "choices") or [chunk]:
            delta = _get(choice, "delta") or _get(choice, "message")
            for kind, value in split_delta(delta if delta is not None else choice):
                match kind:
                    case "text":
                        self._came.put(Text(value))
                    case "reasoning":
                        self._came.put(Reasoning(value))
                    case _:
                        self._came.put(ToolCallPiece(int(value[0]), value[1], value[2], value[3]))
            if reason := _get(choice, "finish_reason"):
                self._came.put(Finish(str(reason)))
        usage = _get(chunk, "usage")
        prompt, completion = _get(usage, "prompt_tokens"), _get(usage, "completion_tokens")
        if isinstance(prompt, int) and isinstance(completion, int):
            self._came.put(Usage(prompt, completion))

    def _describe_fault(self, error: BaseException) -> ErrorInfo:
        """Describe the exception and its line in the function's file."""
        steps = traceback.extract_tb(error.__traceback__)
        own = [step for step in steps if step.filename != __file__]
        where = f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
        text = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
        return ErrorInfo("unknown", redact(f"{self._name} failed: {text}{where}.", self._request.api_key))


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
