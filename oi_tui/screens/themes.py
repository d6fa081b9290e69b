"""The theme picker, with a live preview on the screen itself."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from oi_tui.engine.settings.application import THEMES
from oi_tui.screens.dialog import Dialog, DialogBox
from oi_tui.widgets.lists.choice_list import ChoiceList


class ThemesScreen(Dialog[str | None]):
    """A short list of themes beside the conversation, which previews the highlighted one.

    Returns the chosen theme; None, with the colours as they were, when nothing was chosen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Cancel", id="themes.close")]

    def __init__(self, *, welcome: bool = False) -> None:
        super().__init__()
        self._welcome = welcome
        self._before = ""

    def compose(self) -> ComposeResult:
        """Mount a question and the list."""
        with DialogBox(id="themes") as box:
            box.border_title = "Theme"
            box.hints = "enter apply · esc cancel"
            if self._welcome:
                yield Static("Which theme is easiest to read? f2 changes it later.", id="themes-words")
            yield ChoiceList(*(Option(name) for name in THEMES), id="themes-list")

    def on_mount(self) -> None:
        """Begin at the theme that is on."""
        self._before = self.app.theme
        choices = self.query_one(OptionList)
        choices.highlighted = THEMES.index(self._before) if self._before in THEMES else 0
        choices.focus()

    def on_key(self, event: events.Key) -> None:
        """Go to the next theme that begins with a typed letter."""
        choices = self.query_one(OptionList)
        place = (choices.highlighted or 0) + 1
        letter = (event.character or "").lower()
        if event.is_printable and (
            names := [name for name in (*THEMES[place:], *THEMES[:place]) if name.startswith(letter)]
        ):
            choices.highlighted = THEMES.index(names[0])

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the theme."""
        self.app.theme = THEMES[event.option_index]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take it."""
        self.dismiss(THEMES[event.option_index])

    def action_leave(self) -> None:
        """Leave the colours as they were."""
        self.app.theme = self._before
        self.dismiss(None)
