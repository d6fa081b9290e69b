"""Interrupts one run, and each program that takes the terminal after the interrupt was sent."""

import contextlib
import signal
import time

from oi_tui.runtimes.language import Language
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.processes.process import LanguageProcess

#: The precision with which the system knows when a process began, in seconds.
COARSE = 0.02
#: How often the foreground is looked at, in seconds, at first and once an interrupt takes long.
_SOON, _LATER = 0.03, 0.25
#: A process that began this long before its interrupt may miss it, in seconds.
_YOUNG = 0.1
#: A question that is open so long after the interrupt, in seconds, has missed it.
_MISSED = 1.0


class Interrupt:
    """Interrupts what runs, and again what was not there or not ready when the signal was sent.

    `due` is when `follow` has something to do next. The caller sees to it that only one thread uses it.
    """

    def __init__(self, process: LanguageProcess, language: Language, nonce: str) -> None:
        self._process = process
        #: What goes to the driver along with an interrupt; `{nonce}` in it makes sure of the run's end.
        request = language.interrupt_request or ""
        self._request = request.format(nonce=nonce)
        self._insists = "{nonce}" in request
        self._may_miss = language.may_miss_interrupt
        self._sent_at = 0.0
        #: The process group that got the last signal, and whether it may have missed it.
        self._group = 0
        self._too_young = False
        self._has_repeated = False
        self._asked_at = 0.0
        self.due = 0.0

    def send(self) -> None:
        """Interrupt the program in the foreground."""
        self._group = self._process.terminal.foreground
        self._sent_at = time.monotonic()
        self._too_young = (
            self._group == self._process.pid
            or _is_young(self._group, self._sent_at)
            or process_table.is_copy_that_catches(self._group, signal.SIGINT)
        )
        self.due = time.monotonic() + 0.01
        self._process.interrupt()
        self.ask()

    def ask(self) -> None:
        """Send the driver what goes along with an interrupt."""
        self._asked_at = time.monotonic()
        if self._request:
            with contextlib.suppress(OSError, TimeoutError):
                self._process.channel.request(self._request, seconds=0.2)

    def ask_if_idle(self) -> bool:
        """Ask for the end where the language waits for requests: an interrupt that came late took its run."""
        pipe = self._process.channel.folder / "requests"
        if not self._insists or not process_table.reads_file(self._process.pid, pipe):
            return False
        self.ask()
        return True

    def follow(self, now: float) -> None:
        """Interrupt also what took the keyboard just then: what just begins may miss its first signal."""
        elapsed_seconds = now - self._sent_at
        self.due = now + (_SOON if elapsed_seconds < 2 else _LATER)
        # Ever more rarely: what cannot answer yet does not read its requests either, and they pile up.
        if self._insists and now - self._asked_at > max(0.15, elapsed_seconds / 10):
            self.ask()
        if self._may_miss and elapsed_seconds > _YOUNG:
            self._may_miss = False
            self._process.send_signal_to_language(signal.SIGINT)
        group = self._process.terminal.foreground
        if group != self._process.pid and (group != self._group or self._too_young):
            # A shell's child takes the keyboard before it becomes the program, and loses a signal until then.
            is_new, is_copy = group != self._group, process_table.is_copy_that_catches(group, signal.SIGINT)
            self._group, self._too_young = group, is_copy or _is_young(group, now)
            if is_new or not is_copy:
                self._process.send_signal(signal.SIGINT)
        elif group == self._process.pid and self._too_young:
            self._too_young = elapsed_seconds < _YOUNG
            self._process.send_signal_to_children(signal.SIGINT, since=self._sent_at - COARSE)

    def repeat_for_question(self, asked_at: float, now: float) -> None:
        """Interrupt once more what still waits for the answer to a question that was open before.

        A signal just between a program's last look for signals and its `read` does not end the `read`.
        """
        if asked_at < self._sent_at < now - _MISSED and not self._has_repeated:
            self._has_repeated = True
            self._process.send_signal_to_language(signal.SIGINT)

    def sweep(self, run_began: float) -> None:
        """End what the run leaves behind although it was interrupted."""
        groups = {self._group, self._process.terminal.foreground}
        self._process.end_leftovers(groups, since=run_began, young_since=self._sent_at - _YOUNG)


def _is_young(group: int, now: float) -> bool:
    return process_table.find_start(group) > now - _YOUNG
