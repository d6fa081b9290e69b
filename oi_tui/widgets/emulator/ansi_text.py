"""Bounded program output, parsed into coloured lines only when painted."""

import re
from collections import deque
from itertools import islice

from rich.style import Style

from oi_tui.engine.output.screen_text import MOVES, ScreenText
from oi_tui.text import simplify_emoji, split_spelled
from oi_tui.widgets.conversation.rows import Span
from oi_tui.widgets.emulator.colours import PLAIN, apply_colours
from oi_tui.widgets.truncate import measure_width

#: What is kept of long output: lines and characters of its beginning, and of its end.
HEAD_LINES, HEAD_CHARACTERS = 1_000, 250_000
TAIL_LINES, TAIL_CHARACTERS = 2_000, 1_000_000
#: Of a longer line the middle is left out.
LONGEST_LINE = 10_000
#: When a line that carriage returns rewrite has grown to this, all but its last versions are dropped.
_REWRITTEN = 8_000
_VERSIONS = 20
#: How much of a control string (a title, an image) is waited for; what continues for longer is not one.
_LONGEST_STRING = 100_000
#: Moving the cursor to the right ends here, as it would at a terminal's edge.
_FARTHEST = 500
#: How many lines of a drawing can be drawn over, and how much text without a move ends the drawing.
_DRAWN_LINES, _DRAWN_LENGTH = 200, 64_000
#: How many lines that were printed before a program began to move up and down can be drawn over.
_LINES_BACK = 50
#: How far back the colours in force are looked for, in lines.
_COLOURS_BACK = 300

#: Control strings end as xterm ends them, or where another escape begins; titles at a newline too.
_END = r"(?:\x07|\x1b\\|\x9c|(?=\x1b[^\\]))"
_STRING = re.compile(
    rf"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:{_END}|(?=\n))"
    rf"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*{_END}"
)
#: An escape before it may begin something else once the string is over.
_STRING_START = re.compile(r"\x1b?(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])|\x1b\x1b?$")
_STRING_STARTS = ("\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX")
_CONTROL = re.compile(
    r"(?:\x1b\[|\x9b)(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*"  # one that is cut off or broken
    r"|\x1b[ -/]*[0-Z\\^-~]?"
    r"|[\r\b\t]"
    r"|[\x00-\x07\x0e\x0f\x7f]"
)
#: Sequences that move within the line or erase it, so that it has to be drawn up cell by cell.
_REWRITES = re.compile(r"[\r\b]|(?:\x1b\[|\x9b)[0-9;]*[GKCDPX`]")
#: What changes to the alternate screen and back; its beginning, where it is cut.
_SWITCH = re.compile(
    r"(?:\x1b\[|\x9b)\?(?:[0-9]{1,5};){0,8}(?:1049|1047|47)(?:;[0-9]{1,5}){0,8}(?P<way>[hl])"
)
_SWITCH_START = re.compile(r"(?:\x1b\[|\x9b)(?:\?[0-9;]{0,40})?\Z")
_COLOURS = re.compile(r"(?:\x1b\[|\x9b)([0-9;:]*)m")


