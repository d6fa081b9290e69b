"""The loop of person, model and computer, as a generator of events."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from oi_tui import paths
from oi_tui.engine import rerun
from oi_tui.engine.cell_requests import describe_calls
from oi_tui.engine.direct_runs import DirectRuns, LeftCode
from oi_tui.engine.events import (
    Event,
    FilesChanged,
    MessageRecorded,
    Noticed,
    Steps,
    TurnEnded,
    TurnStarted,
)
from oi_tui.engine.exchange import Exchange, TurnInterrupted
from oi_tui.engine.execution import Execution
from oi_tui.engine.llm import images
from oi_tui.engine.llm.base import Llm, LlmError
from oi_tui.engine.llm.token_report import Count
from oi_tui.engine.llm.usage_report import OverBudget, UsageTracker
from oi_tui.engine.message_log import MessageLog
from oi_tui.engine.model_context import ModelContext
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.protocols import CodeRunner, Recorder
from oi_tui.engine.reply import code_in_text
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.model_calls import ModelCalls
from oi_tui.engine.review.permissions import Permissions
from oi_tui.engine.rounds import Rounds
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.tools import McpTool
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.messages import Message
from oi_tui.text import clean_line

#: What a turn begins with: a text, messages, a function that returns the text, or nothing.
Prompt = str | Message | Sequence[Message] | Callable[[], str] | None


class Session:
    """One conversation at work.

    `turn` is meant to be iterated in a thread of its own; everything else may be called from any
    thread at any time.
    """

    def __init__(
        self,
        profile: Profile,
        llm: Llm,
        computer: CodeRunner,
        recorder: Recorder,
        messages: Sequence[Message] = (),
        *,
        outputs: Path | None = None,
        facts: Callable[[Profile], ModelInfo] = lambda _profile: ModelInfo(),
        usage: UsageTracker | None = None,
        watcher: FileWatcher | None = None,
        earlier: EarlierCode | None = None,
        notes: Callable[[], Sequence[str]] = tuple,
        live_names: Callable[[], str] = lambda: "",
        tools: Callable[[], Sequence[McpTool]] = tuple,
        cells_reach_model: bool = False,
    ) -> None:
        """Take `notes`, which are sent to the model with each request, after those of the languages.

        `live_names` are the variables that the languages have, in words, for the model.
        `tools` are tools of other programs that it can call. With `cells_reach_model`, Python cells can ask
        the model, as far as the profile lets them.
        """
        self._own_notes = notes
        self.profile = profile
        #: What runs without a question.
        self.permissions = Permissions(everything=profile.auto_run)
        self._computer = computer
        self._log = MessageLog(recorder, messages, outputs)
        self._watcher = watcher
        self._lock = threading.Lock()
        #: How many stops there were, of this turn and earlier ones.
        self._stops = 0
        self._stopped = threading.Event()
        self._facts = facts
        self._exchange = Exchange(llm, computer.resolve, facts, self._stopped, usage, outputs, tools)
        #: Asks for cells and runs them; it knows what the running one may do.
        self.execution = Execution(
            computer,
            self._log,
            self.permissions,
            self._stopped,
            outputs,
            watcher,
            earlier,
            self._describe_calls if cells_reach_model else None,
        )
        self._closed = False
        self._rounds = Rounds(
            self._exchange, self.execution, self._log, computer, self._stopped, self._list_request_notes
        )
        #: What the model gets of the conversation.
        self.context = ModelContext(
            self._log,
            self._exchange,
            self._rounds,
            computer,
            lambda: self.profile,
            facts,
            self._list_request_notes,
            live_names,
        )
        self._direct = DirectRuns(self.execution, self._log, self._stopped)

    @property
    def where(self) -> str:
        """Where code runs, in words; "" for this machine."""
        return self._computer.where

    @property
    def window(self) -> int | None:
        """The context window of the last request's model, in tokens; None where it is unknown."""
        return self._exchange.window

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far, in order."""
        return self._log.messages

    def replay(self) -> Iterator[Event]:
        """Yield the conversation so far as events."""
        self._log.count_cells()
        messages = self.messages
        watcher = self._watcher
        cell_ids = (
            set(watcher.snapshots.filter_kept(m.id for m in messages if m.type == "code")) if watcher else ()
        )
        for message in messages:
            yield MessageRecorded(message)
            if (
                watcher
                and message.id in cell_ids
                and (change_set := watcher.snapshots.find_change_set(message.id))
            ):
                yield FilesChanged(message.id, change_set)

    def turn(self, prompt: Prompt, *, run_last: bool = False, typed: str | None = None) -> Iterator[Event]:
        """Work on the request until there is nothing left to run; `TurnEnded` comes last.

        None goes on with the conversation as it stands; a function is asked for the words within the turn.
        With `run_last`, a last message that is code of the model's is run before the model is asked.

        Images that the person names are attached. `typed` is what the person typed, where the request has
        other text in it too, such as a paste: an image that only such text names is not attached.
        """
        return self._start(self._turn(prompt, run_last=run_last, typed=typed))

    def _turn(self, prompt: Prompt, *, run_last: bool, typed: str | None) -> Iterator[Event]:
        for message in _select_messages(prompt):
            yield from self._log.record(message)
            if message.role == "user" and message.type == "message":
                yield from self._attach_images(message.content if typed is None else typed)
        # What is for the person alone, such as a question that was kept, does not answer the code.
        seen = [message for message in self.messages if message.recipient != "user"]
        last = seen[-1:] if run_last else ()
        yield from self._run_rounds([code for code in last if rerun.has_not_run(code)])

    def _attach_images(self, typed: str) -> Iterator[Event]:
        """Attach the images that these words name, except through a link that leads out of the folder."""
        folder = self._computer.cwd
        for path in images.find_named_images(typed, folder):
            if target := paths.find_outside(path, folder):
                name = clean_line(str(path.relative_to(folder)))
                yield Noticed(
                    f"{name} was not sent: it is a link out of the folder, to {clean_line(str(target))}. "
                    "To send that file, name it by this path.",
                    "warning",
                )
            else:
                yield from self._log.record(
                    Message(role="user", type="image", format="path", content=str(path))
                )

    def run_blocks(self) -> Iterator[Event]:
        """Make the code blocks in the text of the last reply cells, ask for each, and go on with the results.

        Models that call tools write code in their text to show it, so that it is not run by itself.
        """
        return self._start(self._run_blocks())

    def _run_blocks(self) -> Iterator[Event]:
        messages = code_in_text.find(self.messages, self._computer.resolve)
        for message in messages:
            yield from self._log.record(message)
        if messages:
            yield from self._run_rounds([message for message in messages if message.type == "code"])
        else:
            yield Noticed("The last reply has no code block that could run.", "warning")
            yield TurnEnded("done")

    def _run_rounds(self, first: list[Message]) -> Iterator[Event]:
        """Run the code `first`, and go on until there is nothing left to run."""
        return _end_turn(self._rounds.run(lambda: self.profile, first))

    def compact(self) -> Iterator[Event]:
        """Have the model summarise older history; from then on it gets the summary instead."""
        return self._start(_end_turn(self.context.compact()))

    @property
    def usage(self) -> UsageTracker:
        """Usage and cost of the session's requests so far."""
        return self._exchange.usage

    @property
    def over_budget(self) -> bool:
        """Whether the budget is spent."""
        limit = self.profile.max_budget
        return limit is not None and self._exchange.usage.spent >= limit

    def count_tokens(self, count: Count | None, prompt: str = "") -> Iterator[Event]:
        """Report what the next request consists of, what `prompt` adds to it, and what all requests cost."""
        return self._start(self.context.count_tokens(count, prompt))

    def run(self, language: str, code: str) -> Iterator[Event]:
        """Run code of the person's own; the model does not see it."""
        return self._start(self._direct.run(self.profile, language, code))

    def propose(self, language: str, code: str, asker: str = "") -> Iterator[Event]:
        """Ask for and run code that another program wrote; the model does not see it.

        `asker` is what that program calls itself. With it, the code is asked for whatever was granted.
        """
        return self._start(self._direct.propose(self.profile, language, code, asker))

    def follow(self, runs: Sequence[LeftCode]) -> Iterator[Event]:
        """Show the rest of runs that were left on another machine, which is the current target by now."""
        return self._start(self._direct.follow(runs))

    def end_after_run(self) -> None:
        """End the turn when the run in progress ends, without interrupting it."""
        self._stop()
        self._exchange.cancel()

    def run_unrecorded(self, language: str, code: str) -> Iterator[Event]:
        """Ask for and run a piece of the application's own, as if a model had written it; nothing is kept."""
        return self._start(self._direct.run_unrecorded(self.profile, language, code))

    def run_again(self, codes: Sequence[Message]) -> Iterator[Event]:
        """Run earlier code again, and ask before each piece; stop after one that does not finish.

        The model does not see it. A rejected piece is skipped.
        """
        return self._start(self._direct.run_again(lambda: self.profile, codes))

    def run_beside(self, work: Callable[[threading.Event], Iterator[Event]]) -> Iterator[Event]:
        """Run other work as a turn; it gets the event that is set when the turn is stopped."""
        return self._start(work(self._stopped))

    def _describe_calls(self, calls: ModelCalls, profile: Profile) -> str:
        return describe_calls(calls, profile, self._facts(profile), self.usage.spent)

    def _list_request_notes(self) -> Sequence[str]:
        return (*self._computer.notes, *self._own_notes())

    def send_input(self, text: str) -> None:
        """Type to the running program; the input is not saved."""
        self._computer.send_input(text)

    def interrupt(self) -> None:
        """End what is in progress: the reply, the question or the run; a second time, the run's language."""
        self._stop()
        self._exchange.cancel()
        self.execution.interrupt()

    def report_losses(self) -> Iterator[Event]:
        """Report languages that ended between runs, each once; a turn does so by itself."""
        return self.execution.report_losses()

    def rewind(self, id: str, *, keep: bool = False) -> tuple[Message, ...]:
        """Remove the message and all that followed; with `keep`, only what followed it and its output.

        Returns what was dropped, in order; nothing when there is no such message.
        """
        dropped = self._log.from_on(id, keep=keep)
        self._log.forget(dropped)
        return dropped

    def bring_back(self, dropped: Sequence[Message]) -> None:
        """Append what `rewind` dropped again."""
        self._log.bring_back(dropped)

    @property
    def auto_run(self) -> bool:
        """Whether everything runs without a question."""
        return self.permissions.everything

    @auto_run.setter
    def auto_run(self, on: bool) -> None:
        self.permissions.everything = on

    @property
    def stop_signal(self) -> threading.Event:
        """Set when the turn is stopped; for long work within it."""
        return self._stopped

    @property
    def earlier(self) -> EarlierCode:
        """What the interpreters keep from code that ran."""
        return self.execution.earlier

    @property
    def fails_to_save(self) -> bool:
        """Whether saving failed, and it is not known yet that it works again."""
        return self._log.fails_to_save

    def saves_again(self) -> bool:
        """Return whether what could not be saved before is saved by now; true once."""
        return self._log.saves_again()

    def close(self) -> None:
        """End everything permanently."""
        with self._lock:
            self._closed = True
        self.interrupt()

    def _stop(self) -> None:
        with self._lock:
            self._stops += 1
            self._stopped.set()

    def _start(self, work: Iterator[Event]) -> Iterator[Event]:
        """Return the events of a turn that does this work. From now on a stop ends it."""
        return self._begin(work, self._stops)

    def _begin(self, work: Iterator[Event], stops: int) -> Iterator[Event]:
        with self._lock:
            # A stop since the call is for this turn, one before it was for an earlier turn.
            if not self._closed and self._stops == stops:
                self._stopped.clear()
        yield TurnStarted()
        yield from work


def _end_turn(steps: Steps[TurnEnded]) -> Iterator[Event]:
    """Pass events on, and say at the end how the turn ended: what fails ends it, too."""
    try:
        yield (yield from steps)
    except LlmError as error:
        yield TurnEnded("failed", error.info.sentence, error.info.setting)
    except OverBudget as over:
        yield TurnEnded("paused", str(over), setting="max_budget")
    except TurnInterrupted:
        yield TurnEnded("interrupted")


def _select_messages(prompt: Prompt) -> Sequence[Message]:
    value = prompt() if callable(prompt) else prompt
    if value is None:
        return ()
    if isinstance(value, str):
        return (Message(role="user", type="message", content=value),)
    return (value,) if isinstance(value, Message) else value
