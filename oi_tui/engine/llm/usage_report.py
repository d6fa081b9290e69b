"""Tracks usage and budget during a session, and tells the user about them."""

import threading
from collections.abc import Iterator

from oi_tui.engine.events import Event, Noticed, UsageReported
from oi_tui.engine.llm.base import Usage
from oi_tui.engine.llm.request import PreparedRequest
from oi_tui.engine.llm.usage import UsageTotals
from oi_tui.engine.models.known_windows import KnownWindows
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.text import format_dollars

#: A server that read less of a request than this share of its estimated size has left out some of it; of
#: small requests the estimate is too rough to tell.
_READ = 0.6
_WORTH_TELLING = 1500


class OverBudget(Exception):  # noqa: N818 -- it is what would happen, not an error
    """The next request would exceed the budget; the text is a sentence."""


class UsageTracker:
    """Counts the usage and the cost of all requests of a session; `totals` has the totals."""

    def __init__(self) -> None:
        #: What was learned of how much models take in; the Python API keeps it from chat to chat.
        self.windows = KnownWindows()
        self.totals = UsageTotals()
        self._lock = threading.Lock()
        #: The estimated price of the request that was checked last, and of those that nobody reported.
        self._estimate = self._unreported = 0.0
        #: How many messages were left out when that was last reported, and models whose servers cut requests.
        self._left_out = 0
        self._cut: set[str] = set()

    @property
    def spent(self) -> float:
        """The cost of the requests in USD; unreported usage is estimated."""
        return self.totals.cost + self._unreported

    def record(self, usage: Usage | None, estimate: float | None = None) -> tuple[UsageReported, ...]:
        """Add a request; None where the provider did not say what it used. Returns the event for the user.

        The price of a request without usage is `estimate`, in USD, where others were sent at the same time.
        """
        with self._lock:
            self.totals = self.totals.add(usage)
            if usage is None or usage.cost is None:
                self._unreported += self._estimate if estimate is None else estimate
        if usage is None:
            return ()
        return (UsageReported(usage.prompt_tokens, usage.completion_tokens, usage.cost, usage.cached_tokens),)

    def check_budget(self, tokens: int, profile: Profile, facts: ModelInfo) -> None:
        """Raise OverBudget if a request of this size would cost more than is left.

        Its price is estimated from its size, and from the length of the replies so far. Where the price is
        not known, the budget cannot be kept, and nothing is sent.
        """
        self._estimate = 0.0
        limit, total_cost = profile.max_budget, self.spent
        if limit is None:
            return
        if facts.free:
            return
        if limit == 0:
            raise OverBudget("The budget is $0.00, so nothing is sent to models that cost money.")
        if total_cost >= limit:
            raise OverBudget(
                f"You have spent {format_dollars(total_cost)} of the budget of {format_dollars(limit)}."
            )
        if facts.prompt_price is None:
            raise OverBudget(
                f"The price of {profile.model} is unknown, so the budget of "
                f"{format_dollars(limit)} cannot be kept. "
                "Choose a model with a known price, or remove max_budget."
            )
        replies = self.totals.requests - self.totals.unreported
        reply = self.totals.completion_tokens / replies if replies else 0
        self._estimate = price = tokens * facts.prompt_price + reply * (facts.completion_price or 0.0)
        if total_cost + price > limit:
            raise OverBudget(
                f"The next request would cost about {format_dollars(price)}. With the "
                f"{format_dollars(total_cost)} spent so far, that is more than the budget of "
                f"{format_dollars(limit)}."
            )

    def report_left_out(self, written: PreparedRequest, *, assumed: bool = False) -> Iterator[Event]:
        """Report that messages are left out: when it begins, and when it has become much more."""
        if written.left_out > 2 * self._left_out:
            self._left_out = written.left_out
            model, window = written.request.model, written.window or 0
            why = (
                f"The context window of {model} is unknown; {window:,} tokens are assumed (context_window "
                "sets it), and the conversation is longer"
                if assumed
                else f"The conversation no longer fits the context window of {window:,} tokens"
            )
            yield Noticed(
                f"{why}: the {written.left_out} oldest messages are omitted from the request. "
                "%compact summarises them instead."
            )
        elif not written.left_out:
            self._left_out = 0

    def report_cut(self, written: PreparedRequest) -> Iterator[Event]:
        """Report when Ollama read less than it was sent: it leaves out the beginning and does not say so."""
        model, last = written.request.model, self.totals.last
        if not model.startswith("ollama") or model in self._cut or last is None:
            return
        if 0 < last.prompt_tokens < written.tokens * _READ and written.tokens > _WORTH_TELLING:
            self._cut.add(model)
            yield Noticed(
                f"Ollama read {last.prompt_tokens:,} of the ~{written.tokens:,} tokens in the request: it "
                "dropped the beginning of the conversation. Set context_window to its real size; "
                "%tokens shows the current value.",
                "warning",
            )
