"""Detects whether a running program waits for input from the keyboard."""

import time
from collections.abc import Callable
from enum import Enum, auto

from oi_tui.messages import InputReceived, InputRequested, Printed, Report
from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.processes.channel import Event
from oi_tui.runtimes.processes.process import LanguageProcess
from oi_tui.runtimes.runs.interrupt import Interrupt
from oi_tui.runtimes.runs.output import RunOutput

#: How long a program must be quiet before it is checked for waiting for input, in seconds.
_QUIET = 0.06
#: How many looks in a row must find a program stopped before it is reported.
_STANDSTILL = 3
#: A reader that sleeps on so long after an answer was not woken by it, in seconds; it is asked once more.
_SLOWEST_WAKE = 2.0
#: The longest typed line that every terminal keeps, in bytes: 4,095 on Linux, 1,023 on macOS.
_LONGEST_LINE = 1000


class Waiting(Enum):
    """Whether the program waits for input, and how that is known."""

    NO = auto()
    #: The driver has reported it on the channel, and will report its end.
    REPORTED = auto()
    #: It was seen to read the terminal.
    SEEN = auto()


class InputWatch:
    """Reports when a program begins to wait for input, and when it no longer does.

                 +-- the driver says so ---------> REPORTED --- input_end, or the end of the run --+
        NO ------+                                                                                 +--> NO
                 +-- it is quiet and seen to read ---> SEEN --- seen not to read, or the end ------+

    While SEEN, another report follows when what was asked was answered, or when echo is switched.
    """

    def __init__(
        self,
        process: LanguageProcess,
        output: RunOutput,
        interrupt: Interrupt,
        hidden_inputs: set[str],
        report: Callable[[Report], None],
        began: float,
    ) -> None:
        """`hidden_inputs` collects what is typed where the program hides it."""
        self._process = process
        self._output = output
        self._interrupt = interrupt
        self._hidden_inputs = hidden_inputs
        self._report = report
        self._began = began
        self._state = Waiting.NO
        self._masked = False
        #: When the driver reported it.
        self._asked_at = 0.0
        #: Whether what the program waited for when it was last seen was answered.
        self._answered = False
        #: When the person last typed.
        self._typed_at = 0.0
        #: Who waited for that, as `process_table.readers` says.
        self._readers: frozenset[tuple[str, bytes]] | None = None
        #: Looks in a row that saw it read, and looks in a row that saw it stopped.
        self._sighted = 0
        self._still = 0
        self._check_at = 0.0

    @property
    def due(self) -> float:
        """When `look` has something to see next."""
        if self._state is Waiting.REPORTED:
            return float("inf")
        return max(self._check_at, self._output.last_at + _QUIET)

    def begin(self, event: Event) -> None:
        """Take from the driver that the program waits."""
        self._output.flush()
        self._process.terminal.accept_any_line(False)
        self._state = Waiting.REPORTED
        self._asked_at = time.monotonic()
        self._masked = not self._process.terminal.echoing
        prompt = event.get("prompt", self._output.prompt)
        self._report(InputRequested(str(prompt), self._masked))

    def end(self) -> None:
        """Note that the program no longer waits."""
        if self._state is not Waiting.NO:
            self._output.flush()
            self._process.terminal.accept_any_line(False)
            self._state = Waiting.NO
            self._check_at = time.monotonic() + 0.02
            self._report(InputReceived())

    def note_typed(self, text: str) -> None:
        """Check soon whether the program still waits, or waits for another line."""
        if self._state is not Waiting.NO and self._masked:
            self._hidden_inputs.update(filter(None, text.splitlines()))
        self._answered = self._answered or any(end in text for end in "\n\r\x04")
        if max(map(len, text.encode("utf-8", "replace").split(b"\n"))) > _LONGEST_LINE:
            self._process.terminal.accept_any_line()
        self._typed_at = time.monotonic()
        self._check_at = self._typed_at + 0.01

    def note_printed(self) -> None:
        """Note that a program that was seen to wait may have gone on: something was printed."""
        if self._state is Waiting.SEEN:
            self._check_at = 0.0

    def check(self, now: float, *, finished: bool) -> None:
        """See whether the program waits for the keyboard, where it does not say so itself."""
        if now < self._check_at or now - self._output.last_at < _QUIET:
            return
        self._check_at = now + (0.1 if now - self._began < 5 else 0.25)
        if self._state is Waiting.REPORTED:
            self._interrupt.repeat_for_question(self._asked_at, now)
        if self._state is Waiting.REPORTED or finished:
            return
        group = self._process.terminal.foreground
        if group and self._process.pid and not self._interrupt.ask_if_idle():
            self._check_group(now, group)

    def _check_group(self, now: float, group: int) -> None:
        terminal = self._process.terminal
        device = terminal.device
        pids = process_table.list_foreground(self._process.pid, group)
        self._report_standstill(pids)
        readers = process_table.list_readers(pids, device)
        masked = not terminal.echoing
        reads = masked and now - self._output.last_at > 0.3 if readers is None else bool(readers)
        waits = self._state is not Waiting.NO
        if self._process.is_typing:
            # The rest of a long line may be for this reader, and the terminal is set for such a line.
            self._typed_at = now
            return
        if reads and (terminal.unread or self._is_asleep(now, readers)):
            # It has yet to take what was typed.
            return
        asks = reads and (not waits or self._answered or masked != self._masked)
        if asks and self._sighted < (1 if self._output.is_on_a_line else 4):
            # A program that says so itself does it within moments, and with its prompt; so look twice, and
            # longer where no prompt has come yet: a busy terminal hands over late.
            self._sighted += 1
            self._check_at = now + 0.03
            return
        self._sighted = 0
        if asks:
            terminal.accept_any_line(False)
            self._state, self._masked, self._answered = Waiting.SEEN, masked, False
            self._readers = readers
            self._output.flush(now)
            self._report(InputRequested(self._output.prompt, masked))
        elif not reads and waits:
            self.end()

    def _is_asleep(self, now: float, readers: frozenset[tuple[str, bytes]] | None) -> bool:
        """Return whether who was answered has not been woken yet: a busy system is slow."""
        just_answered = self._answered and now - self._typed_at < _SLOWEST_WAKE
        return just_answered and bool(readers) and readers == self._readers

    def _report_standstill(self, pids: list[int]) -> None:
        """Report a stopped program, which otherwise looks like a slow one."""
        still = process_table.list_stopped({self._process.pid, *pids})
        self._still = self._still + 1 if still else 0
        if self._still == _STANDSTILL:
            self._output.flush()
            self._report(Printed(f"\r\nStopped by a signal and not resumed: {', '.join(still)}\r\n"))
