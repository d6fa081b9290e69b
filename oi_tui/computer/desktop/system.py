"""`computer.os`: the desktop around the programs."""

from __future__ import annotations

import shutil
import subprocess

from oi_tui.computer import applescript
from oi_tui.computer.desktop import clipboard
from oi_tui.computer.desktop.base import Window
from oi_tui.computer.desktop.session import open_session
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool, cannot

_TIMEOUT = 10
_MAC_NOTIFY = """on run argv
display notification (item 1 of argv) with title "oi-tui"
end run"""


class Os(Tool):
    """Selected text, notifications, and which window is active."""

    def get_selected_text(self) -> str:
        """Return the text that is selected in any window. The clipboard is left alone."""
        if applescript.is_available():
            raise cannot("os.get_selected_text", "macOS has no way to ask for it; use clipboard.copy().")
        return clipboard.read("primary")

    def notify(self, text: str) -> None:
        """Show a notification of the desktop."""
        if applescript.is_available():
            applescript.run(_MAC_NOTIFY, text)
            return
        if not (program := shutil.which("notify-send")):
            raise cannot("os.notify", "the program notify-send (package libnotify-bin) is not installed.")
        argv = [program, "--", "oi-tui", text]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            raise ComputerError("The notification was not shown: notify-send did not answer.") from None
        if done.returncode:
            raise ComputerError(f"The notification was not shown: {done.stderr.strip()}")

    def active_window(self) -> Window | None:
        """Return the active window, or None."""
        return next((window for window in open_session().desktop.windows() if window.active), None)

    def activate(self, title: str) -> None:
        """Bring the one window whose title contains this to the front."""
        windows = open_session().desktop.windows()
        matches = [window for window in windows if title.casefold() in window.title.casefold()]
        if len(matches) != 1:
            titles = ", ".join(repr(window.title) for window in windows) or "none"
            raise ComputerError(f"{len(matches)} windows fit {title!r}. Windows: {titles}.")
        open_session().require_window(matches[0])
        open_session().desktop.activate(matches[0])
        open_session().log.activated(matches[0].title)
