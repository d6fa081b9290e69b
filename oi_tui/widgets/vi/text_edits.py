"""The changes that commands of vi make to a text, with the register and the steps of undo."""

from collections.abc import Callable, Sequence

from textual.widgets import TextArea

from oi_tui.widgets.vi.motions import Position, find_first_letter
from oi_tui.widgets.vi.objects import TextRange

#: A count repeats a text up to this length, in characters.
_LONGEST = 1_000_000


class TextEdits:
    """Changes the text of an area. What moves the caret returns the place to which it goes."""

    def __init__(self, area: TextArea) -> None:
        self._area = area
        #: What was deleted or yanked last, and whether it is whole lines; these end with a newline.
        self.register = "", False
        #: How far the undo history went before each change.
        self._marks: list[int] = []

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the text."""
        document = self._area.document
        return [document.get_line(row) for row in range(document.line_count)]

    def replace(self, text: str, start: Position, end: Position) -> None:
        """Put a text in place of another."""
        self._area.replace(text, start, end, maintain_selection_offset=False)

    # What operators do

    def yank(self, part: TextRange) -> None:
        """Keep a part of the text in the register."""
        start, end = part.start, part.end
        if part.kind == "lines":
            self.register = "".join(f"{line}\n" for line in self.lines[start[0] : end[0] + 1]), True
        else:
            self.register = self._area.get_text_range(start, end), False

    def delete_lines(self, top: int, bottom: int) -> Position:
        """Delete whole lines."""
        lines = self.lines
        last = bottom, len(lines[bottom])
        if bottom + 1 < len(lines):
            self.replace("", (top, 0), (bottom + 1, 0))
        elif top > 0:
            self.replace("", (top - 1, len(lines[top - 1])), last)
        else:
            self.replace("", (0, 0), last)
        return self._find_first_letter(top)

    def empty_lines(self, top: int, bottom: int) -> Position:
        """Leave one line in place of these, with the indentation of the first."""
        lines = self.lines
        indent = lines[top][: len(lines[top]) - len(lines[top].lstrip())]
        self.replace(indent, (top, 0), (bottom, len(lines[bottom])))
        return top, len(indent)

    def shift(self, top: int, bottom: int, step: int) -> Position:
        """Indent lines by one step, or by one less."""
        width = self._area.indent_width
        for row in range(top, bottom + 1):
            line = self.lines[row]
            if step > 0 and line:
                self.replace(" " * width, (row, 0), (row, 0))
            elif step < 0:
                blanks = len(line) - len(line.lstrip(" "))
                self.replace("", (row, 0), (row, 1 if line[:1] == "\t" else min(blanks, width)))
        return self._find_first_letter(top)

    def rewrite(self, part: TextRange, change: Callable[[str], str]) -> Position:
        """Change the characters of a part."""
        start, end = part.start, part.end
        if part.kind == "lines":
            end = end[0], len(self.lines[end[0]])
        self.replace(change(self._area.get_text_range(start, end)), start, end)
        return start

    # Other changes

    def put(self, place: Position, times: int, *, before: bool) -> Position:
        """Insert the register before or behind the caret; lines come above or below its line."""
        text, whole_lines = self.register
        row, column = place
        if not text:
            return place
        if whole_lines:
            text = multiply(text, times)
            if before:
                self.replace(text, (row, 0), (row, 0))
            else:
                end = row, len(self.lines[row])
                self.replace("\n" + text[:-1], end, end)
            return self._find_first_letter(row if before else row + 1)
        at = row, column if before else min(column + 1, len(self.lines[row]))
        put = multiply(text, times)
        self.replace(put, at, at)
        # The caret stands on the last character, or on the first one of several lines.
        return at if "\n" in text else (row, at[1] + len(put) - 1)

    def join(self, top: int, bottom: int) -> Position | None:
        """Make one line of several; None for the last line, which has none to join."""
        place = None
        for _ in range(min(bottom, len(self.lines) - 1) - top):
            line, after = self.lines[top], self.lines[top + 1]
            rest = after.lstrip()
            space = " " if rest and line and not line[-1:].isspace() and rest[0] != ")" else ""
            self.replace(space, (top, len(line)), (top + 1, len(after) - len(rest)))
            place = top, len(line) if rest else len(line) - 1
        return place

    def overwrite(self, place: Position, name: str, times: int) -> Position | None:
        """Do what r and ~ do with some characters; None where r has fewer than it needs."""
        row, column = place
        text = self.lines[row][column : column + times]
        if not text or (name != "~" and len(text) < times):
            return None
        new = text.swapcase() if name == "~" else fill(text, name[1])
        self.replace(new, place, (row, column + len(text)))
        return row, column + len(text) - (name != "~")

    def open_line(self, row: int, *, above: bool) -> Position:
        """Insert an empty line with the indentation of this one."""
        line = self.lines[row]
        indent = line[: len(line) - len(line.lstrip())]
        if above:
            self.replace(f"{indent}\n", (row, 0), (row, 0))
        else:
            self.replace(f"\n{indent}", (row, len(line)), (row, len(line)))
        return row if above else row + 1, len(indent)

    def _find_first_letter(self, row: int) -> Position:
        """Return the first letter of a line, of the last one if there is no such line."""
        lines = self.lines
        row = min(row, len(lines) - 1)
        return row, find_first_letter(lines[row])

    # History

    def mark(self) -> None:
        """Begin a change that one undo takes back."""
        history = self._area.history
        history.checkpoint()
        so_far = len(history.undo_stack)
        self._marks = [*(mark for mark in self._marks if mark < so_far), so_far]

    def forget_marks(self) -> None:
        """Begin with another text."""
        self._marks.clear()

    def undo(self, times: int) -> Position:
        """Take back changes."""
        history = self._area.history
        for _ in range(times):
            so_far = len(history.undo_stack)
            if not so_far:
                break
            target = max((mark for mark in self._marks if mark < so_far), default=so_far - 1)
            for _ in range(so_far - target):
                self._area.undo()
        return self._area.cursor_location

    def redo(self, times: int) -> Position:
        """Make changes again that were taken back."""
        history = self._area.history
        for _ in range(times):
            if not history.redo_stack:
                break
            so_far = len(history.undo_stack)
            steps = [mark - so_far for mark in self._marks if mark > so_far]
            for _ in range(min([*steps, len(history.redo_stack)])):
                self._area.redo()
        return self._area.cursor_location


def multiply(text: str, times: int) -> str:
    """Return the text that often, but no more of it than the editor can take."""
    return text * max(1, min(times, _LONGEST // max(1, len(text))))


def fill(text: str, character: str) -> str:
    """Return the text with every character but newlines replaced by one."""
    return "".join("\n" if letter == "\n" else character for letter in text)
