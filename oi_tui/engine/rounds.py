"""The rounds of a turn: ask the model, run its code, give it the results, and ask again."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from oi_tui.engine.events import Event, Noticed, Steps, TurnEnded
from oi_tui.engine.exchange import Exchange
from oi_tui.engine.execution import Execution
from oi_tui.engine.message_log import MessageLog
from oi_tui.engine.protocols import CodeRunner
from oi_tui.engine.reply import code_in_text
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message

#: The most rounds of model and code in a row without a decision of the person.
UNATTENDED_ROUNDS = 30
#: The same code with the same result, this often in a row, is a loop.
SAME_RESULTS = 3


class Rounds:
    """Goes from model to code and back until there is nothing left to run, or a person should look.

    `notes` are sent to the model with each request.
    """

    def __init__(
        self,
        exchange: Exchange,
        execution: Execution,
        log: MessageLog,
        computer: CodeRunner,
        stopped: threading.Event,
        notes: Callable[[], Sequence[str]],
    ) -> None:
        self._exchange = exchange
        self._execution = execution
        self._log = log
        self._computer = computer
        self._stopped = stopped
        self._notes = notes

    @property
    def folder(self) -> Path | None:
        """The working directory that is sent to the model; elsewhere, the notes of the place have it."""
        return None if self._computer.where else self._computer.cwd

    def run(self, profile: Callable[[], Profile], first: list[Message]) -> Steps[TurnEnded]:
        """Ask, run what comes, ask again. Returns the event that ends the turn.

        `first` is code to run before the model is asked. The profile may change between two steps.
        """
        unattended = 0
        results: list[tuple[str, ...]] = []
        while True:
            if unattended >= UNATTENDED_ROUNDS:
                return TurnEnded("paused", f"{unattended} rounds without you. Type “go on” to continue.")
            codes, first = first or (yield from self._ask(profile())), []
            if not codes:
                if self._goes_on(profile()):
                    unattended += 1
                    continue
                yield from self._offer_blocks()
                return TurnEnded("done")
            is_attended = False
            for position, code in enumerate(codes):
                outcome, was_asked = yield from self._execution.run_cell(code, profile())
                is_attended = is_attended or was_asked
                if outcome == "rejected" or self._stopped.is_set():
                    yield from self._execution.skip(codes[position + 1 :])
                    if self._stopped.is_set():
                        return TurnEnded("rejected" if outcome == "rejected" else "interrupted")
                    break
            unattended = 0 if is_attended else unattended + 1
            results.append(self._collect_results(codes))
            if len(results) >= SAME_RESULTS and len(set(results[-SAME_RESULTS:])) == 1:
                return TurnEnded(
                    "paused",
                    f"The same code gave the same result {SAME_RESULTS} times. Tell the model how to "
                    "continue.",
                )

    def _collect_results(self, codes: Sequence[Message]) -> tuple[str, ...]:
        """Return the codes and their results, for comparison."""
        ids = {code.id for code in codes}
        return tuple(m.content for m in self._log.messages if m.id in ids or m.parent in ids)

    def _offer_blocks(self) -> Iterator[Event]:
        """Say how to run code that the reply has in its text, where that was not read as code."""
        if self._exchange.reads_fences:
            return
        messages = code_in_text.find(self._log.messages, self._computer.resolve)
        if codes := [message for message in messages if message.type == "code"]:
            blocks, them = (
                ("a code block", "it") if len(codes) == 1 else (f"{len(codes)} code blocks", "them")
            )
            yield Noticed(f"The reply contains {blocks} that did not run. %offer asks to run {them}.")

    def _goes_on(self, profile: Profile) -> bool:
        """Return whether, in loop mode, the model's last words call for another round."""
        last = self._log.messages[-1]
        if not profile.loop or last.role != "assistant" or last.type != "message":
            return False
        return not any(phrase in last.content for phrase in profile.loop_breakers)

    def _ask(self, profile: Profile) -> Steps[list[Message]]:
        """Send the conversation to the model. Returns the code messages of its reply, in order."""
        yield from self._execution.report_losses()
        languages = self._execution.list_languages(profile)
        request = self._exchange.ask(self._log.messages, profile, languages, self.folder, self._notes())
        codes: list[Message] = yield from self._log.record_events(request)
        return codes
