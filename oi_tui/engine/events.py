"""The events of a turn: frozen values, in the order in which they happen.

A live turn and a stored conversation have the same events, so the same code shows both.
"""

import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from oi_tui.engine.review.permissions import Permission
from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.messages import Message, Report


@dataclass(frozen=True, slots=True)
class Run:
    """The answer "run this code". With `grant`, the session no longer asks for what that covers."""

    code: str
    grant: Permission | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """The answer "do not run it". The model gets `reason` and goes on; with `stop` the turn ends here.

    Without `by_person` nobody could be asked, and the code is recorded as not run rather than as rejected.
    """

    reason: str = ""
    stop: bool = False
    by_person: bool = True


class Answer:
    """A slot that takes one answer, from any thread; the first one counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given = threading.Event()
        self._value: Run | Reject | None = None

    def give(self, value: Run | Reject) -> bool:
        """Answer; False if it was answered before."""
        with self._lock:
            if self._given.is_set():
                return False
            self._value = value
            self._given.set()
            return True

    @property
    def given(self) -> bool:
        """Whether there is an answer."""
        return self._given.is_set()

    def wait(self) -> Run | Reject:
        """Block until there is an answer."""
        self._given.wait()
        assert self._value is not None
        return self._value


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The session starts to work on a message of the person."""


@dataclass(frozen=True, slots=True)
class LibraryLoading:
    """The request waits until LiteLLM is loaded."""


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A request was sent to the model; its reply follows. `tokens` is its estimated size."""

    model: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ModelConnecting:
    """The model's server is slow to accept the request, or has accepted it (`accepted`)."""

    accepted: bool


@dataclass(frozen=True, slots=True)
class MessageStarted:
    """A message begins. Its content is still empty."""

    message: Message


@dataclass(frozen=True, slots=True)
class MessageGrew:
    """`text` was added to the message `id`."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageRecorded:
    """The message was saved in this form. A known id replaces the earlier form."""

    message: Message


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The turn waits for the decision whether `message`, a piece of code, may run.

    `caution` is a warning about the code, such as that it may have been cut off. `note` is a short fact.
    `asker` is what another program calls itself that wants the code to run; "" for the model and the person.
    """

    message: Message
    caution: str = ""
    note: str = ""
    asker: str = ""
    answer: Answer = field(default_factory=Answer, compare=False)

    def reply(self, value: Run | Reject) -> bool:
        """Answer the question. Return False when it was answered before."""
        return self.answer.give(value)

    def run(self) -> bool:
        """Run the code unchanged. Return False when the question was already answered."""
        return self.reply(Run(self.message.content))

    def edit(self, code: str) -> bool:
        """Run this code instead. Return False when the question was answered before."""
        if not isinstance(code, str):
            raise TypeError(f"the code must be text, not {type(code).__name__}")
        return self.reply(Run(code))

    def reject(self, reason: str = "", *, stop: bool = False) -> bool:
        """Do not run the code, and tell the model why. With `stop` the turn ends.

        Return False when the question was answered before.
        """
        return self.reply(Reject(reason, stop=stop))

    @property
    def answered(self) -> bool:
        """Whether the question was answered."""
        return self.answer.given


@dataclass(frozen=True, slots=True)
class RunReported:
    """The run of the code message `id` sent a report."""

    id: str
    report: Report


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """Files in the working directory changed while the code message `id` ran."""

    id: str
    change_set: ChangeSet


@dataclass(frozen=True, slots=True)
class FileCopied:
    """The progress of copying a file between this machine and a target, in bytes."""

    name: str
    done: int
    size: int


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The model did not answer because of `reason`. The request is sent again in `seconds`."""

    reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Noticed:
    """A sentence for the person. The model does not get it."""

    text: str
    severity: Literal["information", "warning", "error"] = "information"


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The usage of the last request. `cost` is in USD, or None when the price is not known."""

    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over. This is always its last event.

    `reason` is a sentence when the turn ended early, and `setting` is the setting that would change that.
    """

    outcome: Literal["done", "interrupted", "rejected", "paused", "failed"]
    reason: str | None = None
    setting: str | None = None


Event = (
    TurnStarted
    | LibraryLoading
    | ModelCalled
    | ModelConnecting
    | MessageStarted
    | MessageGrew
    | MessageRecorded
    | ApprovalRequested
    | RunReported
    | FilesChanged
    | FileCopied
    | RetryScheduled
    | Noticed
    | UsageReported
    | TurnEnded
)

_T = TypeVar("_T")
#: Part of a turn: events on the way, and a result for the part that asked for it.
Steps = Generator[Event, None, _T]
