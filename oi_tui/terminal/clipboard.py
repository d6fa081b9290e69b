"""Copies to the clipboard by the best available method, and names it."""

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.app import App

from oi_tui import paths
from oi_tui.text import repair_surrogates

#: Terminals cut or drop longer sequences (xterm and tmux do), so longer text is not sent to them, in bytes.
LONGEST = 100_000
#: GNU screen takes shorter sequences only, in characters.
_SCREEN_PIECE = 500
#: How long to wait for a tool, in seconds.
_TIMEOUT = 3.0
#: Tools that read a text, by the variable that says where the desktop is.
_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)


def copy(text: str, app: App[object]) -> str:
    """Put the text on the clipboard. Returns in words where it went.

    A local clipboard tool is used where there is a display. Else tmux is given it where we run in it, or the
    terminal is asked by OSC 52, which cannot tell whether it obeyed. What is too long for a terminal goes to
    a file of the person's own.
    """
    text = repair_surrogates(text)
    if _is_local() and _copy_with_tool(text):
        return "copied"
    if len(text.encode()) > LONGEST:
        return _copy_into_tmux(text) or _write_to_file(text)
    if problem := _copy_into_tmux(text):
        return problem
    if os.environ.get("STY"):
        _copy_through_screen(text, app)
    else:
        app.copy_to_clipboard(text)
    return "sent to the terminal (OSC 52, unconfirmed)"


def _is_local() -> bool:
    has_display = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_display) and not (os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def _copy_with_pbcopy(text: str) -> bool:
    """Copy with the tool of macOS, which reads UTF-8 only if the locale says so."""
    environment = {**os.environ, "LC_ALL": "en_US.UTF-8"}
    return _offer(["pbcopy"], text, environment)


def _offer(words: Sequence[str], text: str, environment: Mapping[str, str] | None = None) -> bool:
    """Return whether a tool took the text from its input."""
    try:
        done = subprocess.run(
            words,
            input=text.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _copy_with_tool(text: str) -> bool:
    if sys.platform == "darwin":
        return _copy_with_pbcopy(text)
    tools = [words for variable, words in _TOOLS if os.environ.get(variable) and shutil.which(words[0])]
    if tools:
        # pyperclip uses them as well, but does not see when they fail.
        return any(_offer(words, text) for words in tools)
    # It looks for tools when it is imported, which is slow.
    import pyperclip

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError):
        return False
    return True


def _copy_into_tmux(text: str) -> str:
    """Give the text to tmux, which by default ignores OSC 52 from programs; "" if that is not possible."""
    if not os.environ.get("TMUX"):
        return ""
    is_taken = _offer(["tmux", "load-buffer", "-w", "-"], text)
    return "copied to tmux, and sent to its terminal (unconfirmed)" if is_taken else ""


def _copy_through_screen(text: str, app: App[object]) -> None:
    """Ask the terminal around GNU screen, in pieces that screen passes on unchanged."""
    driver = app._driver
    sequence = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
    pieces = (sequence[at : at + _SCREEN_PIECE] for at in range(0, len(sequence), _SCREEN_PIECE))
    if driver is not None:
        driver.write("".join(f"\x1bP{piece}\x1b\\" for piece in pieces))


def _write_to_file(text: str) -> str:
    """Write a long text to a file that only the owner can read."""
    size = f"{len(text):,} characters are more than terminals take"
    try:
        path = paths.make_private(paths.state()) / "copied.txt"
        path.unlink(missing_ok=True)
        paths.create_file(path, text.encode())
    except OSError as error:
        return f"not copied: {size}, and no file could be written ({paths.explain_write_error(error)})"
    return f"{size}: written to {paths.shorten(Path(path))}"
