"""The fields of the profile editor: which are shown, which have the focus, and what was changed in them."""

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.settings.setting import Setting, Value
from oi_tui.text import clean_line
from oi_tui.widgets.setting_field import SettingField

#: Sections of the list that are not those of settings.
NOT_SETTINGS = "Unknown keys"
CHANGED = "Changed only"


class SettingFields(VerticalScroll):
    """Shows a field for each setting, under the titles of their sections."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(id="profile-fields", can_focus=False)
        #: The sections that can be shown, in their order.
        self.sections = list(dict.fromkeys(setting.section for setting in list_settings()))
        if profile.unknown:
            self.sections.append(NOT_SETTINGS)
        self.sections.append(CHANGED)
        self._unknown = profile.unknown
        self._fields = {
            setting.name: SettingField(
                setting, getattr(profile, setting.name), profile.origins.get(setting.name, "default")
            )
            for setting in list_settings()
        }
        self._headings = {
            section: Static(section, classes="fields-section", markup=False) for section in self.sections
        }
        self._nothing = Static(id="profile-nothing", markup=False)

    def compose(self) -> ComposeResult:
        """Mount each title with its fields, and the text for a search without a result."""
        for section, heading in self._headings.items():
            yield heading
            yield from self._list_section(section)
        yield self._nothing

    def on_mount(self) -> None:
        """Scroll to the field that has the focus, from now on."""
        # The height of the fields comes late: after help has been wrapped, or an error takes a line more.
        self.watch(self, "virtual_size", self._keep_in_view, init=False)

    def get_field(self, name: str) -> SettingField:
        """Return the field of a setting, by the name in `Profile`. Raises KeyError."""
        return self._fields[name]

    def _list_section(self, section: str) -> list[SettingField]:
        return [field for field in self._fields.values() if field.setting.section == section]

    def show(self, query: str, section: str) -> None:
        """Show the fields that match the words of `query`; those of `section` if there are no words."""
        names = _match_names(query) if query else {field.setting.name for field in self._in(section)}
        of_many = bool(query) or section == CHANGED
        for name, field in self._fields.items():
            field.display = name in names
            # A screen that is closed while it opens has no place for rows.
            if field.display and field.is_attached:
                field.build()
        for name, heading in self._headings.items():
            heading.display = of_many and any(field.display for field in self._list_section(name))
        self._nothing.display = not names
        if not names:
            self._nothing.update(self._explain_nothing(query, section))
        self.scroll_home(animate=False)

    async def wait_until_built(self) -> None:
        """Wait until all parts of the fields that are shown can be drawn."""
        for field in list(self._fields.values()):
            if field.display:
                await field.wait_until_built()

    def _in(self, section: str) -> list[SettingField]:
        if section != CHANGED:
            return self._list_section(section)
        return [
            field
            for field in self._fields.values()
            if field.error is not None or field.value != field.setting.default
        ]

    def _explain_nothing(self, query: str, section: str) -> Content:
        if query:
            return Content("No setting matches.")
        if section == CHANGED:
            return Content("No setting differs from its default.")
        lines = "\n".join(clean_line(line, 200) for line in self._unknown)
        return Content.assemble(
            "These keys of the file are kept, but oi-tui does not use them:\n\n", (lines, "$text-muted")
        )

    def label(self, section: str) -> Content:
        """Return the section's name, marked if one of its values is not valid or was changed."""
        if section == CHANGED:
            return Content(section)
        fields = self._list_section(section)
        wrong = any(field.error is not None for field in fields)
        changed = any(field.value != field.setting.default for field in fields)
        mark = (" ✗", "$text-error") if wrong else (" ●", "$text-accent") if changed else ("", "")
        return Content.assemble(section, mark)

    def list_boxes(self) -> list[Widget]:
        """Return the visible input fields, from top to bottom."""
        return [field.box for field in self._fields.values() if field.display]

    def focus_field(self, number: int) -> None:
        """Focus a visible field, counted from 0. A number that is too high has no effect."""
        boxes = self.list_boxes()
        if number < len(boxes):
            boxes[number].focus()

    def find_changes(self, profile: Profile) -> dict[str, Value]:
        """Return the values that differ from the profile, by name.

        For a field whose input is not valid, this is the last valid value.
        """
        return {
            name: field.value for name, field in self._fields.items() if field.value != getattr(profile, name)
        }

    @property
    def wrong(self) -> list[SettingField]:
        """Return the fields whose input is not valid."""
        return [field for field in self._fields.values() if field.error is not None]

    def reset_all(self) -> None:
        """Reset every field to its default."""
        for field in self._fields.values():
            field.reset()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Scroll so that name, help and error of the focused field are visible."""
        self.call_after_refresh(self._bring_into_view, event.widget)

    def _keep_in_view(self) -> None:
        if self.screen.focused is not None:
            self.call_after_refresh(self._bring_into_view, self.screen.focused)

    def _bring_into_view(self, box: Widget) -> None:
        if self.screen.focused is box and isinstance(box.parent, SettingField):
            # Textual scrolls to where the box was before others were shown or hidden. It is still on the way.
            self.scroll_to(y=self.scroll_y, animate=False, immediate=True)
            box.parent.scroll_visible(animate=False)


def _match_names(query: str) -> set[str]:
    """Return the names of the settings with exactly this key or flag, or else of those with all the words."""
    words = query.replace("-", "_").split()
    exact = {
        setting.name
        for setting in list_settings()
        if query in (setting.key, setting.long_flag, *setting.flags)
    }
    return exact or {
        setting.name
        for setting in list_settings()
        if all(word in _join_search_text(setting) for word in words)
    }


def _join_search_text(setting: Setting) -> str:
    flags = " ".join((setting.long_flag, *setting.flags)).replace("-", "_")
    return f"{setting.human_title} {setting.key} {setting.section} {flags} {setting.help}".lower()
