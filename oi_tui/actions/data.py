"""Lists variables and shows tables as text."""

from collections.abc import Sequence

from oi_tui.actions.interface import UserInterface
from oi_tui.actions.tables import find_table, format_first_rows
from oi_tui.runtimes.tables import TableError, TableSource
from oi_tui.text import clean_line
from oi_tui.workspace import Workspace

#: Variables that are listed.
_LISTED = 100


class DataActions:
    """Carries out `%variables` and `%table`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def open_variables(self, sought: str) -> None:
        """List what the languages remember."""
        lines = []
        for memory in self._workspace.computer.inspector.read_memories():
            lines += [
                f"  {memory.language}  {clean_line(variable.name, 60)}  {clean_line(variable.summary, 80)}"
                for variable in memory.variables
                if sought.lower() in variable.name.lower()
            ]
        hidden_count = len(lines) - _LISTED
        more = [f"  {hidden_count:,} more; %variables TEXT filters them"] if hidden_count > 0 else []
        text = "\n".join(["Variables:", *lines[:_LISTED], *more])
        self._ui.show_notice(text if lines else "No matching variables.")

    def open_table(self, name: str) -> None:
        """Show a table: a file, or a variable of Python."""
        try:
            self._ui.show_notice(format_first_rows(self._load(name)))
        except TableError as error:
            self._ui.show_notice(str(error), warning=True)

    def _load(self, name: str, *, gradually: bool = False) -> TableSource:
        """Return the table of this name; if `gradually`, with the first rows of a file. Raises TableError."""
        return find_table(name, self._workspace.computer, self._find_pythons(), gradually=gradually)

    def _find_pythons(self) -> Sequence[str]:
        """Return the Python of cells, for its libraries; none in the sandbox: code could change them."""
        computer = self._workspace.computer
        program = None if computer.sandbox or computer.where else computer.find_program("python")
        return (program,) if program else ()
