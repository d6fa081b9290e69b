"""Opens files, folders and pages with the desktop's programs."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from oi_tui.system.environment import list_secret_variables

_OPENERS = (("xdg-open",), ("gio", "open"), ("wslview",), ("x-www-browser",))


def find_opener() -> tuple[str, ...] | None:
    """Return the command that opens something where the person sees it; None where there is no display."""
    if sys.platform == "darwin":
        return ("open",)
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return None
    return next((words for words in _OPENERS if shutil.which(words[0])), None)


def view(words: tuple[str, ...], what: str) -> str | None:
    """Open a path or an address with the opener's words; it stays when the application ends.

    It gets none of the person's keys. Returns why it could not be started, or None.
    """
    null, secret_names = subprocess.DEVNULL, list_secret_variables()
    environment = {name: value for name, value in os.environ.items() if name not in secret_names}
    try:
        viewer = subprocess.Popen(
            [*words, what],
            stdin=null,
            stdout=null,
            stderr=null,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        return error.strerror or "it could not be started"
    threading.Thread(target=viewer.wait, name="viewer", daemon=True).start()
    return None


def open_folder(folder: Path) -> None:
    """Open the folder, if this machine has a desktop session."""
    if sys.stdout.isatty() and not os.environ.get("SSH_CONNECTION") and (words := find_opener()):
        view(words, str(folder))
