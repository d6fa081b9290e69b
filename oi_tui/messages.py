"""The message types: what user, model and computer send to each other.

Messages are those of Open Interpreter 0.4.3 (its "LMC" messages: language model, computer), with a few
fields of our own about the state of code. Reports come from a running program. Everything here is a frozen
value.
"""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Union

Role = Literal["user", "assistant", "computer"]
MessageType = Literal["message", "reasoning", "code", "console", "image", "file"]

#: The state of a code message. The first four change, the others are final:
#: `finished` ran to its end, `failed` ended with an error or a non-zero status, `interrupted` was stopped
#: with the language's memory kept, `lost` took the language process with it, `rejected` was refused by the
#: person, `skipped` was not asked for because an earlier piece of the same reply was rejected or interrupted,
#: `unfinished` was cut off while the model wrote it and can never be run as it stands.
State = Literal[
    "writing",
    "queued",
    "running",
    "waiting",
    "finished",
    "failed",
    "interrupted",
    "lost",
    "rejected",
    "skipped",
    "unfinished",
]
#: Why a code message ran or did not: a person approved it unchanged, edited it first, or rejected it; or
#: auto-run or a permission allowed it.
Decision = Literal["approved", "edited", "rejected", "auto"]


#: The beginning of the reason of a run that was left running on a target, and shows as interrupted here.
DETACHED = "detached, not stopped: "


def make_message_id() -> str:
    """Return a unique id for a message."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A complete message of a conversation.

    `format` is the language of code, `output` for console text, and `path`, `base64.png` or `base64.jpeg` for
    images. `recipient` limits who sees it ("user" or "assistant"; None is both). `created` is in seconds
    since 1970. The fields from `parent` on are extensions; Open Interpreter neither writes nor reads them.
    """

    role: Role
    type: MessageType
    content: str = ""
    format: str | None = None
    recipient: Literal["user", "assistant"] | None = None
    id: str = field(default_factory=make_message_id)
    created: float = field(default_factory=time.time)
    #: Of a computer message: the id of the code message whose run printed this. Of code that was run again:
    #: the id of the code as it ran first.
    parent: str | None = None
    state: State | None = None
    decision: Decision | None = None
    #: The model's own version, where the person changed the code before it ran.
    proposed: str | None = None
    #: Why the person rejected the code, or why a run ended as it did.
    reason: str | None = None
    #: Which grant of the person's let the code run without a question, in words; None for auto-run.
    grant: str | None = None
    #: Where the code ran, in words, such as "on gpu1 as ana, /data"; None for this machine.
    where: str | None = None
    #: How long the code ran.
    seconds: float | None = None
    #: The provider's id of the tool call that carried the code; None where it came as fenced text.
    call: str | None = None
    #: Of a summary: the id of the last message that it stands for when the model is asked.
    covers: str | None = None
    #: Which reply of the model this is part of; None for other messages and in older conversations.
    reply: str | None = None
    #: Of reasoning and of signed tool calls: the model that produced it; None in older conversations.
    model: str | None = None
    #: Of the first tool call of a reply: fields that its model wants back unchanged.
    signed: Mapping[str, Any] | None = None
    #: Of output: what the model gets in place of `content`, such as a table in words.
    view: str | None = None
    #: Of output: the table that `content` shows as text, with its first and last rows, as JSON.
    table: str | None = None
    #: Fields of a stored record that this version does not know; kept so that saving loses nothing.
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_cell(self) -> bool:
        """Whether this is code that a screen shows as a cell."""
        return self.type == "code" and self.role != "computer"

    def replace(self, **changes: Any) -> "Message":
        """Return the same message (the same id) with some fields changed."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the message as a JSON object; fields that are None are left out."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "unknown"}
        return {**self.unknown, **{name: value for name, value in values.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class Starting:
    """The language is being started; the code does not run yet."""


@dataclass(frozen=True, slots=True)
class Started:
    """The code runs from now on."""


#: What a program prints to remove its output: go to the first line, and erase everything from there on.
CLEAR_OUTPUT = "\x1b[9999A\r\x1b[J"


@dataclass(frozen=True, slots=True)
class Printed:
    """The program wrote `text` to its terminal, including escape sequences.

    `view` is what the model gets in its place, where that is something else. `table` is the table that the
    text shows, as JSON. Pieces of the same text have the same `view` and `table`.
    """

    text: str
    view: str | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True)
class LineReached:
    """Line `line` of the code, counted from 1, runs now. None: no line does."""

    line: int | None


@dataclass(frozen=True, slots=True)
class Displayed:
    """The program displayed an image or a page. `format` is `base64.png`, `base64.jpeg` or `html`.

    `view` is what the model gets in its place, as of `Printed`. An image with the same `key` as an earlier
    one of the run takes its place.
    """

    format: str
    content: str
    view: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ValueBegan:
    """What is printed and displayed from now on shows one value.

    A `result` is the value of the code's last expression, a `display` one that the program displayed. `key`
    names the place of a value that the program may show again. If `is_earlier`, the place is in the output of
    an earlier run: what is printed and displayed until the value's end belongs there. A `repeat` is no new
    value: it is output that stands below a value that changed, and is written again. It may be a part of an
    earlier value.
    """

    kind: Literal["result", "display", "repeat"]
    key: str | None = None
    is_earlier: bool = False


@dataclass(frozen=True, slots=True)
class ValueEnded:
    """What is printed and displayed from now on shows no value.

    `forms` has the other forms of the value that ended, such as its Markdown, by their media types. Data of a
    JSON type is JSON.
    """

    forms: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InputRequested:
    """The program waits for a line of input. With `masked`, the input must not be shown or stored.

    A program that reads a line and waits for the next one at once sends this again, without InputReceived.
    """

    prompt: str
    masked: bool


@dataclass(frozen=True, slots=True)
class InputReceived:
    """The program no longer waits for input."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """The run is being stopped, and this step was taken. The next one follows in `seconds`, unless it ends.

    With `seconds` None there is no limit, and only another interrupt takes the next step. `at_stake` then
    says what that would end, such as "python and its variables: df, model, …". `interrupt` keeps the
    variables of the language, `terminate` may keep them, `kill` does not.
    """

    step: Literal["interrupt", "terminate", "kill"]
    seconds: float | None
    at_stake: str = ""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is over. This is always the last report. `reason` explains an unusual end in a sentence."""

    state: Literal["finished", "failed", "interrupted", "lost"]
    seconds: float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class VariablesLost:
    """A language ended while nothing ran in it, and its variables are lost.

    `reason` is a sentence; "" where the run that begins tells the person.
    """

    language: str
    reason: str


#: What a run reports while it continues.
Report = Union[  # noqa: UP007 -- evaluated on other machines too, by Python 3.8
    Starting,
    Started,
    Printed,
    LineReached,
    Displayed,
    ValueBegan,
    ValueEnded,
    InputRequested,
    InputReceived,
    Stopping,
    RunEnded,
]
