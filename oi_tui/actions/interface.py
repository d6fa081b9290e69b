"""What the actions of commands need of a user interface: the full screen, plain lines, or a test."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from oi_tui.engine.events import Event
from oi_tui.engine.settings.profile import Profile

T = TypeVar("T")

#: Shown where something would disturb what is in progress.
BUSY = "Busy. Press esc to stop first."


class UserInterface(Protocol):
    """Says, asks and shows things, and does what takes its time."""

    @property
    def busy(self) -> bool:
        """Whether a turn is at work."""

    def tell(self, text: str, *, warning: bool = False) -> None:
        """Say something where it can be read again."""

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Ask whether to act, showing what would be done."""

    def edit(self, text: str, suffix: str) -> str:
        """Have the person edit a text in their own editor; where they named none, return it as it is."""

    def aside(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Do what takes its time, and go on with what it gives."""

    def start(self, events: Iterator[Event]) -> None:
        """Work through a session's events."""

    def show_session(self) -> None:
        """Show the conversation at work again: it is another one, or has changed."""

    def put_back(self, text: str) -> None:
        """Give text back to where the person types."""

    def take_profile(self, profile: Profile) -> None:
        """Go on with these settings."""

    def switch_auto_run(self, on: bool | None) -> None:
        """Ask before code runs or do not; None switches to the other."""


class DisplayActions(Protocol):
    """What the interface looks like."""

    def apply(self, profile: Profile) -> None:
        """Show everything as the profile wants it."""

    def switch_theme(self, name: str) -> None:
        """Use a theme; without a name, choose one."""

    def switch_mouse(self, on: bool | None) -> None:
        """Use the mouse or not; None switches to the other."""

    def switch_sidebar(self, on: bool | None) -> None:
        """Show or hide the sidebar; None switches to the other."""
