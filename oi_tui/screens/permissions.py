"""The screen of auto-approvals, where each can be revoked."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from oi_tui.engine.review.permissions import Permission
from oi_tui.screens.dialog import Dialog, DialogBox
from oi_tui.text import clean_line
from oi_tui.widgets.lists.choice_list import ChoiceList

if TYPE_CHECKING:
    from oi_tui.engine.session import Session


class PermissionsScreen(Dialog[None]):
    """A list over the conversation: enter asks again for what is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="permissions.close"),
        Binding("delete,backspace,d", "revoke", "Revoke this one", id="permissions.revoke"),
        Binding("A", "revoke_all", "Revoke all", id="permissions.revoke_all"),
    ]

    def __init__(self, session: "Session") -> None:
        super().__init__()
        self._session = session
        self._rows: list[Permission] = []

    def compose(self) -> ComposeResult:
        """Mount the text and the list."""
        with DialogBox(id="permissions") as box:
            box.border_title = "Auto-approvals"
            box.hints = "enter revoke · A revoke all · esc close"
            yield Static(id="permissions-words", markup=False)
            yield ChoiceList(id="permissions-list", markup=False)

    def on_mount(self) -> None:
        """Show the permissions, and update them while they are shown."""
        self._show()
        self.query_one(OptionList).focus()
        self.set_interval(0.5, self._show_changes)

    def _show_changes(self) -> None:
        if list(self._session.permissions.in_force) != self._rows:
            self._show()

    def _show(self) -> None:
        self._rows = list(self._session.permissions.in_force)
        choices = self.query_one(OptionList)
        at = choices.highlighted or 0
        choices.clear_options()
        choices.add_options(Option(Content(clean_line(row.words, 100))) for row in self._rows)
        choices.display = bool(self._rows)
        if self._rows:
            choices.highlighted = min(at, len(self._rows) - 1)
        words = "Auto-approvals end with this conversation; they are never saved." if self._rows else _NOTHING
        self.query_one("#permissions-words", Static).update(Content(words))

    def on_option_list_option_selected(self) -> None:
        """Ask again for what is chosen."""
        self.action_revoke()

    def action_revoke(self) -> None:
        """Ask again for what is chosen."""
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._rows):
            self._session.permissions.revoke(self._rows[at])
            self._show()

    def action_revoke_all(self) -> None:
        """Ask again for everything."""
        for permission in self._session.permissions.in_force:
            self._session.permissions.revoke(permission)
        self._show()


_NOTHING = (
    "None: all code needs your approval.\n\n"
    "At a question, a lists what you can auto-approve, from this exact code to all code of a language."
)
