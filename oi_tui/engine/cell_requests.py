"""Limits and counts the requests that the code of one run sends to the model."""

import threading
from collections.abc import Callable

from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.review.model_calls import ModelCalls
from oi_tui.engine.settings.profile import Profile
from oi_tui.text import format_dollars

#: The length of a reply to assume if the limit of the model is unknown, in tokens.
USUAL_REPLY = 4096
_OTHER_FUNCTIONS = (
    "This cell may not ask the model, because the cell does not name llm or llm_map. Write llm(...) or "
    "llm_map(...) in the cell itself, so that it is seen before the cell runs."
)
_SWITCHED_OFF = "Code cannot ask the model: the setting cell_requests is 0."


class CellLimit(Exception):  # noqa: N818 -- it is what would happen, not an error
    """The run may not send this; the text is a sentence."""


class CellRequests:
    """The requests to the model that one run may send. Each run has its own object.

    `most` is how many, and `cost` what all of them may cost in USD; None where that has no limit. All
    methods may be called from any thread.
    """

    def __init__(self, most: int = 0, cost: float | None = 0.0, why_not: str = _OTHER_FUNCTIONS) -> None:
        """`why_not` is what code is told where it may send none."""
        self.most = most
        self.cost = cost
        self.sent = 0
        self.spent = 0.0
        self._why_not = why_not
        self._lock = threading.Lock()
        self._stopped = False
        self._running: set[Callable[[], None]] = set()

    def begin(self, count: int) -> None:
        """Count requests that are about to be sent. Raises CellLimit where they are too many."""
        if not self.most:
            raise CellLimit(self._why_not)
        with self._lock:
            if self.sent + count > self.most:
                before = f", and {self.sent:,} were sent before" if self.sent else ""
                raise CellLimit(
                    f"This would send {count:,} request{'s' * (count != 1)} to the model{before}; this cell "
                    f"may send {self.most:,}. The setting cell_requests is the limit of each cell."
                )
            self.sent += count

    def begin_question(self, profile: Profile) -> None:
        """Count a request that is about to be sent through `computer`, which code need not name.

        Raises CellLimit where the run was stopped, or has sent or spent as much as one may.
        """
        limit, most_spent = profile.cell_requests, profile.cell_cost
        with self._lock:
            if self._stopped:
                raise CellLimit("This cell was stopped, so it cannot ask the model.")
            if not limit:
                raise CellLimit(_SWITCHED_OFF)
            if self.sent >= limit:
                raise CellLimit(
                    f"This cell has sent {self.sent:,} request{'s' * (self.sent != 1)} to the model, and may "
                    "not send more. The setting cell_requests is the limit of each cell."
                )
            if most_spent is not None and self.spent and self.spent >= most_spent:
                raise CellLimit(
                    f"This cell has spent {format_dollars(self.spent)} on requests to the model, and may not "
                    "spend more. The setting cell_cost is the limit of each cell."
                )
            self.sent += 1

    def count_cost(self, cost: float) -> None:
        """Count what a request cost, in USD."""
        with self._lock:
            self.spent += cost

    def add(self, cancel: Callable[[], None]) -> None:
        """Call this when the run is stopped or ends; at once if it already has."""
        with self._lock:
            stopped = self._stopped
            if not stopped:
                self._running.add(cancel)
        if stopped:
            cancel()

    def remove(self, cancel: Callable[[], None]) -> None:
        """Stop calling this."""
        with self._lock:
            self._running.discard(cancel)

    def stop(self) -> None:
        """Give up what is being asked: the run was stopped, or is over."""
        with self._lock:
            self._stopped = True
            running, self._running = self._running, set()
        for cancel in running:
            cancel()


def estimate_cost(tokens: int, profile: Profile, facts: ModelInfo) -> float:
    """Return the most that a request of this size costs, in USD; 0 where its price is not known."""
    if facts.free or facts.prompt_price is None:
        return 0.0
    reply = profile.max_tokens or facts.max_output or USUAL_REPLY
    return tokens * facts.prompt_price + reply * (facts.completion_price or 0.0)


def explain_off(profile: Profile, *, elsewhere: bool) -> str | None:
    """Say why code cannot ask the model, in a sentence; None where it can.

    `elsewhere`: it runs on another machine.
    """
    for setting in ("offline", "local"):
        if getattr(profile, setting):
            return f"Code cannot ask the model while the setting {setting} is on."
    if not profile.cell_requests:
        return _SWITCHED_OFF
    if profile.sandbox:
        return "Code in the sandbox cannot ask the model. %sandbox off turns the sandbox off."
    if elsewhere:
        return "Code on another machine cannot ask the model. %target local runs code on this one."
    return None


def describe_calls(calls: ModelCalls, profile: Profile, facts: ModelInfo, spent: float) -> str:
    """Say what code may ask the model, for the question whether it may run.

    `spent` is what the session has spent so far, in USD.
    """
    functions = " and ".join(f"{name}()" for name in calls.functions)
    most = min(profile.cell_requests, profile.cell_requests if calls.most is None else calls.most)
    number = f"{most:,} request{'s' * (most != 1)}"
    up_to = "" if calls.most == 1 else "up to "
    price = _describe_price(most, profile, facts, spent)
    return f"This code may send {up_to}{number} to {profile.model} with {functions}, {price}."


def _describe_price(most: int, profile: Profile, facts: ModelInfo, spent: float) -> str:
    if facts.free:
        return "which cost nothing"
    if facts.prompt_price is None:
        return "whose price is not known"
    bounds = []
    if profile.cell_cost is not None:
        bounds.append(profile.cell_cost)
    if profile.max_budget is not None:
        bounds.append(max(profile.max_budget - spent, 0.0))
    if window := facts.find_window(profile):
        reply = profile.max_tokens or facts.max_output or USUAL_REPLY
        bounds.append(most * (window * facts.prompt_price + reply * (facts.completion_price or 0.0)))
    if not bounds:
        return "without a cost limit"
    return f"for at most {format_dollars(min(bounds))}"
