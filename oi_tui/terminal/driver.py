"""Textual's driver of the terminal, which separates the terminal's replies from typed input."""

import contextlib
import io
import logging
import os
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from oi_tui.system.streams import BlockingOutput
from oi_tui.terminal.input_filter import InputDecoder, InputFilter, InputUnit, Pasted, TerminalReply
from oi_tui.terminal.queries import Answers, TerminalQueries

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_log = logging.getLogger("oi_tui.terminal")
#: What undoes all that was switched on: images aside, as Textual does it, and the alternate screen last.
_HAND_BACK = "\x1b[?1000;1003;1006;1015;2004;2048;1004l\x1b[?7h\x1b[<u\x1b[?1049l\x1b[?25h"
#: How long leaving waits for answers that would else be typed into the shell, in seconds.
_LAST_ANSWERS = 0.5


class TerminalAnswered(Message):
    """The terminal reported more of what it can do."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers


class _KeyParser(XTermParser):
    """Textual's parser of keys, fed with whole sequences only."""

    def read(self, unit: str) -> list[Message]:
        """Return the events of one unit of input; it does not wait for more."""
        messages = list(self.feed(unit))
        if self._timeout_time is not None:
            self._timeout_time = 0.0
            messages += self.tick()
        return messages


def _read_typed_early(text: str) -> str:
    """Return what was typed before the application took the terminal, with enter at its end as such.

    Until then the terminal sent enter as a line feed. Within the text it stays one: a paste sends nothing.
    An answer of the terminal, or another key, may follow it already.
    """
    after = text.partition("\n")[2]
    ends = not after or (after.startswith("\x1b") and "\n" not in after)
    return text.replace("\n", "\r") if ends else text


class _Screen(BlockingOutput):
    """The terminal, as a raw stream; what is written once it is gone is dropped."""

    def write(self, data: "ReadableBuffer") -> int:
        """Write what fits, and return how many bytes that were."""
        try:
            return super().write(data)
        except OSError:
            # The thread that reads keys notices it as well, and ends the application.
            return memoryview(data).nbytes


class TerminalDriver(LinuxDriver):
    """Reads keys, asks the terminal what it can show, and takes leave of it.

    `restoring` gives what is written before the terminal is handed back, at the end and whenever the
    application is suspended.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        # Textual writes to standard error; the screen must appear also where that goes to a file.
        stream = sys.__stderr__ if sys.__stderr__ and sys.__stderr__.isatty() else sys.__stdout__
        self._screen = _Screen(stream.fileno()) if stream else None
        if self._screen:
            # What is typed is UTF-8 too. A locale that says something else is wrong about most terminals.
            self._file = io.TextIOWrapper(io.BufferedWriter(self._screen), encoding="utf-8", errors="replace")
        self._replies = TerminalQueries(lambda answers: self.send_message(TerminalAnswered(answers)))
        self.restoring: Callable[[], str] = lambda: ""
        self._parser = _KeyParser()
        #: What is written into the second wakes the thread that reads, so that it ends.
        self._woken, self._wake = os.pipe()

    def ask(self) -> None:
        """Ask the terminal what it can show; each answer comes as `TerminalAnswered`."""
        if self.input_tty:
            self.write(self._replies.build_queries())

    def run_input_thread(self) -> None:
        """Read what comes until the application ends: replies for us, the rest for the parser of keys.

        Bytes that are no UTF-8 would end the application in Textual's own reader.
        """
        decoder = InputDecoder()
        self._parser = _KeyParser(self._debug)
        units = InputFilter(lambda: self._replies.expected)
        early = True
        while not self.exit_event.is_set():
            readable = select.select([self.fileno, self._woken], [], [], 0.0 if early else units.wait)[0]
            if self._woken in readable:
                break
            if readable:
                try:
                    data = os.read(self.fileno, 4096)
                except BlockingIOError:
                    # Another program on this terminal was quicker.
                    continue
                except OSError:
                    data = b""
                if not data:
                    # The terminal is gone, and a program in between, such as make, kept the signal about it.
                    os.kill(os.getpid(), signal.SIGHUP)
                    break
                text = decoder.decode(data)
                self._dispatch(units.feed(_read_typed_early(text) if early else text))
            else:
                self._dispatch(units.tick())
            early = False

    def _dispatch(self, units: Sequence[InputUnit]) -> None:
        """Post an event for each key, click or paste, and keep what the terminal answers."""
        for unit in units:
            match unit:
                case Pasted(text):
                    self.process_message(events.Paste(text.replace("\x00", "")))
                case TerminalReply(text):
                    self._replies.read(text)
                case str():
                    self._press(unit)

    def _press(self, keys: str) -> None:
        try:
            keys_read = self._parser.read(keys)
        except Exception:  # noqa: BLE001  # no input may end the program; what cannot be read is dropped
            _log.exception("Input could not be read: %r", keys[:100])
            self._parser = _KeyParser(self._debug)
            return
        for event in keys_read:
            self.process_message(event)

    def _run_input_thread(self) -> None:
        """Read input; an error ends the application as any other does, not with Textual's traceback."""
        try:
            self.run_input_thread()
        except Exception as error:  # noqa: BLE001  # the top of a thread
            self._app.call_later(self._app._handle_exception, error)

    def disable_input(self) -> None:
        """Stop reading, after the terminal has answered the last queries."""
        until = time.monotonic() + _LAST_ANSWERS
        while self._replies.expected and time.monotonic() < until and not self.exit_event.is_set():
            time.sleep(0.01)
        os.write(self._wake, b"x")
        super().disable_input()
        os.read(self._woken, 1)

    def stop_application_mode(self) -> None:
        """Restore the terminal, and remove our images."""
        if self._writer_thread is not None and (restoring := self.restoring()):
            self.write(restoring)
        super().stop_application_mode()

    def hand_back_at_once(self) -> None:
        """Restore the terminal from any thread, when the application cannot do so itself."""
        if self._screen is not None:
            self._screen.write(_HAND_BACK.encode())
        if self.attrs_before is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
