"""Works out which lines remain on the screen when a program moves the cursor."""

import re

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?:\x1b\[|\x9b)(?P<private>[<=>?]?)(?P<numbers>[0-9:;]*)[ -/]*(?P<final>[@-~])"
    r"|(?:\x1b[\]P^_X]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b(?P<escape>[78])|\x1b[ -/]*[0-~]?|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
#: What moves between lines: to a place, or up.
MOVES = re.compile(r"(?:\x1b\[|\x9b)[0-9;]*[AFHdf]")
#: A sequence that has begun and may yet go on.
_UNFINISHED = re.compile(r"(?:\x1b(?:\[[0-?]*)?[ -/]*|\x9b[0-?]*[ -/]*)\Z")
#: No screen is larger; a program cannot make us fill memory with blanks.
_LINES, _COLUMNS = 500, 4_000

#: A character and the colours in force, as SGR parameters.
_Cell = tuple[str, str]


class ScreenText:
    """A sheet that grows downwards, on which a program draws.

    The first move to a place makes what follows a screen: its first line is where the place is counted from.
    What is drawn between saving the cursor and restoring it, as a status line of apt's, is left out.
    """

    def __init__(self) -> None:
        self._rows: list[list[_Cell]] = [[]]
        self._row = self._column = 0
        self._origin: int | None = None
        self._colours = ""
        self._aside = False
        self._held = ""

    def feed(self, text: str) -> None:
        """Take what was written next, cut anywhere."""
        text, self._held = self._held + text, ""
        if tail_match := _UNFINISHED.search(text, max(0, len(text) - 50)):
            self._held, text = text[tail_match.start() :], text[: tail_match.start()]
        for match in _TOKEN.finditer(text):
            if match["escape"] or (match["final"] in ("s", "u") and not match["private"]):
                self._aside = (match["escape"] or match["final"]) in ("7", "s")
            elif self._aside:
                continue
            elif match["text"]:
                self._write(match["text"])
            elif match["final"]:
                if not match["private"]:
                    self._control_cursor(match["final"], match["numbers"])
            elif match["control"]:
                self._run_single(match["control"])

    def release(self, keep: int) -> list[str]:
        """Delete the lines that are farther from the end than `keep`."""
        count = min(max(0, len(self._rows) - keep), self._row)
        released = [_draw_line(row) for row in self._rows[:count]]
        del self._rows[:count]
        self._row -= count
        if self._origin is not None:
            self._origin = max(0, self._origin - count)
        return released

    def lines(self, *, colours: bool = True) -> list[str]:
        """Return the lines as they stand, with their colours as escape sequences;
        blank ones at the end left out.
        """
        lines = [
            _draw_line(row) if colours else "".join(cell for cell, _ in row).rstrip() for row in self._rows
        ]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def _write(self, text: str) -> None:
        row = self._rows[self._row]
        if self._column > len(row):
            row.extend([(" ", "")] * (self._column - len(row)))
        row[self._column : self._column + len(text)] = [(item, self._colours) for item in text]
        self._column += len(text)

    def _run_single(self, control: str) -> None:
        if control == "\n":
            # A terminal's output has a carriage return before each, which what is stored may have lost.
            self._move_to_row(self._row + 1)
            self._column = 0
        elif control == "\r":
            self._column = 0
        elif control == "\b":
            self._column = max(0, self._column - 1)
        elif control == "\t":
            self._column += 8 - self._column % 8

    def _move_to_row(self, row: int) -> None:
        self._row = max(self._origin or 0, row)
        self._rows.extend([] for _ in range(self._row - len(self._rows) + 1))

    def _control_cursor(self, final: str, numbers: str) -> None:
        parts = [int(part[:5] or 0) for part in numbers.replace(":", ";").split(";")]
        first = parts[0]
        count = min(max(first, 1), _COLUMNS)
        match final:
            case "m":
                cleared = not numbers or "0" in numbers.split(";")
                self._colours = numbers if cleared else f"{self._colours};{numbers}".strip(";")[-200:]
            case "H" | "f":
                self._place_screen()
                self._move_to_row((self._origin or 0) + min(count, _LINES) - 1)
                self._column = min(max(parts[1] if len(parts) > 1 else 1, 1), _COLUMNS) - 1
            case "d":
                self._place_screen()
                self._move_to_row((self._origin or 0) + min(count, _LINES) - 1)
            case "A" | "F":
                self._move_to_row(self._row - count)
                self._column = 0 if final == "F" else self._column
            case "B" | "E":
                self._move_to_row(min(self._row + count, len(self._rows) + _LINES))
                self._column = 0 if final == "E" else self._column
            case "C":
                self._column = min(self._column + count, _COLUMNS)
            case "D":
                self._column = max(0, self._column - count)
            case "G" | "`":
                self._column = count - 1
            case "J":
                self._erase(first)
            case "K" if first < 3:
                row = self._rows[self._row]
                if first == 0:
                    del row[self._column :]
                elif first == 2:
                    row.clear()
                else:
                    row[: self._column] = [(" ", "")] * min(self._column, len(row))
            case "P":
                del self._rows[self._row][self._column : self._column + count]

    def _place_screen(self) -> None:
        """From the first move to a place on, what was printed before stays above the screen."""
        if self._origin is None:
            self._origin = len(self._rows) - (not self._rows[-1])
            self._move_to_row(self._origin)

    def _erase(self, what: int) -> None:
        if what == 0:
            del self._rows[self._row][self._column :]
            del self._rows[self._row + 1 :]
        elif what in (2, 3):
            self._place_screen()
            del self._rows[self._origin :]
            self._move_to_row(self._row)


def _draw_line(row: list[_Cell]) -> str:
    parts, colours = [], ""
    for character, style in row:
        if style != colours:
            parts.append(f"\x1b[0;{style}m" if style else "\x1b[0m")
            colours = style
        parts.append(character)
    return "".join(parts) + ("\x1b[0m" if colours else "")


def draw(text: str) -> str:
    """Return text with moves between lines as a terminal would have left it, without colours."""
    drawing = ScreenText()
    drawing.feed(text)
    return "\n".join(drawing.lines(colours=False))
