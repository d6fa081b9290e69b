"""The list of the tables in a file, from which one is chosen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from oi_tui import paths
from oi_tui.screens.dialog import DialogBox
from oi_tui.screens.name_choice import NameChoice
from oi_tui.text import clean_line
from oi_tui.widgets.lists.choice_list import ChoiceList


class TableChoice(NameChoice):
    """Lists the tables of a file."""

    CSS_PATH = paths.styles() / "table.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", id="table_choice.close")]

    def compose(self) -> ComposeResult:
        """Mount the list in a box."""
        with DialogBox(id="table-choice") as box:
            box.border_title = "Tables"
            box.hints = "enter open · esc close"
            yield ChoiceList(*(Content(clean_line(name, 60)) for name in self._names))
