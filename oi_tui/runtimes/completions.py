"""Completions of code, as a language that is at work offers them."""

from collections.abc import Mapping
from dataclasses import dataclass

#: Of the code before the caret, so many characters are sent, from the beginning of a line on.
_SENT = 8_000
_MOST = 100


@dataclass(frozen=True, slots=True)
class Completion:
    """A text that may be meant, and a few words about what it stands for."""

    text: str
    facts: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """What completes the last `typed` characters before the caret. `note` describes the function called."""

    typed: int
    found: tuple[Completion, ...]
    note: str = ""


def code_to_complete(before: str) -> str:
    """Return the end of the code before the caret, as whole lines where that is possible."""
    if len(before) <= _SENT:
        return before
    end = before[-_SENT:]
    return end.partition("\n")[2] or end


def read_completions(answer: Mapping[str, object]) -> Completions | None:
    """Read a driver's answer, and believe no more of it than its form allows."""
    typed, offers, note = answer.get("typed"), answer.get("offers"), answer.get("note")
    if not isinstance(typed, int) or typed < 0 or not isinstance(offers, list):
        return None
    found = []
    for offer in offers[:_MOST]:
        match offer:
            case [str(text), str(facts)] if text and text.isprintable():
                found.append(Completion(text, facts))
    return Completions(typed, tuple(found), note if isinstance(note, str) else "")
