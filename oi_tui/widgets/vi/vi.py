"""The keys of vi in a text area: its modes, and what its commands do."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from oi_tui.widgets.vi import motions
from oi_tui.widgets.vi.command import Command, read
from oi_tui.widgets.vi.motions import Kind, Motion, Place
from oi_tui.widgets.vi.objects import Part, object_at

Mode = Literal["insert", "normal", "visual", "visual line"]

#: Keys without a character, by the key of vi that does the same.
_SAME = {
    "left": "h",
    "right": "l",
    "up": "k",
    "down": "j",
    "home": "0",
    "end": "$",
    "backspace": "h",
    "delete": "x",
    "enter": "+",
    "ctrl+r": "\x12",
}
#: Commands beside those with an operator that change the text, and that `.` repeats.
_CHANGES = ("i", "I", "a", "A", "o", "O", "p", "P", "J", "~")
#: The column of a caret that was sent to the end of its line, and stays at the ends.
_END = 1 << 30


class Vi:
    """Takes the keys of a text area, and changes its text as vi does."""

    def __init__(
        self,
        area: TextArea,
        changed: Callable[[], object],
        obey: Callable[[str], object] | None = None,
        *,
        mode: Mode = "insert",
    ) -> None:
        """`changed` is called when another mode or text is to be shown; `obey` is given a line typed after :.

        Without `obey`, as at a prompt, there is no such line, and arrow keys keep their meaning.
        """
        self.mode: Mode = mode
        self._area = area
        self._changed = changed
        self._obey = obey
        #: The keys of the command that is not whole yet; a line that begins with : or /.
        self._typed = ""
        self._line = ""
        #: What was deleted or yanked last, and whether it is whole lines; these end with a newline.
        self._register = "", False
        self._searched: re.Pattern[str] | None = None
        self._found_by: tuple[str, str] | None = None
        self._anchor: Place = (0, 0)
        self._at: Place = (0, 0)
        self._column: int | None = None
        #: How far the undo history went before each change.
        self._marks: list[int] = []
        self._last: Command | None = None
        self._last_text = ""
        self._inserting: tuple[Place, int] | None = None

    @property
    def shown(self) -> str:
        """The mode and the keys typed so far."""
        return self._line or f"{self.mode.upper()} {self._typed}".rstrip()

    @property
    def is_pending(self) -> bool:
        """Whether keys of a command or a line are typed already."""
        return bool(self._typed or self._line)

    def begin(self, mode: Mode) -> None:
        """Start anew, as for another text."""
        self._typed = self._line = ""
        self._inserting = None
        self._marks.clear()
        self._column = None
        self._set_mode(mode)

    def take(self, event: events.Key) -> bool:
        """Do what a key means; False for a key that vi has no meaning for here."""
        if self.mode == "insert":
            if event.key != "escape":
                return False
            self._leave_insert()
            return True
        if event.key == "escape":
            return self._escape()
        if event.key in ("tab", "shift+tab"):
            # Only where text is typed they indent it.
            return self._obey is not None
        key = event.character if event.is_printable else self._key_of(event)
        if not key:
            return False
        if self._line:
            self._take_in_line(event, key)
        elif self._begins_line(key):
            self._line = key
        else:
            self._take_command(key)
        self._changed()
        return True

    def _begins_line(self, key: str) -> bool:
        """Whether the key begins a line: / also after an operator, which then takes what is up to there."""
        after = not self._typed or (key == "/" and self._typed[-1] in "dcy<>")
        return key in "/:" and after and self._obey is not None

    def _key_of(self, event: events.Key) -> str:
        if self._obey or event.key in ("ctrl+r", "delete"):
            return _SAME.get(event.key, "")
        return _SAME.get(event.key, "") if self.mode != "normal" and event.key != "enter" else ""

    def _escape(self) -> bool:
        """Drop what is typed, or leave the selection; at a prompt, a second escape is not ours."""
        had = self.is_pending or self.mode != "normal"
        self._typed = self._line = ""
        if self.mode != "normal":
            self._leave_visual()
        self._changed()
        return had or self._obey is not None

    # Lines after : and /

    def _take_in_line(self, event: events.Key, key: str) -> None:
        if event.key == "enter":
            line, self._line = self._line, ""
            if line[0] == "/":
                if words := line[1:]:
                    # Words in small letters find capitals too.
                    flags = re.IGNORECASE if words == words.lower() else re.NOFLAG
                    self._searched = re.compile(re.escape(words), flags)
                self._take_command("n")
            elif line[1:].isdigit():
                self._go((int(line[1:]) - 1, 0), to_letter=True)
            elif self._obey:
                self._obey(line[1:])
        elif event.key == "backspace":
            self._line = self._line[:-1]
        elif event.is_printable:
            self._line += key

    # Commands

    def _take_command(self, key: str) -> None:
        self._typed += key
        command = read(self._typed, visual=self.mode != "normal")
        if command is None:
            return
        self._typed = ""
        if self.mode == "normal":
            self._go(self._place, keep=True)
        self._do(command)

    def _do(self, command: Command) -> None:
        if self.mode != "normal":
            self._do_with_selection(command)
        elif command.operator:
            if part := self._part(command):
                self._remember(command)
                self._operate(command.operator, part)
        elif motion := self._motion(command.rest, command.count):
            self._go(motion.to, keep=command.rest in "jk")
            self._column = _END if command.rest == "$" else self._column
        else:
            self._do_other(command)

    def _do_other(self, command: Command) -> None:
        rest = command.rest
        if rest in _CHANGES or rest[0] == "r":
            self._remember(command)
        if rest in ("i", "I", "a", "A", "o", "O"):
            self._begin_insert(rest, command.times)
        elif rest in ("v", "V"):
            self._anchor = self._at = self._place
            self._set_mode("visual" if rest == "v" else "visual line")
            self._show_selection()
        elif rest in ("p", "P"):
            self._put(command.times, before=rest == "P")
        elif rest == "J":
            row = self._place[0]
            self._join(row, row + max(command.times, 2) - 1)
        elif rest[0] == "r" or rest == "~":
            self._overwrite(command)
        elif rest == "u":
            self._undo(command.times)
        elif rest == "\x12":
            self._redo(command.times)
        elif rest == ".":
            self._repeat(command.count)
        elif rest in ("ZZ", "ZQ") and self._obey:
            self._obey("wq" if rest == "ZZ" else "q!")

    def _do_with_selection(self, command: Command) -> None:
        rest, operator = command.rest, command.operator
        operator = operator or {"x": "d", "X": "d", "D": "d", "s": "c", "S": "c"}.get(rest, "")
        if not operator and (motion := self._motion(rest, command.count)):
            # The end of a line is behind its last character here.
            past = rest == "$"
            self._at = (motion.to[0], len(self._lines[motion.to[0]])) if past else self._clamped(motion.to)
            self._column = _END if rest == "$" else self._column if rest in "jk" else None
            self._show_selection()
        elif rest in ("v", "V"):
            mode: Mode = "visual" if rest == "v" else "visual line"
            if mode == self.mode:
                self._leave_visual()
            else:
                self._set_mode(mode)
                self._show_selection()
        elif rest == "o":
            self._anchor, self._at = self._at, self._anchor
            self._show_selection()
        elif len(rest) == 2 and rest[0] in "ia":
            self._select_object(rest)
        elif operator or rest in ("~", "J", "p", "P", "u", "U") or rest[0] == "r":
            self._change_selection(operator, command)

    def _select_object(self, rest: str) -> None:
        part = object_at(self._lines, self._at, rest[1], around=rest[0] == "a")
        if part is None:
            return
        if part.kind == "lines":
            self._set_mode("visual line")
        self._anchor, (row, column) = part.start, part.end
        self._at = row, max(column - 1, 0)
        self._show_selection()

    def _change_selection(self, operator: str, command: Command) -> None:
        part, rest = self._selected(), command.rest
        bottom = max(self._anchor[0], self._at[0])
        self._mark()
        self._leave_visual()
        if operator:
            self._last = None
            self._operate(operator, part)
        elif rest == "J":
            self._join(part.start[0], max(bottom, part.start[0] + 1))
        elif rest in ("p", "P"):
            register = self._register
            self._operate("d", part)
            self._register, register = register, self._register
            self._put(1, before=True)
            self._register = register
        else:
            change = {"~": str.swapcase, "u": str.lower, "U": str.upper}.get(rest)
            self._rewrite(part, change or (lambda text: _filled(text, rest[1])))

    def _selected(self) -> Part:
        (top, first), (bottom, last) = sorted((self._anchor, self._at))
        if self.mode == "visual line":
            return Part((top, 0), (bottom, 0), "lines")
        lines = self._lines
        if last >= len(lines[bottom]) and bottom + 1 < len(lines):
            return Part((top, first), (bottom + 1, 0))
        return Part((top, first), (bottom, min(last + 1, len(lines[bottom]))))

    def _rewrite(self, part: Part, change: Callable[[str], str]) -> None:
        start, end = part.start, part.end
        if part.kind == "lines":
            end = end[0], len(self._lines[end[0]])
        self._replace(change(self._area.get_text_range(start, end)), start, end)
        self._go(start)

    # Places

    @property
    def _lines(self) -> Sequence[str]:
        document = self._area.document
        return [document.get_line(row) for row in range(document.line_count)]

    @property
    def _place(self) -> Place:
        return self._area.cursor_location if self.mode in ("insert", "normal") else self._at

    def _clamped(self, place: Place) -> Place:
        lines = self._lines
        row = min(max(place[0], 0), len(lines) - 1)
        return row, min(max(place[1], 0), max(len(lines[row]) - 1, 0))

    def _go(self, place: Place, *, keep: bool = False, to_letter: bool = False) -> None:
        """Put the caret on a character; `keep` keeps the column that j and k want."""
        row, column = self._clamped(place)
        if to_letter:
            column = motions.first_letter(self._lines[row])
        if not keep:
            self._column = None
        self._area.move_cursor((row, column))
        self._area.scroll_cursor_visible()

    def _motion(self, rest: str, count: int | None) -> Motion | None:
        """Return where a motion leads; None for what is none, or leads nowhere."""
        lines, (row, column), times = self._lines, self._place, count or 1
        match rest:
            case "h" | "l":
                return Motion(
                    (row, min(max(column + (-times if rest == "h" else times), 0), len(lines[row])))
                )
            case "0":
                return Motion((row, 0))
            case "^":
                return Motion((row, motions.first_letter(lines[row])))
            case "$":
                at = min(row + times - 1, len(lines) - 1)
                return Motion((at, max(len(lines[at]) - 1, 0)), "inclusive")
            case "j" | "k" | "+" | "-" | "G" | "gg":
                return self._row_motion(rest, count)
            case "w" | "W" | "b" | "B" | "e" | "E":
                return self._word_motion(rest, times)
            case "{" | "}":
                place: Place | None = (row, column)
                for _ in range(times):
                    place = place and motions.paragraph(lines, place, 1 if rest == "}" else -1)
                return place and Motion(place)
            case "%":
                partner = motions.other_bracket(lines, (row, column))
                return partner and Motion(partner, "inclusive")
            case "n" | "N" | "*":
                return self._search_motion(rest)
        return self._find_motion(rest, times)

    def _row_motion(self, rest: str, count: int | None) -> Motion | None:
        lines, (row, column), times = self._lines, self._place, count or 1
        if rest in ("G", "gg"):
            to = len(lines) - 1 if rest == "G" and count is None else times - 1
        else:
            to = row + (times if rest in "j+" else -times)
            if row == min(max(to, 0), len(lines) - 1):
                return None
        to = min(max(to, 0), len(lines) - 1)
        if rest not in "jk":
            return Motion((to, motions.first_letter(lines[to])), "lines")
        self._column = column if self._column is None else self._column
        return Motion((to, self._column), "lines")

    def _word_motion(self, rest: str, times: int) -> Motion:
        move = {"w": motions.next_word, "b": motions.word_before, "e": motions.word_end}[rest.lower()]
        place = self._place
        for _ in range(times):
            place = move(self._lines, place, big=rest.isupper())
        return Motion(place, "inclusive" if rest in "eE" else "exclusive")

    def _search_motion(self, rest: str) -> Motion | None:
        lines, (row, column) = self._lines, self._place
        if rest == "*":
            part = object_at(lines, (row, column), "w", around=False)
            words = self._area.get_text_range(part.start, part.end) if part else ""
            self._searched = re.compile(rf"\b{re.escape(words)}\b") if words.strip() else None
        if self._searched is None:
            return None
        target = motions.search(lines, (row, column), self._searched, -1 if rest == "N" else 1)
        return target and Motion(target)

    def _find_motion(self, rest: str, times: int) -> Motion | None:
        again = rest in (";", ",")
        if again and self._found_by:
            key, wanted = self._found_by
            key = key.swapcase() if rest == "," else key
        elif len(rest) == 2 and rest[0] in "fFtT":
            key, wanted = self._found_by = rest[0], rest[1]
        else:
            return None
        row, column = self._place
        target = motions.find_in_line(self._lines[row], column, key, wanted, times, again=again)
        kind: Kind = "inclusive" if key in "ft" else "exclusive"
        return None if target is None else Motion((row, target), kind)

    # Operators

    def _part(self, command: Command) -> Part | None:
        """Return what an operator takes."""
        rest, lines, place = command.rest, self._lines, self._place
        if rest == command.operator:
            return Part((place[0], 0), (min(place[0] + command.times, len(lines)) - 1, 0), "lines")
        if len(rest) == 2 and rest[0] in "ia":
            return object_at(lines, place, rest[1], around=rest[0] == "a")
        if rest in ("w", "W") and (part := self._words(command)):
            return part
        motion = self._motion(rest, command.count)
        self._column = None
        if motion is None:
            return None
        start, end = sorted((place, motion.to))
        if motion.kind == "lines":
            return Part(start, end, "lines")
        if motion.kind == "inclusive":
            end = end[0], end[1] + 1
        elif rest in ("{", "}", "n", "N") and end[1] == 0 and end[0] > start[0]:
            # A motion that ends before a line takes all of the line before it.
            end = end[0] - 1, len(lines[end[0] - 1])
            if not lines[start[0]][: start[1]].strip():
                return Part(start, end, "lines")
        return Part(start, end)

    def _words(self, command: Command) -> Part | None:
        """Return what w takes: c leaves the white space behind the word, and no word takes a line's end."""
        lines, (row, column), big = self._lines, self._place, command.rest == "W"
        line = lines[row]
        if command.operator == "c" and line[column : column + 1].strip():
            part = object_at(lines, (row, column), command.rest, around=False)
            end = (row, (part.end[1] if part else column + 1) - 1)
            for _ in range(command.times - 1):
                end = motions.word_end(lines, end, big=big)
            return Part((row, column), (end[0], end[1] + 1))
        to = self._word_motion(command.rest, command.times).to
        if to[0] > row and not lines[to[0]][: to[1]].strip():
            to = to[0] - 1, len(lines[to[0] - 1])
        return Part((row, column), to)

    def _operate(self, operator: str, part: Part) -> None:
        start, end = part.start, part.end
        if operator in "<>":
            self._shift(start[0], end[0], 1 if operator == ">" else -1)
            return
        lines = self._lines
        if part.kind == "lines":
            self._register = "".join(f"{line}\n" for line in lines[start[0] : end[0] + 1]), True
        elif start == end and operator != "c":
            return
        else:
            self._register = self._area.get_text_range(start, end), False
        if operator == "y":
            # Lines that were yanked by their doubled key or downwards leave the caret where it is.
            whole = part.kind == "lines" and start[0] == self._place[0]
            self._go(self._place if whole else start)
        elif part.kind == "lines":
            self._delete_lines(start[0], end[0], change=operator == "c")
        else:
            self._replace("", start, end)
            if operator == "c":
                self._start_insert(start, 1)
            else:
                self._go(start)

    def _delete_lines(self, top: int, bottom: int, *, change: bool) -> None:
        lines = self._lines
        last = bottom, len(lines[bottom])
        if change:
            indent = len(lines[top]) - len(lines[top].lstrip())
            self._replace(lines[top][:indent], (top, 0), last)
            self._start_insert((top, indent), 1)
            return
        if bottom + 1 < len(lines):
            self._replace("", (top, 0), (bottom + 1, 0))
        elif top > 0:
            self._replace("", (top - 1, len(lines[top - 1])), last)
        else:
            self._replace("", (0, 0), last)
        self._go((top, 0), to_letter=True)

    def _shift(self, top: int, bottom: int, step: int) -> None:
        width = self._area.indent_width
        for row in range(top, bottom + 1):
            line = self._lines[row]
            if step > 0 and line:
                self._replace(" " * width, (row, 0), (row, 0))
            elif step < 0:
                blanks = len(line) - len(line.lstrip(" "))
                self._replace("", (row, 0), (row, 1 if line[:1] == "\t" else min(blanks, width)))
        self._go((top, 0), to_letter=True)

    # Other changes

    def _put(self, times: int, *, before: bool) -> None:
        text, whole_lines = self._register
        if not text:
            return
        row, column = self._place
        if whole_lines:
            text = text * times
            if before:
                self._replace(text, (row, 0), (row, 0))
            else:
                end = row, len(self._lines[row])
                self._replace("\n" + text[:-1], end, end)
            self._go((row if before else row + 1, 0), to_letter=True)
            return
        at = row, column if before else min(column + 1, len(self._lines[row]))
        self._replace(text * times, at, at)
        # The caret stands on the last character, or on the first one of several lines.
        self._go(at if "\n" in text else (row, at[1] + len(text) * times - 1))

    def _join(self, top: int, bottom: int) -> None:
        for _ in range(min(bottom, len(self._lines) - 1) - top):
            line, after = self._lines[top], self._lines[top + 1]
            rest = after.lstrip()
            space = " " if rest and line and not line[-1:].isspace() and rest[0] != ")" else ""
            self._replace(space, (top, len(line)), (top + 1, len(after) - len(rest)))
            self._go((top, len(line) if rest else len(line) - 1))

    def _overwrite(self, command: Command) -> None:
        (row, column), times = self._place, command.times
        text = self._lines[row][column : column + times]
        if not text or (command.rest != "~" and len(text) < times):
            return
        new = text.swapcase() if command.rest == "~" else _filled(text, command.rest[1])
        self._replace(new, (row, column), (row, column + len(text)))
        self._go((row, column + len(text) - (command.rest != "~")))

    def _begin_insert(self, key: str, times: int) -> None:
        row, column = self._place
        line = self._lines[row]
        indent = line[: len(line) - len(line.lstrip())]
        if key == "o":
            self._replace(f"\n{indent}", (row, len(line)), (row, len(line)))
            place = row + 1, len(indent)
        elif key == "O":
            self._replace(f"{indent}\n", (row, 0), (row, 0))
            place = row, len(indent)
        else:
            after = min(column + 1, len(line))
            place = row, {"i": column, "a": after, "I": len(indent), "A": len(line)}[key]
        self._start_insert(place, times if key in "iIaA" else 1)

    def _start_insert(self, place: Place, times: int) -> None:
        self._area.move_cursor(place)
        self._inserting = place, times
        self._set_mode("insert")

    def _leave_insert(self) -> None:
        """Go back to commands; what was typed can be repeated."""
        place = self._area.cursor_location
        if self._inserting and place >= self._inserting[0]:
            start, times = self._inserting
            self._last_text = self._area.get_text_range(start, place)
            if times > 1 and self._last_text:
                self._replace(self._last_text * (times - 1), place, place)
                place = self._area.cursor_location
        self._inserting = None
        self._area.history.checkpoint()
        self._set_mode("normal")
        self._go((place[0], place[1] - 1))

    def _repeat(self, count: int | None) -> None:
        if self._last is None:
            return
        text, command = self._last_text, self._last
        self._do(command if count is None else replace(command, count=count))
        if self.mode == "insert":
            if text:
                self._area.insert(text)
            self._leave_insert()

    # History

    def _remember(self, command: Command) -> None:
        if command.operator != "y":
            self._last = command
            self._mark()

    def _mark(self) -> None:
        history = self._area.history
        history.checkpoint()
        so_far = len(history.undo_stack)
        self._marks = [*(mark for mark in self._marks if mark < so_far), so_far]

    def _undo(self, times: int) -> None:
        history = self._area.history
        for _ in range(times):
            so_far = len(history.undo_stack)
            target = max((mark for mark in self._marks if mark < so_far), default=so_far - 1)
            for _ in range(so_far - target):
                self._area.undo()
        self._go(self._area.cursor_location)

    def _redo(self, times: int) -> None:
        history = self._area.history
        for _ in range(times):
            so_far = len(history.undo_stack)
            target = min((mark for mark in self._marks if mark > so_far), default=_END)
            for _ in range(min(target - so_far, len(history.redo_stack))):
                self._area.redo()
        self._go(self._area.cursor_location)

    # What is shown

    def _replace(self, text: str, start: Place, end: Place) -> None:
        self._area.replace(text, start, end, maintain_selection_offset=False)

    def _set_mode(self, mode: Mode) -> None:
        self.mode = mode
        self._changed()

    def _show_selection(self) -> None:
        """Select the characters under both ends, which a selection between characters leaves out."""
        (top, first), (bottom, last) = sorted((self._anchor, self._at))
        lines = self._lines
        if self.mode == "visual line":
            start, end = (top, 0), (bottom, len(lines[bottom]))
        else:
            start, end = (top, first), (bottom, min(last + 1, len(lines[bottom])))
        backward = self._at < self._anchor
        self._area.selection = Selection(end, start) if backward else Selection(start, end)
        self._area.scroll_cursor_visible()

    def _leave_visual(self) -> None:
        place = self._at
        self._set_mode("normal")
        self._go(place)


def _filled(text: str, character: str) -> str:
    """The text with every character but newlines replaced by one."""
    return "".join("\n" if letter == "\n" else character for letter in text)
