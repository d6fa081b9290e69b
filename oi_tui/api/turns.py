"""The turns of an interpreter: one at a time, as events or as chunks."""

import atexit
import functools
import inspect
import logging
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeVar

from oi_tui.api import interactive
from oi_tui.api.computer import ApiComputer
from oi_tui.api.conversation_file import ConversationFile
from oi_tui.api.event_chunks import EventChunks
from oi_tui.api.finalizers import StreamReference, end_left_streams
from oi_tui.api.model import ApiModel
from oi_tui.api.settings import ApiSettings
from oi_tui.api.terminal import InputAnswerer
from oi_tui.api.threads import AsyncStreams
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageRecorded,
    Reject,
    Run,
    RunReported,
    TurnEnded,
    TurnStarted,
)
from oi_tui.engine.llm.request_log import LoggedLlm
from oi_tui.engine.open_interpreter.chunks import (
    Chunk,
    convert_messages,
    find_unknown_part,
    list_system_texts,
    split_parts,
    to_message,
)
from oi_tui.engine.session import Session
from oi_tui.messages import InputRequested
from oi_tui.runtimes.runs.stopping import UNATTENDED
from oi_tui.system.forks import call_in_forked_child

#: What `chat` accepts: words, one message, or a whole conversation that replaces the one so far.
Prompt = str | Chunk | Sequence[Chunk] | None
#: Decides about code: by calling `run`, `edit` or `reject` of the question, or by returning True or False.
OnApproval = Callable[[ApprovalRequested], object]
_T = TypeVar("_T", Event, Chunk)
_NOT_APPROVED = "This code was not run: it needs approval, and nobody could be asked."
#: The streams of turns in progress, as far as somebody holds them.
_streams = weakref.WeakSet[Generator[Any, None, None]]()
_log = logging.getLogger(__name__)


class TurnError(RuntimeError):
    """The turn could not be finished. The message says why and what to change."""


