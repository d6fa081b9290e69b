"""A session of the server: one conversation, worked on in a thread, watched by any number of clients."""

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Reject,
    Run,
    RunReported,
    TurnEnded,
    TurnStarted,
)
from oi_tui.engine.output.console import ConsoleText
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.permissions import Permission, list_offers
from oi_tui.engine.session import Prompt
from oi_tui.messages import InputReceived, InputRequested, Message, RunEnded
from oi_tui.runtimes.runs.stopping import UNATTENDED
from oi_tui.server.backend import Backend
from oi_tui.server.event_log import (
    SESSION_ENDED,
    ApprovalQuestion,
    EventLog,
    LogItem,
    MessagesReplaced,
    QuestionAnswered,
    SessionEnded,
)
from oi_tui.server.feed import Feed
from oi_tui.server.options import ServerLimits
from oi_tui.system.failures import describe_failure
from oi_tui.text import clean_line
from oi_tui.turn_worker import TurnWorker

#: The scopes that clients can approve. Code without findings is not among them: what has none depends on
#: code that ran before.
_GRANTS = ("code", "count", "language")
_NO_GRANT = "No approval has this number. Approving later code needs a server started with --allow-settings."
#: How long the turn of a session that is ended may take to stop, in seconds.
_CLOSING = 10.0
_NOBODY = "Nobody was connected who could approve it."


class ConflictError(Exception):
    """The request does not fit the state of the session; the message says why."""


