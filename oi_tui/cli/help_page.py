"""Formats the page of --help: every flag under its heading, no wider than the terminal."""

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Iterator

from oi_tui.version import __version__

#: The width of the page where there is no terminal, and the widest that still reads well, in columns.
USUAL, WIDEST = 80, 100
#: Where the words begin, in columns.
_WORDS_AT = 28

_EXAMPLES = (
    ("oi-tui", "start a conversation"),
    ("oi-tui how large is this", "start with this request"),
    ("oi-tui --demo", "try it: needs no API key and no network"),
    ("oi-tui -m MODEL", "use this model (LiteLLM name)"),
    ("oi-tui --resume", "continue the last conversation"),
    ("oi-tui --plain", "plain lines, for screen readers and dumb terminals"),
    ("oi-tui --stdin < request", "run one request, print, and exit"),
)
_CODES = (
    ("0", "done"),
    ("1", "the model or oi-tui failed; with --doctor: a problem was found"),
    ("2", "the command line or the profile is not valid"),
    ("3", "code was not run, because nobody could approve it"),
    ("4", "it paused: the budget is spent, or the model repeated itself"),
    ("130", "you stopped it (128 + the signal's number)"),
)


def write_page(parser: argparse.ArgumentParser) -> str:
    """Return the whole page."""
    width = _find_width()
    lines = [
        *textwrap.wrap(
            f"oi-tui {__version__}: type what you want; a language model writes code for it, you read it, "
            "and it runs on this machine after you approve it.",
            width,
        ),
        "",
    ]
    for left, right in _EXAMPLES:
        lines += _format_row(left, right, width)
    for group in parser._action_groups:
        rows = [line for action in group._group_actions for line in _format_option(action, width)]
        if rows:
            lines += ["", (group.title or "").replace("options", "Starting").strip(), *rows]
    lines += ["", "Exit codes"]
    for left, right in _CODES:
        lines += _format_row(left, right, width)
    lines += [""]
    lines += textwrap.wrap(
        "Dashes and underscores are the same in flags: --api-base, --api_base. A setting that is on is "
        "turned off by --no- before its name. Flags override the environment, which overrides the "
        "profile. oi-tui --doctor finds problems with the installation.",
        width,
    )
    return "\n".join(lines) + "\n"


def _format_option(action: argparse.Action, width: int) -> Iterator[str]:
    if action.help == argparse.SUPPRESS or not action.option_strings:
        return
    short = [flag for flag in action.option_strings if not flag.startswith("--")]
    long = [flag for flag in action.option_strings if flag.startswith("--")]
    text = ", ".join([*short[:1], *long[:1]])
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if metavar:
        text += f" [{metavar}]" if action.nargs == "?" else f" {metavar}"
    yield from _format_row(text, _extract_first_sentence((action.help or "").replace("%%", "%")), width)


def _extract_first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=[^.]\.) ", text, maxsplit=1)[0].removesuffix(".")
    return sentence[:1].lower() + sentence[1:] if not sentence[1:2].isupper() else sentence


def _format_row(left: str, right: str, width: int) -> Iterator[str]:
    first, *rest = textwrap.wrap(right, max(20, width - _WORDS_AT), break_on_hyphens=False) or [""]
    indent = " " * _WORDS_AT
    if len(left) + 4 > _WORDS_AT:
        yield f"  {left}"
        yield f"{indent}{first}"
    else:
        yield f"  {left}".ljust(_WORDS_AT) + first
    yield from (indent + line for line in rest)


def _find_width() -> int:
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else USUAL
    except (OSError, ValueError, AttributeError):
        columns = USUAL
    return max(50, min(columns, WIDEST))
