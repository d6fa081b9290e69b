"""The interface of the profile editor for its parts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from textual.app import App
from textual.timer import Timer
from textual.worker import Worker

from oi_tui.engine.credentials.key_source import KeySource
from oi_tui.engine.settings.profile import Profile


class KeyPanel(Protocol):
    """The API key of the profile's model."""

    #: Where the key is, as far as it is known.
    place: KeySource | None

    def save(self, profile: Profile) -> None:
        """Save the profile's key outside its file."""

    def forget(self) -> None:
        """Delete the saved key, after a question."""


class EditorScreen(Protocol):
    """The screen that edits a profile."""

    profile: Profile
    path: Path | None

    @property
    def key(self) -> KeyPanel | None:
        """The panel of the API key; None where keys are not saved."""

    @property
    def app(self) -> App[Any]:
        """The application."""

    @property
    def has_changes(self) -> bool:
        """Whether there are unsaved changes."""

    @property
    def current(self) -> Profile:
        """The profile with the unsaved changes."""

    def show_notice(self, text: str) -> None:
        """Show a notice in the last line."""

    def explain(self, name: str, more: str) -> None:
        """Show a sentence below a setting."""

    def leave(self) -> None:
        """Close the editor."""

    def dismiss(self, result: Profile | None) -> object:
        """Close the editor with this profile."""

    def reset_all(self) -> None:
        """Reset all settings to their defaults."""

    def key_kept(self) -> None:
        """Continue after the API key was saved."""

    def remove_key(self) -> None:
        """Remove the API key from the profile."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call back after `delay` seconds."""

    def call_later(self, callback: Callable[..., object], *args: Any) -> bool:
        """Call back in the screen's own turn."""

    def run_worker(
        self, work: Callable[[], object], *, thread: bool, group: str, exit_on_error: bool
    ) -> Worker[Any]:
        """Run something slow in a thread."""
