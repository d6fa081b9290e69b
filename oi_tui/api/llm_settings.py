"""The settings of the model, as attributes."""

from collections.abc import Callable
from typing import ClassVar

from oi_tui.api.settings import ApiSettings, SettingGroup
from oi_tui.engine.models.function_model import Completions


class LlmSettings(SettingGroup):
    """The model and how it is reached. Every attribute can be set at any time.

    >>> from oi_tui import OpenInterpreter
    >>> interpreter = OpenInterpreter()
    >>> interpreter.llm.model = "ollama_chat/llama3.1"
    >>> interpreter.llm.temperature = 0
    """

    _title = "interpreter.llm"
    _prefix = "llm."
    _own: ClassVar[frozenset[str]] = frozenset({"_settings", "_completions", "_start"})

    def __init__(self, settings: ApiSettings, start: Callable[[], None]) -> None:
        self._settings = settings
        self._completions: Completions | None = None
        self._start = start

    def load(self) -> None:
        """Start what talks to the model now, so that the first request is quicker; returns at once.

        Nothing depends on it: a request starts what it needs.
        """
        self._start()

    @property
    def completions(self) -> Completions | None:
        """A function that answers instead of a server.

        It gets `messages`, and those of `model`, `stream`, `tools`, `max_tokens`, `temperature` and so on
        that it has as parameters. It yields text, or chunks in OpenAI's format.
        """
        return self._completions

    @completions.setter
    def completions(self, function: Completions | None) -> None:
        if function is not None and not callable(function):
            raise TypeError(f"llm.completions must be a function, not {function!r}")
        self._completions = function
