"""Shows what the application waits for, in the place where the answer will appear."""

import time
from dataclasses import dataclass
from math import ceil

from rich.segment import Segment
from textual.timer import Timer

from oi_tui.text import clean_line, format_elapsed
from oi_tui.widgets.conversation.rows import Row, Span, clip_spans
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.conversation.transcript import Transcript

#: How long a frame of the spinner stays, in seconds.
_FRAME = 0.12
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
#: What stands in the spinner's place where nothing should move.
_RESTING = "•"


@dataclass(frozen=True, slots=True)
class Activity:
    """What is being waited for: a description, its start and expected end, and details.

    `since` and `until` are seconds on the monotonic clock; `until` is None if unknown.
    """

    words: str
    since: float
    until: float | None = None
    facts: tuple[str, ...] = ()

    def row(self, now: float, width: int, look: Styles, *, motion: bool) -> Row:
        """Return the line at this time, at most `width` cells wide."""
        mark = _FRAMES[int((now - self.since) / _FRAME) % len(_FRAMES)] if motion else _RESTING
        words = self.words[:1].upper() + self.words[1:]
        if self.until is not None:
            words = f"{words} in {max(ceil(self.until - now), 0)} s"
        seconds = now - self.since
        facts = (format_elapsed(int(seconds)) if seconds >= 1 and self.until is None else "", *self.facts)
        spans: list[Span] = [(f"{mark} ", look.accent), (words, look.accent)]
        spans += [(f" · {clean_line(fact, 60)}", look.muted) for fact in facts if fact]
        return Row([Segment(*span) if isinstance(span, tuple) else span for span in clip_spans(spans, width)])


class ActivityLine:
    """Shows an activity below the last block of a transcript, with a spinner."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._activity: Activity | None = None
        self._timer: Timer | None = None

    def start_timer(self) -> None:
        """Make the timer of the spinner, once the transcript is mounted."""
        self._timer = self._transcript.set_interval(_FRAME, self._draw, pause=True)

    def show(self, activity: Activity | None) -> None:
        """Show an activity; None removes it."""
        if activity == self._activity or self._timer is None:
            return
        self._activity = activity
        if activity is None:
            self._timer.pause()
            self._transcript.show_tail(None)
        else:
            self._draw()
            self._timer.resume()

    def _draw(self) -> None:
        if self._activity is not None:
            motion = self._transcript.app.animation_level != "none"
            width, look = self._transcript.block_width, self._transcript.look
            self._transcript.show_tail(self._activity.row(time.monotonic(), width, look, motion=motion))
