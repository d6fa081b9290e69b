"""Reads the context limit that a server names when it refuses a conversation as too long."""

import re
from dataclasses import dataclass

_N = r"(\d[\d,_]*)"
#: How servers name the most tokens that they take in.
_LIMITS = (
    # OpenAI, Azure, DeepSeek, OpenRouter, vLLM, xAI, Fireworks
    rf"maximum (?:context|prompt|input|model) ?(?:length|window)?(?: is|:| of| \()? ?\(?{_N}",
    # OpenAI
    rf"configured limit of {_N}",
    # Anthropic
    rf"> {_N}(?: maximum|,)",
    # Gemini
    rf"maximum number of (?:input )?tokens allowed \(?{_N}",
    # llama.cpp
    rf"context (?:size|window|length) \(?{_N} tokens",
    rf"n_ctx\W+{_N}",
    # Mistral
    rf"model with {_N} maximum context",
    # Cohere
    rf"prompt cannot exceed {_N}",
    # Together, Text Generation Inference
    rf"must be <= {_N}",
    rf"must have less than {_N} tokens",
    # LM Studio
    rf"context length of only {_N}",
    # Groq, OpenAI: the tokens of a minute
    rf"request too large.{{0,200}}?\blimit:? {_N}",
    # Cerebras, SambaNova
    rf"while limit is {_N}",
)
#: How they name the tokens that they counted.
_COUNTS = (
    rf"(?:resulted in|you requested(?: about)?|request (?:has|contains)|prompt contains) {_N}",
    rf"(?:Given:|received) {_N}",
    rf"too long: {_N}",
    rf"token count (?:of )?\(?{_N}",
    rf"(?:request|prompt|length) \((?:length )?{_N}(?: tokens)?\)",
    rf"n_prompt_tokens\W+{_N}",
    rf"keep the first {_N}",
    rf"Current length is {_N}",
    rf"\bRequested {_N}",
)
#: Fewer tokens than this are no window of any model, but some other number.
_LEAST = 128


@dataclass(frozen=True, slots=True)
class StatedLimit:
    """The token limit that a server states, and the size of the refused request where it says so."""

    limit: int
    used: int | None = None


def read_stated_limit(text: str) -> StatedLimit | None:
    """Read the limit out of the words of a refusal; None where they name none."""
    limits = [number for number in _find_numbers(_LIMITS, text) if number >= _LEAST]
    if not limits:
        return None
    limit = min(limits)
    counts = [number for number in _find_numbers(_COUNTS, text) if number > limit]
    return StatedLimit(limit, max(counts, default=None))


def _find_numbers(patterns: tuple[str, ...], text: str) -> list[int]:
    matches = (match[1] for pattern in patterns for match in re.finditer(pattern, text, re.IGNORECASE))
    return [int(re.sub("[,_]", "", number)) for number in matches]
