"""The API key in the profile editor: shows where it is, saves it, deletes it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.timer import Timer

from oi_tui.engine.credentials.key_source import KeySource, find_key_source
from oi_tui.engine.credentials.keys import ORDER, SecretError, Secrets, find_variable_name
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.screens.profile.interfaces import EditorScreen

#: So long after the last key that changed the model, in seconds, its key is looked for.
_QUIET = 0.3


class ApiKeyPanel:
    """Finds, saves and deletes the API key of the profile's model.

    The keyring is asked in threads, because the person may have to unlock it first.
    """

    def __init__(self, editor: "EditorScreen", secrets: Secrets) -> None:
        self._editor = editor
        self._secrets = secrets
        self._timer: Timer | None = None
        #: Where the key is, as far as that is known by now.
        self.place: KeySource | None = None

    def check_soon(self) -> None:
        """Look for the key when the person stops typing."""
        if self._timer:
            self._timer.stop()
        self._timer = self._editor.set_timer(_QUIET, self.check)

    def check(self) -> None:
        """Look for the key of the model that the fields name, saved or not."""
        profile = self._editor.current
        self._run_in_thread(lambda: self._call(self._show, find_key_source(profile, self._secrets)))

    def _show(self, place: KeySource) -> None:
        self.place = place
        forget = " f3 deletes it." if place.kept else ""
        self._editor.explain("api_key", f"{place.words}{forget} {ORDER}")

    def save(self, profile: Profile) -> None:
        """Save the profile's key outside of its file.

        If its provider is not known, it is used, but not saved.
        """
        key, name = str(profile.api_key), find_variable_name(profile.model, profile.api_base)
        learn(key)
        if name is None:
            self._notify("The API key is used until you quit and is not saved: it has no provider name.")
            self._editor.key_kept()
            return
        self._editor.show_notice("Saving the API key ...")

        def save() -> None:
            try:
                was_saved = self._secrets.save(name, key)
            except SecretError as error:
                self._call(self._editor.show_notice, f"Not saved: {error}")
                return
            api_key = self._secrets.find(name)
            is_overridden = api_key is not None and api_key.value != key
            self._call(self._show_kept, name, was_saved, is_overridden)

        self._run_in_thread(save)

    def _show_kept(self, name: str, where: str, hidden: bool) -> None:
        text = "the system's keyring" if where == "keyring" else "a file that only you can read"
        # Another one that is looked for first would be found at the next start.
        but = (
            " However, the one in the environment takes precedence at the next start: unset it."
            if hidden
            else ""
        )
        self._notify(f"{name} is saved in {text}, not in the profile.{but}")
        self._editor.key_kept()

    def forget(self) -> None:
        """Delete the saved key, after a question."""
        place = self.place
        if place is None or place.name is None:
            return
        name = place.name
        lines = [place.words, "This cannot be undone; the provider's site shows keys or creates new ones."]
        question = f"Delete the API key {clean_line(name, 60)}?"
        self._editor.app.push_screen(
            ConfirmDialog(question, lines), lambda yes: self._forget(name) if yes else None
        )

    def _forget(self, name: str) -> None:
        def delete() -> None:
            try:
                self._secrets.forget(name)
            except SecretError as error:
                self._call(self._editor.show_notice, f"Could not delete it: {error}")
            else:
                self._call(self._report_deleted, name)

        self._run_in_thread(delete)

    def _report_deleted(self, name: str) -> None:
        if self._editor.profile.origins.get("api_key") == "changed":
            self._editor.remove_key()
        self._editor.show_notice(f"Deleted {name}.")
        self.check()

    def _run_in_thread(self, work: Callable[[], object]) -> None:
        self._editor.run_worker(work, thread=True, group="key", exit_on_error=False)

    def _call(self, act: Callable[..., None], *given: object) -> None:
        """Continue in the event loop of the screen."""
        self._editor.call_later(act, *given)

    def _notify(self, text: str) -> None:
        self._editor.app.notify(clean_line(text, 300), markup=False)
