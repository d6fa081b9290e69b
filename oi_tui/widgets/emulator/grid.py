"""The cells of an emulated terminal, and the operations on them."""

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

import pyte
from pyte import modes as pyte_modes
from pyte.charsets import LAT1_MAP
from rich.style import Style

from oi_tui.text import escape_controls
from oi_tui.widgets.emulator.colours import PLAIN
from oi_tui.widgets.emulator.history import ALTERNATE
from oi_tui.widgets.truncate import measure_width

#: More private modes (DECSET), by xterm's numbers.
INVERSE, ORIGIN, WRAPPING, CURSOR_SHOWN, BRACKETED_PASTE = 5, 6, 7, 25, 2004
#: Accents that one cell may carry.
_MOST_ACCENTS = 4


class GridCell(NamedTuple):
    """One place of the screen: a character with its accents; empty right of a wide one."""

    data: str
    style: Style


BLANK = GridCell(" ", PLAIN)


class TerminalGrid(pyte.Screen):
    """pyte's screen with what xterm-256color promises besides: another screen, erasing in the background's
    colour, scrolling by any number of lines, wide characters and accents in their places.

    `answer` is called with what the program asked the terminal, unless it is `muted`. `private_modes` are the
    numbers of those that are on.
    """

    #: As pyte has them, with `GridCell` for its characters.
    buffer: Any
    cursor: Any

    def __init__(self, columns: int, rows: int, answer: Callable[[str], object] = lambda _: None) -> None:
        self.private_modes: set[int] = {WRAPPING, CURSOR_SHOWN}
        self.muted = False
        self.last_drawn = ""
        self._answer = answer
        self._aside: tuple[Any, Any] | None = None
        super().__init__(max(columns, 2), max(rows, 2))

    def switch_private_modes(self, modes: list[int], *, on: bool) -> None:
        """Switch private modes on or off; those that are of no use here are only remembered."""
        for mode in modes:
            was_on = mode in self.private_modes
            (self.private_modes.add if on else self.private_modes.discard)(mode)
            if mode in ALTERNATE:
                self._change_screen(on)
            elif mode in (ORIGIN, WRAPPING):
                (self.set_mode if on else self.reset_mode)(mode, private=True)
            elif mode == CURSOR_SHOWN:
                self.cursor.hidden = not on
            elif mode == INVERSE and was_on != on:
                self.dirty.update(range(self.lines))

    def _change_screen(self, on: bool) -> None:
        if on == (self._aside is not None):
            return
        self.margins = None
        if self._aside is None:
            self._aside = ({**self.buffer}, copy(self.cursor))
            self.buffer.clear()
        else:
            rows, cursor = self._aside
            self._aside = None
            self.private_modes -= ALTERNATE
            is_hidden = self.cursor.hidden
            self.buffer.clear()
            self.buffer.update((y, row) for y, row in rows.items() if y < self.lines)
            self.cursor = cursor
            self.cursor.hidden = is_hidden
            self.ensure_hbounds()
            self.ensure_vbounds()
        self.dirty.update(range(self.lines))

    # What pyte asks for

    @property
    def default_char(self) -> Any:
        """The cell where nothing was written."""
        return BLANK

    @property
    def inverse(self) -> bool:
        """Whether the whole screen has its colours changed round."""
        return INVERSE in self.private_modes

    @property
    def column(self) -> int:
        """The visible column of the cursor: beyond a full line it is still on its last cell."""
        return int(min(self.cursor.x, self.columns - 1))

    def reset(self) -> None:
        """Return to the initial state."""
        self.private_modes = {WRAPPING, CURSOR_SHOWN}
        self._aside = None
        super().reset()
        self.cursor.attrs = self.default_char

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Take another size; where there are fewer lines, those above the cursor go first."""
        lines, columns = max(lines or self.lines, 2), max(columns or self.columns, 2)
        surplus = 0 if self._aside is not None else max(0, self.cursor.y - lines + 1)
        if surplus:
            self.margins = None
            self.scroll(surplus, up=True)
            self.cursor.y -= surplus
        for row in [row for row in self.buffer if row >= lines]:
            del self.buffer[row]
        self.margins = None
        self.tabstops.update(range(8, columns, 8))
        self.lines, self.columns = lines, columns
        self.ensure_hbounds()
        self.ensure_vbounds()
        self.dirty.update(range(lines))

    def cursor_to_line(self, line: int | None = None) -> None:
        """Move the cursor to a line, counted from the top margin in origin mode.

        pyte fails in origin mode where no margins are set.
        """
        top = self.margins.top if self.margins and pyte_modes.DECOM in self.mode else 0
        self.cursor.y = top + (line or 1) - 1
        self.ensure_vbounds()

    def write_process_input(self, data: str) -> None:
        """Send a reply to the program."""
        if not self.muted:
            self._answer(data)

    def draw(self, data: str) -> None:
        """Write text where the cursor is."""
        charset = self.g1_charset if self.charset else self.g0_charset
        if charset is not LAT1_MAP:
            data = data.translate(charset)
        style = self.cursor.attrs.style
        self.last_drawn = data[-1]
        if not data.isascii():
            for character in data:
                self._draw_one(character, style)
            return
        position = 0
        while position < len(data):
            self._make_room(1)
            x = self.cursor.x
            run = data[position : position + self.columns - x]
            if WRAPPING not in self.private_modes and len(data) - position > len(run):
                run = run[:-1] + data[-1]
                position = len(data)
            if pyte_modes.IRM in self.mode:
                self.insert_characters(len(run))
            self.buffer[self.cursor.y].update(
                (x + i, _make_cell(character, style)) for i, character in enumerate(run)
            )
            self.cursor.x = x + len(run)
            position += len(run)
        self.dirty.add(self.cursor.y)

    def _draw_one(self, character: str, style: Style) -> None:
        # What would be spelled out elsewhere has no place in a grid; it takes none.
        width = (
            measure_width(character) if character.isascii() or escape_controls(character) == character else -1
        )
        if width < 0:
            return
        if width == 0:
            line, x = self.buffer[self.cursor.y], self.cursor.x - 1
            if x > 0 and not line[x].data:
                x -= 1
            if x >= 0 and len(line[x].data) <= _MOST_ACCENTS:
                line[x] = line[x]._replace(data=line[x].data + character)
                self.dirty.add(self.cursor.y)
            return
        self._make_room(width)
        if pyte_modes.IRM in self.mode:
            self.insert_characters(width)
        line = self.buffer[self.cursor.y]
        line[self.cursor.x] = _make_cell(character, style)
        if width == 2:
            line[self.cursor.x + 1] = _make_cell("", style)
        self.cursor.x += width
        self.dirty.add(self.cursor.y)

    def _make_room(self, width: int) -> None:
        """Go to the next line where the text does not fit into this one."""
        if self.cursor.x + width <= self.columns:
            return
        if WRAPPING in self.private_modes:
            self.dirty.add(self.cursor.y)
            self.carriage_return()
            self.linefeed()
        else:
            self.cursor.x = self.columns - width

    # Erasing leaves the background's colour

    @property
    def _erased(self) -> Any:
        return _make_cell(" ", Style(bgcolor=self.cursor.attrs.style.bgcolor))

    def erase_characters(self, count: int | None = None) -> None:
        """Blank some places from the cursor on."""
        self._clear_cells(self.cursor.y, self.column, min(self.column + (count or 1), self.columns))

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: ARG002
        """Blank the line: from the cursor on (0), up to it (1), or whole (2)."""
        self._clear_cells(
            self.cursor.y, 0 if how else self.column, self.column + 1 if how == 1 else self.columns
        )

    def erase_in_display(self, how: int = 0, *_: Any, **__: Any) -> None:
        """Blank the screen: from the cursor on (0), up to it (1), or whole (2)."""
        first = self.cursor.y + 1 if how == 0 else 0
        last = self.cursor.y if how == 1 else self.lines
        for row in range(first, last):
            self._clear_cells(row, 0, self.columns)
        if how < 2:
            self.erase_in_line(how)

    def _clear_cells(self, row: int, start: int, end: int) -> None:
        erased = self._erased
        if erased == BLANK and start == 0 and end >= self.columns:
            self.buffer.pop(row, None)
        else:
            self.buffer[row].update(dict.fromkeys(range(start, end), erased))
        self.dirty.add(row)

    def index(self) -> None:
        """Go down a line; at the bottom the lines above it move up."""
        bottom = self.margins.bottom if self.margins else self.lines - 1
        if self.cursor.y == bottom:
            self.scroll(1, up=True)
        else:
            self.cursor.y = min(self.cursor.y + 1, self.lines - 1)

    def reverse_index(self) -> None:
        """Go up a line; at the top the lines below it move down."""
        if self.cursor.y == (self.margins.top if self.margins else 0):
            self.scroll(1, up=False)
        else:
            self.cursor.y = max(self.cursor.y - 1, 0)

    def insert_lines(self, count: int | None = None) -> None:
        """Move the line of the cursor and those below it down."""
        self.scroll(count or 1, up=False, top=self.cursor.y)

    def delete_lines(self, count: int | None = None) -> None:
        """Take lines out from the cursor's on."""
        self.scroll(count or 1, up=True, top=self.cursor.y)

    def scroll(self, count: int, *, up: bool, top: int | None = None) -> None:
        """Move lines of the scrolling region, or of its part from `top` on; blank ones follow."""
        first, last = (self.margins.top, self.margins.bottom) if self.margins else (0, self.lines - 1)
        if top is not None:
            if not first <= top <= last:
                return
            first = top
            self.carriage_return()
        count = min(count, last - first + 1)
        rows = [self.buffer.pop(row, None) for row in range(first, last + 1)]
        blank: list[Any] = [None] * count
        for row, line in enumerate(rows[count:] + blank if up else blank + rows[:-count], first):
            if line is not None:
                self.buffer[row] = line
        if self._erased != BLANK:
            for row in range(last - count + 1, last + 1) if up else range(first, first + count):
                self._clear_cells(row, 0, self.columns)
        self.dirty.update(range(first, last + 1))


@lru_cache(maxsize=4096)
def _make_cell(character: str, style: Style) -> GridCell:
    return GridCell(character, style)
