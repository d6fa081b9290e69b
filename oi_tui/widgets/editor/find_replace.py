"""Finds text to replace, and computes its replacement."""

import asyncio
import json
import subprocess
import sys
from bisect import bisect_right
from dataclasses import dataclass

#: No more places than these are found at once.
MOST = 20_000
#: A pattern may take so long, in seconds; then its search is ended.
TIMEOUT = 1.0
#: A person's pattern may take forever on an ordinary line, so it is tried in a process that can be ended.
_PROGRAM = """
import json, re, sys
text, sought, put, most = json.load(sys.stdin)
try:
    pattern = re.compile(sought, re.MULTILINE)
    found = []
    for match in pattern.finditer(text):
        if match.end() > match.start() and len(found) < most:
            found.append((match.start(), match.end(), match.expand(put)))
    print(json.dumps([found, ""]))
except (re.error, IndexError, OverflowError, RecursionError) as error:
    print(json.dumps([[], str(error)]))
"""


@dataclass(frozen=True, slots=True)
class Location:
    """Characters `start` to `end` of a text, and what would stand there instead."""

    start: int
    end: int
    put: str


class PatternError(Exception):
    """The pattern cannot be used; the message says why."""


def find_places(text: str, sought: str, put: str) -> list[Location]:
    """Return every place where the text stands, letter for letter."""
    locations: list[Location] = []
    at = text.find(sought) if sought else -1
    while at >= 0 and len(locations) < MOST:
        locations.append(Location(at, at + len(sought), put))
        at = text.find(sought, at + len(sought))
    return locations


async def find_pattern_places(text: str, sought: str, put: str) -> list[Location]:
    r"""Return every place that a regular expression fits; `\1` in `put` stands for its first group.

    Raises PatternError for an invalid pattern, and for one that takes too long.
    """
    if not sought:
        return []
    order = json.dumps([text, sought, put, MOST]).encode()
    try:
        # Waited for in a thread: the caller may give up, and the process is ended all the same.
        done = await asyncio.to_thread(
            subprocess.run,
            (sys.executable, "-I", "-S", "-X", "utf8", "-c", _PROGRAM),
            input=order,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise PatternError("this pattern takes too long") from None
    locations, problem = json.loads(done.stdout or b'[[], "it cannot be tried"]')
    if problem:
        raise PatternError(problem)
    return [Location(*item) for item in locations]


def replace_all(text: str, found: list[Location]) -> str:
    """Return the text with all of these places replaced."""
    pieces, end = list[str](), 0
    for item in found:
        pieces += [text[end : item.start], item.put]
        end = item.end
    return "".join([*pieces, text[end:]])


class Locations:
    """Rows and columns of the characters of a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def find_location(self, at: int) -> tuple[int, int]:
        """Return row and column of a character, from 0."""
        row = bisect_right(self._starts, at) - 1
        return row, at - self._starts[row]

    def find_index(self, location: tuple[int, int]) -> int:
        """Return the index of the character in a row and column."""
        return self._starts[location[0]] + location[1]
