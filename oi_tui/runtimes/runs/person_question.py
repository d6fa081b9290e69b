"""A question to the person that comes from outside of the program, while it runs."""

import queue
import threading
from collections.abc import Callable

from oi_tui.messages import InputReceived, InputRequested, Printed, Report

#: Seconds between two looks at whether the question still counts.
_FRAME = 0.05


class PersonQuestions:
    """Questions of one run, one at a time. What is typed meanwhile is for them, and not for the program.

    The thread of the run takes the reports; `wake` makes it look.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._taken = threading.Condition(self._lock)
        self._one_at_a_time = threading.Lock()
        self._reports: list[Report] = []
        self._typed: queue.SimpleQueue[str] | None = None
        self._closed = False

    def ask(self, text: str, prompt: str, stopped: threading.Event) -> str | None:
        """Print text and wait for a line; None once the run ends, or `stopped` is set.

        Without a prompt, nothing is asked. Any thread but that of the run. It returns once all is reported,
        so that what the program prints because of the answer comes after it.
        """
        printed = Printed((text + prompt).replace("\n", "\r\n"))
        if not prompt:
            self._add_reports(printed)
            self._wait_until_taken(stopped)
            return None
        answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        with self._one_at_a_time:
            with self._lock:
                self._typed = answers
            self._add_reports(printed, InputRequested(prompt, masked=False))
            try:
                while not (stopped.is_set() or self._closed):
                    try:
                        return answers.get(timeout=_FRAME)
                    except queue.Empty:
                        continue
                return None
            finally:
                with self._lock:
                    self._typed = None
                self._add_reports(InputReceived(), Printed("\r\n"))
                self._wait_until_taken(stopped)

    def accept_typed(self, text: str) -> bool:
        """Use typed text as the answer, where a question waits for one; return whether it does."""
        with self._lock:
            if self._typed is None:
                return False
            lines = text.split("\n")
            for line in lines if lines[-1] else lines[:-1]:
                self._typed.put(line)
            return True

    def pop_reports(self) -> list[Report]:
        """Return and forget what is to be reported."""
        with self._lock:
            reports, self._reports = self._reports, []
            self._taken.notify_all()
            return reports

    def close(self) -> None:
        """Stop asking questions."""
        with self._lock:
            self._closed = True
            self._taken.notify_all()

    def _wait_until_taken(self, stopped: threading.Event) -> None:
        with self._lock:
            while self._reports and not (stopped.is_set() or self._closed):
                self._taken.wait(_FRAME)

    def _add_reports(self, *reports: Report) -> None:
        with self._lock:
            if not self._closed:
                self._reports += reports
        self._wake()