class AnsiText:
    """A program's output.

    `feed` takes it in pieces of any size, cut anywhere, at the cost of splitting it into lines. Of long
    output the beginning and the end are kept; `lines_not_kept` lines were between the first `head_count` and
    the rest.
    """

    def __init__(self, text: str = "") -> None:
        self.lines_not_kept = 0
        self._head: list[str] = []
        self._head_size = 0
        self._head_open = True
        self._tail: deque[str] = deque()
        self._tail_size = 0
        #: The line that has not ended.
        self._open = ""
        #: A control string or an escape that has begun and not ended.
        self._held = ""
        #: Whether the program draws on the alternate screen, which does not belong to the text.
        self.aside = False
        #: What a program draws that moves the cursor up and down, since it began to.
        self._drawing: ScreenText | None = None
        self._drawn_lines: list[str] | None = None
        self._since_move = 0
        self.feed(text)

    def __bool__(self) -> bool:
        return bool(self._head or self._tail or self._open or self._drawing)

    @property
    def head_count(self) -> int:
        """The number of lines kept from the beginning."""
        return len(self._head)

    @property
    def line_count(self) -> int:
        """The number of lines kept, from the beginning and the end."""
        return len(self._head) + len(self._tail) + len(self._last)

    @property
    def open_line(self) -> bool:
        """Whether something was printed since the last line ended."""
        return bool(self._last and self._last[-1])

    @property
    def drawing(self) -> bool:
        """Whether lines above the last one may change."""
        return self._drawing is not None

    @property
    def _last(self) -> list[str]:
        """The lines that may change yet."""
        if self._drawing is None:
            return [self._open] if self._open else []
        if self._drawn_lines is None:
            self._drawn_lines = self._drawing.lines()
        return self._drawn_lines

    def feed(self, text: str) -> None:
        """Take what was printed next."""
        if self._held or self.aside or "\x1b" in text or not text.isascii():
            text = self._on_main_screen(self._remove_strings(self._held + text))
        if self._draw_if_moving(text):
            return
        if "\n" not in text:
            self._grow(text)
            return
        first, _, rest = text.partition("\n")
        self._grow(first)
        self._add([self._open])
        self._open = ""
        if "\n" in rest:
            lines, _, rest = rest.rpartition("\n")
            self._add_lines(lines)
        self._grow(rest)

    def _draw_if_moving(self, text: str) -> bool:
        """Draw the text, if the program moves the cursor up and down; False where it just prints."""
        moves = ("\x1b" in text or "\x1b" in self._open[-20:]) and MOVES.search(self._open[-20:] + text)
        if self._drawing is None and not moves:
            return False
        self._since_move = 0 if moves else self._since_move + len(text)
        if self._drawing is None:
            self._drawing = self._begin_drawing()
        elif self._since_move > _DRAWN_LENGTH:
            ended, self._drawing, self._drawn_lines = self._drawing, None, None
            self._add(ended.lines() or [""])
            return False
        # What was drawn before the last of so much was drawn over.
        self._drawing.feed(text[-2 * _DRAWN_LENGTH :])
        self._drawn_lines = None
        if released := self._drawing.release(_DRAWN_LINES):
            self._add(released)
        return True

    def _begin_drawing(self) -> ScreenText:
        back: list[str] = []
        while len(back) < _LINES_BACK and (self._tail or (self._head and self._head_open)):
            if self._tail:
                back.append(self._tail.pop())
                self._tail_size -= len(back[-1])
            else:
                back.append(self._head.pop())
                self._head_size -= len(back[-1])
        drawing = ScreenText()
        drawing.feed("".join(f"{line}\n" for line in reversed(back)) + self._open)
        self._open = ""
        return drawing

    def _remove_strings(self, text: str) -> str:
        self._held = ""
        if _can_hold_string(text):
            text = _STRING.sub("", text)
            start = _STRING_START.search(text)
            if start and len(text) - start.start() <= _LONGEST_STRING:
                self._held = text[start.start() :]
                text = text[: start.start()]
        return text

    def _on_main_screen(self, text: str) -> str:
        if switch := _SWITCH_START.search(text, max(len(text) - 50, 0)):
            self._held, text = text[switch.start() :] + self._held, text[: switch.start()]
        if self.aside or "\x1b[?" in text or "\x9b?" in text:
            pieces, position = [], 0
            for match in _SWITCH.finditer(text):
                if not self.aside:
                    pieces.append(text[position : match.start()])
                self.aside, position = match["way"] == "h", match.end()
            text = "".join(pieces) + ("" if self.aside else text[position:])
        return text

    def _grow(self, text: str) -> None:
        line = self._open + text
        if len(line) > _REWRITTEN:
            versions = line.rsplit("\r", _VERSIONS) if "\r" in text else []
            # Fewer are no rewriting: a long line ends with a carriage return too.
            if len(versions) > _VERSIONS:
                line = "\r".join(versions[1:])
            if "\b" in text:
                line = re.sub(r"[^\b\r]\b", "", line)
        self._open = _shorten(line)

    def _add_lines(self, text: str) -> None:
        """Add many whole lines; of a flood those in the middle are counted and not looked at."""
        if self._head_open:
            first = text.split("\n", HEAD_LINES)
            rest = first.pop() if len(first) > HEAD_LINES else None
            self._add(first)
            if rest is None:
                return
            text = rest
        count = text.count("\n") + 1
        if count > TAIL_LINES:
            self.lines_not_kept += count - TAIL_LINES + len(self._tail)
            self._tail.clear()
            self._tail_size = 0
            self._add(text.rsplit("\n", TAIL_LINES)[1:])
        else:
            self._add(text.split("\n"))

    def _add(self, lines: list[str]) -> None:
        if max(map(len, lines)) > 2 * LONGEST_LINE:
            lines = [_shorten(line) for line in lines]
        if self._head_open:
            count = 0
            for line in lines:
                if len(self._head) >= HEAD_LINES or self._head_size + len(line) > HEAD_CHARACTERS:
                    self._head_open = False
                    break
                self._head.append(line)
                self._head_size += len(line)
                count += 1
            lines = lines[count:]
        self._tail.extend(lines)
        self._tail_size += sum(map(len, lines))
        while len(self._tail) > TAIL_LINES or self._tail_size > TAIL_CHARACTERS:
            self._tail_size -= len(self._tail.popleft())
            self.lines_not_kept += 1

    def _find_raw_line(self, index: int) -> str:
        if index < len(self._head):
            return self._head[index]
        index -= len(self._head)
        return self._tail[index] if index < len(self._tail) else self._last[index - len(self._tail)]

    def spans(self, index: int) -> list[Span]:
        """Kept line `index`, counted from 0, as text in the program's own colours."""
        return _draw(self._find_raw_line(index), self._find_colours(index))

    def words(self) -> list[str]:
        """Return the kept lines as text without colours."""
        return ["".join(text for text, _ in _draw(raw, PLAIN)) for raw in self._list_raw_lines()]

    def _list_raw_lines(self) -> list[str]:
        return [*self._head, *self._tail, *self._last]

    def plain(self) -> str:
        """Return the kept text without colours, with a line that says how much is missing."""
        lines = self.words()
        if self.lines_not_kept:
            lines.insert(len(self._head), f"… {self.lines_not_kept} lines not shown …")
        return "\n".join(lines)

    def _find_colours(self, index: int) -> Style:
        """Find the colours in force where the line begins; colours set more than 300 lines above are lost."""
        above = "\n".join(self._find_raw_above(index))
        if "\x1b" not in above and "\x9b" not in above:
            return PLAIN
        reset = max(above.rfind("\x1b[0m"), above.rfind("\x1b[m"), 0)
        style = PLAIN
        for match in _COLOURS.finditer(above, reset):
            style = apply_colours(style, match.group(1))
        return style

    def _find_raw_above(self, index: int) -> list[str]:
        """List the lines above a kept line, as far up as colours are looked for; quick near a flood's end."""
        oldest = max(index - _COLOURS_BACK, 0)
        end = len(self._head) + len(self._tail)
        from_end = islice(
            reversed(self._tail), max(end - index, 0), max(end - max(oldest, len(self._head)), 0)
        )
        tail = list(from_end)[::-1]
        return [*self._head[oldest:index], *tail, *self._last[max(oldest - end, 0) : max(index - end, 0)]]


