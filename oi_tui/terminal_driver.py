"""The terminal as Textual drives it, with what it answers kept apart from what is typed."""

import codecs
import os
import select
import time
from collections.abc import Callable
from typing import Any

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from oi_tui.replies import Answers, Replies

#: How often the thread that reads looks whether it should end, in seconds.
_TURN = 0.1
#: How long leaving waits for answers that would else be typed into the shell, in seconds.
_LAST_ANSWERS = 0.5


class TerminalAnswered(Message):
    """The terminal said more of what it can do."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers


class TerminalDriver(LinuxDriver):
    """Reads keys, asks the terminal what it can show, and takes leave of it.

    `farewell` gives what is written before the terminal is handed back, at the end and whenever the
    application is suspended.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._replies = Replies(lambda answers: self.send_message(TerminalAnswered(answers)))
        self.farewell: Callable[[], str] = lambda: ""

    def ask(self) -> None:
        """Ask the terminal what it can show; each answer comes as `TerminalAnswered`."""
        if self.input_tty:
            self.write(self._replies.questions())

    def run_input_thread(self) -> None:
        """Read what comes until the application ends: replies for us, the rest for the parser of keys.

        Bytes that are no UTF-8 become U+FFFD; Textual's own reader would end the application.
        """
        parser = XTermParser(self._debug)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while not self.exit_event.is_set():
                pause = self._replies.wait
                pause = _TURN if pause is None else min(pause, _TURN)
                if select.select([self.fileno], [], [], pause)[0]:
                    data = os.read(self.fileno, 4096)
                    if not data:
                        self.exit_event.wait(_TURN)
                        continue
                    keys = self._replies.feed(decoder.decode(data))
                else:
                    keys = self._replies.tick()
                if keys:
                    for event in parser.feed(keys):
                        self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)
        finally:
            for _ in parser.feed(""):
                pass

    def disable_input(self) -> None:
        """Stop reading, but not before the terminal has answered what it was asked a moment ago."""
        until = time.monotonic() + _LAST_ANSWERS
        while self._replies.expected and time.monotonic() < until and not self.exit_event.is_set():
            time.sleep(0.01)
        super().disable_input()

    def stop_application_mode(self) -> None:
        """Hand the terminal back, without our pictures."""
        if self._writer_thread is not None and (said := self.farewell()):
            self.write(said)
        super().stop_application_mode()
