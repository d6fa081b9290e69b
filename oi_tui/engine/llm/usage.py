"""Counts tokens and cost of a session's requests, as the providers report them."""

from dataclasses import dataclass

from oi_tui.engine.llm.base import Usage
from oi_tui.text import format_dollars


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """The sums so far. Every request sends the conversation again, and is counted again.

    `cost` is in USD; requests without a known price count nothing in it, and are `unpriced`. `unreported` are
    those whose provider did not report what they used.
    """

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    unreported: int = 0
    last: Usage | None = None

    def add(self, usage: Usage | None) -> "UsageTotals":
        """Return the sums after another request."""
        amounts = usage or Usage(0, 0, None)
        return UsageTotals(
            self.requests + 1,
            self.prompt_tokens + amounts.prompt_tokens,
            self.cached_tokens + amounts.cached_tokens,
            self.completion_tokens + amounts.completion_tokens,
            self.cost + (amounts.cost or 0.0),
            self.unpriced + (amounts.cost is None),
            self.unreported + (usage is None),
            usage or self.last,
        )

    @property
    def price(self) -> str:
        """The cost as text: "$0.0312", or "at least $0.0312" where some prices are unknown."""
        if self.requests and self.unpriced == self.requests:
            return "cost unknown"
        cost_text = format_dollars(self.cost)
        return f"at least {cost_text}" if self.unpriced else cost_text

    @property
    def short_price(self) -> str:
        """The cost for a place with little room: "$0.03", or "cost unknown" where no price is known.

        It is "" where nothing was paid, and where no provider reported any usage.
        """
        if self.last and self.unpriced == self.requests:
            return self.price
        if not self.cost:
            return ""
        return f"{'at least ' if self.unpriced else ''}{format_dollars(self.cost, short=True)}"
