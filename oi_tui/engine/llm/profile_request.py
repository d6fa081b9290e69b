"""Makes requests with the model, the address, the key and the limits of a profile."""

from collections.abc import Mapping, Sequence
from typing import Any

from oi_tui.engine.llm.base import Request
from oi_tui.engine.settings.profile import Profile


def make_request(
    profile: Profile, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
) -> Request:
    """Return a request with these messages; change with `replace` what a purpose needs otherwise."""
    return Request(
        model=profile.model,
        messages=messages,
        tools=tools,
        api_base=profile.api_base,
        api_key=profile.api_key,
        api_version=profile.api_version,
        temperature=profile.temperature,
        max_tokens=profile.max_tokens,
        timeout=profile.timeout,
    )
