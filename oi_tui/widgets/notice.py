"""A short notice in the corner of the screen."""

from textual.notifications import Notification

#: The shortest time that a notice is shown, in seconds.
_SHORTEST = 0.5


class Notice(Notification):
    """A notice whose toast always goes away.

    Textual gives a toast a timer of the time that is left. Where that has passed just as the toast is made,
    as when a screen opens, the timer's time is negative. `Timer._run` then never ends, and the application
    stands still. A timer of a very short time may never fire.
    """

    @property
    def time_left(self) -> float:
        """How long a toast that is made now is shown, in seconds."""
        return max(super().time_left, _SHORTEST)

    @property
    def has_expired(self) -> bool:
        """Whether its time has passed, so that no toast is made for it."""
        return super().time_left <= 0
