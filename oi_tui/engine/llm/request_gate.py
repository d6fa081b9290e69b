"""The gate that every request to a model passes: checks it, and sends it.

A request leaves for a provider, costs money and carries what a person wrote. So what a profile forbids is
decided in one place, for a message as for a title, a summary or a test of a model.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from oi_tui.engine.credentials.redaction import list_known_secrets, take_out
from oi_tui.engine.llm import endpoint, signed_reasoning
from oi_tui.engine.llm.base import Llm, LlmError, Reply, Request
from oi_tui.engine.llm.context_window import estimate_tokens
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.function_model import FunctionModel
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile


def send(llm: Llm, request: Request, profile: Profile, usage: UsageTracker, facts: ModelInfo) -> Reply:
    """Send a request that the profile allows, without known keys and passwords in its messages.

    All requests to a model name the same context window, since Ollama cuts off what does not fit into its own
    default.

    Raises LlmError where the model's server must not be asked, and OverBudget where it would cost too much.
    """
    check(profile, llm)
    usage.check_budget(estimate_tokens(request), profile, facts)
    final_request = replace(request, context_window=facts.choose_window(profile), direct=is_direct(profile))
    return llm.reply(_remove_keys(final_request))


def is_direct(profile: Profile) -> bool:
    """Return whether requests for the profile may use no proxy."""
    return profile.offline or profile.local


def check(profile: Profile, llm: Llm) -> None:
    """Raise LlmError where no request may be sent to the profile's model."""
    if forbidden := endpoint.find_refusal(profile):
        # The model that the profile names is not asked where a function of the program answers.
        of_function = endpoint.explain_function(profile) if isinstance(llm, FunctionModel) else None
        raise LlmError(of_function or forbidden)


def _remove_keys(request: Request) -> Request:
    keys = list_known_secrets()
    if not keys:
        return request
    return replace(request, messages=[_clean(message, keys) for message in request.messages])


def _clean(message: Mapping[str, Any], keys: Sequence[str]) -> Mapping[str, Any]:
    """Return the message without keys; images are left alone."""
    match message["content"]:
        case str(text):
            content: Any = take_out(text, keys)
        case [*parts]:
            content = [
                {**part, "text": take_out(part["text"], keys)} if part["type"] == "text" else part
                for part in parts
            ]
        case nothing:
            content = nothing
    cleaned = {**message, "content": content}
    if "reasoning_content" in message:
        cleaned["reasoning_content"] = take_out(message["reasoning_content"], keys)
    for name in signed_reasoning.FIELDS:
        # A signature does not cover changed text, so that the field can only be left out.
        if name in message and _has_key(message[name], keys):
            del cleaned[name]
    if "tool_calls" in message:
        cleaned["tool_calls"] = [_clean_call(call, keys) for call in message["tool_calls"]]
    return cleaned


def _has_key(field: Any, keys: Sequence[str]) -> bool:
    text = json.dumps(field, ensure_ascii=False)
    return take_out(text, keys) != text


def _clean_call(call: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    function = call["function"]
    return {**call, "function": {**function, "arguments": take_out(function["arguments"], keys)}}