def compute_code_hash(code: str) -> str:
    """Return the hash of code, by which an answer names what was shown."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


class Snapshot(NamedTuple):
    """The state of a session at one moment."""

    #: The number of the newest event.
    number: int
    #: The messages, unfinished ones too, and the ids of those.
    messages: list[Message]
    unfinished: frozenset[str]
    question: ApprovalQuestion | None
    waits_for: InputRequested | None
    #: How the newest turn ended; None while one is in progress.
    ended: TurnEnded | None


class HostedSession:
    """A conversation on the server, its open question, and the log of its events.

    All methods may be called from any thread.
    """

    def __init__(self, id: str, backend: Backend, limits: ServerLimits) -> None:
        self.id = id
        self.backend = backend
        self.log = EventLog(limits.history_bytes)
        self.created = self.used = time.time()
        self.question: ApprovalQuestion | None = None
        #: What was reported of the wait for input in progress; a second time where the program hides it.
        self._input_requests: tuple[InputRequested, ...] = ()
        #: Whether clients may approve later code too, as “always” in the window does.
        self.may_grant = False
        #: What clients of Open Interpreter's protocol still have to get of the turn that one of them began.
        self.feed: Feed | None = None
        self._lock = threading.RLock()
        self._idle = threading.Event()
        self._idle.set()
        self._ended: TurnEnded | None = None
        #: Whether a client has stopped the turn, and the timer that stops it again.
        self._stopping = False
        self._last_stop: threading.Timer | None = None
        self._closed = False
        #: Messages that are being written, with their text so far.
        self._writing: dict[str, tuple[Message, _Text]] = {}

    @property
    def busy(self) -> bool:
        """Whether a turn is in progress."""
        # Within the lock, so that a session which is free has the end of its turn in the log.
        with self._lock:
            return not self._idle.is_set()

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self._closed

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""
        return self.backend.messages

    def snapshot(self) -> Snapshot:
        """Return the current state; events after its number continue from there."""
        with self._lock:
            messages = {message.id: message for message in self.messages}
            unfinished = frozenset(self._writing) - messages.keys()
            for message, text in self._writing.values():
                messages.setdefault(message.id, message.replace(content=text.content()))
            ended = None if self.busy else self._ended or TurnEnded("done")
            return Snapshot(
                self.log.last, list(messages.values()), unfinished, self.question, self.waits_for, ended
            )

    @property
    def waits_for(self) -> InputRequested | None:
        """The input that a program waits for."""
        return self._input_requests[-1] if self._input_requests else None

    def is_waiting_since(self, request: object) -> bool:
        """Return whether a program still waits for the input that this request has reported."""
        return any(item is request for item in self._input_requests)

    def say(self, prompt: Prompt) -> None:
        """Begin a turn. Raises ConflictError while another one is in progress."""
        self._begin(lambda: self.backend.turn(prompt))

    def propose(self, language: str, code: str) -> None:
        """Ask for code of another program, and run it. Raises ConflictError while a turn is in progress."""
        self._begin(lambda: self.backend.propose(language, code))

    def answer(
        self,
        id: str,
        hash: str,
        decision: str,
        *,
        code: str = "",
        reason: str = "",
        stop: bool = False,
        grant: int = 0,
    ) -> None:
        """Answer the open question: "run", "always", "edit" with other code, or "reject".

        Raises ConflictError. The hash is that of the code as it was shown, so that nothing else can be meant.
        `grant` is the number of the permission that "always" gives, counted from 1.
        """
        with self._lock:
            question = self.question
            if question is None or not secrets.compare_digest(question.id.encode(), id.encode()):
                raise ConflictError("This question is no longer open.")
            if not secrets.compare_digest(question.hash.encode(), hash.encode()):
                raise ConflictError("The hash is not that of the code in question.")
            if decision == "run":
                self._close_question(question, Run(question.request.message.content), "run")
            elif decision == "always":
                if not 0 < grant <= len(question.offers):
                    raise ConflictError(_NO_GRANT)
                allowed = question.offers[grant - 1]
                self._close_question(question, Run(question.request.message.content, allowed), "run")
            elif decision == "edit":
                self._close_question(question, Run(code), "edit")
            else:
                self._close_question(question, Reject(reason, stop=stop), "reject")

    def send_input(self, text: str) -> None:
        """Type a line to the program that waits for it. Raises ConflictError when none does."""
        if self.waits_for is None:
            raise ConflictError("No program is waiting for input.")
        self._input_requests = ()
        self.backend.send_input(text)

    def forget_input(self) -> None:
        """Ask nobody any more for the input that a program waits for."""
        self._input_requests = ()

    def stop(self) -> None:
        """Stop the reply, the question or the run. Called again, end the language of the run."""
        with self._lock:
            if not self.busy:
                return
            self._stopping = True
        self.backend.interrupt()

    def end_turn(self) -> None:
        """Stop the turn for a client that will not stop it a second time, because it left or begins another.

        Code may need time to end after a stop. What still runs after ten seconds is ended by force.
        """
        with self._lock:
            if not self.busy or self._last_stop:
                return
            self._last_stop = threading.Timer(UNATTENDED, self.stop)
            self._last_stop.daemon = True
            self._last_stop.start()
        if not self._stopping:
            self.stop()

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change settings, and replace the conversation by `messages`.

        Raises ConflictError where these would change during a turn, and what the backend raises.
        """
        if "messages" not in changes:
            self.backend.change(changes)
            return
        with self._lock:
            if self.busy:
                raise ConflictError(
                    "messages cannot be replaced during a turn. Wait for its end, or stop it."
                )
            self.backend.change(changes)
            self.log.append(MessagesReplaced())

    def wait(self, timeout: float) -> bool:
        """Wait until no turn is in progress. Returns False if that takes longer than `timeout` seconds."""
        if not self._idle.wait(timeout):
            return False
        # The end of the turn is in the log once the lock is free.
        with self._lock:
            return True

    def reject_question(self) -> None:
        """Reject the open question, because no client is connected that could answer it."""
        with self._lock:
            if self.question:
                self._close_question(self.question, Reject(_NOBODY, stop=True, by_person=False), "withdrawn")

    def close(self) -> None:
        """End everything, and let the clients know."""
        with self._lock:
            self._closed = True
        self.backend.interrupt()
        if not self.wait(_CLOSING):
            self._append(TurnEnded("interrupted", SESSION_ENDED))
        # Before the languages end, which may take a while.
        self._append(SessionEnded())
        self.backend.close()

    def _begin(self, work: Callable[[], Iterator[Event]]) -> None:
        with self._lock:
            if self._closed:
                raise ConflictError("This session is closed.")
            if self.busy:
                raise ConflictError("The session is busy. Wait for its end, or stop it first.")
            self._idle.clear()
            self._ended = None
            self._stopping = False
            self.feed = None
            self.used = time.time()
        try:
            threading.Thread(
                target=self._run_turn, args=(work,), name=f"session-{self.id}", daemon=True
            ).start()
        except RuntimeError as error:
            self._idle.set()
            raise ConflictError(f"The turn could not begin: {describe_failure(error)}.") from None

    def _run_turn(self, work: Callable[[], Iterator[Event]]) -> None:
        worker = TurnWorker(_start(work), self._handle_events)
        worker.run()
        # The end is sent once the session is free, so that a client can go on at once.
        self._input_requests = ()
        self._withdraw_question()
        self.used = time.time()
        ended = self._ended or TurnEnded("done")
        with self._lock:
            if self._last_stop:
                self._last_stop.cancel()
                self._last_stop = None
            self._idle.set()
            # Within the lock, so that nobody who goes on now takes it for the end of the next turn.
            self._append(ended)

    def _handle_events(self, worker: TurnWorker) -> None:
        for event in worker.pop_events():
            self._withdraw_question()
            match event:
                case TurnStarted() if self._stopping:
                    # The session forgets earlier stops when a turn begins.
                    self.backend.interrupt()
                case ApprovalRequested():
                    self._ask(event)
                    continue
                case TurnEnded():
                    self._ended = event
                    continue
                case RunReported(_, InputRequested() as request):
                    self._input_requests += (request,)
                case RunReported(_, InputReceived() | RunEnded()):
                    self._input_requests = ()
            self._append(event)

    def _append(self, item: LogItem) -> None:
        with self._lock:
            match item:
                case MessageStarted(message):
                    self._writing[message.id] = (message, _make_text(message))
                case MessageGrew(id, more) if id in self._writing:
                    self._writing[id][1].write(more)
                case MessageRecorded(message):
                    self._writing.pop(message.id, None)
                case TurnEnded():
                    self._writing.clear()
            self.log.append(item)

    def _ask(self, request: ApprovalRequested) -> None:
        message = request.message
        language, computer = message.format or "", self.backend.computer
        findings = self.backend.scan(language, message.content)
        question = ApprovalQuestion(
            secrets.token_urlsafe(16),
            request,
            compute_code_hash(message.content),
            clean_line(computer.describe(language)),
            clean_line(computer.where) or str(computer.cwd),
            tuple(clean_line(words) for words in (*findings.sentences, findings.conclusion) if words),
            findings.nothing_listed,
            self._list_permissions(language, message.content, findings),
        )
        with self._lock:
            self.question = question
            self.log.append(question)

    def _list_permissions(self, language: str, code: str, findings: Findings) -> tuple[Permission, ...]:
        """Return the permissions that a client may give. Only a flag of the server can approve everything."""
        if not self.may_grant:
            return ()
        computer = self.backend.computer
        permissions = list_offers(
            computer.resolve(language) or language, code, computer.cwd, findings=findings
        )
        return tuple(offer for offer in permissions if offer.scope in _GRANTS)

    def _close_question(self, question: ApprovalQuestion, answer: Run | Reject, decision: str) -> None:
        self.question = None
        if not question.request.reply(answer):
            decision = "withdrawn"
        self.log.append(QuestionAnswered(question.id, decision))  # type: ignore[arg-type]
        if decision == "withdrawn" and not (isinstance(answer, Reject) and not answer.by_person):
            raise ConflictError("This question is no longer open.")

    def _withdraw_question(self) -> None:
        """Close a question that the stop of the turn has answered."""
        with self._lock:
            if self.question:
                question, self.question = self.question, None
                self.log.append(QuestionAnswered(question.id, "withdrawn"))


class _Text(Protocol):
    """The text of a message that is being written. Long output of programs is shortened."""

    def write(self, text: str) -> None:
        """Add a piece."""

    def content(self) -> str:
        """Return the text so far."""


class _WholeText:
    """The text of a message of the model."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        """Add a piece."""
        self._pieces.append(text)

    def content(self) -> str:
        """Return the text so far."""
        return "".join(self._pieces)


def _make_text(message: Message) -> _Text:
    """Return an empty text for a message that begins."""
    return ConsoleText(message.id, None) if message.type == "console" else _WholeText()


def _start(work: Callable[[], Iterator[Event]]) -> Iterator[Event]:
    """Begin the work within the turn's thread, so that its errors end the turn."""
    yield from work()
