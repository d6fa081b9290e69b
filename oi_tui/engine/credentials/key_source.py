"""Describes where the API key of a profile's model comes from, without the key itself."""

from dataclasses import dataclass

from oi_tui import paths
from oi_tui.engine.credentials.keys import Secrets, find_provider, find_variable_name
from oi_tui.engine.settings.profile import Profile
from oi_tui.text import clean_line

#: Of a key that the profile itself holds, by the origin of its value.
_OF_THE_PROFILE = {
    "flag": "The API key was given on the command line.",
    "environment": "The API key comes from OI_TUI_API_KEY in the environment.",
    "profile": "The API key is in the profile's file, readable by anyone who can read that file.",
}


@dataclass(frozen=True, slots=True)
class KeySource:
    """Whether there is a key, and where.

    `name` is the name under which it is, or would be, kept; None where it has none. `kept` says that it was
    given to us to keep, and can be forgotten.
    """

    name: str | None
    found: bool
    kept: bool
    words: str


def find_key_source(profile: Profile, secrets: Secrets) -> KeySource:
    """Look for the key of the profile's model; asks a keyring, which may be slow."""
    name = find_variable_name(profile.model, profile.api_base)
    api_key = secrets.find(name) if name else None
    is_saved = api_key is not None and api_key.origin != "environment"
    if profile.api_key:
        origin = profile.origins.get("api_key", "")
        text = _OF_THE_PROFILE.get(origin, "You typed the API key; it is used until you quit.")
        if is_saved and api_key and api_key.value == profile.api_key:
            text = f"{name} is saved in {_describe_place(api_key.origin, secrets)}."
        return KeySource(name, True, is_saved, text)
    if name is None:
        return KeySource(None, False, False, _describe_unnamed(profile.model))
    text = clean_line(name, 100)
    if api_key is None:
        text = f"{text} is not set; a key that you type is saved in {secrets.place()}."
        return KeySource(name, False, False, text)
    if not is_saved:
        return KeySource(name, True, False, f"{text} comes from the environment.")
    return KeySource(name, True, True, f"{text} is saved in {_describe_place(api_key.origin, secrets)}.")


def _describe_place(origin: str, secrets: Secrets) -> str:
    return (
        "the system's keyring"
        if origin == "keyring"
        else f"{paths.shorten(secrets.path)}, which only you can read"
    )


def _describe_unnamed(model: str) -> str:
    provider = find_provider(model)
    if provider is None:
        return (
            f"The provider of {clean_line(model, 60)} is unknown; write the name as provider/NAME "
            "to save its API key."
        )
    return f"{clean_line(provider, 40)} needs no API key; one that you type is used until you quit."
