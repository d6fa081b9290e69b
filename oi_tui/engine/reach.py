"""Which machine a profile's requests go to, and whether they may."""

import ipaddress
import os
from urllib.parse import urlsplit

from oi_tui.engine.llm import Fault
from oi_tui.engine.profile import Profile
from oi_tui.engine.secrets import provider_of

#: Providers whose servers are on this machine unless a base or a variable of theirs says otherwise.
_HOME = {
    "ollama": "OLLAMA_API_BASE",
    "ollama_chat": "OLLAMA_API_BASE",
    "lm_studio": "LM_STUDIO_API_BASE",
    "llamafile": "LLAMAFILE_API_BASE",
    "hosted_vllm": "HOSTED_VLLM_API_BASE",
}
#: Endings of names that only a local network knows.
_NEAR = (".local", ".lan", ".internal", ".home.arpa", ".localdomain")


def server(profile: Profile) -> str | None:
    """The name or address of the machine that is asked; None for a provider's own servers."""
    if profile.model == "demo":
        return "localhost"
    base = profile.api_base
    if not base:
        variable = _HOME.get(provider_of(profile.model) or "")
        if variable is None:
            return None
        base = os.environ.get(variable) or "http://localhost"
    try:
        return urlsplit(base if "//" in base else f"//{base}").hostname
    except ValueError:
        return None


def is_this_machine(host: str | None) -> bool:
    """Whether the host is this very machine, as far as its name says."""
    if host is None:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def is_near(host: str | None) -> bool:
    """Whether the host is this machine or one of the local network, as far as its name says."""
    if host is None:
        return False
    address = _address(host)
    if address is not None:
        return address.is_private or address.is_link_local or address.is_loopback
    return is_this_machine(host) or "." not in host or host.endswith(_NEAR)


def refusal(profile: Profile) -> Fault | None:
    """Why a request may not be sent as the profile stands; None when it may."""
    host = server(profile)
    where = host or f"the servers of {provider_of(profile.model) or 'its provider'}"
    if profile.local and not is_this_machine(host):
        return Fault(
            "address",
            f"local is on, and {profile.model} would be asked at {where}. Choose a model of this machine "
            f"(%model lists them), or switch local off.",
            "local",
        )
    if profile.offline and not is_near(host):
        return Fault(
            "address",
            f"offline is on, and {profile.model} would be asked at {where}. Choose a model of this machine "
            f"or the local network, or switch offline off.",
            "offline",
        )
    return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
