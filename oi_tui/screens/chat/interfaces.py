"""The parts of the chat screen and its commands that their helpers use."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from textual.app import App
from textual.notifications import SeverityLevel
from textual.screen import Screen

from oi_tui.engine.events import Event
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.models import ModelChoice
from oi_tui.widgets.prompt.prompt import Prompt

T = TypeVar("T")
#: The states of code that has not finished.
BEFORE_END = ("queued", "writing", "running")


class Follower(Protocol):
    """A part of the chat view that acts on what happens in a turn."""

    def follow(self, event: Event) -> None:
        """Act on one event; each event comes once, in the order of the session."""


class PromptScreen(Protocol):
    """A screen with a prompt."""

    prompt: Prompt

    @property
    def app(self) -> App[Any]:
        """The application."""

    def notify(
        self,
        message: str,
        *,
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a message for `timeout` seconds."""


class ThemeKeeper(Protocol):
    """What the screen looks like."""

    def save_theme(self, name: str | None) -> None:
        """Use a theme, now and at the next start; None changes nothing."""


class LanguageRunner(Protocol):
    """The languages, for the user's own code."""

    def run(self, name: str, code: str) -> None:
        """Run the user's own code."""


class ProfileUser(Protocol):
    """Opens conversations, and takes settings."""

    def open_conversation(self, id: str) -> None:
        """Show a saved conversation and go on with it."""

    def switch_profile(self, name: str) -> None:
        """Switch to the profile of that name."""

    def apply_profile(self, profile: Profile) -> None:
        """Apply these settings."""


class ChatInterface(Protocol):
    """The commands of the chat screen, as the parts that carry some of them out see them."""

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        """Add a notice to the conversation."""

    def show_screen(self, screen: Screen[T], then: Callable[[T | None], None]) -> None:
        """Push a screen, and call `then` with its result."""

    def run_in_background(self, work: Callable[[], object]) -> None:
        """Run something slow in a thread."""

    @property
    def languages(self) -> LanguageRunner:
        """The languages."""

    @property
    def display(self) -> ThemeKeeper:
        """What the screen looks like."""

    def run_then(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        """Run slow work in a thread, and call `then` with its result."""

    def switch_profile(self, name: str, then: Callable[[], object] | None = None) -> None:
        """Switch to the profile of that name; `then` is called once that is done."""

    def use_first_model(self, choice: ModelChoice | None) -> None:
        """Use a new user's first model, now and at the next start."""
