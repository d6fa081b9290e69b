"""Counts tokens and what they cost, as scripts import it from the inside of Open Interpreter."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from oi_tui.api.finalizers import finalize
from oi_tui.api.shared_model import POOL
from oi_tui.engine.llm.context_window import CHARACTERS, weigh
from oi_tui.engine.llm.transport.client import ModelProcess

_TEXTS = ("content", "message", "code", "output")


class _TokenCounter:
    """Has the model process that the interpreters share count."""

    def __init__(self) -> None:
        self._lease = object()
        finalize(self, partial(POOL.release, self._lease))

    def process(self) -> ModelProcess:
        """Return the process."""
        return POOL.lease(self._lease)


_counter = _TokenCounter()


def count_tokens(text: str = "", model: str = "gpt-4") -> int:
    """Return how many tokens a text has; without the model's tokenizer, a guess."""
    counts = _counter.process().count(model, [text])
    return counts[0] if counts else weigh(text) // CHARACTERS


def compute_token_cost(tokens: int = 0, model: str = "gpt-4") -> float:
    """Return the cost of a request with this number of tokens, in USD; 0 if the price is unknown."""
    facts = _counter.process().facts(model)
    return round(tokens * ((facts and facts.prompt_price) or 0), 6)


def count_messages_tokens(
    messages: Sequence[dict[str, Any] | str] = (), model: str | None = None
) -> tuple[int, float]:
    """Return how many tokens the texts of messages have, and what they cost in USD."""
    texts = [
        text
        for message in messages
        for text in ([message] if isinstance(message, str) else map(message.get, _TEXTS))
        if isinstance(text, str)
    ]
    name = model or "gpt-4"
    counts = _counter.process().count(name, texts) if texts else []
    tokens = sum(counts) if counts is not None else sum(map(weigh, texts)) // CHARACTERS
    return tokens, compute_token_cost(tokens, name)