class Turns:
    """Works on messages with the model and the languages, and keeps the conversation.

    `messages` is the conversation, `file` saves it, and `new_from` is how many messages there were when the
    last turn began. `on_approval` decides about code. `async_streams` makes streams for asyncio.
    """

    def __init__(self, settings: ApiSettings, computer: ApiComputer, model: ApiModel) -> None:
        self._settings = settings
        self._computer = computer
        self._model = model
        self._lock = threading.Lock()
        self._session: Session | None = None
        #: The stream of the turn in progress, and the thread that began to read it. One that nobody holds
        #: any more must end, so it is not held here either.
        self._stream: StreamReference | None = None
        self._stream_thread = 0
        #: A mark of the last call of `stop`, and of the last one before this turn.
        self._last_stop = self._stop_before = object()
        self._messages: list[Chunk] = []
        #: Whether the script gave other messages while a turn was in progress: then they stay.
        self._was_replaced = False
        self.new_from = 0
        self.file = ConversationFile()
        self.async_streams = AsyncStreams()
        self.on_approval: OnApproval | None = None
        call_in_forked_child(self._begin_anew)

    @property
    def messages(self) -> list[Chunk]:
        """The conversation so far, one list that grows with each message of a turn."""
        return self._messages

    @messages.setter
    def messages(self, messages: Iterable[Chunk]) -> None:
        self._messages = check_messages(messages)
        self._was_replaced = True

    @property
    def new_messages(self) -> list[Chunk]:
        """The messages of the last turn."""
        return self.messages[self.new_from :]

    @property
    def is_working(self) -> bool:
        """Whether a turn is in progress."""
        return self._lock.locked()

    def require_none(self) -> None:
        """Raise TurnError if a turn is in progress, except one that is about to end: wait for that."""
        if self.is_working and (reference := self._stream):
            end_left_streams([reference])
            if stream := reference():
                self.async_streams.wait_until_closed(stream)
        if self.is_working:
            raise TurnError(
                "Another chat() of this OpenInterpreter is running. "
                "Wait for its end, close its stream, or use a second OpenInterpreter."
            )

    def chunks(
        self, message: Prompt, begun: Callable[[], object] | None = None
    ) -> Generator[Chunk, None, None]:
        """Work on a message and return chunks; taking the one after a `confirmation` runs the code.

        `begun` is called when the turn has begun: from then on `stop` stops it.
        """
        return self._guard(lambda: self._yield_chunks(message), begun)

    def events(self, message: Prompt) -> Generator[Event, None, None]:
        """Work on a message and return events, each question answered before the next event is taken."""
        return self._guard(lambda: self._yield_events(message))

    def open_events(self, message: Prompt) -> Generator[Event, None, None]:
        """Yield events as `events` does, but questions may be answered later, from another thread."""
        return self._guard(lambda: self._turn_events(message))

    def propose(self, language: str, code: str) -> Generator[Event, None, None]:
        """Ask for code that another program wrote, and run it; the model does not see it."""
        return self._guard(lambda: self._run(lambda session: session.propose(language, code)))

    def converse(self, answer: Callable[[str], object]) -> None:
        """Start a conversation on the terminal; without a terminal, `answer` each line of input."""
        self.require_none()
        before = len(self.messages)
        conversation = self._open()
        profile, runtimes = self._settings.profile, self._computer.runtimes
        if interactive.is_possible():
            with self._lock:
                model = self._model.interactive_model()
                ended = interactive.run(profile, model, runtimes, conversation, self._computer.earlier)
                self.messages = self.file.finish_turn(ended.messages)
            self.new_from = before
            if ended.signal_number:
                # It was meant for the script, too.
                signal.raise_signal(ended.signal_number)
        else:
            for words in interactive.read_lines():
                answer(words)
            self.new_from = before

    def stop(self) -> None:
        """Stop the current turn, from any thread."""
        # First, so that a turn that has no session yet is stopped when it has one.
        self._last_stop = object()
        if session := self._session:
            session.interrupt()
        self._model.stop_questions()

    def leave_stream(self) -> None:
        """End the turn whose stream this thread began to read, unless it is called from within the turn."""
        stream = self._stream() if self._stream else None
        if stream is None or self._stream_thread != threading.get_ident():
            return
        if inspect.getgeneratorstate(stream) == inspect.GEN_SUSPENDED:
            stream.close()

    def begin(self) -> Session:
        """Return a session of the conversation with the settings of this moment."""
        profile = self._settings.profile
        journal, messages = self._open()
        learn(profile.api_key)
        if system_texts := list_system_texts(self.messages):
            profile = profile.with_changes(
                system_message="\n\n".join((profile.system_message, *system_texts))
            )
        model, facts = self._model.choose()
        self._session = Session(
            profile,
            LoggedLlm(model),
            self._computer.in_turns,
            journal,
            messages,
            facts=facts,
            usage=self._model.usage,
            earlier=self._computer.earlier,
        )
        return self._session

    def _begin_anew(self) -> None:
        """Leave the turn and the file to the process that this one was forked from; keep the messages."""
        self._lock, self._session, self._stream = threading.Lock(), None, None
        self.file.forget()

    def _check_list(self) -> None:
        """Check the messages: the list may have been changed since it was assigned."""
        self._messages[:] = check_messages(self._messages)

    def _open(self) -> Any:
        self._computer.declare()
        self._check_list()
        settings, cwd = self._settings, self._computer.runtimes.cwd
        return self.file.open(self.messages, settings.profile, cwd, export=settings.chose_folder)

    def _guard(
        self, work: Callable[[], Iterator[_T]], begun: Callable[[], object] | None = None
    ) -> Generator[_T, None, None]:
        """Do the work unless another turn is in progress. Raises TurnError."""

        def stream() -> Generator[_T, None, None]:
            # A forked process has another one.
            lock = self._lock
            while not lock.acquire(blocking=False):
                self.require_none()
            self._stream, self._stream_thread = own[0], threading.get_ident()
            self._stop_before = self._last_stop
            try:
                if begun:
                    begun()
                yield from work()
            finally:
                self._stream = None
                lock.release()

        own: list[StreamReference] = []
        generator = stream()
        own.append(weakref.ref(generator))
        _streams.add(generator)
        return generator

    def _yield_chunks(self, message: Prompt) -> Iterator[Chunk]:
        with closing(self._turn_events(message)) as events:
            yield from self._translate(events)

    def _translate(self, events: Iterator[Event]) -> Iterator[Chunk]:
        translated = EventChunks(self._make_input_answerer())
        for event in events:
            decided = isinstance(event, ApprovalRequested) and event.answered
            for chunk in () if decided else translated.convert(event):
                try:
                    yield chunk
                except TurnError:
                    if isinstance(event, ApprovalRequested):
                        event.reply(Reject(_NOT_APPROVED, stop=True, by_person=False))
                    raise
            if isinstance(event, ApprovalRequested):
                event.reply(Run(self._find_approved_code(event)))

    def _find_approved_code(self, question: ApprovalRequested) -> str:
        """Return the code to run: scripts of Open Interpreter edit it in the last of the messages."""
        message = question.message
        contents = (item.get("content") for item in reversed(self._messages) if item.get("id") == message.id)
        edited = next(contents, None)
        return edited if isinstance(edited, str) else message.content

    def _yield_events(self, message: Prompt) -> Iterator[Event]:
        with closing(self._turn_events(message)) as events:
            yield from self._answer(events)

    def _answer(self, events: Iterator[Event]) -> Iterator[Event]:
        """Pass events on, and see that questions and programs that wait for input are answered."""
        program_input = self._make_input_answerer()
        for event in events:
            yield event
            if isinstance(event, ApprovalRequested) and not event.answered:
                event.reply(Reject(_NOT_APPROVED, stop=True, by_person=False))
                raise TurnError(
                    "The question was not answered: call its run(), edit(code) or reject(reason)."
                )
            if isinstance(event, RunReported) and isinstance(event.report, InputRequested):
                program_input.answer(event.report, event.id)

    def _turn_events(self, message: Prompt) -> Generator[Event, None, None]:
        """Work on a turn; its questions are put to `on_approval`. Raises TurnError where it fails."""
        prompt = self._prompt(message)
        return self._run(lambda session: session.turn(prompt, run_last=prompt is None))

    def _run(self, work: Callable[[Session], Iterator[Event]]) -> Generator[Event, None, None]:
        session = self.begin()
        # After the model and the languages were made, so that it happens before they are ended.
        _close_streams_at_exit()
        turn = work(session)
        self._was_replaced = False
        try:
            for event in turn:
                if isinstance(event, TurnStarted) and self._last_stop is not self._stop_before:
                    session.interrupt()
                if isinstance(event, MessageRecorded | ApprovalRequested):
                    self._follow(convert_messages(session.messages))
                if isinstance(event, ApprovalRequested) and self.on_approval:
                    self._decide(event, self.on_approval)
                yield event
                if isinstance(event, TurnEnded) and (
                    event.outcome == "failed" or event.setting == "max_budget"
                ):
                    raise TurnError(event.reason)
        finally:
            # Whoever closes the stream at the question rejects it; the turn then comes to its own end. In a
            # forked process, the turn is that of its parent.
            if self._session is session:
                _end(session, turn)
                self._follow(self.file.finish_turn(session.messages))
                self._session = None

    def _follow(self, messages: Iterable[Chunk]) -> None:
        """Show the progress of the turn in the list, unless the script replaced it."""
        if not self._was_replaced:
            self._messages[:] = messages

    def _decide(self, question: ApprovalRequested, decide: OnApproval) -> None:
        """Ask a function to decide. Raises what it raises, and TurnError where it does not decide."""
        try:
            answer = decide(question)
            if isinstance(answer, bool) and not question.answered:
                _ = question.run() if answer else question.reject()
            if not question.answered:
                raise TurnError(
                    "on_approval did not decide: call run(), edit(code) or reject(reason) of the question, "
                    "or return True or False."
                )
        finally:
            question.reply(Reject(_NOT_APPROVED, stop=True, by_person=False))

    def _make_input_answerer(self) -> InputAnswerer:
        return InputAnswerer(lambda text: self._computer.runtimes.send_input(text), self._settings.on_input)

    def _prompt(self, message: Prompt) -> Any:
        """Apply what `chat` was given. Returns the message of the person, None where there is no new one."""
        if isinstance(message, list | tuple):
            self.messages = list(message)
        elif not isinstance(message, str | dict | None):
            raise TypeError(
                f"chat() takes a text, a message or a list of messages, not {type(message).__name__}"
            )
        parts = check_messages([message]) if isinstance(message, dict) else []
        self._check_list()
        is_new = isinstance(message, str | dict)
        self.new_from = len(self.messages) + (len(parts) or is_new)
        return [to_message(part) for part in parts] or (message if is_new else None)


