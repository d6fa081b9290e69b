"""Removes the output of a run that its program has cleared or overwritten.

The output of a run is several messages where values are shown in it, but one screen for the program.
"""

from collections.abc import Iterator, Sequence

from oi_tui.engine.output.screen_text import MOVES, ScreenText
from oi_tui.messages import Message

#: A move up by this many lines is a move to the beginning of the output.
_ALL = 9999


def keep_standing_output(results: Sequence[Message]) -> list[Message]:
    """Return the output of one run without what was erased."""
    printed = [message for message in results if _is_printed(message)]
    if len(results) < 2 or not any(MOVES.search(message.content) for message in printed):
        return list(results)
    sheet = _Sheet()
    for number, message in enumerate(results):
        if not _is_printed(message):
            sheet.mark(number)
        elif message.view is None:
            sheet.feed(message.content)
        else:
            sheet.begin(number)
            sheet.feed(message.content)
            sheet.end(number)
    return list(_make_messages(sheet, results, printed))


def remove_erased(messages: Sequence[Message]) -> list[Message]:
    """Return a conversation without the output that was erased."""
    runs: dict[str, list[Message]] = {}
    for message in messages:
        if message.role == "computer" and message.parent:
            runs.setdefault(message.parent, []).append(message)
    standing_messages: list[Message] = []
    for message in messages:
        if message.role != "computer" or not message.parent:
            standing_messages.append(message)
        elif message.parent in runs:
            standing_messages += keep_standing_output(runs.pop(message.parent))
    return standing_messages


def _is_printed(message: Message) -> bool:
    return message.type == "console" and message.format != "active_line"


def _make_messages(
    sheet: "_Sheet", results: Sequence[Message], printed: Sequence[Message]
) -> Iterator[Message]:
    """Yield the messages in the order of their places, with the text between them."""
    lines = sheet.lines(colours=False)
    texts = [message for message in printed if message.view is None]
    template = texts[-1] if texts else None
    row = 0

    def text(end: int) -> Iterator[Message]:
        between = "\n".join(lines[row:end])
        if between.strip() and template:
            yield template.replace(content=between + "\n")

    for number, (first, last) in sorted(sheet.places.items(), key=lambda item: (item[1][0], item[0])):
        yield from text(first)
        yield results[number]
        row = max(row, last)
    yield from text(len(lines))


class _Sheet(ScreenText):
    """A screen that knows where messages stand: the rows of those with text, and the row of others."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[int, tuple[int, int]] = {}
        self._all = False

    def mark(self, number: int) -> None:
        """Mark the place of an image or a page, which takes no row."""
        if self._column:
            self.feed("\n")
        self.places[number] = (self._row, self._row)

    def begin(self, number: int) -> None:
        """Mark the beginning of a value."""
        self.mark(number)

    def end(self, number: int) -> None:
        """Mark the end of the value."""
        if number in self.places:
            self.places[number] = (self.places[number][0], self._row + bool(self._column))

    def _control_cursor(self, final: str, numbers: str) -> None:
        if final == "A":
            self._all = numbers == str(_ALL)
        super()._control_cursor(final, numbers)

    def _erase(self, what: int) -> None:
        super()._erase(what)
        if what in (0, 2, 3):
            top = 0 if self._all else self._row if what == 0 else self._origin or 0
            self.places = {
                number: (first, last)
                for number, (first, last) in self.places.items()
                # At the row of the cursor an image stands above it, a value below.
                if first < top or (first == last == top and not self._all)
            }
        self._all = False
