"""Actions of the editor's menu on the profile's file."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths, profiles
from oi_tui.engine.settings.profile import list_settings
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.profile.menu import DifferencesDialog, MenuEntry, NameDialog, ProfileChoice, ProfileMenu
from oi_tui.screens.profile.yaml import ProfileYaml, reread
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.screens.profile.interfaces import EditorScreen


class ProfileActions:
    """Carries out the entries of the profile menu.

    `moved` is called with the path when another file is edited from now on, `switch` with the name of the
    profile to switch to.
    """

    def __init__(
        self, editor: "EditorScreen", moved: Callable[[Path], None], switch: Callable[[str], None]
    ) -> None:
        self._editor = editor
        self._moved = moved
        self._switch_to = switch
        self._deleted: tuple[Path, Path] | None = None

    def open(self) -> None:
        """Open the menu, with the entries that apply to this profile."""
        path = self._editor.path
        name = path.stem if path else "without a file"
        self._editor.app.push_screen(ProfileMenu(name, self._list_entries(path)), self._choose)

    def _list_entries(self, path: Path | None) -> list[MenuEntry]:
        """Return the entries that make sense now, in the order of the menu."""
        place = self._editor.key.place if self._editor.key else None
        own = self._editor.profile.api_key and self._editor.profile.origins.get("api_key") == "profile"
        entries = [MenuEntry("switch", "Switch to another profile", self._switch)]
        if path is not None:
            entries.append(MenuEntry("text", "Edit as text (YAML)", self._edit_text))
        entries.append(MenuEntry("differences", "Show changes", self._show_differences))
        entries.append(MenuEntry("reset_all", "Reset to defaults", self._reset_all))
        if place and place.name and own and path is not None:
            label = "Move the API key from the file to private storage"
            entries.append(MenuEntry("keep_key", label, self._save_key))
        if place and place.kept:
            entries.append(MenuEntry("forget_key", "Delete the saved API key", self._forget_key))
        if path is not None:
            entries.append(MenuEntry("duplicate", "Duplicate", self._copy_profile))
            if path.parent == paths.profiles() and path.exists():
                entries.append(MenuEntry("rename", "Rename", self._rename))
                entries.append(MenuEntry("make_default", "Make default", self._make_default))
                entries.append(MenuEntry("delete", "Delete", self._delete))
        if self._deleted:
            entries.append(MenuEntry("restore", "Restore deleted profile", self._restore))
        return entries

    def _choose(self, entry: MenuEntry | None) -> None:
        if entry is not None:
            entry.act()

    @property
    def _path(self) -> Path:
        assert self._editor.path is not None
        return self._editor.path

    def _switch(self) -> None:
        if self._editor.has_changes:
            self._editor.show_notice("Save first (ctrl+s), or your changes would be lost.")
            return
        now = self._editor.path.stem if self._editor.path else ""
        self._editor.app.push_screen(ProfileChoice(now), self._go_on_with)

    def _go_on_with(self, name: str | None) -> None:
        if name is not None:
            self._editor.leave()
            self._switch_to(name)

    def _save_key(self) -> None:
        if self._editor.key:
            self._editor.key.save(self._editor.current)

    def _forget_key(self) -> None:
        if self._editor.key:
            self._editor.key.forget()

    def _edit_text(self) -> None:
        if self._editor.has_changes:
            self._editor.show_notice("Save first (ctrl+s): the YAML view edits the same file.")
            return
        try:
            page = ProfileYaml(self._path)
        except (OSError, ProfileError) as error:
            self._editor.show_notice(f"Could not open it: {error}")
            return
        self._editor.app.push_screen(page, self._read_text_again)

    def _read_text_again(self, saved: bool | None) -> None:
        if saved:
            try:
                self._editor.dismiss(reread(self._path, self._editor.profile))
            except (OSError, ProfileError) as error:
                self._editor.show_notice(str(error))

    def _show_differences(self) -> None:
        current = self._editor.current
        lines = []
        for setting in list_settings():
            value = getattr(current, setting.name)
            if value != setting.default:
                default = clean_line(setting.show(setting.default), 30) or setting.unset
                lines.append(f"{setting.key}: {clean_line(setting.show(value), 40)}   (default: {default})")
        self._editor.app.push_screen(DifferencesDialog(lines))

    def _reset_all(self) -> None:
        question = "Reset all settings to their defaults?"
        lines = ["This resets every setting of the profile; unknown keys stay. ctrl+s then saves it."]
        self._editor.app.push_screen(
            ConfirmDialog(question, lines), lambda yes: self._editor.reset_all() if yes else None
        )

    def _copy_profile(self) -> None:
        question = NameDialog("Name of the copy", f"{self._path.stem} copy")
        self._editor.app.push_screen(question, self._copy)

    def _copy(self, name: str | None) -> None:
        if name is not None:
            self._act(
                lambda: self._go_on(profiles.duplicate(self._path, name), "Copied; you are editing the copy.")
            )

    def _rename(self) -> None:
        self._editor.app.push_screen(NameDialog("New name", self._path.stem), self._move)

    def _move(self, name: str | None) -> None:
        if name is not None:
            self._act(lambda: self._go_on(profiles.rename(self._path, name), "Renamed."))

    def _make_default(self) -> None:
        def act() -> None:
            profiles.make_default(self._path)
            self._editor.show_notice("This profile is now the default.")

        self._act(act)

    def _delete(self) -> None:
        def act() -> None:
            path = self._path
            self._deleted = (profiles.delete(path), path)
            self._go_on(paths.profiles() / "default.yaml", "Deleted; f3 restores it.")

        self._act(act)

    def _restore(self) -> None:
        def act() -> None:
            assert self._deleted is not None
            deleted, path = self._deleted
            profiles.restore(deleted, path)
            self._deleted = None
            self._go_on(path, "Restored.")

        self._act(act)

    def _go_on(self, path: Path, notice: str) -> None:
        self._editor.path = path
        self._moved(path)
        self._editor.show_notice(notice)

    def _act(self, act: Callable[[], None]) -> None:
        try:
            act()
        except ProfileError as error:
            self._editor.show_notice(f"Failed: {error}.")
        except OSError as error:
            self._editor.show_notice(f"Failed: {paths.explain_write_error(error)}.")
