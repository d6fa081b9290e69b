"""A language declared by a class, as Open Interpreter documents it: `name`, `run`, `stop`, `terminate`."""

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from oi_tui.runtimes.custom.runtime import CustomRuntime
from oi_tui.runtimes.language import Language, Start

_MUST = ("run", "stop", "terminate")


def make_language(given: Any, computer: object = None) -> Language:
    """Make the language that a class, or an object of it, declares; return a built-in language unchanged.

    A constructor that takes an argument gets `computer`. Raises TypeError naming what is missing.
    """
    if isinstance(given, Language):
        return given
    label = given.__name__ if isinstance(given, type) else type(given).__name__
    name = getattr(given, "name", None)
    if not isinstance(name, str) or not name.strip():
        raise TypeError(f"{label} is not a language: its `name` must be a word, not {name!r}")
    missing = [item for item in _MUST if not callable(getattr(given, item, None))]
    if missing:
        raise TypeError(f"{label} is not a language: it lacks {' and '.join(missing)}")

    def make() -> Any:
        if not isinstance(given, type):
            return given
        return given(computer) if _accepts_computer(given) else given()

    aliases = getattr(given, "aliases", None)
    names = [alias for alias in aliases if isinstance(alias, str)] if isinstance(aliases, Iterable) else []
    note = getattr(given, "system_message", "")
    return Language(
        name="-".join(name.lower().split()),
        title=name.strip(),
        aliases=tuple(item.lower() for item in names),
        hint="It is your own class.",
        keeps="what it keeps",
        input="none",
        find=lambda _: label,
        describe=lambda _: f"{name.strip()}, from the class {label}",
        start=_refuse_start,
        note=note if isinstance(note, str) else "",
        runtime=lambda language: CustomRuntime(language, make),
        outside="it is a class that runs inside this program",
        source=given,
    )


def _refuse_start(_program: str, _folder: Path) -> Start:
    raise RuntimeError("a class has no program to start")


def _accepts_computer(made: type) -> bool:
    try:
        parameters = inspect.signature(made).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in parameters
    )
