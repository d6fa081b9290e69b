"""Long pastes, shown in the prompt as a few words in brackets."""

import re
from collections.abc import Iterator

#: A paste of more lines or characters than this is folded.
LINES = 10
CHARACTERS = 2000
#: How many are kept; the oldest is forgotten first.
_KEPT = 200
_CHIP = re.compile(r"\[pasted [0-9,]+ (?:lines|characters)(?: #[0-9]+)?\]")


class Pastes:
    """The long pastes of this session, by the placeholder that stands for each."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._texts)

    def folded(self, text: str) -> str:
        """Return the placeholder of a long text; a short text as it is."""
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

    def full(self, text: str) -> str:
        """Return the text with every paste in place of its placeholder."""
        return _CHIP.sub(lambda found: self._texts.get(found[0], found[0]), text) if self._texts else text

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        """Return the spans of placeholders in the line."""
        if self._texts and "[pasted " in line:
            yield from (match.span() for match in _CHIP.finditer(line) if match[0] in self._texts)

    def at(self, line: str, column: int) -> tuple[int, int] | None:
        """Return the paste at this column, or at whose edge it is."""
        return next((span for span in self.spans(line) if span[0] <= column <= span[1]), None)
