"""Sends one request through LiteLLM, and yields its reply piece by piece."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from oi_tui.engine.llm import errors, urls
from oi_tui.engine.llm.base import ErrorInfo
from oi_tui.engine.llm.error_table import Attempt
from oi_tui.engine.llm.transport.provider import Provider
from oi_tui.engine.llm.transport.raw_stream import RawReply, split_delta

#: LiteLLM keeps every chunk of a stream; they are dropped after this many.
_KEPT_CHUNKS = 500
#: A server that does not accept a request for so long, in seconds, is mentioned.
_SLOW = 0.5
#: How many silences in a row may be filled by comments.
_COMMENTS = 10
#: How often, in seconds, the application is told that the server still sends something.
_WAITING = 5.0
#: Fields of a request that LiteLLM takes as they are.
_PASSED_ON = ("messages", "api_version", "temperature", "max_tokens", "timeout")
#: Parameters that a request can do without, and words with which a server says that it does not know one.
_DISPENSABLE = ("stream_options", "temperature", "max_tokens")
_UNKNOWN = re.compile(
    r"unsupported|unknown|unrecognized|not supported|does not support|extra inputs", re.IGNORECASE
)


class CompletionCall:
    """A request (the fields of `llm.Request`) on its way; `emit` gets each piece of the reply by name."""

    def __init__(self, provider: Provider, request: dict[str, Any], emit: Callable[..., None]) -> None:
        self._provider = provider
        self._request = request
        self._emit = emit
        self._attempt = Attempt(
            request["model"],
            request.get("api_base"),
            request.get("api_key"),
            request["timeout"],
            tools=bool(request.get("tools")),
        )
        #: The name by which LiteLLM knows the model.
        self._model = ""
        #: Whether words or a call arrived.
        self._begun = False
        #: The number of the choice that is read: one is asked for, and some servers do not count from 0.
        self._choice: int | None = None
        self._finish: str | None = None
        self._raw: RawReply | None = None

    async def run(self) -> None:
        """Send the request and emit each piece of the reply; an error is emitted, too."""
        if wrong := await self._find_refusal():
            self._fail(wrong)
            return
        try:
            await self._find_address()
            await self._receive()
        except asyncio.CancelledError:
            raise
        except TimeoutError:
            self._fail(errors.describe_timeout(replace(self._attempt, begun=self._begun)))
        except Exception as error:  # noqa: BLE001  (whatever a provider's code raises ends here, as a fault)
            if reply := errors.find_failed_reply(error):
                self._emit(text=reply)
                self._emit(finish="stop")
                return
            if self._is_in_unread_format():
                # The name of the format says more than what a client misses in it.
                self._complete()
                return
            attempt = replace(self._attempt, begun=self._begun)
            info = errors.explain(error, attempt)
            broken = self._raw.find_error() if self._raw and info.kind in ("cut", "unknown") else None
            # The server's own words say more than those of a client that did not expect them.
            self._fail((errors.explain_body(*broken, attempt) if broken else None) or info)
        else:
            self._complete()

    def _is_in_unread_format(self) -> bool:
        """Return whether the reply has a format that LiteLLM does not read for this model."""
        raw, provider = self._raw, self._attempt.provider
        if raw is None or self._begun or raw.foreign is None:
            return False
        return provider not in raw.foreign.providers or bool(raw.find_messages(provider))

    def _fail(self, error: ErrorInfo) -> None:
        self._emit(error=asdict(error))

    async def _find_refusal(self) -> ErrorInfo | None:
        """Say why the request cannot be sent at all; None when it can."""
        base = self._request.get("api_base")
        if not base:
            return await asyncio.to_thread(self._provider.check_name, self._request["model"])
        requirement = urls.explain_invalid(base)
        return errors.make_address_error(base, requirement) if requirement else None

    async def _find_address(self) -> None:
        """Find out where the request goes, and by which name of the model."""
        self._model, base, key = await asyncio.to_thread(self._provider.address, self._request)
        self._attempt = Attempt(
            self._model,
            base,
            key,
            self._request["timeout"],
            tools=self._attempt.tools,
            missing=self._provider.missing_keys(self._model, base),
        )

    def _build_arguments(self) -> dict[str, Any]:
        """Return the arguments for LiteLLM."""
        request, model = self._request, self._model
        arguments = {name: request[name] for name in _PASSED_ON if request.get(name) is not None}
        if request.get("tools"):
            arguments["tools"] = request["tools"]
        if re.search(r"\bclaude|^anthropic/", model):
            # Others keep what they have seen by themselves; this one must be given what to keep.
            arguments["cache_control_injection_points"] = [
                {"location": "message", "role": "system"},
                {"location": "message", "index": -1},
            ]
        if model.startswith("ollama") and request.get("context_window"):
            arguments["num_ctx"] = request["context_window"]
        return {
            "model": model,
            "api_base": self._attempt.api_base,
            "api_key": self._attempt.api_key,
            "stream": True,
            "max_retries": 0,
            "num_retries": 0,
            "stream_options": {"include_usage": True},
            **arguments,
        }

    async def _receive(self) -> None:
        """Emit what arrives. Raises TimeoutError when nothing did for too long, and what LiteLLM raises."""
        clock = asyncio.get_running_loop().time
        timeout = self._attempt.timeout
        # Comments keep a stream alive while the model gets ready, but not forever.
        limit = clock() + timeout * _COMMENTS
        next_report = clock()
        async with asyncio.timeout(timeout) as silence:

            def extend() -> None:
                nonlocal next_report
                silence.reschedule(min(clock() + timeout, limit))
                if clock() >= next_report:
                    next_report = clock() + _WAITING
                    # The application takes a process that is silent for too long for one that hangs.
                    self._emit(waiting=True)

            stream = await self._open()
            self._raw = RawReply(stream, extend)
            count = 0
            async for chunk in stream:
                limit = clock() + timeout * _COMMENTS
                extend()
                count += 1
                if count % _KEPT_CHUNKS == 0 and hasattr(stream, "chunks"):
                    stream.chunks.clear()
                    stream.response_uptil_now = ""
                self._pass_on(chunk, self._raw)

    def _pass_on(self, chunk: Any, raw: RawReply) -> None:
        """Emit the pieces of a chunk, and what came with it in the raw stream."""
        if gaps := raw.pop_gaps():
            self._emit(gap=gaps)
        for part in raw.pop_signed() if raw.is_chunked else _find_signed_parts(chunk):
            self._emit(signed=part)
        for choice in getattr(chunk, "choices", None) or ():
            index = getattr(choice, "index", 0) or 0
            if self._choice is None:
                self._choice = index
            if index == self._choice:
                for kind, value in split_delta(getattr(choice, "delta", None)):
                    self._emit_piece(kind, value)
            # LiteLLM gives the end of every reply the number 0.
            if index not in (0, self._choice):
                continue
            if reason := getattr(choice, "finish_reason", None):
                self._finish = str(reason)
                self._emit(finish=self._finish)
        if usage := getattr(chunk, "usage", None):
            self._emit(usage=self._compute_usage(usage))

    def _emit_piece(self, kind: str, value: Any) -> None:
        if kind == "call" or (kind != "signed" and value.strip()):
            self._begun = True
        self._emit(**{kind: value})

    def _compute_usage(self, usage: Any) -> list[Any]:
        """Return tokens of the prompt and of the reply, cost in USD,
        and how many tokens the provider remembered.
        """
        details = getattr(usage, "prompt_tokens_details", None)
        cost = self._provider.cost(self._model, usage)
        cached = getattr(details, "cached_tokens", None) or 0
        return [usage.prompt_tokens or 0, usage.completion_tokens or 0, cost, cached]

    def _complete(self) -> None:
        """End the stream: emit what was kept back and a reply that came whole; else say that none came."""
        raw = self._raw
        if raw is None:
            return
        if gaps := raw.pop_gaps():
            self._emit(gap=gaps)
        for part in raw.pop_signed():
            self._emit(signed=part)
        self._finish = raw.incomplete or self._finish
        if self._begun:
            broken = raw.find_error()
            if broken and (info := errors.explain_body(*broken, replace(self._attempt, begun=True))):
                self._fail(info)
            elif raw.incomplete:
                self._emit(finish=raw.incomplete)
            return
        for message in raw.find_messages(self._attempt.provider):
            for kind, value in split_delta(message):
                self._emit_piece(kind, value)
        if end := raw.find_whole_end():
            self._finish = end
            self._emit(finish=end)
        if not self._begun:
            instead = raw.find_error()
            error = errors.explain_body(*instead, self._attempt) if instead else None
            self._fail(
                error
                or errors.make_empty_reply_error(self._attempt, self._finish, raw.describe(), raw.foreign)
            )

    async def _open(self) -> Any:
        """Send the request; a server that does not accept it at once is mentioned, and when it does."""
        slow = False

        def mention() -> None:
            nonlocal slow
            slow = True
            self._emit(accepted=False)

        timer = asyncio.get_running_loop().call_later(_SLOW, mention)
        try:
            return await self._send(self._build_arguments())
        finally:
            timer.cancel()
            if slow:
                self._emit(accepted=True)

    async def _send(self, arguments: dict[str, Any]) -> Any:
        """Open the stream, without the parameters that LiteLLM or the server does not know for this model."""
        litellm = self._provider.litellm
        while True:
            try:
                return await litellm.acompletion(**arguments)
            except (litellm.UnsupportedParamsError, litellm.BadRequestError) as error:
                reason = str(error)[:4000]
                is_unsupported = isinstance(error, litellm.UnsupportedParamsError) or _UNKNOWN.search(reason)
                unwanted = next((name for name in _DISPENSABLE if name in arguments and name in reason), None)
                if unwanted is None or not is_unsupported:
                    raise
                value = arguments.pop(unwanted)
                if unwanted == "max_tokens" and "max_completion_tokens" in reason:
                    arguments["max_completion_tokens"] = value


def _find_signed_parts(chunk: Any) -> list[tuple[str, Any]]:
    """Return what the provider wants back unchanged, each with the name of its field."""
    parts: list[tuple[str, Any]] = []
    for choice in (getattr(chunk, "choices", None) or ())[:1]:
        delta = getattr(choice, "delta", None)
        if blocks := getattr(delta, "thinking_blocks", None):
            parts.append(("thinking_blocks", [dict(block) for block in blocks]))
        signatures = (getattr(delta, "provider_specific_fields", None) or {}).get("thought_signatures")
        if signatures and not getattr(delta, "tool_calls", None):
            # Signatures of calls come in the ids of the calls.
            parts.append(("thought_signatures", [{"signature": signature} for signature in signatures]))
    return parts
