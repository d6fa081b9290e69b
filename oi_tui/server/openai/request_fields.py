"""The fields that OpenAI documents for its two interfaces, with their types and ranges.

Most of them change nothing here, because the profile says how the model is called. A wrong value is refused
all the same, as OpenAI refuses it, so that a client's mistake shows. Fields to which OpenAI adds values from
time to time, such as service_tier, may be any text.
"""

from collections.abc import Mapping

from oi_tui.server.fields import (
    LIST,
    OBJECT,
    SWITCH,
    TEXT,
    TEXT_OR_OBJECT,
    TEXT_OR_TEXTS,
    TEXTS,
    Field,
    Fields,
    make_choice,
    make_number,
    make_object,
    make_whole,
)

_MOST_METADATA, _LONGEST_METADATA = 16, 512
_BIAS = make_number(-100, 100)


def _is_metadata(value: object) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= _MOST_METADATA
        and all(isinstance(text, str) and len(text) <= _LONGEST_METADATA for text in value.values())
    )


def _is_bias(value: object) -> bool:
    return isinstance(value, dict) and all(map(_BIAS.accepts, value.values()))


_VERBOSITY = make_choice("low", "medium", "high")
_BOTH: Fields = {
    "metadata": Field(
        f"an object of at most {_MOST_METADATA} texts with at most {_LONGEST_METADATA} characters each",
        _is_metadata,
    ),
    "model": TEXT,
    "moderation": OBJECT,
    "parallel_tool_calls": SWITCH,
    "prompt_cache_key": TEXT,
    "prompt_cache_options": OBJECT,
    "prompt_cache_retention": TEXT,
    "safety_identifier": TEXT,
    "service_tier": TEXT,
    "store": SWITCH,
    "stream": SWITCH,
    "stream_options": make_object({"include_usage": SWITCH, "include_obfuscation": SWITCH}),
    "temperature": make_number(0, 2),
    "tool_choice": TEXT_OR_OBJECT,
    "tools": LIST,
    "top_logprobs": make_whole(0, 20),
    "top_p": make_number(0, 1),
    "user": TEXT,
}
COMPLETION: Fields = {
    **_BOTH,
    "audio": OBJECT,
    "frequency_penalty": make_number(-2, 2),
    "function_call": TEXT_OR_OBJECT,
    "functions": LIST,
    "logit_bias": Field("an object of numbers from -100 to 100", _is_bias),
    "logprobs": SWITCH,
    "max_completion_tokens": make_whole(1),
    "max_tokens": make_whole(1),
    "modalities": TEXTS,
    "n": make_whole(1, 128),
    "prediction": OBJECT,
    "presence_penalty": make_number(-2, 2),
    "reasoning_effort": TEXT,
    "response_format": make_object({"type": TEXT}),
    "seed": make_whole(),
    "stop": TEXT_OR_TEXTS,
    "verbosity": _VERBOSITY,
    "web_search_options": OBJECT,
}
RESPONSE: Fields = {
    **_BOTH,
    "background": SWITCH,
    "context_management": LIST,
    "conversation": TEXT_OR_OBJECT,
    "include": TEXTS,
    "instructions": TEXT,
    "max_output_tokens": make_whole(1),
    "max_tool_calls": make_whole(1),
    "previous_response_id": TEXT,
    "prompt": OBJECT,
    "reasoning": make_object({"effort": TEXT, "summary": TEXT}),
    "text": make_object({"format": make_object({"type": TEXT}), "verbosity": _VERBOSITY}),
    "truncation": make_choice("auto", "disabled"),
}
#: The answer to a question, an item of the input.
APPROVAL: Mapping[str, Field] = {"approval_request_id": TEXT, "approve": SWITCH, "reason": TEXT}
