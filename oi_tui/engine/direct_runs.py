"""Runs code that no model wrote: the person's own, that of other programs, and earlier code again."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from oi_tui.engine import rerun
from oi_tui.engine.events import Event, Noticed, TurnEnded
from oi_tui.engine.execution import Execution
from oi_tui.engine.message_log import MessageLog
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message, Report
from oi_tui.text import format_duration


@dataclass(frozen=True, slots=True)
class LeftCode:
    """Code that was left running on another machine, and its reports."""

    language: str
    code: str
    #: The id of its message; "" where it is not known.
    message: str
    reports: Callable[[], Iterator[Report]]


class DirectRuns:
    """Runs code of a session without its model, which does not see it. Each run is the content of a turn."""

    def __init__(self, execution: Execution, log: MessageLog, stopped: threading.Event) -> None:
        self._execution = execution
        self._log = log
        self._stopped = stopped

    def run(self, profile: Profile, language: str, code: str) -> Iterator[Event]:
        """Run code of the person's own, without a question."""
        message = Message(
            role="user", type="code", format=language, content=code, recipient="user", decision="approved"
        )
        requests = self._execution.rights.allow_requests(code, "python", profile, by_person=True)
        yield from self._execution.run(message, cell_requests=requests)
        yield TurnEnded("done")

    def propose(self, profile: Profile, language: str, code: str, asker: str = "") -> Iterator[Event]:
        """Ask for code that another program wrote, and run it; with `asker`, permissions do not count."""
        message = _propose(language, code)
        yield from self._log.record(message)
        state, _ = yield from self._execution.run_cell(message, profile, asker=asker)
        yield TurnEnded("rejected" if state == "rejected" else "done")

    def run_unrecorded(self, profile: Profile, language: str, code: str) -> Iterator[Event]:
        """Ask for code and run it, as if the model had written it; nothing of it is kept."""
        message = _propose(language, code).replace(recipient=None)
        with self._log.pause_recording():
            yield from self._log.record(message)
            yield from self._execution.run_cell(message, profile)
        yield TurnEnded("done")

    def follow(self, runs: Sequence[LeftCode]) -> Iterator[Event]:
        """Show the output of code that was left running, one cell for each run. Nothing new is run."""
        cells_by_id = {message.id: message for message in self._log.messages if message.is_cell}
        for run in runs:
            if self._stopped.is_set():
                break
            code = rerun.copy_for_following(cells_by_id.get(run.message), run.language, run.code, run.message)
            yield from self._execution.follow(code, run.reports(), run.message)
        yield TurnEnded("interrupted" if self._stopped.is_set() else "done")

    def run_again(self, profile: Callable[[], Profile], codes: Sequence[Message]) -> Iterator[Event]:
        """Ask for each piece again and run it, until one does not finish."""
        done: list[Message] = []
        for place, earlier in enumerate(codes, 1):
            code = rerun.copy_for_rerun(earlier)
            yield from self._log.record(code)
            before = (
                f", took {format_duration(earlier.seconds)} before" if earlier.seconds is not None else ""
            )
            title = f"{place} of {len(codes)}{before}"
            state, _ = yield from self._execution.run_cell(code, profile(), title)
            if self._stopped.is_set():
                yield TurnEnded("rejected" if state == "rejected" else "interrupted")
                return
            if state == "finished":
                done.append(self._log[code.id])
            elif state != "rejected":
                rest = len(codes) - place
                others = f"; the {rerun.count_cells(rest)} after it did not run" if rest else ""
                yield TurnEnded("paused", f"Run {place} of {len(codes)} did not finish{others}.")
                return
        now, before = (format_duration(rerun.sum_seconds(cells)) for cells in (done, codes))
        took = f"in {now}; before, all took {before}"
        yield Noticed(f"{rerun.count_cells(len(done))} ran again {took}.")
        yield TurnEnded("done")


def _propose(language: str, code: str) -> Message:
    return Message(
        role="assistant", type="code", format=language, content=code, recipient="user", state="queued"
    )
