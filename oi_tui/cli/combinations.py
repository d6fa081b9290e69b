"""Refuses flags that would have no effect beside others."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from oi_tui.engine.settings.profile import list_settings

_CONVERSATION = ("conversations", "resume")
#: With these, a start has no use for a profile, a model or a screen.
_ANY = (*_CONVERSATION, "profile", "demo", "plain")
_NO_SCREEN = (*_CONVERSATION, "plain")


class _Start(NamedTuple):
    """What one of the flags below starts, and which others it refuses."""

    flag: str
    #: Whether it has no use for the settings of a profile or of flags, and they would be missed.
    refuses_settings: bool = False
    refuses: tuple[str, ...] = _CONVERSATION
    takes_request: bool = False


#: The flags that start something else than a conversation, by their names in the parsed arguments.
_STARTS = {
    "doctor": _Start("--doctor", refuses=_NO_SCREEN),
    "profiles": _Start("--profiles", refuses_settings=True, refuses=_ANY),
    "reset_profile": _Start("--reset-profile", refuses_settings=True, refuses=_ANY),
    "import_all": _Start("--import", refuses_settings=True, refuses=_ANY),
    "import_profiles": _Start("--import-profiles", refuses_settings=True, refuses=_ANY),
    "server": _Start("--server", refuses=_NO_SCREEN),
    # The session has the settings of its server.
    "attach": _Start("--attach", refuses_settings=True, refuses=_ANY),
    "kernel": _Start("--kernel", refuses_settings=True, refuses=_ANY),
    "install_kernel": _Start("--install-kernel", refuses_settings=True, refuses=_ANY),
    "acp": _Start("--acp", refuses=_NO_SCREEN),
    "mcp": _Start("--mcp", refuses=_NO_SCREEN),
    "stdin": _Start("--stdin", refuses=("conversations",), takes_request=True),
}
_LIST = _Start("--profile without a name")
#: To come back to what was left running on a target is a conversation there.
_RETURN = _Start("--attach", refuses=("target",))
#: Settings of a model that the demo does not use.
_NOT_IN_DEMO = ("model", "api_base", "api_key", "api_version")


def describe_conflict(given: argparse.Namespace, words: str, *, returns: bool) -> str:
    """Return which two flags cannot be used together; "" where all have an effect.

    `returns` says whether --attach names a target on which something was left running.
    """
    starts = list(_find_starts(given, returns=returns))
    flags = dict(_find_flags(given))
    if len(starts) > 1:
        return _join(starts[0].flag, starts[1].flag)
    if "demo" in given and (refused := [flags[name] for name in _NOT_IN_DEMO if name in flags]):
        return _join("--demo", refused[0])
    for start in starts:
        settings = [setting.name for setting in list_settings()] if start.refuses_settings else []
        if refused := [flags[name] for name in (*start.refuses, *settings) if name in flags]:
            return _join(start.flag, refused[0])
        if words and not start.takes_request:
            return f"{start.flag} takes no request"
    return ""


def describe_unused(given: argparse.Namespace) -> list[str]:
    """Return a note for each flag that sets a limit of the sandbox; for a start without sandbox."""
    flags = (setting.long_flag for setting in list_settings() if setting.name in given)
    return [f"{flag} has no effect: the sandbox is off." for flag in flags if flag.startswith("--sandbox-")]


def _find_starts(given: argparse.Namespace, *, returns: bool) -> Iterator[_Start]:
    for name, start in _STARTS.items():
        # With --kernel and --install-kernel, --attach is the address of the server.
        is_address = name == "attach" and {"kernel", "install_kernel"} & vars(given).keys()
        if name in given and not is_address:
            yield _RETURN if name == "attach" and returns else start
    if "profile" in given and given.profile is None and "profiles" not in given:
        yield _LIST


def _find_flags(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield the flags that start nothing themselves: their names in the parsed arguments, and as typed."""
    for name in _ANY:
        # --profile without a name starts something itself.
        if name in given and not (name == "profile" and given.profile is None):
            yield name, f"--{name}"
    for setting in list_settings():
        if setting.name in given:
            is_off = setting.kind is bool and getattr(given, setting.name) is False
            yield setting.name, f"--no-{setting.long_flag[2:]}" if is_off else setting.long_flag


def _join(first: str, second: str) -> str:
    return f"{first} and {second} cannot be used together"
