"""What a scrolled view keeps in sight while its content grows."""

from collections.abc import Callable

from oi_tui.widgets.conversation.layout import Anchor


class ScrollMode:
    """Whether a view follows the end of its content, or stays where the person scrolled."""

    def __init__(self) -> None:
        #: Called when following the end begins or stops.
        self.on_change: Callable[[bool], None] = lambda _: None
        #: A row that is shown in place of the end, while the end is followed.
        self.lead: Anchor | None = None
        #: Whether the person scrolled; for whoever moves the view on their behalf, who resets it.
        self.scrolled = False
        self._follows_end = True

    @property
    def follows_end(self) -> bool:
        """Whether new rows are scrolled into view."""
        return self._follows_end

    @follows_end.setter
    def follows_end(self, follows: bool) -> None:
        if follows != self._follows_end:
            self._follows_end = follows
            self.on_change(follows)

    @property
    def shows_end(self) -> bool:
        """Whether the end itself is in view."""
        return self._follows_end and self.lead is None

    def begin_scrolling(self) -> None:
        """Record that the person scrolls, so that nothing else moves the view."""
        self.scrolled = True
        self.lead = None
