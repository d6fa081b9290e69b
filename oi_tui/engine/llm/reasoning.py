"""Selects the reasoning that goes back to the model that produced it.

DeepSeek and Moonshot (Kimi) continue their reasoning after a tool call. Without what they thought before it
they refuse the request or answer worse. They do not want the reasoning of earlier turns, and other providers
refuse the field.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from oi_tui.engine.models.model_names import find_family
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message
from oi_tui.text import repair_surrogates

#: The providers whose models need their reasoning back.
_FAMILIES = frozenset({"deepseek", "moonshot"})
#: Their own addresses, for profiles that name the address and not the provider.
_HOSTS = ("deepseek.com", "moonshot.ai", "moonshot.cn")


def collect_reasoning(messages: Sequence[Message], profile: Profile) -> dict[str, str]:
    """Return the reasoning of the current turn that this model needs, by the id of its reply."""
    receiver = _find_family_of(profile.model) if _takes_reasoning(profile) else None
    if receiver not in _FAMILIES:
        return {}
    fields: dict[str, str] = {}
    for message in messages:
        if message.role == "user":
            fields.clear()
        elif _is_of_family(message, receiver) and message.reply:
            fields[message.reply] = fields.get(message.reply, "") + repair_surrogates(message.content)
    return fields


def _is_of_family(message: Message, receiver: str | None) -> bool:
    """Return whether this is reasoning of a model of the receiver's family."""
    own = message.type == "reasoning" and message.recipient != "user"
    return own and message.model is not None and _find_family_of(message.model) == receiver


def _takes_reasoning(profile: Profile) -> bool:
    """Return whether the server is known to accept the field; others may refuse it."""
    if profile.model.lower().startswith(("deepseek/", "moonshot/", "openrouter/")):
        return True
    try:
        host = urlsplit(profile.api_base or "").hostname or ""
    except ValueError:
        return False
    return any(host == domain or host.endswith(f".{domain}") for domain in _HOSTS)


def _find_family_of(model: str) -> str | None:
    provider, _, name = model.lower().partition("/")
    return provider if provider in _FAMILIES else find_family((name or provider).rpartition("/")[2])
