"""The steps that stop a run."""

import signal
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import Literal

from oi_tui.messages import Stopping
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.processes.process import LanguageProcess
from oi_tui.runtimes.runs.interrupt import COARSE, Interrupt

Step = Literal["interrupt", "terminate", "kill"]

#: How long each step is given before the next follows by itself, in seconds. A language with a memory is
#: given all the time that it takes after an interrupt: only a person decides to lose the memory.
TIMEOUT: dict[Step, float] = {"interrupt": 1.0, "terminate": 0.8, "kill": 1.0}
#: How long a language with a memory is given after an interrupt when nobody follows its run any more.
UNATTENDED = 10.0
#: An interrupt that follows another so soon, in seconds, is the same one: a key that is held down repeats.
REPEATED = 0.5
#: What another interrupt ends first, if the run has child processes.
_CHILDREN = "child processes, and if needed "


class StopStage(Enum):
    """How far the stop of a run has come."""

    RUNNING = auto()
    INTERRUPTED = auto()
    #: Its child processes end, and then the language.
    TERMINATING = auto()
    #: The language is killed; the run ends with its process.
    KILLING = auto()


#: The step that is taken at each stage, and the stage that it leads to.
_NEXT: dict[StopStage, tuple[Step, StopStage]] = {
    StopStage.RUNNING: ("interrupt", StopStage.INTERRUPTED),
    StopStage.INTERRUPTED: ("terminate", StopStage.TERMINATING),
    StopStage.TERMINATING: ("kill", StopStage.KILLING),
}


class StopSteps:
    """The progress of stopping one run. The caller sees to it that only one thread uses it.

        RUNNING --press--> INTERRUPTED --press, or 1 s--> TERMINATING --press, or 0.8 s--> KILLING
           |                    |                              |                             |    |
           |                    | foreground is followed       | SIGTERM, then SIGKILL for   | <--+ again
           |                    | every 0.03 s, later 0.25 s   | children; then the language |  every 1 s
           +------------------- begin_last -------------------------------------------------->

    A language with a memory is interrupted and waited for, because a library at work or clean-up code may
    take its time; only the next press ends it, or 10 s when nobody follows its run any more (`leave_alone`).
    Anything else is ended by itself, step by step.
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
        self._run_began = run_began - COARSE
        self.interrupt = Interrupt(process, language, nonce)
        self._hard_signal = hard_signal
        self._report = report
        self._at_stake = at_stake
        self._waits = bool(language.keeps)
        self._stage = StopStage.RUNNING
        self._pressed_at = 0.0
        #: When the next step follows by itself.
        self._next_at = 0.0
        #: What is still to be done while TERMINATING, each after half of its time.
        self._harder: list[Callable[[], None]] = []

    @property
    def begun(self) -> bool:
        """Whether the run has to end."""
        return self._stage is not StopStage.RUNNING

    @property
    def killing(self) -> bool:
        """Whether the last step was taken, so that the run ends with its process."""
        return self._stage is StopStage.KILLING

    @property
    def due(self) -> float:
        """When `advance` has something to do next."""
        if self._stage is StopStage.RUNNING:
            return float("inf")
        if self._stage is StopStage.INTERRUPTED:
            return min(self._next_at, self.interrupt.due)
        return self._next_at

    def press(self) -> None:
        """Take the next step, because the person asked for it; a key that repeats asks once."""
        before, self._pressed_at = self._pressed_at, time.monotonic()
        if not (self.begun and self._waits and self._pressed_at - before < REPEATED):
            self.begin_next()

    def leave_alone(self) -> None:
        """Take each further step without waiting for the person, who no longer follows the run."""
        self._waits = False
        if self._stage is StopStage.INTERRUPTED:
            self._next_at = time.monotonic() + UNATTENDED

    def begin_next(self) -> None:
        """Begin the next step, if there is one."""
        if self.killing:
            return
        step, self._stage = _NEXT[self._stage]
        waits = self._waits and step == "interrupt"
        seconds = TIMEOUT[step]
        self._next_at = float("inf") if waits else time.monotonic() + seconds
        children = step != "kill" and bool(self._process.list_foreground_children(self._run_began))
        if step == "terminate" and children:
            # The language is given as long again once its children are gone.
            seconds *= 2
        at_stake = f"{_CHILDREN}{self._at_stake}" if children else self._at_stake
        self._report(Stopping(step, None, at_stake) if waits else Stopping(step, seconds))
        if step == "interrupt":
            self.interrupt.send()
        elif step == "terminate":
            self.interrupt.send_held()
            self._terminate(children)
        else:
            self._process.terminal.end_program()

    def begin_last(self) -> None:
        """Begin the last step at once."""
        if not self.killing:
            self._stage = StopStage.TERMINATING
            self.begin_next()

    def advance(self, now: float) -> None:
        """Do what is due: harder steps, and signals for what took the keyboard meanwhile."""
        if self._stage is StopStage.RUNNING:
            return
        if now >= self._next_at:
            self._take_next_step(now)
        if self._stage is StopStage.INTERRUPTED and now >= self.interrupt.due:
            self.interrupt.follow(now)

    def sweep(self) -> None:
        """End what the run leaves behind although it was interrupted."""
        self.interrupt.sweep(self._run_began)

    def _take_next_step(self, now: float) -> None:
        if self._stage is StopStage.TERMINATING and self._harder:
            self._next_at = now + TIMEOUT["terminate"] / 2
            self._harder.pop(0)()
        elif self._stage is StopStage.KILLING:
            self._next_at = now + TIMEOUT["kill"]
            self._process.terminal.end_program()
        else:
            self.begin_next()

    def _terminate(self, children: bool) -> None:
        """End the run's child processes. The language itself only gets a signal for this, if it has one.

        Where it has none, another interrupt may end it. So that comes last, when no child is left.
        """
        if self._hard_signal or not children:
            self._interrupt_hard()
        self._signal_children(signal.SIGTERM)
        self._harder = [lambda: self._signal_children(signal.SIGKILL)]
        if children:
            self._harder += [self._interrupt_hard, lambda: None]
        self._next_at = time.monotonic() + TIMEOUT["terminate"] / 2

    def _interrupt_hard(self) -> None:
        self._process.send_signal_to_language(self._hard_signal or signal.SIGINT)
        self.interrupt.ask()

    def _signal_children(self, number: int) -> None:
        self._process.send_signal_to_children(number, self._run_began)
