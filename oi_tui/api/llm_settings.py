"""The settings of the model, as attributes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from oi_tui.api.replaced import make_completions
from oi_tui.api.settings import ACTING, ApiSettings, SettingGroup
from oi_tui.engine.models.function_model import Completions
from oi_tui.engine.open_interpreter.chunks import Chunk


class ModelAccess(Protocol):
    """What `llm` needs of the interpreter."""

    def load(self) -> None:
        """Start what talks to the model."""

    def reply(self, messages: Iterable[Chunk]) -> Iterator[Chunk]:
        """Ask for one reply to these messages."""

    def complete(self, parameters: dict[str, Any]) -> Iterator[Any]:
        """Ask the model itself, with LiteLLM's parameters."""

    def conversation(self) -> Sequence[Chunk]:
        """Return the messages of the conversation so far."""


class LlmSettings(SettingGroup):
    """The model and how it is reached. Every attribute can be set at any time.

    >>> from oi_tui import OpenInterpreter
    >>> interpreter = OpenInterpreter()
    >>> interpreter.llm.model = "ollama_chat/llama3.1"
    >>> interpreter.llm.temperature = 0
    """

    if TYPE_CHECKING:
        api_base: str | None
        api_key: str | None
        api_version: str | None
        assumed_window: int
        cell_cost: float | None
        cell_requests: int
        context_window: int | None
        execution_instructions: str
        max_budget: float | None
        max_tokens: int | None
        model: str
        supports_functions: bool | None
        supports_vision: bool | None
        temperature: float | None
        timeout: float

    _oi_title = "interpreter.llm"
    _oi_prefix = "llm."

    def __init__(self, settings: ApiSettings, access: ModelAccess) -> None:
        self._oi_settings = settings
        self._access = access
        #: What answers instead of a server, if the script set it.
        self._function: Completions | None = None
        # One object, so that scripts can compare it, and put it back.
        self._default: Completions = lambda **parameters: access.complete(parameters)

    def __repr__(self) -> str:
        return f"<{self._oi_title} model={self.model!r} api_base={self.api_base!r}>"

    def load(self) -> None:
        """Start what talks to the model now, so that the first request is quicker; returns at once.

        Nothing depends on it: a request starts what it needs.
        """
        self._access.load()

    def run(self, messages: Iterable[Chunk]) -> Iterator[Chunk]:
        """Ask the model for one reply to these messages. Code in the reply does not run.

        The messages are no part of the conversation. System messages among them replace
        `interpreter.system_message`. Returns pieces of text and of code. Raises TurnError where there is no
        reply.

        >>> from oi_tui import OpenInterpreter
        >>> with OpenInterpreter(model="demo") as interpreter:
        ...     pieces = list(interpreter.llm.run([{"role": "user", "type": "message", "content": "Hello"}]))
        >>> pieces[0]["type"]
        'message'
        """
        return self._access.reply(messages)

    @property
    def completions(self) -> Completions:
        """What answers requests: a function of yours, or at first one that asks the model.

        Yours gets `messages`, and those of `model`, `stream`, `tools`, `max_tokens`, `temperature` and so on
        that it has as parameters. It yields text, or chunks in OpenAI's format. It may call the one that was
        here before. `None` takes it back.
        """
        return self._function or self._default

    @completions.setter
    def completions(self, function: Completions | None) -> None:
        if function is not None and not callable(function):
            raise TypeError(f"llm.completions must be a function, not {function!r}")
        self._function = None if function is self._default else function

    @completions.deleter
    def completions(self) -> None:
        self._function = None

    def take_over(self, other: "LlmSettings") -> None:
        """Take the settings of another interpreter's model, and its `completions`."""
        for key in sorted(ACTING):
            if key.startswith(self._oi_prefix):
                self._oi_settings.write(key, other._oi_settings.read(key))
        self._function = other.function

    @property
    def function(self) -> Completions | None:
        """What answers instead of a server: a replaced `run`, or `completions`; None where a server does."""
        if getattr(self.run, "__func__", None) is _RUN:
            return self._function
        replaced: Completions = make_completions(self.run, self._access.conversation)
        return replaced


_RUN = LlmSettings.run
