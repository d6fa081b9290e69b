"""A list of names over another screen, from which one is chosen."""

from collections.abc import Sequence

from textual.widgets import OptionList

from oi_tui.screens.dialog import Dialog


class NameChoice(Dialog[str | None]):
    """Dismissed with the name that was chosen, else with None. Subclasses compose the list, in this order."""

    def __init__(self, names: Sequence[str], now: str) -> None:
        super().__init__()
        self._names = names
        self._now = now

    def on_mount(self) -> None:
        """Begin at the one that is shown or in use."""
        if self._now in self._names:
            self.query_one(OptionList).highlighted = self._names.index(self._now)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close the screen with the name."""
        event.stop()
        self.dismiss(self._names[event.option_index])
