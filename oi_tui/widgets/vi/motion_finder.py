"""Where a command of vi leads, and what its operator takes: with counts, searches and the wanted column."""

import re
from collections.abc import Sequence

from oi_tui.widgets.vi import motions
from oi_tui.widgets.vi.command import ParsedCommand
from oi_tui.widgets.vi.motions import Kind, Motion, Position
from oi_tui.widgets.vi.objects import TextRange, find_object

#: The column of a caret that was sent to the end of its line, and stays at the ends.
END = 1 << 30


class MotionFinder:
    """Finds motions, and remembers the last search, the last f or t, and the column that j and k want."""

    def __init__(self) -> None:
        #: The column that j and k want; None where they take that of the caret.
        self.column: int | None = None
        self._searched: re.Pattern[str] | None = None
        self._found_by: tuple[str, str] | None = None

    def search_for(self, words: str) -> None:
        """Have n and N find these words; in small letters, they find capitals too."""
        flags = re.IGNORECASE if words == words.lower() else re.NOFLAG
        self._searched = re.compile(re.escape(words), flags)

    def find(self, lines: Sequence[str], place: Position, rest: str, count: int | None) -> Motion | None:
        """Return where a motion leads; None for an unknown key, or a motion that leads nowhere."""
        (row, column), times = place, count or 1
        match rest:
            case "h" | "l":
                step = -times if rest == "h" else times
                return Motion((row, min(max(column + step, 0), len(lines[row]))))
            case "0":
                return Motion((row, 0))
            case "^":
                return Motion((row, motions.find_first_letter(lines[row])))
            case "$":
                at = min(row + times - 1, len(lines) - 1)
                return Motion((at, max(len(lines[at]) - 1, 0)), "inclusive")
            case "j" | "k" | "+" | "-" | "G" | "gg":
                return self._find_row(lines, place, rest, count)
            case "w" | "W" | "b" | "B" | "e" | "E":
                return _find_word(lines, place, rest, times)
            case "{" | "}":
                target: Position | None = place
                for _ in range(times):
                    target = target and motions.find_paragraph(lines, target, 1 if rest == "}" else -1)
                return target and Motion(target)
            case "%":
                partner = motions.find_other_bracket(lines, place)
                return partner and Motion(partner, "inclusive")
            case "n" | "N" | "*":
                return self._find_searched(lines, place, rest)
        return self._find_character(lines, place, rest, times)

    def find_part(self, lines: Sequence[str], place: Position, command: ParsedCommand) -> TextRange | None:
        """Return what an operator takes."""
        rest = command.rest
        if rest == command.operator:
            return TextRange((place[0], 0), (min(place[0] + command.times, len(lines)) - 1, 0), "lines")
        if len(rest) == 2 and rest[0] in "ia":
            return find_object(lines, place, rest[1], around=rest[0] == "a")
        if rest in ("w", "W"):
            return _find_words_taken(lines, place, command)
        motion = self.find(lines, place, rest, command.count)
        self.column = None
        if motion is None:
            return None
        start, end = sorted((place, motion.to))
        if motion.kind == "lines":
            return TextRange(start, end, "lines")
        if motion.kind == "inclusive":
            end = end[0], end[1] + 1
        elif rest in ("{", "}", "n", "N") and end[1] == 0 and end[0] > start[0]:
            # A motion that ends before a line takes all of the line before it.
            end = end[0] - 1, len(lines[end[0] - 1])
            if not lines[start[0]][: start[1]].strip():
                return TextRange(start, end, "lines")
        return TextRange(start, end)

    def _find_row(self, lines: Sequence[str], place: Position, rest: str, count: int | None) -> Motion | None:
        (row, column), times = place, count or 1
        if rest in ("G", "gg"):
            to = len(lines) - 1 if rest == "G" and count is None else times - 1
        else:
            to = row + (times if rest in "j+" else -times)
            if row == min(max(to, 0), len(lines) - 1):
                return None
        to = min(max(to, 0), len(lines) - 1)
        if rest not in "jk":
            return Motion((to, motions.find_first_letter(lines[to])), "lines")
        self.column = column if self.column is None else self.column
        return Motion((to, self.column), "lines")

    def _find_searched(self, lines: Sequence[str], place: Position, rest: str) -> Motion | None:
        if rest == "*":
            part = find_object(lines, place, "w", around=False)
            word = lines[place[0]][part.start[1] : part.end[1]] if part else ""
            self._searched = re.compile(rf"\b{re.escape(word)}\b") if word.strip() else None
        if self._searched is None:
            return None
        target = motions.search(lines, place, self._searched, -1 if rest == "N" else 1)
        return target and Motion(target)

    def _find_character(self, lines: Sequence[str], place: Position, rest: str, times: int) -> Motion | None:
        again = rest in (";", ",")
        if again and self._found_by:
            key, character = self._found_by
            key = key.swapcase() if rest == "," else key
        elif len(rest) == 2 and rest[0] in "fFtT":
            key, character = self._found_by = rest[0], rest[1]
        else:
            return None
        row, column = place
        target = motions.find_in_line(lines[row], column, key, character, times, again=again)
        kind: Kind = "inclusive" if key in "ft" else "exclusive"
        return None if target is None else Motion((row, target), kind)


def _find_word(lines: Sequence[str], place: Position, rest: str, times: int) -> Motion:
    move = {"w": motions.find_next_word, "b": motions.find_word_before, "e": motions.find_word_end}[
        rest.lower()
    ]
    for _ in range(times):
        before, place = place, move(lines, place, big=rest.isupper())
        if place == before:
            break
    return Motion(place, "inclusive" if rest in "eE" else "exclusive")


def _find_words_taken(lines: Sequence[str], place: Position, command: ParsedCommand) -> TextRange:
    """Return what w takes: c leaves the white space behind the word, and no word takes a line's end."""
    (row, column), big = place, command.rest == "W"
    if command.operator == "c" and lines[row][column : column + 1].strip():
        part = find_object(lines, place, command.rest, around=False)
        end = (row, (part.end[1] if part else column + 1) - 1)
        for _ in range(command.times - 1):
            end = motions.find_word_end(lines, end, big=big)
        return TextRange(place, (end[0], end[1] + 1))
    to = _find_word(lines, place, command.rest, command.times).to
    if to[0] > row and not lines[to[0]][: to[1]].strip():
        to = to[0] - 1, len(lines[to[0] - 1])
    return TextRange(place, to)
