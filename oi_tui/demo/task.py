"""The parts of a script."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from oi_tui.demo.talk import Reply, Say, Talk, TaskStep

_WORD = re.compile(r"@?([^\s'\"`“”@]+\.csv)\b", re.IGNORECASE)
_QUOTED = re.compile(r"""['"`“]([^'"`“”\n]+\.csv)['"`”]""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Task:
    """Something the demo model can do.

    `phrase` is what a person types for it, `does` says what then happens. `reply` answers a talk, step by
    step; `other_way` gives another language and code for the same end, for a person who rejected the first.
    """

    phrase: str
    does: str
    pattern: re.Pattern[str]
    reply: Callable[[Talk], Reply]
    other_way: Callable[[Talk], tuple[str, str]]


def request_pattern(words: str) -> re.Pattern[str]:
    """Return a pattern for requests that have these words, in any case."""
    return re.compile(words, re.IGNORECASE | re.DOTALL)


def find_csv_name(request: str) -> str | None:
    """Return the CSV file that a request names, quoted or not, with or without "@".

    None when it names none.
    """
    match = _QUOTED.search(request) or _WORD.search(request)
    return match[1] if match else None


def quote_lines(output: str, lines: int = 6) -> str:
    """Return the first lines of an output as a Markdown list, each word for word."""
    lines_kept = [line.rstrip().replace("`", "'") for line in output.splitlines() if line.strip()]
    more = f"\n- … and {len(lines_kept) - lines} more lines" if len(lines_kept) > lines else ""
    return "\n".join(f"- `{line}`" for line in lines_kept[:lines]) + more if lines_kept else "- (nothing)"


def report_unexpected(step: TaskStep) -> Reply:
    """Return the end of a script whose code failed in a way that it has no answer for."""
    return [Say(f"That ended with an error which is not in my script: `{step.error}`. I stop here.")]
