"""The screen that shows, explains, checks and saves every setting."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from oi_tui import paths
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.models.model_check import CheckResult
from oi_tui.engine.settings.profile import Profile, save
from oi_tui.engine.settings.setting import ProfileError, Value
from oi_tui.screens.dialog import Page
from oi_tui.screens.models import ModelChoice, ModelsScreen
from oi_tui.screens.profile.actions import ProfileActions
from oi_tui.screens.profile.api_key import ApiKeyPanel
from oi_tui.screens.profile.fields import CHANGED, SettingFields
from oi_tui.screens.profile.model_test import ModelTest
from oi_tui.text import clean_line
from oi_tui.widgets.field import Field
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.lists.choice_list import ChoiceList
from oi_tui.widgets.setting_field import SettingChoice, SettingField
from oi_tui.widgets.static_text import show_text

_KEYS = (
    ("type", "search"),
    ("tab", "next"),
    ("ctrl+s", "save"),
    ("f4", "default"),
    ("f3", "more"),
    ("f7", "changed only"),
    ("f6", "test model"),
    ("ctrl+l", "choose model"),
    ("esc", "back"),
)


class ProfileEditor(Page[Profile | None]):
    """Shows every setting, by section. Closes with the changed profile after it was saved, else with None."""

    CSS_PATH = paths.styles() / "profile_editor.tcss"
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (76, "-wide")]
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (18, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="profile.leave"),
        Binding("ctrl+s", "save", "Save", id="profile.save", priority=True),
        Binding("f3", "menu", "Profile menu", id="profile.menu"),
        Binding("f4", "reset", "Default", id="profile.reset"),
        Binding("ctrl+l", "model", "Choose the model", id="profile.model", priority=True),
        Binding("f6", "test", "Test the model", id="profile.test"),
        Binding("f7", "only_changed", "Changed settings only", id="profile.only_changed"),
        Binding("ctrl+f", "search", "Search", id="profile.search"),
    ]

    def __init__(
        self,
        profile: Profile,
        path: Path | None = None,
        *,
        check: Callable[[Profile], Iterator[CheckResult]] | None = None,
        secrets: Secrets | None = None,
        moved: Callable[[Path], None] = lambda _path: None,
        switch: Callable[[str], None] = lambda _name: None,
    ) -> None:
        """Edit `profile`, whose file is `path`; None for a profile without a file.

        `check` tests a profile's model and yields the results; it may be slow. With `secrets`, a key that is
        typed is saved there and not in the file. `moved` is called with the path when another file is edited
        from now on, `switch` with the name of the profile to switch to.
        """
        super().__init__()
        self._check = check
        self._secrets = secrets
        #: The key of the model; None where nothing keeps keys.
        self.key = ApiKeyPanel(self, secrets) if secrets else None
        self._actions = ProfileActions(self, moved, switch)
        self.profile = profile
        #: Whether the profile is another one already, and is handed back though nothing is saved.
        self.used = False
        #: The file that is edited.
        self.path = path
        self._warned = False
        self._unsaved_accepted = False
        self._notice = ""
        self._fields = SettingFields(profile)

    def compose(self) -> ComposeResult:
        """Mount the headline, the search box, the sections beside the fields, and the key hints."""
        yield Static(id="profile-head", markup=False)
        yield Field(placeholder="search settings", id="profile-search", select_on_focus=False)
        with Horizontal(id="profile-body"):
            yield ChoiceList(*self._make_section_options(), id="profile-sections")
            yield self._fields
        yield KeyFooter(id="profile-keys")

    async def on_mount(self) -> None:
        """Show the first section."""
        self.query_one("#profile-search").focus()
        self.query_one(OptionList).highlighted = 0
        await self._show_complete()
        if self.key:
            self.key.check()

    # ---- Fields

    def _show(self) -> None:
        """Show the fields that have the words, or those of the section."""
        with self.app.batch_update():
            self._fields.show(self._query, self._get_section())
        # What is found may be of any section: tab goes to it.
        self.query_one(OptionList).can_focus = not self._query
        self._say()

    async def _show_complete(self) -> None:
        """Show the fields at once with their titles, which are mounted last."""
        with self.app.batch_update():
            self._show()
            await self._fields.wait_until_built()
        # A screen that was opened meanwhile drew nothing in the batch.
        self.app.screen.check_idle()

    @property
    def _query(self) -> str:
        return self.query_one("#profile-search", Input).value.strip().lower()

    async def on_input_changed(self, event: Input.Changed) -> None:
        """Show the settings that match the search."""
        event.stop()
        await self._show_complete()

    async def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the highlighted section."""
        event.stop()
        if not self._query:
            await self._show_complete()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Focus the first field of the section."""
        event.stop()
        self._clear_search()
        self._fields.focus_field(0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Focus the next field; after a search, the first field that was found."""
        event.stop()
        if event.input.id == "profile-search":
            self._fields.focus_field(0)
        else:
            self.focus_next()

    @on(SettingField.Edited)
    def handle_edited(self, event: SettingField.Edited) -> None:
        """Show which changes are not saved yet."""
        event.stop()
        self._warned, self._notice = False, ""
        self._mark_sections()
        self._say()
        if self.key and event.field.setting.name in ("model", "api_base"):
            self.key.check_soon()

    def on_key(self, event: events.Key) -> None:
        """Let the up and down keys move between one-line fields.

        Type into the search box from the sections.
        """
        focused = self.focused
        if isinstance(focused, OptionList) and event.is_printable and event.character:
            event.stop()
            search_box = self.query_one("#profile-search", Input)
            search_box.focus()
            search_box.insert_text_at_cursor(event.character)
            return
        if event.key not in ("up", "down") or not isinstance(focused, Input | SettingChoice):
            return
        event.stop()
        event.prevent_default()
        if focused.id == "profile-search":
            if event.key == "down":
                self.query_one(OptionList).focus() if not self._query else self._fields.focus_field(0)
            return
        boxes = self._fields.list_boxes()
        if focused not in boxes:
            # It was hidden a moment ago, and has not lost the focus yet.
            search_box = self.query_one("#profile-search", Input)
            search_box.focus()
            return
        at = boxes.index(focused) + (1 if event.key == "down" else -1)
        if at < 0:
            self.query_one("#profile-search").focus()
        elif at < len(boxes):
            boxes[at].focus()

    def _clear_search(self) -> None:
        search_box = self.query_one("#profile-search", Input)
        with search_box.prevent(Input.Changed):
            search_box.value = ""
        self._show()

    @property
    def _changes(self) -> dict[str, Value]:
        return self._fields.find_changes(self.profile)

    # ---- Keys

    def action_search(self) -> None:
        """Focus the search box, with its text selected."""
        search_box = self.query_one("#profile-search", Input)
        search_box.focus()
        search_box.action_select_all()

    def action_only_changed(self) -> None:
        """Show only the settings that differ from their defaults; pressed again, show the first section."""
        sections = self.query_one(OptionList)
        sections.highlighted = 0 if self._get_section() == CHANGED else self._fields.sections.index(CHANGED)
        self._clear_search()
        sections.focus()

    def action_reset(self) -> None:
        """Reset the focused field to its default."""
        for widget in self.focused.ancestors_with_self if self.focused else ():
            if isinstance(widget, SettingField):
                widget.reset()

    def action_menu(self) -> None:
        """Open the menu of the profile."""
        self._actions.open()

    def action_model(self) -> None:
        """Choose a model from the list of models."""
        models = ModelsScreen(
            str(self._fields.get_field("model").value),
            self._secrets,
            api_base=str(self._fields.get_field("api_base").value or "") or None,
        )
        self.app.push_screen(models, self._apply_model)

    def _apply_model(self, choice: ModelChoice | None) -> None:
        if choice is not None:
            self._fields.get_field("model").set_original(choice.model)
            self._fields.get_field("api_base").set_original(choice.api_base)

    def reset_all(self) -> None:
        """Reset every field to its default. Nothing is saved yet."""
        self._fields.reset_all()

    @property
    def has_changes(self) -> bool:
        """Whether there are changes that are not saved."""
        return bool(self._changes or self._fields.wrong)

    @property
    def current(self) -> Profile:
        """The profile with the values of the fields, saved or not."""
        return self.profile.with_changes("changed", **self._changes)

    def action_test(self) -> None:
        """Test the model that the fields describe, saved or not."""
        if self._check is not None:
            self.app.push_screen(ModelTest(self.current.model, self._check(self.current)))

    def action_leave(self) -> None:
        """Close the editor; with changes that are not saved, only when pressed twice."""
        if (self._changes or self._fields.wrong) and not self._warned:
            self._warned = True
            self.show_notice("Unsaved changes: ctrl+s saves them, esc again discards them.")
            return
        self.leave()

    def leave(self) -> None:
        """Close the editor, with the profile if it is not the one that was opened."""
        self.dismiss(self.profile if self.used else None)

    def action_save(self) -> None:
        """Save the changes and close with the profile; where a value is not valid, show the error instead."""
        changes = self._changes
        for field in self._fields.wrong:
            if not field.display:
                self.query_one(OptionList).highlighted = self._fields.sections.index(field.setting.section)
                self._clear_search()
            field.box.focus()
            self.show_notice(str(field.error))
            return
        if not changes:
            self.leave()
        elif self.key and changes.get("api_key"):
            self.key.save(self.current)
        else:
            self.write(changes, changes)

    def key_kept(self) -> None:
        """Save the other changes, after the key was saved elsewhere."""
        self.write(self._changes, {**self._changes, "api_key": None})

    def remove_key(self) -> None:
        """Remove the key from the profile and its field. The file does not change."""
        field = self._fields.get_field("api_key")
        self.profile = self.profile.with_changes("changed", api_key=None)
        self.used = True
        with field.prevent(SettingField.Edited):
            field.set_original(None)

    def write(self, changes: Mapping[str, Value], written: Mapping[str, Value]) -> None:
        """Write `written` to the file, and close with the profile that has all `changes`.

        If the file cannot be written, show why; the next call closes without writing.
        """
        try:
            if self.path is not None and not self._unsaved_accepted:
                save(self.path, written)
        except (OSError, ProfileError) as error:
            reason = paths.explain_write_error(error) if isinstance(error, OSError) else str(error)
            self._unsaved_accepted = True
            self.show_notice(f"Could not save: {reason}. ctrl+s again uses the settings until you quit.")
            return
        self.dismiss(self.profile.with_changes("changed", **changes))

    # ---- Words

    def explain(self, name: str, more: str) -> None:
        """Show a sentence below a setting, by the name of its field."""
        self._fields.get_field(name).explain(more)

    def _get_section(self) -> str:
        return self._fields.sections[self.query_one(OptionList).highlighted or 0]

    def _make_section_options(self) -> list[Option]:
        return [Option(self._fields.label(section)) for section in self._fields.sections]

    def _mark_sections(self) -> None:
        rows = self.query_one(OptionList)
        for number, section in enumerate(self._fields.sections):
            label = self._fields.label(section)
            # Each replacement draws the whole list again, and this comes after each key.
            if label.plain != str(rows.get_option_at_index(number).prompt):
                rows.replace_option_prompt_at_index(number, label)

    def show_notice(self, text: str) -> None:
        """Show a notice in the last line."""
        self._notice = text
        self._say()

    def _say(self) -> None:
        path = "" if self.path is None else clean_line(paths.shorten(self.path), 200)
        count = len(self._changes.keys() | {field.setting.name for field in self._fields.wrong})
        number = f"{count} unsaved" if count else ""
        head = Content.assemble(("Settings", "bold"), "   ", (path, "$text-muted"))
        if number:
            head = Content.assemble(head, "   ", (number, "$text-warning"))
        show_text(self.query_one("#profile-head", Static), head)
        self.query_one(KeyFooter).show(_KEYS, self._notice)
