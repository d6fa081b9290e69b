"""Says which machine a profile's requests go to, and whether that is allowed."""

import os
from urllib.parse import urlsplit

from oi_tui.engine.credentials.keys import find_provider
from oi_tui.engine.llm import errors, urls
from oi_tui.engine.llm.base import ErrorInfo
from oi_tui.engine.llm.hosts import is_near as is_near
from oi_tui.engine.llm.hosts import is_this_machine as is_this_machine
from oi_tui.engine.settings.profile import Profile

#: Providers whose servers are on this machine unless a base or a variable of theirs says otherwise.
_HOME = frozenset({"ollama", "ollama_chat", "lm_studio", "llamafile", "hosted_vllm"})
#: Providers of which LiteLLM 1.105 takes the base from a variable that is called after them.
_WITH_VARIABLE = _HOME | {"gemini", "deepseek", "groq", "xai", "openrouter", "azure", "cohere"}
#: Where that variable has another name, or several; the first that is set counts.
_ODD_VARIABLES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "ollama_chat": ("OLLAMA_API_BASE",),
    "perplexity": ("PERPLEXITY_API_BASE",),
    "fireworks_ai": ("FIREWORKS_API_BASE",),
}


def _find_provider_base(profile: Profile) -> tuple[str, str] | None:
    """Return the environment variable that says where the profile's provider is, and what it says."""
    if profile.api_base or profile.completions:
        return None
    provider = find_provider(profile.model) or ""
    usual = (f"{provider.upper()}_API_BASE",) if provider in _WITH_VARIABLE else ()
    names = _ODD_VARIABLES.get(provider, usual)
    return next(((name, value) for name in names if (value := os.environ.get(name))), None)


def find_base(profile: Profile) -> str | None:
    """Return the address that is asked, where a setting or a variable of the provider names one."""
    own = _find_provider_base(profile)
    return own[1] if own else profile.api_base


def check_provider_address(profile: Profile) -> ErrorInfo | None:
    """Return what is wrong with the address in the provider's own variable; None when nothing is."""
    own = _find_provider_base(profile)
    must = urls.explain_invalid(own[1]) if own else None
    if own is None or must is None:
        return None
    name, value = own
    text = f"The environment variable {name} must be {must}, not {urls.hide_password(value)}."
    return ErrorInfo("address", f"{text} Correct it, or set api_base, which takes precedence.", "api_base")


def find_server(profile: Profile) -> str | None:
    """Return the name or address of the machine that is asked; None for a provider's own servers."""
    if profile.model == "demo":
        return "localhost"
    address = find_base(profile)
    if not address:
        return "localhost" if find_provider(profile.model) in _HOME else None
    try:
        return urlsplit(address if "//" in address else f"//{address}").hostname
    except ValueError:
        return None


def is_home(profile: Profile) -> bool:
    """Return whether the model is of a kind that runs without a provider, and does so on this machine."""
    kind = profile.model == "demo" or find_provider(profile.model) in _HOME
    return kind and not profile.completions and is_this_machine(find_server(profile))


def find_refusal(profile: Profile) -> ErrorInfo | None:
    """Return why the profile does not allow a request; None when it does."""
    if profile.completions:
        return explain_function(profile)
    if wrong := check_provider_address(profile):
        return wrong
    if profile.api_base and (must := urls.explain_invalid(profile.api_base)):
        return errors.make_address_error(profile.api_base, must)
    host = find_server(profile)
    where = host or f"the servers of {find_provider(profile.model) or 'its provider'}"
    if profile.local and not is_this_machine(host):
        return ErrorInfo(
            "address",
            f"local is on, but {profile.model} runs at {where}. Choose a model on this machine "
            f"(%model lists them), or turn local off.",
            "local",
        )
    if profile.offline and not is_near(host):
        return ErrorInfo(
            "address",
            f"offline is on, but {profile.model} runs at {where}. Choose a model on this machine "
            f"or the local network, or turn offline off.",
            "offline",
        )
    return None


def explain_function(profile: Profile) -> ErrorInfo | None:
    """Say that nobody can tell which servers a function asks, where that matters."""
    if not (profile.local or profile.offline):
        return None
    setting = "local" if profile.local else "offline"
    text = f"{setting} is on, but the function llm.completions could contact any server."
    return ErrorInfo("address", f"{text} Turn {setting} off to use the function.", setting)
