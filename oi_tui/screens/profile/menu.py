"""The menu of actions on a whole profile: a short list over the editor."""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from oi_tui import profiles
from oi_tui.engine.settings import presets
from oi_tui.screens.dialog import Dialog, DialogBox
from oi_tui.screens.name_choice import NameChoice
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.field import Field
from oi_tui.widgets.lists.choice_list import ChoiceList


class MenuEntry(NamedTuple):
    """An entry of the menu: its id, what it says, and what it does."""

    id: str
    label: str
    act: Callable[[], None]


class ProfileMenu(Dialog[MenuEntry | None]):
    """Lists what can be done with a profile. Closes with the chosen entry, else with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", id="profile_menu.close")]

    def __init__(self, name: str, entries: Sequence[MenuEntry]) -> None:
        super().__init__()
        self._title = name
        self._entries = entries

    def compose(self) -> ComposeResult:
        """Mount the list in a box."""
        with DialogBox(classes="profile-box") as box:
            box.border_title = Content(f"Profile {clean_line(self._title, 40)}")
            box.hints = "enter choose · esc close"
            yield ChoiceList(*(Option(entry.label, id=entry.id) for entry in self._entries))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the chosen entry."""
        event.stop()
        self.dismiss(self._entries[event.option_index])


class ProfileChoice(NameChoice):
    """Lists the profiles, those of the user first. Closes with a name, else with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", id="profile_choice.close")]

    def __init__(self, now: str) -> None:
        super().__init__(profiles.list_names(), now)

    def compose(self) -> ComposeResult:
        """Mount the list in a box."""
        with DialogBox(classes="profile-box") as box:
            box.border_title = "Switch profile"
            box.hints = "enter switch · esc close"
            yield ChoiceList(*map(self._draw_row, self._names))

    def _draw_row(self, name: str) -> Content:
        is_preset = name in presets.list_names()
        about = "in use" if name == self._now else presets.read_summary(name) if is_preset else ""
        if name.endswith(".py"):
            about = "a Python program; you review it before it is used"
        return Content.assemble(f"{clean_line(name, 30):<16} ", (clean_line(about, 80), "$text-muted"))


class NameDialog(Dialog[str | None]):
    """Asks for a name. Closes with it, else with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", id="name_question.close")]

    def __init__(self, question: str, name: str) -> None:
        super().__init__()
        self._question = question
        self._title = name

    def compose(self) -> ComposeResult:
        """Mount one field in a box."""
        with DialogBox(classes="profile-box") as box:
            box.border_title = Content(clean_line(self._question, 60))
            box.hints = "enter save · esc close"
            yield Field(self._title)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the name; an empty one has no effect."""
        event.stop()
        if event.value.strip():
            self.dismiss(event.value)


class DifferencesDialog(Dialog[None]):
    """Lists the settings that differ from their defaults, in the given lines."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss", "Close", id="differences.close")
    ]

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        """Mount the lines in a box."""
        with DialogBox(classes="profile-box") as box:
            box.border_title = "Changes"
            box.hints = "esc close"
            text = "\n".join(map(escape_controls, self._lines))
            yield Static(text or "No changes: every setting has its default value.", markup=False)
