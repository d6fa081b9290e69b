"""Context windows of models: configured, learnt from a refusal, or assumed."""

from dataclasses import replace

from oi_tui.engine.llm.base import ErrorInfo, LlmError
from oi_tui.engine.llm.request import PreparedRequest
from oi_tui.engine.llm.stated_limit import read_stated_limit
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile

#: Sizes are estimates, so a request is refused here only if it is this many times too large.
_CERTAINLY = 2
#: The share of an estimate to use after it was too low, and the share of a limit to fill.
_LESS, _SAFE = 0.75, 0.95
_SMALLEST = 256


class KnownWindows:
    """The windows of the models that a session asks."""

    def __init__(self) -> None:
        self._learned: dict[tuple[str, str | None], int] = {}

    def complete(self, facts: ModelInfo, profile: Profile) -> ModelInfo:
        """Return the facts with a window in every case."""
        learned = self._learned.get((profile.model, profile.api_base))
        window = profile.context_window or facts.context_window
        if learned is not None and (window is None or learned < window):
            return replace(facts, context_window=learned, window_from="the server refused more", learned=True)
        if window is None:
            source = "assumed, see assumed_window; context_window sets it"
            return replace(
                facts, context_window=profile.assumed_window, window_from=source, window_assumed=True
            )
        return facts

    def learn(self, profile: Profile, error: ErrorInfo, written: PreparedRequest) -> str | None:
        """Take a model's window from its refusal. Returns what to say; None where nothing was learned."""
        stated = read_stated_limit(error.detail) if error.kind == "context" else None
        if stated is None:
            return None
        window = stated.limit
        if stated.used is not None and stated.used > written.tokens:
            # The text has more tokens for this model than were estimated.
            window = int(window * written.tokens / stated.used * _SAFE)
        elif window >= written.tokens:
            window = int(written.tokens * _LESS)
        self._learned[profile.model, profile.api_base] = max(_SMALLEST, window)
        return (
            f"{profile.model} accepts {stated.limit:,} tokens, and the conversation is longer. It is sent "
            "again without its oldest messages. %compact summarises them instead."
        )


def check_size(written: PreparedRequest, facts: ModelInfo, model: str) -> None:
    """Raise LlmError where what must be sent is much longer than the model takes in."""
    window = written.window
    if window is None or written.tokens <= window * _CERTAINLY:
        return
    limit = (
        f"The context window of {model} is unknown, and {window:,} tokens are assumed. Set context_window if "
        "the model accepts more. Otherwise, shorten"
        if facts.window_assumed
        else f"{model} accepts {window:,} tokens. Shorten"
    )
    raise LlmError(
        ErrorInfo(
            "context",
            f"The newest message is too long: the request has about {written.tokens:,} tokens. {limit} the "
            "message, or save the text to a file and name the file, so that code can read it.",
            "context_window",
        )
    )
