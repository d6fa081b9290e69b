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
#: A driver that has begun to read a request heeds signals so much later at most, in seconds.
_SETTLED = 0.05
#: How often a waiting signal looks whether the request was taken, and how long it waits at most, in seconds.
_GLANCE, _LONGEST_HOLD = 0.005, 0.25
#: A question that is open so long after the interrupt, in seconds, has missed it.
_MISSED = 1.0


class Interrupt:
    """Interrupts what runs, and again what was not there or not ready when the signal was sent.

    A language ignores a signal that comes before its code runs. So a signal for a run that was not begun is
    held until the driver has taken the request; none follows a signal that may have been heeded, since that
    could break off clean-up code.

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
        #: Whether the run's request is still to be written, and its place among the requests once it was.
        self._is_unwritten = False
        self._place: int | None = None
        #: When the request was last seen before the driver took it.
        self._untaken_at = float("-inf")
        #: Whether a signal waits for the run to begin, until when, and whether one was sent before that.
        self._is_held = False
        self._held_until = 0.0
        self._was_early = False

    def hold(self) -> None:
        """Hold signals from now on: the run's request is not written yet."""
        self._is_unwritten = True

    def await_taking(self, place: int) -> None:
        """Hold signals until the driver has taken the request at this place, which was just written."""
        now = time.monotonic()
        self._is_unwritten, self._place, self._untaken_at = False, place, now
        self._held_until = now + _LONGEST_HOLD

    def _has_begun(self, now: float) -> bool:
        """Return whether the code of the run heeds signals by now."""
        if self._is_unwritten:
            return False
        if self._place is None:
            return True
        if not self._process.channel.is_taken(self._place):
            self._untaken_at = now
        elif now - self._untaken_at >= _SETTLED:
            self._place = None
            return True
        return False

    def send(self) -> None:
        """Interrupt the program in the foreground, once the run has begun."""
        now = self._sent_at = time.monotonic()
        if self._has_begun(now):
            self._send_now()
            return
        self._is_held = True
        self._held_until = now + _LONGEST_HOLD
        self.due = now + _GLANCE

    def _send_if_begun(self, now: float) -> None:
        """Send what is held once the run has begun, or was waited for too long."""
        if self._is_unwritten:
            # The start broke off while it wrote, so the place is not known.
            self.await_taking(0)
        self.due = now + _GLANCE
        has_begun = self._has_begun(now)
        is_untaken = self._untaken_at == now
        if has_begun or (is_untaken and now >= self._held_until):
            self._is_held = False
            # What keeps the driver from taking the request may itself heed the signal, or be deaf to it.
            # Where it heeds it, the driver takes the request at once.
            self._was_early = not has_begun
            self._send_now()

    def send_held(self) -> None:
        """Send at once what is held: the next step counts on it."""
        if self._is_held and not self._is_unwritten:
            self._is_held = False
            self._send_now()

    def _send_now(self) -> None:
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
        if self._is_held:
            self._send_if_begun(now)
            return
        if self._was_early and self._has_begun(now):
            self._was_early = False
            if not self._insists:
                self._send_now()
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
