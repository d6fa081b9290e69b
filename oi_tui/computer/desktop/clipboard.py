"""`computer.clipboard`: the clipboard, through the programs of the desktop."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time

from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool, cannot
from oi_tui.secret_shapes import has_secret

#: Programs that read and write: their names, what they need, and their arguments for each.
_PROGRAMS = (
    ("pbpaste", "", ["pbpaste"], ["pbcopy"]),
    ("wl-paste", "WAYLAND_DISPLAY", ["wl-paste", "--no-newline"], ["wl-copy"]),
    ("xclip", "DISPLAY", ["xclip", "-selection", "{0}", "-o"], ["xclip", "-selection", "{0}", "-i"]),
    ("xsel", "DISPLAY", ["xsel", "--{0}", "-o"], ["xsel", "--{0}", "-i"]),
)
_TIMEOUT = 5
#: How long a text may take to get to the clipboard, in seconds. Another program may replace it at once.
_SETTING_SECONDS = 1.0
#: What these programs say where the desktop is gone. For an empty clipboard they fail as well.
_NO_DESKTOP = re.compile(r"open display|connect to a Wayland", re.IGNORECASE)
#: How to list the formats of what is on the clipboard, by the program that reads it.
_FORMATS = {
    "wl-paste": ["wl-paste", "--list-types"],
    "xclip": ["xclip", "-selection", "{0}", "-t", "TARGETS", "-o"],
}
#: Password managers mark with this format what they copy.
_PASSWORD_FORMAT = "x-kde-passwordManagerHint"
_SECRET = (
    "The {0} holds {1}, so its text is not given to code. Ask the user to copy something else, or to enter "
    "the password themselves. clipboard.paste() pastes it without reading it."
)


class Clipboard(Tool):
    """Read and set the clipboard."""

    def view(self) -> str:
        """Return the text on the clipboard, or "". Passwords and keys are not returned."""
        return read("clipboard")

    def copy(self, text: str | float | None = None) -> None:
        """Put a text or number on the clipboard; without one, press ctrl+c in the active window."""
        if text is None:
            self._computer.keyboard.hotkey(_find_modifier(), "c")
            return
        if not isinstance(text, (str, int, float)):
            raise ComputerError(f"clipboard.copy needs a text, not {text!r:.80}.")
        try:
            str(text).encode()
        except UnicodeEncodeError:
            raise ComputerError("The text has an invalid character, so nothing was copied.") from None
        reading, writing = _find_program()
        _run(writing, "clipboard", str(text))
        # Some of these programs return before they have the clipboard.
        end = time.monotonic() + _SETTING_SECONDS
        while _run(reading, "clipboard").rstrip("\n") != str(text).rstrip("\n") and time.monotonic() < end:
            time.sleep(0.01)

    def paste(self) -> None:
        """Press ctrl+v in the active window."""
        self._computer.keyboard.hotkey(_find_modifier(), "v")


def read(selection: str) -> str:
    """Return the text of the selection `clipboard` or `primary`.

    Raises ComputerError for a password or a key: what code reads, the model may get.
    """
    reading = _find_program()[0]
    place = "clipboard" if selection == "clipboard" else "selection"
    formats = _FORMATS.get(reading[0])
    # Listed before and after it is read: a password manager, or another program, may copy at any moment.
    before = _run(formats, selection) if formats else ""
    text = _run(reading, selection)
    after = _run(formats, selection) if formats else ""
    if _PASSWORD_FORMAT in (before + "\n" + after).split():
        raise ComputerError(_SECRET.format(place, "what a password manager copied"))
    if has_secret(text.strip()):
        raise ComputerError(_SECRET.format(place, "what looks like a password or a key"))
    return text


def _find_program() -> tuple[list[str], list[str]]:
    for name, variable, reading, writing in _PROGRAMS:
        if shutil.which(name) and (not variable or os.environ.get(variable)):
            return reading, writing
    raise cannot(
        "The clipboard", "none of wl-clipboard, xclip and xsel is installed, or there is no desktop."
    )


def _run(argv: list[str], selection: str, text: str | None = None) -> str:
    argv = [item.format(selection) for item in argv]
    if argv[0].startswith("wl-") and selection == "primary":
        argv.append("--primary")
    # Some of these programs stay in the background to serve the clipboard. They must not hold our pipes open.
    output = subprocess.PIPE if text is None else subprocess.DEVNULL
    try:
        done = subprocess.run(
            argv,
            input=None if text is None else text.encode(),
            stdout=output,
            stderr=output,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ComputerError(f"{argv[0]} did not answer.") from None
    if done.returncode and text is not None:
        raise ComputerError(f"{argv[0]} could not set the clipboard.")
    problem = (done.stderr or b"").decode(errors="replace").strip()
    if done.returncode and _NO_DESKTOP.search(problem):
        # Without this, it would seem to be empty.
        raise ComputerError(f"The clipboard cannot be read: {problem.splitlines()[0][:200]}")
    return (done.stdout or b"").decode(errors="replace")


def _find_modifier() -> str:
    return "command" if sys.platform == "darwin" else "ctrl"
