"""A panel with the newest lines of the log."""

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from oi_tui.log import RecentLines
from oi_tui.text import clean_line

#: How often it is looked whether there is more, in seconds.
_AGAIN = 0.25
#: What the border takes of the width of the hints in it.
_EDGES = 6


class LogPanel(Static):
    """Follows the log while it is shown."""

    def __init__(self, recent: RecentLines, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._recent = recent
        self._shown = -1
        self._clock: Timer | None = None
        self.border_title = "Log"

    def on_mount(self) -> None:
        """Prepare to follow the log."""
        self._clock = self.set_interval(_AGAIN, self._follow, pause=True)

    def on_show(self) -> None:
        """Begin to follow."""
        if self._clock:
            self._clock.reset()

    def on_hide(self) -> None:
        """Stop following."""
        if self._clock:
            self._clock.pause()

    def on_resize(self) -> None:
        """Show as many lines, and as much of the hints, as there is room for."""
        hide, everything = "%verbose off hides this", "%log shows all"
        hints = f"{hide} · {everything}"
        self.border_subtitle = hints if len(hints) + _EDGES <= self.outer_size.width else hide
        self._shown = -1
        self._follow()

    def _follow(self) -> None:
        if not self.display or self._shown == self._recent.count or not self.size.height:
            return
        self._shown = self._recent.count
        newest = list(self._recent.lines)[-self.size.height :]
        if not newest:
            self.update(Content("Nothing has been logged yet."))
            return
        self.update(Content("\n".join(clean_line(line, max(20, self.size.width)) for line in newest)))
