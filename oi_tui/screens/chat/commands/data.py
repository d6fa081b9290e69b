"""Opens variables and tables on screens of their own."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from oi_tui.actions.data import DataActions
from oi_tui.actions.tables import explain_no_table_file
from oi_tui.commands import CommandError
from oi_tui.runtimes.tables import TableSource
from oi_tui.runtimes.variables import is_table

if TYPE_CHECKING:
    from oi_tui.actions.interface import UserInterface
    from oi_tui.actions.restore_files import FileRestorer
    from oi_tui.screens.chat.interfaces import PromptScreen
    from oi_tui.screens.chat.view import ChatView
    from oi_tui.screens.table import TableScreen
    from oi_tui.widgets.sidebar.rows import SidebarRow


class DataScreens(DataActions):
    """The variables and tables of the chat screen. Each screen is imported when it is first opened."""

    def __init__(
        self, ui: "UserInterface", chat: "PromptScreen", view: "ChatView", files: "FileRestorer"
    ) -> None:
        super().__init__(ui, view.workspace)
        #: The table that was opened last.
        self._table: TableScreen | None = None
        self._files = files
        self._chat = chat
        self._view = view

    def open_variables(self, sought: str) -> None:
        """Open the list of variables; the chosen one is inserted in the prompt."""
        from oi_tui.screens.variables import VariablesScreen

        inspector = self._workspace.computer.inspector
        screen = VariablesScreen(inspector, lambda: self._view.busy, sought, self._open_variable)
        self._chat.app.push_screen(screen, self._mention)

    def open_table(self, name: str) -> None:
        """Open a table on its own screen."""
        if why := explain_no_table_file(name, self._workspace.computer):
            raise CommandError(why)
        self._show_table(name, lambda: self._load(name, gradually=True))

    def open_shown_table(self, key: str, name: str, language: str) -> None:
        """Open a table that a cell showed; `name` is the variable that it was then, "" for none."""
        if key:
            self._show_table(
                name or "result", lambda: self._workspace.computer.inspector.open_table(language, key)
            )
        else:
            words = "This table cannot be opened, because it was not kept. Assign it to a variable."
            self._ui.show_notice(words, warning=True)

    def act_on_sidebar(self, row: "SidebarRow", *, look: bool) -> None:
        """Insert a variable in the prompt, show its value, restore the files of a cell, or list variables."""
        self._view.sidebar.close_drawer()
        if row.action == "restore":
            self._files.restore(row.name)
        elif row.action == "more":
            self.open_variables("")
        elif look:
            self._show_value(row)
        else:
            self._mention(self._view.sidebar.mention_variable(row))

    def _show_value(self, row: "SidebarRow") -> None:
        from oi_tui.screens.variables import show_detail

        if is_table(row.language, row.type):
            self._open_variable(row.language, row.name)
        else:
            inspect = self._workspace.computer.inspector.inspect
            show = partial(show_detail, self._chat.app, row.language, row.name)
            self._ui.run_then(lambda: inspect(row.language, row.name), show)

    def _open_variable(self, language: str, name: str) -> None:
        self._show_table(name, lambda: self._workspace.computer.inspector.open_table(language, name))

    def _show_table(self, name: str, load: Callable[[], TableSource]) -> None:
        from oi_tui.screens.table import TableScreen

        workspace = self._workspace
        folder = workspace.computer.cwd
        self._table = TableScreen(name, load, folder, self._find_pythons, workspace.explain_way_out)
        self._chat.app.push_screen(self._table)

    def follow_table(self) -> None:
        """Let the table that is open show the values that it has now."""
        if self._table is not None and self._table.is_attached:
            self._table.follow()

    def _mention(self, mention: str | None) -> None:
        """Insert a variable into the prompt; without one, the focus returns to where it was."""
        if mention:
            self._chat.prompt.focus()
            self._chat.prompt.insert(f"{mention} ")
