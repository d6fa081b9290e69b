"""The interface of language models: a request goes out, pieces of a reply come back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to a model, in OpenAI's chat-completion format, which LiteLLM translates for others."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_version: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    #: How long the server may send nothing, in seconds, before it counts as lost.
    timeout: float = 120.0
    #: How many tokens the model takes in; sent to servers that need it (Ollama cuts off the rest).
    context_window: int | None = None
    #: Whether no proxy may be used: a proxy could be a machine that the profile forbids.
    direct: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning of the model before its reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallPiece:
    """A piece of a tool call. `id` and `name` come with the first piece of a call, where they come at all."""

    index: int
    id: str | None
    name: str | None
    arguments: str


@dataclass(frozen=True, slots=True)
class Signed:
    """Part of a field that the provider wants back unchanged with the tool calls of the reply.

    `name` is that of the field: see `signed_reasoning`.
    """

    name: str
    entries: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of a request as the provider counted it; `cost` in USD, None where the price is unknown.

    `cached_tokens` of the prompt were in the provider's memory from before, and are cheaper.
    """

    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    """The provider's reason for the end: `stop`, `length`, `tool_calls` or its own word; often wrong."""

    reason: str


#: Reasons for an end before the reply was complete. `missing`: the server said none. `given_up`: it
#: stopped by itself. `malformed`: it could not read what the model wrote.
BROKEN_OFF = ("missing", "given_up", "malformed")


@dataclass(frozen=True, slots=True)
class Gap:
    """The number of lines of the reply that could not be read, and are missing here."""

    lines: int


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """The server is slow to accept the request, or has accepted it after all (`accepted`)."""

    accepted: bool


Delta = Text | Reasoning | ToolCallPiece | Signed | Usage | Finish | Gap | ConnectionState


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """Why there is no complete reply, in a sentence for the user.

    `setting` names the profile's setting that would help, `retry_after` is in seconds, `retryable` says
    that the same request may well succeed later, and `detail` is the provider's own message, with keys
    taken out.
    """

    kind: Literal[
        "no_key",
        "key",
        "model",
        "address",
        "refused",
        "network",
        "rate",
        "quota",
        "timeout",
        "server",
        "context",
        "tools",
        "request",
        "empty",
        "cut",
        "process",
        "unknown",
    ]
    sentence: str
    setting: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    detail: str = ""


class LlmError(Exception):
    """Raised while a reply is read when it cannot go on."""

    def __init__(self, info: ErrorInfo) -> None:
        super().__init__(info.sentence)
        self.info = info


class Reply(Protocol):
    """A reply on its way. Iterating it yields its pieces and raises `LlmError` when it breaks off."""

    def __iter__(self) -> Iterator[Delta]: ...

    def cancel(self) -> None:
        """End the reply, from any thread: the iteration stops at once and the connection is closed."""


class Llm(Protocol):
    """Something that answers requests: LiteLLM in its process, or a function."""

    def reply(self, request: Request) -> Reply:
        """Send the request. Returns at once; waiting happens while iterating."""
        ...
