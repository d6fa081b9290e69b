"""What happens in a turn, as frozen values in the order in which it happens.

A live turn and a stored conversation tell their story in the same events, so whoever shows one shows both.
"""

import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from oi_tui.engine.files.snapshots import Step
from oi_tui.engine.review.permissions import Permission
from oi_tui.messages import Message, Report


@dataclass(frozen=True, slots=True)
class Run:
    """The answer "run this code". With `grant`, the session no longer asks for what that covers."""

    code: str
    grant: Permission | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """The answer "do not run it". The model is told `reason` and goes on; with `stop` the turn ends here.

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
        """Answer; False when somebody was quicker."""
        with self._lock:
            if self._given.is_set():
                return False
            self._value = value
            self._given.set()
            return True

    def wait(self) -> Run | Reject:
        """Block until there is an answer."""
        self._given.wait()
        assert self._value is not None
        return self._value


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The session begins to work on what the person said."""


@dataclass(frozen=True, slots=True)
class LibraryLoading:
    """LiteLLM is still being loaded, so no request can be sent yet."""


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A request is on its way to the model; words follow as they come."""

    model: str


@dataclass(frozen=True, slots=True)
class MessageStarted:
    """A message begins; its content is still empty."""

    message: Message


@dataclass(frozen=True, slots=True)
class MessageGrew:
    """The message `id` goes on with `text`."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageRecorded:
    """This is the message as it now stands, and it is saved. A known id replaces what was there."""

    message: Message


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """Nothing happens until somebody says whether `message`, a piece of code, may run.

    `caution` is a sentence about code that may not be what the model meant, `note` a fact in a few words.
    """

    message: Message
    caution: str = ""
    note: str = ""
    answer: Answer = field(default_factory=Answer, compare=False)

    def reply(self, value: Run | Reject) -> bool:
        """Answer the question; False when it was answered before."""
        return self.answer.give(value)


@dataclass(frozen=True, slots=True)
class RunReported:
    """The run of the code message `id` says something of itself."""

    id: str
    report: Report


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """While the code message `id` ran, files in the working directory changed."""

    id: str
    step: Step


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The model did not answer (`reason`); the request is sent again in `seconds`."""

    reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something that the person should know, in a sentence; it is not part of what the model sees."""

    text: str
    severity: Literal["information", "warning", "error"] = "information"


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the last request used. Costs are in USD and None where the price is not known."""

    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over; always its last event.

    `reason` is a sentence for a turn that did not simply come to its end, and `setting` names the profile's
    setting that would change the outcome.
    """

    outcome: Literal["done", "interrupted", "rejected", "paused", "failed"]
    reason: str | None = None
    setting: str | None = None


Event = (
    TurnStarted
    | LibraryLoading
    | ModelCalled
    | MessageStarted
    | MessageGrew
    | MessageRecorded
    | ApprovalRequested
    | RunReported
    | FilesChanged
    | RetryScheduled
    | Noticed
    | UsageReported
    | TurnEnded
)

_T = TypeVar("_T")
#: Part of a turn: events on the way, and a result for the part that asked for it.
Steps = Generator[Event, None, _T]