def _end(session: Session, turn: Iterator[Event]) -> None:
    """Stop what is in progress and wait for its end.

    Meanwhile nobody can press stop again. So a run that does not end is stopped a second time, which ends
    its language.
    """
    if sys.is_finalizing():
        # The threads that work on it have been stopped for good.
        return
    session.interrupt()
    again = threading.Timer(UNATTENDED, session.interrupt)
    again.daemon = True
    try:
        again.start()
    except RuntimeError:
        # The program ends, and from Python 3.12 on no thread begins any more.
        session.interrupt()
    try:
        for _ in turn:
            pass
    finally:
        again.cancel()


@functools.cache
def _close_streams_at_exit() -> None:
    atexit.register(_close_streams)


def _close_streams() -> None:
    """End the turns whose streams somebody still holds, while threads can work on them."""
    for stream in list(_streams):
        if inspect.getgeneratorstate(stream) == inspect.GEN_SUSPENDED:
            try:
                stream.close()
            except Exception:  # noqa: BLE001  # there is nobody to report it to
                _log.exception("The end of a turn failed")


def check_messages(messages: Iterable[Chunk]) -> list[Chunk]:
    """Return the messages, with each part of a message as a separate message.

    Raises TypeError for an item that is not a message.
    """
    if not isinstance(messages, Iterable) or isinstance(messages, str | bytes | dict):
        raise TypeError(f"messages is a list of messages, not {messages!r}")
    checked = []
    for item in messages:
        if not isinstance(item, dict):
            raise TypeError(f"messages must be dictionaries, not {item!r}")
        checked += split_parts(item)
    for item in checked:
        if (problem := find_unknown_part(item)) is not None:
            raise TypeError(problem)
    return checked