def _can_hold_string(text: str) -> bool:
    """Return whether a control string may begin in the text; quick, because nearly no text holds one."""
    return text.endswith("\x1b") or any(start in text for start in _STRING_STARTS) or not text.isascii()


def _shorten(line: str) -> str:
    if len(line) <= 2 * LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[:half]} … characters not shown … {line[-half:]}"


def _draw(raw: str, style: Style) -> list[Span]:
    if raw.endswith("\r"):
        raw = raw.rstrip("\r")
    if raw.isascii() and raw.isprintable():
        return [(raw, style)] if raw else []
    return _redraw_line(raw, style) if _REWRITES.search(raw) else _draw_once(raw, style)


def _draw_once(raw: str, style: Style) -> list[Span]:
    spans: list[Span] = []
    column = position = 0
    for match in _CONTROL.finditer(raw):
        if match.start() > position:
            text = _render(raw[position : match.start()])
            spans.append((text, style))
            column += measure_width(text)
        position = match.end()
        if match["final"] == "m":
            style = apply_colours(style, match["parameters"])
        elif match.group() == "\t":
            spans.append((" " * (8 - column % 8), style))
            column += 8 - column % 8
    if position < len(raw):
        spans.append((_render(raw[position:]), style))
    return spans


def _redraw_line(raw: str, style: Style) -> list[Span]:
    """Return what a line shows in the end that was rewritten while it was printed."""
    cells: list[Span] = []
    column = position = 0

    def write(text: str) -> None:
        nonlocal column
        for character in text:
            if column and measure_width(character) == 0 and column <= len(cells):
                cells[column - 1] = (cells[column - 1][0] + character, cells[column - 1][1])
                continue
            if column > len(cells):
                cells.extend([(" ", PLAIN)] * (column - len(cells)))
            cells[column : column + 1] = [(character, style)]
            column += 1

    for control in _CONTROL.finditer(raw):
        write(raw[position : control.start()])
        position = control.end()
        final = control["final"]
        if final is None:
            match control.group():
                case "\r":
                    column = 0
                case "\b":
                    column = max(column - 1, 0)
                case "\t":
                    column += 8 - column % 8
            continue
        parameters = control["parameters"]
        number = int(parameters) if parameters.isdecimal() and len(parameters) < 5 else 0
        match final:
            case "m":
                style = apply_colours(style, parameters)
            case "K":
                cells[column if number == 0 else 0 : column if number == 1 else None] = (
                    [(" ", PLAIN)] * column if number else []
                )
            case "G" | "`":
                column = min(max(number - 1, 0), _FARTHEST)
            case "C":
                column = min(column + max(number, 1), max(_FARTHEST, column))
            case "D":
                column = max(column - max(number, 1), 0)
            case "P":
                del cells[column : column + max(number, 1)]
    write(raw[position:])
    spans: list[Span] = []
    for character, ink in cells:
        if spans and spans[-1][1] == ink:
            spans[-1] = (spans[-1][0] + character, ink)
        else:
            spans.append((character, ink))
    return [(_render(text), ink) for text, ink in spans]


def _render(text: str) -> str:
    return text if text.isprintable() else "".join(part for part, _ in split_spelled(simplify_emoji(text)))
