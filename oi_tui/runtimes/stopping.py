"""The steps that end a run which shall not go on."""

import contextlib
import signal
import time
from collections.abc import Callable
from typing import Literal

from oi_tui.messages import Stopping
from oi_tui.runtimes import process_table
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.process import LanguageProcess

Step = Literal["interrupt", "terminate", "kill"]

_STEPS: tuple[Step, ...] = ("interrupt", "terminate", "kill")
#: How long each step is given before the next follows by itself, in seconds. A language with a memory is
#: given all the time that it takes after an interrupt: only a person decides to lose the memory.
PATIENCE: dict[Step, float] = {"interrupt": 1.0, "terminate": 0.8, "kill": 1.0}
#: How long a language with a memory is given after an interrupt when nobody follows its run any more.
UNATTENDED = 10.0
#: An interrupt that follows another so soon, in seconds, is the same one: a key that is held down repeats.
REPEATED = 0.5
#: The system knows to so many seconds when a process began.
_COARSE = 0.02
#: What another interrupt ends first, if the run has child processes.
_CHILDREN = "child processes, and if needed "
#: How often the foreground is looked at, in seconds, at first and once an interrupt takes long.
_SOON, _LATER = 0.03, 0.25


class StopSteps:
    """The progress of stopping one run. The caller sees to it that only one thread uses it.

    A language with a memory is interrupted and waited for, because a library at work or clean-up code may
    take its time; only the next interrupt ends it. Anything else is ended by itself, step by step.
    """

    def __init__(
        self,
        process: LanguageProcess,
        nonce: str,
        language: Language,
        hard_signal: int | None,
        report: Callable[[Stopping], None],
        at_stake: str = "",
        run_began: float = float("-inf"),
    ) -> None:
        self._process = process
        #: Child processes that are older belong to an earlier run, and are left alone.
        self._run_began = run_began - _COARSE
        #: What goes to the driver along with an interrupt; `{nonce}` in it makes sure of the run's end.
        request = language.interrupt_request or ""
        self._request = request.format(nonce=nonce)
        self._insists = "{nonce}" in request
        self._may_miss = language.may_miss_interrupt
        self._hard_signal = hard_signal
        self._report = report
        self._at_stake = at_stake
        self._waits = bool(language.keeps)
        self._taken = 0
        self._pressed_at = 0.0
        self._next_at = 0.0
        self._began = 0.0
        self._signalled = 0
        self._too_young = False
        self._asked_at = 0.0
        self._follow_at = 0.0
        #: What is still to be done in the second step, each after half of its time.
        self._harder: list[Callable[[], None]] = []

    @property
    def begun(self) -> bool:
        """Whether the run shall end."""
        return self._taken > 0

    @property
    def killing(self) -> bool:
        """Whether the last step was taken, so that the run ends with its process."""
        return self._taken == len(_STEPS)

    @property
    def due(self) -> float:
        """When `go_on` has something to do next."""
        if not self._taken:
            return float("inf")
        return min(self._next_at, self._follow_at) if self._taken == 1 else self._next_at

    def press(self) -> None:
        """Take the next step for somebody who asks for it; a key that repeats itself asks once."""
        before, self._pressed_at = self._pressed_at, time.monotonic()
        if not (self._taken and self._waits and self._pressed_at - before < REPEATED):
            self.take()

    def leave_alone(self) -> None:
        """Nobody follows the run any more: the steps follow each other by themselves."""
        self._waits = False
        if self._taken == 1:
            self._next_at = time.monotonic() + UNATTENDED

    def take(self) -> None:
        """Take the next step, if there is one."""
        if self.killing:
            return
        step = _STEPS[self._taken]
        waits = self._waits and step == "interrupt"
        seconds = PATIENCE[step]
        self._taken += 1
        self._next_at = float("inf") if waits else time.monotonic() + seconds
        children = step != "kill" and bool(self._process.foreground_children(self._run_began))
        if step == "terminate" and children:
            # The language is given as long again once its children are gone.
            seconds *= 2
        at_stake = f"{_CHILDREN}{self._at_stake}" if children else self._at_stake
        self._report(Stopping(step, None, at_stake) if waits else Stopping(step, seconds))
        if step == "interrupt":
            self._signalled = self._process.terminal.foreground
            self._began = time.monotonic()
            self._too_young = (
                self._signalled == self._process.pid
                or process_table.began(self._signalled) > self._began - 0.1
            )
            self._follow_at = time.monotonic() + 0.01
            self._process.interrupt()
            self.ask()
        elif step == "terminate":
            self._terminate(children)
        else:
            self._process.terminal.end_program()

    def _terminate(self, children: bool) -> None:
        """End the run's child processes. The language itself only gets a signal for this, if it has one.

        Where it has none, another interrupt may end it. So that comes last, when no child is left.
        """
        if self._hard_signal or not children:
            self._insist()
        self._signal_children(signal.SIGTERM)
        self._harder = [lambda: self._signal_children(signal.SIGKILL)]
        if children:
            self._harder += [self._insist, lambda: None]
        self._next_at = time.monotonic() + PATIENCE["terminate"] / 2

    def _insist(self) -> None:
        self._process.send_signal_to_language(self._hard_signal or signal.SIGINT)
        self.ask()

    def _signal_children(self, number: int) -> None:
        self._process.send_signal_to_children(number, self._run_began)

    def take_last(self) -> None:
        """Take the last step at once."""
        self._taken = max(self._taken, len(_STEPS) - 1)
        self.take()

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

    def go_on(self, now: float) -> None:
        """Do what is due: harder steps, and signals for what took the keyboard meanwhile."""
        if not self._taken:
            return
        if now >= self._next_at:
            self._escalate(now)
        if self._taken == 1 and now >= self._follow_at:
            self._follow_foreground(now)

    def sweep(self) -> None:
        """End what the run leaves behind although it was interrupted."""
        # What was being started when the interrupt came is nobody's any more.
        self._process.send_signal_to_children(signal.SIGINT, since=self._began - 0.1)
        groups = {self._signalled, self._process.terminal.foreground}
        self._process.end_deaf_children(groups, since=self._run_began)

    def _escalate(self, now: float) -> None:
        step = _STEPS[self._taken - 1]
        seconds = PATIENCE[step]
        if step == "terminate" and self._harder:
            self._next_at = now + seconds / 2
            self._harder.pop(0)()
        elif step == "kill":
            self._next_at = now + seconds
            self._process.terminal.end_program()
        else:
            self.take()

    def _follow_foreground(self, now: float) -> None:
        """Interrupt also what took the keyboard just then: what just begins may miss its first signal."""
        waited = now - self._began
        self._follow_at = now + (_SOON if waited < 2 else _LATER)
        # Ever more rarely: what cannot answer yet does not read its requests either, and they pile up.
        if self._insists and now - self._asked_at > max(0.15, waited / 10):
            self.ask()
        if self._may_miss and now - self._began > 0.1:
            self._may_miss = False
            self._process.send_signal_to_language(signal.SIGINT)
        group = self._process.terminal.foreground
        if group != self._process.pid and (group != self._signalled or self._too_young):
            self._signalled, self._too_young = group, False
            self._process.send_signal(signal.SIGINT)
        elif group == self._process.pid and self._too_young:
            self._too_young = now - self._began < 0.1
            self._process.send_signal_to_children(signal.SIGINT, since=self._began - 0.02)
