"""Which machine a profile's requests go to, and whether they may."""

import ipaddress
import os
import re
import socket
from urllib.parse import urlsplit

from oi_tui.engine import addresses, faults
from oi_tui.engine.llm import Fault
from oi_tui.engine.profile import Profile
from oi_tui.engine.secrets import provider_of

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
#: Endings of names that only a local network knows.
_NEAR = (".local", ".lan", ".internal", ".home.arpa", ".localdomain")
#: What clients take for the name of a host as it stands. Others may become another name on the way: dots of
#: other scripts become dots, for example. A name of digits alone is no name but an address.
_NAME = re.compile(
    r"(?=.*[a-z])(?!0x)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?",
    re.IGNORECASE,
)
_OLD_ADDRESS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}", re.IGNORECASE)
#: Networks that no address of the internet is in.
_LOCAL_NETWORKS = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/32", "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
            "::/127", "fc00::/7", "fe80::/10",
        ),
    )
)  # fmt: skip
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _own_base(profile: Profile) -> tuple[str, str] | None:
    """The environment variable that says where the profile's provider is, and what it says."""
    if profile.api_base or profile.completions:
        return None
    provider = provider_of(profile.model) or ""
    usual = (f"{provider.upper()}_API_BASE",) if provider in _WITH_VARIABLE else ()
    names = _ODD_VARIABLES.get(provider, usual)
    return next(((name, value) for name in names if (value := os.environ.get(name))), None)


def base(profile: Profile) -> str | None:
    """The address that is asked, where a setting or a variable of the provider names one."""
    own = _own_base(profile)
    return own[1] if own else profile.api_base


def misled(profile: Profile) -> Fault | None:
    """What is wrong with the address in the provider's own variable; None when nothing is."""
    own = _own_base(profile)
    must = addresses.wanted(own[1]) if own else None
    if own is None or must is None:
        return None
    name, value = own
    told = f"The environment variable {name} must be {must}, not {addresses.shown(value)}."
    return Fault("address", f"{told} Correct it, or set api_base, which goes before it.", "api_base")


def server(profile: Profile) -> str | None:
    """The name or address of the machine that is asked; None for a provider's own servers."""
    if profile.model == "demo":
        return "localhost"
    address = base(profile)
    if not address:
        return "localhost" if provider_of(profile.model) in _HOME else None
    try:
        return urlsplit(address if "//" in address else f"//{address}").hostname
    except ValueError:
        return None


def is_home(profile: Profile) -> bool:
    """Whether the model is of a kind that runs without a provider, and does so on this machine."""
    kind = profile.model == "demo" or provider_of(profile.model) in _HOME
    return kind and not profile.completions and is_this_machine(server(profile))


def is_this_machine(host: str | None) -> bool:
    """Whether the host is this very machine, as far as its name says."""
    if not host:
        return False
    if (address := _address(host)) is not None:
        return address.is_loopback or address.is_unspecified
    return _NAME.fullmatch(host) is not None and f".{host.lower().removesuffix('.')}".endswith(".localhost")


def is_near(host: str | None) -> bool:
    """Whether the host is this machine or one of the local network, as far as its name says.

    A name that is not understood for sure is taken for a remote one.
    """
    if not host:
        return False
    if (address := _address(host)) is not None:
        return any(address in network for network in _LOCAL_NETWORKS if network.version == address.version)
    if _NAME.fullmatch(host) is None:
        return False
    # A dot at the end makes a single word the name of a whole domain (http://ai./).
    return is_this_machine(host) or "." not in host or host.lower().removesuffix(".").endswith(_NEAR)


def refusal(profile: Profile) -> Fault | None:
    """Why a request may not be sent as the profile stands; None when it may."""
    if profile.completions:
        return _refused_function(profile)
    if wrong := misled(profile):
        return wrong
    if profile.api_base and (must := addresses.wanted(profile.api_base)):
        return faults.not_an_address(profile.api_base, must)
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


def _refused_function(profile: Profile) -> Fault | None:
    """Say that nobody can tell which servers a function asks, where that matters."""
    if not (profile.local or profile.offline):
        return None
    setting = "local" if profile.local else "offline"
    told = f"{setting} is on, and the profile's function llm.completions could ask any server."
    return Fault("address", f"{told} Switch {setting} off to use the function.", setting)


def _address(host: str) -> _Address | None:
    """The address that a host is given by, in any of the forms that resolvers take; None for a name."""
    try:
        address: _Address = ipaddress.ip_address(host.removesuffix("."))
    except ValueError:
        return _old_address(host.removesuffix("."))
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _old_address(host: str) -> ipaddress.IPv4Address | None:
    """An address of IPv4 with fewer than four parts, or octal or hexadecimal ones (2130706433, 0x7f.1)."""
    if not _OLD_ADDRESS.fullmatch(host):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None
