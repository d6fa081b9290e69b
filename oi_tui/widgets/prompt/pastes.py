"""What was pasted into the prompt: long pastes are shown as a few words in brackets."""

import re
from collections.abc import Iterator

#: A paste of more lines or characters than this is folded.
LINES = 10
CHARACTERS = 2000
#: How many are kept; the oldest is forgotten first.
_KEPT = 200
#: What may be the name of an image. A shorter piece may be a part of any word that is typed later.
_NAMES_FILE = re.compile(r"\w\.\w{3}")
#: How many lines of pastes are known; the oldest are forgotten first.
_KNOWN_LINES = 50_000
_CHIP = re.compile(r"\[pasted [0-9,]+ (?:lines|characters)(?: #[0-9]+)?\]")


class Pastes:
    """The pastes of this session: the long ones by the placeholder of each, and the lines of all."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lines: dict[str, None] = {}
        #: The first and the last line of each paste that may name an image: typed words may stand beside it.
        self._ends: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._texts)

    def fold(self, text: str) -> str:
        """Return the placeholder of a long text; a short text unchanged."""
        self.add(text)
        lines = text.rstrip("\n").count("\n") + 1
        if lines <= LINES and len(text) <= CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        chip, number = f"[pasted {size}]", 1
        while self._texts.get(chip, text) != text:
            number += 1
            chip = f"[pasted {size} #{number}]"
        self._texts[chip] = text
        while len(self._texts) > _KEPT:
            del self._texts[next(iter(self._texts))]
        return chip

    def expand(self, text: str) -> str:
        """Return the text with every paste in place of its placeholder."""
        return _CHIP.sub(lambda match: self._texts.get(match[0], match[0]), text) if self._texts else text

    def add(self, text: str) -> None:
        """Remember that this text was pasted."""
        lines = [stripped for line in text.splitlines() if (stripped := line.strip())]
        for store, new, most in (
            (self._lines, lines, _KNOWN_LINES),
            (self._ends, [line for line in lines[:1] + lines[-1:] if _NAMES_FILE.search(line)], _KEPT),
        ):
            for line in new:
                store.pop(line, None)
                store[line] = None
            while len(store) > most:
                del store[next(iter(store))]

    def remove_pastes(self, text: str) -> str:
        """Return the text without what was pasted."""
        if self._texts:
            text = _CHIP.sub(lambda match: " " if match[0] in self._texts else match[0], text)
        lines = [line for line in text.splitlines() if line.strip() not in self._lines]
        text = "\n".join(lines)
        # A long one first: a short one may be a part of it.
        for end in sorted(self._ends, key=len, reverse=True):
            text = text.replace(end, " ", 1)
        return text

    def find_spans(self, line: str) -> Iterator[tuple[int, int]]:
        """Return the spans of placeholders in the line."""
        if self._texts and "[pasted " in line:
            yield from (match.span() for match in _CHIP.finditer(line) if match[0] in self._texts)

    def find_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Return the paste at this column, or at whose edge it is."""
        return next((span for span in self.find_spans(line) if span[0] <= column <= span[1]), None)
