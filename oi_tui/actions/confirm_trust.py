"""Asks, on a plain terminal, whether something from elsewhere is trusted."""

import sys

from oi_tui.engine.credentials.trust import ExternalContent
from oi_tui.engine.settings.profile import ProfileError
from oi_tui.text import clean_line, escape_controls

#: What a person should know of each kind before they trust it.
ABOUT = {
    "python profile": "This profile is a Python program. It runs with your permissions.",
    "profile from the network": "This profile comes from the network. It can decide where your messages "
    "and API keys "
    "are sent, and whether code runs without asking.",
    "project profile": "This folder has its own settings.",
    "skill": "The model gets these instructions.",
    "language": "This program adds a language to oi-tui. It runs with your permissions.",
}

_NOBODY = "must be reviewed and trusted first, and there is no terminal to ask in"

#: How to do that later, by kind.
_HOW = {
    "python profile": "; start oi-tui --profile {place} once in a terminal",
    "profile from the network": "; start oi-tui --profile {place} once in a terminal",
}


def number_lines(shown: ExternalContent) -> list[str]:
    """Return the whole content, a numbered line each, with what is invisible spelled out."""
    lines = escape_controls(shown.text.replace("\r\n", "\n").removesuffix("\n")).split("\n")
    return [f"{number:>4}  {line}" for number, line in enumerate(lines, 1)]


def ask(shown: ExternalContent) -> bool:
    """Show all of it, and ask. Raises ProfileError where nobody can answer."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
        raise ProfileError(f"{_NOBODY}{_HOW.get(shown.kind, '').format(place=shown.place)}", path=shown.place)
    lines = number_lines(shown)
    print(f"{clean_line(shown.place, 500)}\n{ABOUT[shown.kind]}\n")  # noqa: T201
    print("\n".join(lines))  # noqa: T201
    print(f"\n{len(lines)} lines. Only this exact text will be trusted.")  # noqa: T201
    try:
        return input("Trust and use it? (y/N) ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt, UnicodeDecodeError):
        return False
