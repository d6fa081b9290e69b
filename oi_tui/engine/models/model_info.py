"""Finds facts about a model before any request: from its server, else from LiteLLM's table."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from oi_tui.engine.llm import endpoint
from oi_tui.engine.models import local_servers
from oi_tui.engine.settings.profile import Profile

#: What the original takes for granted in its local mode, where nothing better is known.
LOCAL_WINDOW = 3000
LOCAL_REPLY = 1000
#: Ollama gives a model as much memory as its window needs, so that a window nobody asked for stays below
#: this.
_BEARABLE = 8192


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Facts about a model; None where unknown. Hints, not gates.

    `window_from` is the source of the window, in words. `longest_reply` is what to ask for where the profile
    says nothing; prices are in USD per token.
    """

    context_window: int | None = None
    max_output: int | None = None
    supports_functions: bool | None = None
    supports_vision: bool | None = None
    window_from: str = "LiteLLM's table"
    longest_reply: int | None = None
    prompt_price: float | None = None
    completion_price: float | None = None
    #: Nobody knows the window, and this length is assumed; or a refusal showed it.
    window_assumed: bool = False
    learned: bool = False
    #: The model runs on this machine, and costs nothing.
    free: bool = False

    def find_window(self, profile: Profile) -> int | None:
        """Return the context window that requests are fitted into, in tokens; None if it is unknown."""
        if self.learned:
            return self.context_window
        return profile.context_window or self.context_window

    def choose_window(self, profile: Profile) -> int | None:
        """Return the context window to name to the server.

        An assumed one is not named, so that no server sets memory aside for it.
        """
        return None if self.window_assumed else self.find_window(profile)


class KnownModels:
    """Remembers what was found out. `get_info` may block for a moment; it is for worker threads."""

    def __init__(self, table: Callable[[str], ModelInfo | None]) -> None:
        """`table` asks LiteLLM; None means that it gave no answer yet."""
        self._table = table
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str | None], ModelInfo] = {}

    def get_info(self, profile: Profile) -> ModelInfo:
        """Return the facts about the profile's model."""
        key = (profile.model, profile.api_base)
        with self._lock:
            facts = self._known.get(key)
        if facts is None:
            facts, lasting = self._find(profile)
            if lasting:
                with self._lock:
                    self._known[key] = facts
        if profile.local and facts.context_window is None:
            return replace(
                facts,
                context_window=LOCAL_WINDOW,
                longest_reply=LOCAL_REPLY,
                window_from="the default of local mode",
            )
        return facts

    def _find(self, profile: Profile) -> tuple[ModelInfo, bool]:
        """Look the facts up now, and say whether they are worth remembering."""
        answer = self._table(profile.model)
        table = replace(answer or ModelInfo(), free=endpoint.is_home(profile))
        own = local_servers.ask(profile.model, profile.api_base)
        if own is None:
            # A server of this machine that does not answer now may well do so later, as LiteLLM does.
            lasting = answer is not None and not local_servers.is_local(profile.model, profile.api_base)
            return table, lasting
        window, source = own.context_window, f"reported by {own.server}"
        if own.server == "Ollama" and window and window > _BEARABLE and not own.loaded_window:
            window, source = _BEARABLE, f"Ollama would take up to {window:,}, with more memory"
        return replace(
            table,
            context_window=own.loaded_window or window or table.context_window,
            window_from=source if own.loaded_window or window else table.window_from,
            supports_functions=table.supports_functions if own.tools is None else own.tools,
            supports_vision=table.supports_vision if own.vision is None else own.vision,
            free=True,
        ), answer is not None
