"""Finds and repeats in plain mode what stands in the conversation."""

from oi_tui.actions.interface import UserInterface
from oi_tui.engine.export.plain_text import write_plain_text
from oi_tui.engine.output.plain import make_plain
from oi_tui.input.history import PromptHistory
from oi_tui.input.history_browser import HistoryBrowser
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace

#: Shown for what cannot be done with lines.
SCREEN_ONLY = "This needs the full screen: start oi-tui without --plain."
#: Lines that a search shows.
_FOUND = 50
#: Earlier messages that a search shows.
_LISTED = 100


class PlainReading:
    """Carries out `%find`, `%output` and `%history`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def find(self, text: str) -> None:
        """Print the lines of the conversation in which the text occurs."""
        if not text:
            self._ui.show_notice("Type the text to find: %find text")
            return
        lines = write_plain_text(self._workspace.session.messages).split("\n")
        matches = [line for line in lines if text.lower() in line.lower()]
        more = f"\n… {len(matches) - _FOUND} more" if len(matches) > _FOUND else ""
        self._ui.show_notice(
            "\n".join(matches[:_FOUND]) + more if matches else f"“{clean_line(text, 60)}” not found."
        )

    def read_output(self, number: int | None) -> None:
        """Print all that is kept of the output of a run."""
        codes = [m for m in self._workspace.session.messages if m.type == "code" and m.role != "computer"]
        if not codes or (number is not None and not 0 < number <= len(codes)):
            missing = "There is no output yet." if number is None else f"Cell {number} does not exist."
            self._ui.show_notice(missing)
            return
        code = codes[-1 if number is None else number - 1]
        printed = [m for m in self._workspace.session.messages if m.parent == code.id and m.type == "console"]
        text = "\n".join(escape_controls(make_plain(m.content)) for m in printed).strip("\n")
        self._ui.show_notice(text or "It has no output.")

    def search_history(self, text: str) -> None:
        """List earlier messages that contain the words."""
        entries = HistoryBrowser(PromptHistory().load()).find_containing(text, _LISTED)
        listing = "\n".join(f"  {clean_line(item, 200)}" for item in entries)
        self._ui.show_notice(f"Matches, newest first:\n{listing}" if entries else "No matching messages.")

    def copy_code(self) -> None:
        """Say that there is no screen."""
        self._ui.show_notice(SCREEN_ONLY)

    def use_terminal(self) -> None:
        """Say that there is no screen."""
        self._ui.show_notice(SCREEN_ONLY)

    def focus_conversation(self) -> None:
        """Say that there is no screen."""
        self._ui.show_notice(SCREEN_ONLY)

    def focus_prompt(self) -> None:
        """Say that this is it."""
        self._ui.show_notice("You are at the prompt.")
