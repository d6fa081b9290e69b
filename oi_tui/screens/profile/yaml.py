"""Edits the profile as YAML text."""

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static, TextArea

from oi_tui import paths, profiles
from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.settings.templates import write_starter
from oi_tui.screens.dialog import Page
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.editor.text_area import StableTextArea
from oi_tui.widgets.footer import KeyFooter

_KEYS = (("ctrl+s", "save"), ("esc", "back"))


class ProfileYaml(Page[bool]):
    """Edits the text of a profile's file and checks it with each key.

    Closes with True after the text was saved, else with None.
    """

    CSS_PATH = paths.styles() / "profile_editor.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="profile_text.leave"),
        Binding("ctrl+s", "save", "Save", id="profile_text.save", priority=True),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        try:
            self._before = profiles.read_text(path)
        except FileNotFoundError:
            self._before = write_starter()
        self._shown = escape_controls(self._before)
        self._warned = False
        #: What lies on the disk, as far as the person knows.
        self._known = self._before

    def compose(self) -> ComposeResult:
        """Mount the headline, the text, the error, and the key hints."""
        name = clean_line(paths.shorten(self._path), 200)
        yield Static(Content.assemble(("Settings", "bold"), "   ", (name, "$text-muted")), id="profile-head")
        yield StableTextArea(
            self._shown, id="profile-text", soft_wrap=False, show_line_numbers=True, tab_behavior="focus"
        )
        yield Static(id="profile-text-problem", markup=False)
        yield KeyFooter(id="profile-keys")

    def on_mount(self) -> None:
        """Focus the text."""
        self.query_one(TextArea).focus()
        self._check()

    def on_text_area_changed(self) -> None:
        """Show what is wrong in the text."""
        self._warned = False
        self._check()

    @property
    def _text(self) -> str:
        """The text to save: as it was, unless it was changed here."""
        text = self.query_one(TextArea).text
        return self._before if text == self._shown else text

    def _check(self) -> str | None:
        """Check the text, show what is wrong, and return it as a sentence."""
        problem = None
        remarks: tuple[str, ...] = ()
        try:
            profile = Profile.from_entries(yaml_file.parse(self._text), None)
            remarks = profile.unknown
        except ProfileError as error:
            problem = str(error)
        words = problem or next(iter(remarks), "")
        style = "$text-error" if problem else "$text-muted"
        self.query_one("#profile-text-problem", Static).update(Content.styled(clean_line(words, 300), style))
        self.query_one(KeyFooter).show(_KEYS)
        return problem

    def action_leave(self) -> None:
        """Close; with changes that are not saved, only when pressed twice."""
        if self._text != self._before and not self._warned:
            self._warned = True
            self.query_one(KeyFooter).show(
                _KEYS, "Unsaved changes: ctrl+s saves them, esc again discards them."
            )
            return
        self.dismiss(False)

    def _is_changed_elsewhere(self) -> bool:
        """Return whether the file was changed elsewhere; true once for each change. Raises OSError."""
        try:
            now = yaml_file.read_text(self._path)
            yaml_file.refuse_read_only(self._path)
        except FileNotFoundError:
            return False
        except ProfileError:
            now = ""
        changed, self._known = now != self._known, now
        return changed

    def action_save(self) -> None:
        """Save the text if it is a valid profile."""
        if self._check():
            self.query_one(KeyFooter).show(_KEYS, "Not saved: there is an error.")
            return
        try:
            if self._is_changed_elsewhere():
                self.query_one(KeyFooter).show(
                    _KEYS, "Not saved: another program changed the file. ctrl+s again overwrites it."
                )
                return
            paths.make_private(self._path.parent)
            paths.replace_file(self._path, self._text)
        except OSError as error:
            self.query_one(KeyFooter).show(_KEYS, f"Could not save: {paths.explain_write_error(error)}.")
            return
        self.dismiss(True)


def reread(path: Path, before: Profile) -> Profile:
    """Return the profile that the file describes now.

    Flags and environment variables of `before` still apply. Raises ProfileError or OSError.
    """
    return profiles.keep_overrides(profiles.load(path), before)
