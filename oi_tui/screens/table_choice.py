"""The list of the tables in a file, from which one is chosen."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList

from oi_tui import paths
from oi_tui.screens.dialog import Dialog
from oi_tui.text import one_line
from oi_tui.widgets.lists.choice_list import ChoiceList


class TableChoice(Dialog[str | None]):
    """Dismissed with the name of a table, else with None."""

    CSS_PATH = paths.styles() / "table.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", id="table_choice.close")]

    def __init__(self, names: Sequence[str], now: str) -> None:
        super().__init__()
        self._names = names
        self._now = now

    def compose(self) -> ComposeResult:
        """The list, in a box."""
        with Vertical(id="table-choice") as box:
            box.border_title = "Tables"
            box.border_subtitle = "enter opens · escape closes"
            yield ChoiceList(*(Content(one_line(name, 60)) for name in self._names))

    def on_mount(self) -> None:
        """Begin at the one that is shown."""
        if self._now in self._names:
            self.query_one(OptionList).highlighted = self._names.index(self._now)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go back with the name."""
        event.stop()
        self.dismiss(self._names[event.option_index])
