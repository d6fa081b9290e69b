"""Logs requests: steps with `verbose`, and the full text with `debug`."""

import itertools
import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

from oi_tui.engine.llm.base import Delta, Llm, LlmError, Reasoning, Reply, Request, Text, ToolCallPiece

_steps = logging.getLogger("oi_tui.steps")
_words = logging.getLogger("oi_tui.words")
#: Characters of a request or reply that are noted; images make them long.
_LONGEST = 100_000


def set_levels(*, verbose: bool, debug: bool) -> None:
    """Log steps and words from now on, or no longer."""
    _steps.setLevel(logging.DEBUG if verbose or debug else logging.WARNING)
    _words.setLevel(logging.DEBUG if debug else logging.WARNING)


def log_step(text: str, *values: object) -> None:
    """Note a step, where `verbose` asks for it."""
    _steps.debug(text, *values)


class LoggedLlm:
    """A model whose requests and replies are noted, as far as that is asked for. Keys are not among them."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm

    def use(self, llm: Llm) -> None:
        """Ask another one, from the next request on."""
        self._llm = llm

    def reply(self, request: Request) -> Reply:
        """Send the request, and note it."""
        messages = f"{len(request.messages)} message{'s' * (len(request.messages) != 1)}"
        with_tool = "with the tool" if request.tools else "without tools"
        _steps.debug("request to %s: %s, %s", request.model, messages, with_tool)
        if not _words.isEnabledFor(logging.DEBUG):
            return self._llm.reply(request)
        fields = asdict(replace(request, api_key=None))
        _words.debug("to the model: %s", _cut(json.dumps(fields, default=str)))
        return _LoggedReply(self._llm.reply(request))


class _LoggedReply:
    """A reply that is noted once it is over."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def __iter__(self) -> Iterator[Delta]:
        pieces: list[Delta] = []
        try:
            for delta in self._reply:
                pieces.append(delta)
                yield delta
        except LlmError as error:
            _words.debug("from the model, an error: %s", error.info)
            raise
        finally:
            _words.debug("from the model: %s", _cut(json.dumps(list(_join(pieces)))))

    def cancel(self) -> None:
        """End the reply."""
        self._reply.cancel()


def _join(pieces: Iterable[Delta]) -> Iterator[str]:
    """Join pieces of the same kind: a key that arrives in pieces could not be redacted."""
    for kind, run in itertools.groupby(pieces, key=_classify):
        same = list(run)
        text = "".join(_extract_text(piece) for piece in same)
        yield f"{kind[0]}: {text}" if text else repr(same)


def _classify(piece: Delta) -> tuple[str, int]:
    return type(piece).__name__, piece.index if isinstance(piece, ToolCallPiece) else 0


def _extract_text(piece: Delta) -> str:
    match piece:
        case Text() | Reasoning():
            return piece.text
        case ToolCallPiece():
            return (f"{piece.name} " if piece.name else "") + piece.arguments
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... and {len(text) - _LONGEST} characters"
