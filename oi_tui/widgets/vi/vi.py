"""The keys of vi in a text area: its modes, and what its commands do."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from oi_tui.widgets.vi.command import ParsedCommand, read
from oi_tui.widgets.vi.motion_finder import END, MotionFinder
from oi_tui.widgets.vi.motions import Motion, Position, find_first_letter
from oi_tui.widgets.vi.objects import TextRange, find_object
from oi_tui.widgets.vi.text_edits import TextEdits, fill, multiply

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
#: Digits of the number of a line that are read.
_LINE_DIGITS = 9


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
        """Call `changed` when another mode or text is to be shown, and give `obey` a line typed after `:`.

        Without `obey`, as at a prompt, there is no such line, and arrow keys keep their meaning.
        """
        self.mode: Mode = mode
        self._area = area
        self._edits = TextEdits(area)
        self._finder = MotionFinder()
        self._changed = changed
        self._obey = obey
        #: The keys of the command that is not whole yet; a line that begins with : or /.
        self._typed = ""
        self._line = ""
        self._anchor: Position = (0, 0)
        self._at: Position = (0, 0)
        self._last: ParsedCommand | None = None
        self._last_text = ""
        self._inserting: tuple[Position, int] | None = None

    @property
    def shown(self) -> str:
        """The mode and the keys typed so far."""
        return self._line or f"{self.mode.upper()} {self._typed}".rstrip()

    @property
    def is_pending(self) -> bool:
        """Whether keys of a command or a line are typed already."""
        return bool(self._typed or self._line)

    def begin(self, mode: Mode) -> None:
        """Start again, as for another text."""
        self._typed = self._line = ""
        self._inserting = None
        self._edits.forget_marks()
        self._finder.column = None
        self._set_mode(mode)

    def handle_key(self, event: events.Key) -> bool:
        """Handle a key; False for a key that has no meaning in vi here."""
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
        key = event.character if event.is_printable else self._name_key(event)
        if not key:
            return False
        if self._line:
            self._handle_line_key(event, key)
        elif self._is_line_key(key):
            self._line = key
        else:
            self._handle_command_key(key)
        self._changed()
        return True

    def _is_line_key(self, key: str) -> bool:
        """Return whether the key begins a line: / also after an operator,
        which then takes what is up to there.
        """
        after = not self._typed or (key == "/" and self._typed[-1] in "dcy<>")
        return key in "/:" and after and self._obey is not None

    def _name_key(self, event: events.Key) -> str:
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

    def _handle_line_key(self, event: events.Key, key: str) -> None:
        if event.key == "enter":
            line, self._line = self._line, ""
            if line[0] == "/":
                if words := line[1:]:
                    self._finder.search_for(words)
                self._handle_command_key("n")
            elif line[1:].isdecimal():
                self._move_to((int(line[1 : _LINE_DIGITS + 1]) - 1, 0), to_letter=True)
            elif self._obey:
                self._obey(line[1:])
        elif event.key == "backspace":
            self._line = self._line[:-1]
        elif event.is_printable:
            self._line += key

    # Commands

    def _handle_command_key(self, key: str) -> None:
        self._typed += key
        command = read(self._typed, visual=self.mode != "normal")
        if command is None:
            return
        self._typed = ""
        if self.mode == "normal":
            self._move_to(self._place, keep=True)
        self._do(command)

    def _do(self, command: ParsedCommand) -> None:
        if self.mode != "normal":
            self._do_with_selection(command)
        elif command.operator:
            if part := self._finder.find_part(self._edits.lines, self._place, command):
                self._remember(command)
                self._operate(command.operator, part)
        elif motion := self._find_motion(command):
            self._move_to(motion.to, keep=command.rest in "jk")
            if command.rest == "$":
                self._finder.column = END
        else:
            self._do_other(command)

    def _do_other(self, command: ParsedCommand) -> None:
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
            if self._edits.register[0]:
                self._move_to(self._edits.put(self._place, command.times, before=rest == "P"))
        elif rest == "J":
            row = self._place[0]
            self._move_if(self._edits.join(row, row + max(command.times, 2) - 1))
        elif rest[0] == "r" or rest == "~":
            self._move_if(self._edits.overwrite(self._place, rest, command.times))
        elif rest == "u":
            self._move_to(self._edits.undo(command.times))
        elif rest == "\x12":
            self._move_to(self._edits.redo(command.times))
        elif rest == ".":
            self._repeat(command.count)
        elif rest in ("ZZ", "ZQ") and self._obey:
            self._obey("wq" if rest == "ZZ" else "q!")

    def _do_with_selection(self, command: ParsedCommand) -> None:
        rest, operator = command.rest, command.operator
        operator = operator or {"x": "d", "X": "d", "D": "d", "s": "c", "S": "c"}.get(rest, "")
        if not operator and (motion := self._find_motion(command)):
            row = motion.to[0]
            # The end of a line is behind its last character here.
            self._at = (row, len(self._edits.lines[row])) if rest == "$" else self._clamp(motion.to)
            if rest not in "jk":
                self._finder.column = END if rest == "$" else None
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
        part = find_object(self._edits.lines, self._at, rest[1], around=rest[0] == "a")
        if part is None:
            return
        if part.kind == "lines":
            self._set_mode("visual line")
        self._anchor, (row, column) = part.start, part.end
        self._at = row, max(column - 1, 0)
        self._show_selection()

    def _change_selection(self, operator: str, command: ParsedCommand) -> None:
        edits, part, rest = self._edits, self._find_selected(), command.rest
        bottom = max(self._anchor[0], self._at[0])
        edits.mark()
        self._leave_visual()
        if operator:
            self._last = None
            self._operate(operator, part)
        elif rest == "J":
            self._move_if(edits.join(part.start[0], max(bottom, part.start[0] + 1)))
        elif rest in ("p", "P"):
            register = edits.register
            self._operate("d", part)
            edits.register, register = register, edits.register
            self._move_to(edits.put(self._place, 1, before=True))
            edits.register = register
        else:
            change = {"~": str.swapcase, "u": str.lower, "U": str.upper}.get(rest)
            self._move_to(edits.rewrite(part, change or (lambda text: fill(text, rest[1]))))

    def _find_selected(self) -> TextRange:
        (top, first), (bottom, last) = sorted((self._anchor, self._at))
        if self.mode == "visual line":
            return TextRange((top, 0), (bottom, 0), "lines")
        lines = self._edits.lines
        if last >= len(lines[bottom]) and bottom + 1 < len(lines):
            return TextRange((top, first), (bottom + 1, 0))
        return TextRange((top, first), (bottom, min(last + 1, len(lines[bottom]))))

    # Places

    @property
    def _place(self) -> Position:
        return self._area.cursor_location if self.mode in ("insert", "normal") else self._at

    def _clamp(self, place: Position) -> Position:
        lines = self._edits.lines
        row = min(max(place[0], 0), len(lines) - 1)
        return row, min(max(place[1], 0), max(len(lines[row]) - 1, 0))

    def _move_to(self, place: Position, *, keep: bool = False, to_letter: bool = False) -> None:
        """Put the caret on a character; `keep` keeps the column that j and k want."""
        row, column = self._clamp(place)
        if to_letter:
            column = find_first_letter(self._edits.lines[row])
        if not keep:
            self._finder.column = None
        self._area.move_cursor((row, column))
        self._area.scroll_cursor_visible()

    def _move_if(self, place: Position | None) -> None:
        if place is not None:
            self._move_to(place)

    def _find_motion(self, command: ParsedCommand) -> Motion | None:
        return self._finder.find(self._edits.lines, self._place, command.rest, command.count)

    # Operators

    def _operate(self, operator: str, part: TextRange) -> None:
        start, end = part.start, part.end
        if operator in "<>":
            self._move_to(self._edits.shift(start[0], end[0], 1 if operator == ">" else -1))
            return
        if part.kind != "lines" and start == end and operator != "c":
            return
        self._edits.yank(part)
        if operator == "y":
            # Lines that were yanked by their doubled key or downwards leave the caret where it is.
            whole = part.kind == "lines" and start[0] == self._place[0]
            self._move_to(self._place if whole else start)
        elif part.kind == "lines":
            if operator == "c":
                self._start_insert(self._edits.empty_lines(start[0], end[0]), 1)
            else:
                self._move_to(self._edits.delete_lines(start[0], end[0]))
        else:
            self._edits.replace("", start, end)
            if operator == "c":
                self._start_insert(start, 1)
            else:
                self._move_to(start)

    def _begin_insert(self, key: str, times: int) -> None:
        row, column = self._place
        if key in "oO":
            self._start_insert(self._edits.open_line(row, above=key == "O"), 1)
            return
        line = self._edits.lines[row]
        indent, after = len(line) - len(line.lstrip()), min(column + 1, len(line))
        self._start_insert((row, {"i": column, "a": after, "I": indent, "A": len(line)}[key]), times)

    def _start_insert(self, place: Position, times: int) -> None:
        self._area.move_cursor(place)
        self._inserting = place, times
        self._set_mode("insert")

    def _leave_insert(self) -> None:
        """Return to normal mode; what was typed can be repeated."""
        place = self._area.cursor_location
        if self._inserting and place >= self._inserting[0]:
            start, times = self._inserting
            self._last_text = self._area.get_text_range(start, place)
            if times > 1 and self._last_text:
                self._edits.replace(multiply(self._last_text, times - 1), place, place)
                place = self._area.cursor_location
        self._inserting = None
        self._area.history.checkpoint()
        self._set_mode("normal")
        self._move_to((place[0], place[1] - 1))

    def _repeat(self, count: int | None) -> None:
        if self._last is None:
            return
        text, command = self._last_text, self._last
        self._do(command if count is None else replace(command, count=count))
        if self.mode == "insert":
            if text:
                self._area.insert(text)
            self._leave_insert()

    def _remember(self, command: ParsedCommand) -> None:
        if command.operator != "y":
            self._last = command
            self._edits.mark()

    # What is shown

    def _set_mode(self, mode: Mode) -> None:
        self.mode = mode
        self._changed()

    def _show_selection(self) -> None:
        """Select the characters under both ends, which a selection between characters leaves out."""
        (top, first), (bottom, last) = sorted((self._anchor, self._at))
        lines = self._edits.lines
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
        self._move_to(place)
