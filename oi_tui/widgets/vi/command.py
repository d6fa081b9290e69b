"""Reads the keys of a command of vi: a count, an operator and a motion, or a single command."""

import math
import re
from dataclasses import dataclass

_SHAPE = re.compile(
    r"(?P<count>[1-9]\d*)?(?:(?P<operator>[dcy<>])(?P<again>[1-9]\d*)?)?(?P<rest>.*)", re.DOTALL
)
#: Keys that need one more.
_PREFIXES = "fFtTrgZ"
#: Commands that are short for an operator with a motion.
_SHORT = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "s": "cl", "S": "cc", "Y": "yy"}
#: A larger count is taken as this one: nothing that is edited has more lines, and what is done so often ends.
MOST_TIMES = 100_000
_DIGITS = len(str(MOST_TIMES))


@dataclass(frozen=True)
class ParsedCommand:
    """A whole command: `rest` is its motion, object or name."""

    count: int | None
    operator: str
    rest: str

    @property
    def times(self) -> int:
        """How often it is done."""
        return self.count or 1


def read(typed: str, *, visual: bool) -> ParsedCommand | None:
    """Return the command that was typed; None while keys are missing."""
    match = _SHAPE.fullmatch(typed)
    if match is None:
        return None
    count, operator, rest = match["count"], match["operator"] or "", match["rest"]
    if visual and operator:
        # A selection is what the operator takes.
        return ParsedCommand(_read_count(count) if count else None, operator, "")
    if not operator and not visual and rest in _SHORT:
        operator, rest = _SHORT[rest][0], _SHORT[rest][1:]
    takes_object = operator or visual
    if not rest or (len(rest) == 1 and (rest in _PREFIXES or (takes_object and rest in "ia"))):
        return None
    counts = [_read_count(number) for number in (count, match["again"]) if number]
    times = min(math.prod(counts), MOST_TIMES) if counts else None
    return ParsedCommand(times, operator, rest)


def _read_count(digits: str) -> int:
    return min(int(digits[:_DIGITS]), MOST_TIMES)
