"""Explains environment variables that look like those of oi-tui but are unknown."""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from oi_tui.engine.settings.setting import ProfileError, Setting
from oi_tui.system import environment_names
from oi_tui.text import clean_line

#: How similar two names must be for one to be a misspelling of the other.
_SIMILAR = 0.7


def check_names(environment: Mapping[str, str], settings: Iterable[Setting]) -> tuple[str, ...]:
    """Return a sentence for each variable that begins with OI_TUI and is not known.

    Raises ProfileError where the name is probably that of a limit: going on would drop the limit.
    """
    declared = list(settings)
    return tuple(_describe(name, declared) for name in _find_unknown(environment, declared))


def _find_unknown(environment: Mapping[str, str], settings: Iterable[Setting]) -> Iterator[str]:
    names = environment_names.ALL | {setting.variable for setting in settings}
    for name in sorted(environment):
        # An empty variable counts as one that is not set, as it does for the settings.
        if name.upper().startswith(environment_names.PREFIX[:-1]) and name not in names and environment[name]:
            yield name


def _describe(name: str, settings: Iterable[Setting]) -> str:
    label = f"environment variable {clean_line(name, 60)}"
    names: dict[str, Setting | str] = {_strip_prefix(name): name for name in environment_names.FOR_USERS}
    for setting in settings:
        parts = (setting.name, *(key.rpartition(".")[2] for key in (setting.key, *setting.also)))
        names |= dict.fromkeys((part.upper() for part in parts), setting)
    similar = difflib.get_close_matches(_strip_prefix(name.upper()), names, n=1, cutoff=_SIMILAR)
    suggestion = names[similar[0]] if similar else None
    if suggestion is None:
        return f"The {label} has no effect: oi-tui does not know it"
    if isinstance(suggestion, str):
        return f"The {label} has no effect; did you mean {suggestion}?"
    if suggestion.limits:
        raise ProfileError(
            f"is not read by oi-tui; to set {suggestion.key}, use {suggestion.long_flag} or a profile, and "
            "unset the variable. oi-tui does not start while a limit is not understood",
            path=label,
        )
    if suggestion.variable:
        return f"The {label} has no effect; did you mean {suggestion.variable}?"
    return f"The {label} has no effect; to set {suggestion.key}, use {suggestion.long_flag} or a profile"


def _strip_prefix(name: str) -> str:
    """Return the part of a name that tells it from the others; also
    where the last underscore was forgotten.
    """
    return name.removeprefix(environment_names.PREFIX[:-1]).lstrip("_")
