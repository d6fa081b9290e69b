"""Completions of code, as a running language offers them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from oi_tui.runtimes.variables import Memory, holds, is_private

#: How many characters of the code before the caret are sent, from the beginning of a line.
_SENT = 8_000
#: The most completions that are offered.
MOST = 100
#: A name that is no attribute; `$` belongs to names of shells and JavaScript.
_NAME = re.compile(r"(?:(?<![\w.:@$])|(?<=^\$)|(?<=[^\w)\]]\$))[^\W\d]\w*\Z")
#: An argument in a signature, with its default value.
_DEFAULT = re.compile(r"(\w+)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,)]*)")


@dataclass(frozen=True, slots=True)
class Completion:
    """A possible completion, and a few words about it."""

    text: str
    facts: str = ""


@dataclass(frozen=True, slots=True)
class CompletionSet:
    """What completes the last `typed` characters before the caret. `note` describes the function called."""

    typed: int
    found: tuple[Completion, ...]
    note: str = ""


def cut_code_to_complete(before: str) -> str:
    """Return the end of the code before the caret, as whole lines where that is possible."""
    if len(before) <= _SENT:
        return before
    end = before[-_SENT:]
    return end.partition("\n")[2] or end


def complete_names(memory: Memory, before: str) -> CompletionSet | None:
    """Return the variables whose names begin with the word before the caret; None if unknown."""
    if memory.state != "known":
        return None
    word = _NAME.search(before)
    prefix = word.group() if word else ""
    names = [
        Completion(variable.name, variable.summary)
        for variable in reversed(memory.variables)
        if prefix and variable.name.startswith(prefix) and variable.name != prefix
    ]
    return CompletionSet(len(prefix), tuple(item for item in names if item.text.isprintable())[:MOST])


def read_completions(answer: Mapping[str, object], hidden: Collection[str] = ()) -> CompletionSet | None:
    """Read a driver's answer, and check its form.

    The values of what is named like a secret, and what was typed into a hidden field, are not shown.
    """
    prefix_length, offers, note = answer.get("typed"), answer.get("offers"), answer.get("note")
    if not isinstance(prefix_length, int) or prefix_length < 0 or not isinstance(offers, list):
        return None
    completions = []
    for offer in offers[:MOST]:
        # It runs on remote hosts as well, where Python 3.8 knows no `match`.
        if not (isinstance(offer, list) and [type(part) for part in offer] == [str, str]):
            continue
        text, facts = offer
        if text and text.isprintable() and not holds(text, hidden):
            secret = is_private(text.rstrip("="), facts) or holds(facts, hidden)
            completions.append(Completion(text, "not shown" if secret else facts))
    visible_note = note if isinstance(note, str) and not holds(note, hidden) else ""
    return CompletionSet(prefix_length, tuple(completions), _DEFAULT.sub(_describe_withheld, visible_note))


def check_completions(found: object) -> CompletionSet | None:
    """Return what a remote host offers, if its form is valid."""
    if not isinstance(found, CompletionSet):
        return None
    offers = [[item.text, item.facts] for item in found.found]
    return read_completions({"typed": found.typed, "offers": offers, "note": found.note})


def _describe_withheld(default: re.Match[str]) -> str:
    return f"{default[1]}=..." if is_private(default[1], default[2]) else default[0]
