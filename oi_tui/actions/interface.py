"""The interface that actions need of the full screen, of plain lines, or of a test."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from oi_tui.engine.events import Event
from oi_tui.engine.settings.profile import Profile

T = TypeVar("T")

#: Shown where something would disturb what is in progress.
BUSY = "Busy. Press esc to stop first."


class UserInterface(Protocol):
    """Shows messages, asks questions, and runs slow work in the background."""

    @property
    def busy(self) -> bool:
        """Whether a turn is at work."""

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        """Show a notice that can be read again."""

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        """Ask whether to act, showing what would be done."""

    def edit(self, text: str, suffix: str) -> str:
        """Let the person edit a text in their own editor; return it unchanged if they have set none."""

    def run_then(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Run slow work in the background, and pass its result on."""

    def start(self, events: Iterator[Event]) -> None:
        """Work through a session's events."""

    def show_session(self) -> None:
        """Show the current conversation again, after it was replaced or changed."""

    def put_back(self, text: str) -> None:
        """Put text into the prompt."""

    def apply_profile(self, profile: Profile) -> None:
        """Apply these settings."""

    def switch_auto_run(self, on: bool | None) -> None:
        """Ask before code runs or do not; None switches to the other."""


class DisplayActions(Protocol):
    """The appearance of the interface."""

    def apply(self, profile: Profile) -> None:
        """Apply the profile's appearance."""

    def switch_theme(self, name: str) -> None:
        """Use a theme; without a name, choose one."""

    def switch_mouse(self, on: bool | None) -> None:
        """Use the mouse or not; None switches to the other."""

    def switch_sidebar(self, on: bool | None) -> None:
        """Show or hide the sidebar; None switches to the other."""
