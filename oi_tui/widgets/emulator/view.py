"""A terminal widget for a running program: shows its screen, sends it keys."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from oi_tui.widgets.conversation.styles import Styles, adapt_program_style, get_styles
from oi_tui.widgets.emulator.grid import BRACKETED_PASTE, GridCell
from oi_tui.widgets.emulator.history import ALTERNATE, CURSOR_KEYS
from oi_tui.widgets.emulator.keys import encode_key, paste_text
from oi_tui.widgets.emulator.parser import TerminalEmulator
from oi_tui.widgets.timer import schedule
from oi_tui.widgets.truncate import measure_width

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: What is drawn at most this often, in seconds, and how long reading may keep the keys waiting each time.
_FRAME, _BUDGET = 1 / 30, 0.012
_PIECE = 2048
#: Of what waits to be read only the last is kept when a program writes quicker than anybody could see.
_MOST_WAITING, _KEPT_WAITING = 256 * 1024, 32 * 1024
#: Private modes in which a program wants reports of the mouse, and the form with plain numbers.
_MOUSE, _MOUSE_MOVES, _MOUSE_NUMBERS = {1000, 1002, 1003}, {1002, 1003}, 1006
_WHEEL_LINES = 3
#: A program that stopped itself would have no shell to wake it; the key is the application's, as elsewhere.
_SUSPEND = "ctrl+z"


class TerminalView(Widget, can_focus=True):
    """An emulated terminal of the widget's own size.

    `typed` gets what the keys, the mouse and the terminal itself send to the program. What the program wrote
    comes by `feed`; nothing of it reaches the real terminal but as characters in cells.
    """

    ALLOW_SELECT = False

    @dataclass
    class Resized(Message):
        """The program's terminal has this size now."""

        columns: int
        rows: int

    def __init__(self, typed: Callable[[str], object], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._typed = typed
        self.terminal: TerminalEmulator | None = None
        #: What was not read yet, and whether its questions may still be answered.
        self._waiting: list[tuple[str, bool]] = []
        self._waiting_size = 0
        self._torn = False
        self._timer: TimerHandle | None = None
        self._drawn_at = 0.0
        self._cursor = Offset(0, 0)
        self._look: Styles | None = None

    # What the program writes

    def feed(self, text: str, *, answering: bool = True) -> None:
        """Show what was written next. Old queries in it must not be answered."""
        self._waiting.append((text, answering))
        self._waiting_size += len(text)
        if self._waiting_size > _MOST_WAITING:
            self._leave_out()
        self._draw_soon()

    def _leave_out(self) -> None:
        text = "".join(piece for piece, _ in self._waiting)[-_KEPT_WAITING:]
        start = max(text.find("\x1b"), 0)
        self._waiting = [(text[start:], False)]
        self._waiting_size = len(text) - start
        self._torn = True

    def _draw_soon(self) -> None:
        if self._timer is None and self.is_attached and self.terminal:
            wait = max(_FRAME - (time.monotonic() - self._drawn_at), 0.001)
            self._timer = schedule(self, wait, self._draw)

    def _draw(self) -> None:
        """Read what waits, as long as the keys do not have to wait for it, and draw the lines it changed."""
        self._timer = None
        terminal = self.terminal
        if terminal is None or not self.screen.is_current:
            return
        until = time.monotonic() + _BUDGET
        while self._waiting and time.monotonic() < until:
            text, answering = self._waiting.pop(0)
            if len(text) > _PIECE:
                self._waiting.insert(0, (text[_PIECE:], answering))
                text = text[:_PIECE]
            terminal.muted = not answering
            terminal.feed(text)
            self._waiting_size -= len(text)
        self._drawn_at = time.monotonic()
        self._show_changes()
        if self._waiting:
            self._draw_soon()
        elif self._torn:
            self._torn = False
            self._request_redraw()

    def _show_changes(self) -> None:
        terminal = self.terminal
        assert terminal is not None
        cursor = Offset(terminal.column, terminal.cursor.y)
        lines, width = {*terminal.dirty, cursor.y, self._cursor.y}, self.size.width
        terminal.dirty.clear()
        self._cursor = cursor
        self.refresh(*(Region(0, y, width, 1) for y in lines if y < self.size.height))
        if self.has_focus:
            self.app.cursor_position = self.content_region.offset + cursor

    def _request_redraw(self) -> None:
        """Make the program redraw: omitted output may have damaged the screen."""
        columns, rows = self.size
        self.post_message(self.Resized(columns, rows - 1))
        schedule(self, 0.1, lambda: self.post_message(self.Resized(*self.size)))

    # Size

    def on_resize(self, event: events.Resize) -> None:
        """Take the widget's size, and say so."""
        self._resize(event.size)

    def _resize(self, size: Size) -> None:
        if not size.width or not size.height:
            return
        if self.terminal is None:
            self.terminal = TerminalEmulator(size.width, size.height, self._typed)
        else:
            self.terminal.resize(size.height, size.width)
        self.post_message(self.Resized(size.width, size.height))
        self._draw_soon()
        self.refresh()

    # How it is drawn

    def render_line(self, y: int) -> Strip:
        """Render one row of the terminal."""
        if self._look is None:
            self._look = get_styles(self.app.current_theme, colourful=not self.app.no_color)
        look, width, terminal = self._look, self.size.width, self.terminal
        if terminal is None or y >= terminal.lines or (y not in terminal.buffer and y != self._cursor.y):
            inverse = Style(reverse=terminal is not None and terminal.inverse)
            return Strip.blank(width, adapt_program_style(look, inverse))
        row: dict[int, GridCell] = terminal.buffer[y]
        has_cursor = not terminal.cursor.hidden and self._cursor.y == y and self.has_focus
        cursor = self._cursor.x if has_cursor else -1
        if cursor > 0 and not row[cursor].data:
            cursor -= 1
        segments: list[Segment] = []
        text, style, x = "", Style.null(), 0
        columns = min(width, terminal.columns)
        while x < columns:
            cell = row[x]
            data, ink = cell.data or " ", cell.style
            wide = measure_width(data[0]) == 2
            if wide and (x + 1 >= columns or row[x + 1].data):
                # Half of it was overwritten.
                data, wide = " ", False
            if (x == cursor) != terminal.inverse:
                ink += Style(reverse=not ink.reverse)
            if ink != style and text:
                segments.append(Segment(text, adapt_program_style(look, style)))
                text = ""
            style = ink
            text += data
            x += 1 + wide
        segments.append(Segment(text, adapt_program_style(look, style)))
        return Strip(segments).adjust_cell_length(width, adapt_program_style(look, Style()))

    # What the person does

    def on_key(self, event: events.Key) -> None:
        """Send what a terminal would send."""
        if event.key == _SUSPEND:
            return
        application = self.terminal is not None and CURSOR_KEYS in self.terminal.private_modes
        if text := encode_key(event, application=application):
            event.stop()
            event.prevent_default()
            self._typed(text)

    def on_paste(self, event: events.Paste) -> None:
        """Send what was pasted, in brackets if the program asked for them."""
        event.stop()
        bracketed = self.terminal is not None and BRACKETED_PASTE in self.terminal.private_modes
        self._typed(paste_text(event.text, bracketed=bracketed))

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Show no cursor."""
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Tell a program that wants to know."""
        self._send_mouse(event, event.button - 1)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Tell a program that wants to know."""
        self._send_mouse(event, event.button - 1, released=True)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Tell a program that wants to know where it is dragged to."""
        if event.button and self.terminal and self.terminal.private_modes & _MOUSE_MOVES:
            self._send_mouse(event, event.button - 1 + 32)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Turn the wheel for the program."""
        self._turn_wheel(event, 64, "up")

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Turn the wheel for the program."""
        self._turn_wheel(event, 65, "down")

    def _turn_wheel(self, event: events.MouseEvent, button: int, key: str) -> None:
        terminal = self.terminal
        if terminal is None or self._send_mouse(event, button) or not terminal.private_modes & ALTERNATE:
            return
        application = CURSOR_KEYS in terminal.private_modes
        self._typed(encode_key(events.Key(key, None), application=application) * _WHEEL_LINES)

    def _send_mouse(self, event: events.MouseEvent, button: int, *, released: bool = False) -> bool:
        """Send a mouse report; False where the program wants none."""
        event.stop()
        modes = self.terminal.private_modes if self.terminal else set()
        if not modes & _MOUSE or button < 0:
            return False
        button += 4 * event.shift + 8 * event.meta + 16 * event.ctrl
        x, y = int(event.x) + 1, int(event.y) + 1
        if _MOUSE_NUMBERS in modes:
            self._typed(f"\x1b[<{button};{x};{y}{'m' if released else 'M'}")
        elif max(x, y) < 95:
            # Farther out the older form is no text any more.
            self._typed(f"\x1b[M{chr(32 + (3 if released else button))}{chr(32 + x)}{chr(32 + y)}")
        return True
