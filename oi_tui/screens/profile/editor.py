"""The screen that shows, explains, checks and saves every setting."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from oi_tui import paths
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.models.model_check import CheckResult
from oi_tui.engine.settings.profile import Profile, save, settings
from oi_tui.engine.settings.setting import ProfileError, Setting, Value
from oi_tui.screens.dialog import Page
from oi_tui.screens.models import ModelChoice, ModelsScreen
from oi_tui.screens.profile.actions import ProfileActions
from oi_tui.screens.profile.api_key import ApiKeyPanel
from oi_tui.screens.profile.model_test import ModelTest
from oi_tui.text import one_line
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.lists.choice_list import ChoiceList
from oi_tui.widgets.setting_field import SettingChoice, SettingField

_NOT_SETTINGS = "Unknown keys"
_CHANGED = "Changed only"
_KEYS = (
    ("type", "search"),
    ("tab", "next"),
    ("ctrl+s", "save"),
    ("f4", "default"),
    ("f3", "more"),
    ("f7", "changed only"),
    ("f6", "test model"),
    ("ctrl+l", "choose model"),
    ("escape", "back"),
)


class ProfileEditor(Page[Profile | None]):
    """Every setting, by section. Dismissed with the changed profile once it is saved, else with None."""

    CSS_PATH = paths.styles() / "profile_editor.tcss"
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
        """`check` asks a profile's model for a few tokens and yields what it finds; it may take its time.

        With `secrets` a key that is typed is kept there, and not in the file. `moved` is called when another
        file is edited from now on, and `switch` that another profile is wanted, by its name.
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
        self._sections = list(dict.fromkeys(setting.section for setting in settings()))
        if profile.unknown:
            self._sections.append(_NOT_SETTINGS)
        self._sections.append(_CHANGED)
        self._warned = False
        self._unsaved_accepted = False
        self._notice = ""
        self._fields = {
            setting.name: SettingField(
                setting, getattr(profile, setting.name), profile.origins.get(setting.name, "default")
            )
            for setting in settings()
        }
        self._headings = {
            section: Static(section, classes="fields-section", markup=False) for section in self._sections
        }
        self._nothing = Static(id="profile-nothing", markup=False)

    def compose(self) -> ComposeResult:
        """Headline, search, sections beside fields, keys."""
        yield Static(id="profile-head", markup=False)
        yield Input(placeholder="search settings", id="profile-search", select_on_focus=False)
        with Horizontal(id="profile-body"):
            yield ChoiceList(*self._section_options(), id="profile-sections")
            with VerticalScroll(id="profile-fields", can_focus=False):
                for section, heading in self._headings.items():
                    yield heading
                    yield from (self._fields[item.name] for item in self._of_section(section))
                yield self._nothing
        yield KeyFooter(id="profile-keys")

    def on_mount(self) -> None:
        """Begin with the first section."""
        self.query_one("#profile-search").focus()
        self.query_one(OptionList).highlighted = 0
        self._show()
        # The height of the fields comes late: after help has been wrapped, or an error takes a line more.
        self.watch(self.query_one("#profile-fields"), "virtual_size", self._keep_in_sight, init=False)
        if self.key:
            self.key.look()

    # ---- Fields

    def _is_changed(self, setting: Setting) -> bool:
        field = self._fields[setting.name]
        return field.error is not None or field.value != setting.default

    def _of_section(self, section: str) -> list[Setting]:
        return [setting for setting in settings() if setting.section == section]

    def _show(self) -> None:
        """Show the fields that have the words, or those of the section."""
        words = self._query.replace("-", "_").split()
        exact = [
            setting
            for setting in settings()
            if self._query in (setting.key, setting.long_flag, *setting.flags)
        ]
        section = self._section()
        shown = exact or [
            setting
            for setting in settings()
            if (
                all(word in _about(setting) for word in words)
                if words
                else setting.section == section or (section == _CHANGED and self._is_changed(setting))
            )
        ]
        of_many = bool(words) or section == _CHANGED
        with self.app.batch_update():
            for name, field in self._fields.items():
                field.display = any(item.name == name for item in shown)
            for name, heading in self._headings.items():
                heading.display = of_many and any(item.section == name for item in shown)
            self._nothing.display = not shown
            if not shown:
                self._nothing.update(self._why_nothing())
        # What is found may be of any section: tab goes to it.
        self.query_one(OptionList).can_focus = not words
        self.query_one("#profile-fields").scroll_home(animate=False)
        self._say()

    def _why_nothing(self) -> Content:
        if self._query:
            return Content("No setting matches.")
        if self._section() == _CHANGED:
            return Content("No setting differs from its default.")
        lines = "\n".join(one_line(line, 200) for line in self.profile.unknown)
        return Content.assemble(
            "These keys of the file are kept, but oi-tui does not use them:\n\n", (lines, "$text-muted")
        )

    @property
    def _query(self) -> str:
        return self.query_one("#profile-search", Input).value.strip().lower()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the settings that have the words."""
        event.stop()
        self._show()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the section."""
        event.stop()
        if not self._query:
            self._show()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the section's first field."""
        event.stop()
        self._clear_search()
        self._focus_field(0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on to the next field; from the search, to the first one found."""
        event.stop()
        if event.input.id == "profile-search":
            self._focus_field(0)
        else:
            self.focus_next()

    @on(SettingField.Edited)
    def handle_edited(self, event: SettingField.Edited) -> None:
        """Say what is not saved yet."""
        event.stop()
        self._warned, self._notice = False, ""
        self._mark_sections()
        self._say()
        if self.key and event.field.setting.name in ("model", "api_base"):
            self.key.look_soon()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show all of the field that is come to: its name, its help, and what is wrong with it."""
        # Textual scrolls to where the box was before others were shown or hidden.
        self.call_after_refresh(self._bring_into_sight, event.widget)

    def _keep_in_sight(self) -> None:
        if self.focused is not None:
            self.call_after_refresh(self._bring_into_sight, self.focused)

    def _bring_into_sight(self, box: Widget) -> None:
        if self.focused is box and isinstance(box.parent, SettingField):
            box.parent.scroll_visible(animate=False)

    def on_key(self, event: events.Key) -> None:
        """Move with the arrows between one-line fields too; beside them, what is typed is searched."""
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
                self.query_one(OptionList).focus() if not self._query else self._focus_field(0)
            return
        boxes = self._boxes()
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

    def _boxes(self) -> list[Widget]:
        """The input fields, from top to bottom."""
        return [field.box for field in self._fields.values() if field.display]

    def _focus_field(self, number: int) -> None:
        boxes = self._boxes()
        if number < len(boxes):
            boxes[number].focus()

    def _clear_search(self) -> None:
        search_box = self.query_one("#profile-search", Input)
        with search_box.prevent(Input.Changed):
            search_box.value = ""
        self._show()

    @property
    def _changes(self) -> dict[str, Value]:
        """The changed settings by name; where the input is not valid, the last valid value."""
        return {
            name: field.value
            for name, field in self._fields.items()
            if field.value != getattr(self.profile, name)
        }

    @property
    def _wrong(self) -> list[SettingField]:
        return [field for field in self._fields.values() if field.error is not None]

    # ---- Keys

    def action_search(self) -> None:
        """Go to the search box; what is typed replaces what stands there."""
        search_box = self.query_one("#profile-search", Input)
        search_box.focus()
        search_box.action_select_all()

    def action_only_changed(self) -> None:
        """Show the settings that differ from their defaults; pressed again, the first section."""
        sections = self.query_one(OptionList)
        sections.highlighted = 0 if self._section() == _CHANGED else self._sections.index(_CHANGED)
        self._clear_search()
        sections.focus()

    def action_reset(self) -> None:
        """Set the field at hand back to its default."""
        for widget in self.focused.ancestors_with_self if self.focused else ():
            if isinstance(widget, SettingField):
                widget.reset()

    def action_menu(self) -> None:
        """Show what can be done with the profile as a whole."""
        self._actions.open()

    def action_model(self) -> None:
        """Choose the model among those that were found."""
        models = ModelsScreen(
            str(self._fields["model"].value),
            self._secrets,
            api_base=str(self._fields["api_base"].value or "") or None,
        )
        self.app.push_screen(models, self._take_model)

    def _take_model(self, choice: ModelChoice | None) -> None:
        if choice is not None:
            self._fields["model"].put(choice.model)
            self._fields["api_base"].put(choice.api_base)

    def reset_all(self) -> None:
        """Set every field back to its default; nothing is saved by that."""
        for field in self._fields.values():
            field.reset()

    @property
    def has_changes(self) -> bool:
        """Whether something here is not saved yet."""
        return bool(self._changes or self._wrong)

    @property
    def current(self) -> Profile:
        """The profile as the fields have it, saved or not."""
        return self.profile.with_changes("changed", **self._changes)

    def action_test(self) -> None:
        """Try the model as the fields describe it, saved or not."""
        if self._check is not None:
            self.app.push_screen(ModelTest(self.current.model, self._check(self.current)))

    def action_leave(self) -> None:
        """Go back; with changes that are not saved, only the second time."""
        if (self._changes or self._wrong) and not self._warned:
            self._warned = True
            self.tell("Unsaved changes: ctrl+s saves, escape again discards them.")
            return
        self.leave()

    def leave(self) -> None:
        """Go back, with the profile if it is another one by now."""
        self.dismiss(self.profile if self.used else None)

    def action_save(self) -> None:
        """Save what was changed and go back with it; what is wrong is shown instead."""
        changes = self._changes
        for field in self._wrong:
            if not field.display:
                self.query_one(OptionList).highlighted = self._sections.index(field.setting.section)
                self._clear_search()
            field.box.focus()
            self.tell(str(field.error))
            return
        if not changes:
            self.leave()
        elif self.key and changes.get("api_key"):
            self.key.keep(self.current)
        else:
            self.write(changes, changes)

    def key_kept(self) -> None:
        """The key lies elsewhere now; save the rest."""
        self.write(self._changes, {**self._changes, "api_key": None})

    def without_key(self) -> None:
        """The profile has no key of its own any more, whether the rest is saved or not."""
        field = self._fields["api_key"]
        self.profile = self.profile.with_changes("changed", api_key=None)
        self.used = True
        with field.prevent(SettingField.Edited):
            field.put(None)

    def write(self, changes: Mapping[str, Value], written: Mapping[str, Value]) -> None:
        """Write what belongs into the file, and go back with all that was changed."""
        try:
            if self.path is not None and not self._unsaved_accepted:
                save(self.path, written)
        except (OSError, ProfileError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._unsaved_accepted = True
            self.tell(f"Could not save: {reason}. ctrl+s again uses the settings until you quit.")
            return
        self.dismiss(self.profile.with_changes("changed", **changes))

    # ---- Words

    def explain(self, name: str, more: str) -> None:
        """Say something of a setting as it stands."""
        self._fields[name].explain(more)

    def _section(self) -> str:
        return self._sections[self.query_one(OptionList).highlighted or 0]

    def _section_options(self) -> list[Option]:
        return [Option(self._section_label(section)) for section in self._sections]

    def _section_label(self, section: str) -> Content:
        if section == _CHANGED:
            return Content(section)
        here = [self._fields[item.name] for item in self._of_section(section)]
        wrong = any(field.error is not None for field in here)
        changed = any(field.value != field.setting.default for field in here)
        mark = (" ✗", "$text-error") if wrong else (" ●", "$text-accent") if changed else ("", "")
        return Content.assemble(section, mark)

    def _mark_sections(self) -> None:
        rows = self.query_one(OptionList)
        for number, section in enumerate(self._sections):
            rows.replace_option_prompt_at_index(number, self._section_label(section))

    def tell(self, text: str) -> None:
        """Say something in the last line."""
        self._notice = text
        self._say()

    def _say(self) -> None:
        path = "" if self.path is None else one_line(paths.short(self.path), 200)
        count = len(self._changes.keys() | {field.setting.name for field in self._wrong})
        number = f"{count} unsaved" if count else ""
        head = Content.assemble(("Profile", "bold"), "   ", (path, "$text-muted"))
        if number:
            head = Content.assemble(head, "   ", (number, "$text-warning"))
        self.query_one("#profile-head", Static).update(head)
        self.query_one(KeyFooter).show(_KEYS, self._notice)


def _about(setting: Setting) -> str:
    flags = " ".join((setting.long_flag, *setting.flags)).replace("-", "_")
    return f"{setting.human_title} {setting.key} {setting.section} {flags} {setting.help}".lower()
