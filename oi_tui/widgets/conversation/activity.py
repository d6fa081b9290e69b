"""Shows what the application waits for, in the place where the answer will appear."""

from dataclasses import dataclass
from math import ceil

from rich.segment import Segment

from oi_tui.text import format_elapsed, one_line
from oi_tui.widgets.conversation.rows import Row, Span, clip_spans
from oi_tui.widgets.conversation.styles import Styles

#: How long a picture of the spinner stays, in seconds.
FRAME = 0.12
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
#: What stands in the spinner's place where nothing should move.
_RESTING = "•"


@dataclass(frozen=True, slots=True)
class Activity:
    """What is being waited for: words for it, when it began and ends by itself, and facts about it.

    `since` and `until` are seconds on the monotonic clock; `until` is None if unknown.
    """

    words: str
    since: float
    until: float | None = None
    facts: tuple[str, ...] = ()

    def row(self, now: float, width: int, look: Styles, *, motion: bool) -> Row:
        """Return the line at this time, at most `width` cells wide."""
        mark = _FRAMES[int((now - self.since) / FRAME) % len(_FRAMES)] if motion else _RESTING
        words = self.words[:1].upper() + self.words[1:]
        if self.until is not None:
            words = f"{words} in {max(ceil(self.until - now), 0)} s"
        waited = now - self.since
        facts = (format_elapsed(int(waited)) if waited >= 1 and self.until is None else "", *self.facts)
        spans: list[Span] = [(f"{mark} ", look.accent), (words, look.accent)]
        spans += [(f" · {one_line(fact, 60)}", look.muted) for fact in facts if fact]
        return Row([Segment(*span) if isinstance(span, tuple) else span for span in clip_spans(spans, width)])
