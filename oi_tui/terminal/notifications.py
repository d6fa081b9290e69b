"""Notifies a person who looks elsewhere: by the terminal's bell, the desktop, and the window's title."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping

from oi_tui.text import clean_line

#: A turn that took so long, in seconds, is worth a call when it ends.
LONG = 10.0
#: Keep the title that the window has, and bring it back.
KEEP_TITLE, RESTORE_TITLE = "\x1b[22;0t", "\x1b[23;0t"
#: How long the desktop's own tool may take, in seconds.
_TIMEOUT = 5.0
_LONGEST = 200


def _find_sequence(environment: Mapping[str, str]) -> str:
    """Return the sequence that the terminal shows as a desktop notification; "" where none is known."""
    program, term = environment.get("TERM_PROGRAM", ""), environment.get("TERM", "")
    if "kitty" in term or "KITTY_WINDOW_ID" in environment:
        return "99"
    if term.startswith(("foot", "rxvt")):
        return "777"
    if program in ("iTerm.app", "WezTerm", "ghostty", "WarpTerminal") or "ghostty" in term:
        return "9"
    if environment.get("LC_TERMINAL") == "iTerm2" or "WEZTERM_PANE" in environment:
        return "9"
    return ""


def _remove_separators(text: str) -> str:
    """Return text that ends no sequence and separates none of its fields."""
    return clean_line(text, _LONGEST).replace(";", ",")


def make_desktop_sequence(title: str, body: str, environment: Mapping[str, str] = os.environ) -> str:
    """Build the sequence of a desktop notification; "" where the terminal has none.

    Sources: kitty's "Desktop notifications" (OSC 99), iTerm2's and ConEmu's OSC 9, urxvt's OSC 777. tmux
    hands it on where its option allow-passthrough is set, and drops it elsewhere.
    """
    title, body = _remove_separators(title), _remove_separators(body)
    match _find_sequence(environment):
        case "99":
            text = f"\x1b]99;i=oi-tui:d=0;{title}\x1b\\\x1b]99;i=oi-tui:d=1:p=body;{body}\x1b\\"
        case "777":
            text = f"\x1b]777;notify;{title};{body}\x1b\\"
        case "9":
            # Some terminals take a text that begins with a number for a command of theirs.
            text = f"\x1b]9;{title}: {body}\x1b\\"
        case _:
            return ""
    return wrap_for_tmux(text, environment)


def wrap_for_tmux(sequence: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the sequence for the terminal around tmux, where there is a tmux."""
    if "TMUX" not in environment:
        return sequence
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"


def make_title_sequence(text: str) -> str:
    """Build the sequence that sets the window's title to `text`."""
    return f"\x1b]2;{clean_line(text, _LONGEST)}\x1b\\"


def find_tool_command(title: str, body: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command that notifies without the terminal's help; [] if this machine has no desktop."""
    local = environment.get("WAYLAND_DISPLAY") or environment.get("DISPLAY")
    if not local or "SSH_CONNECTION" in environment or shutil.which("notify-send") is None:
        return []
    # What it shows may hold markup, so ours is escaped.
    text = clean_line(body, _LONGEST).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return ["notify-send", "--app-name=oi-tui", "--", clean_line(title, _LONGEST), text]


class Notifier:
    """Notifies the person, and keeps the window's title; `write` gets raw output for the terminal."""

    def __init__(self, write: Callable[[str], object], environment: Mapping[str, str] = os.environ) -> None:
        self._write = write
        self._environment = environment
        self._title = ""

    def call(self, mode: str, body: str) -> list[str]:
        """Call the person: on the "desktop" with the bell, by the "bell" alone, or not at all ("off").

        Returns a command that has to be run for it, [] for none.
        """
        if mode == "off":
            return []
        sequence = command = None
        if mode == "desktop":
            sequence = make_desktop_sequence("oi-tui", body, self._environment)
            command = None if sequence else find_tool_command("oi-tui", body, self._environment)
        self._write((sequence or "") + "\a")
        return command or []

    def show_title(self, text: str) -> None:
        """Give the window this title; the one before comes back with `restore`."""
        if text != self._title:
            self._write(("" if self._title else KEEP_TITLE) + make_title_sequence(text))
            self._title = text

    def restore(self) -> str:
        """Restore the window's own title; "" where it was not changed."""
        was, self._title = self._title, ""
        return RESTORE_TITLE if was else ""


def run_tool(command: list[str]) -> None:
    """Notify through the desktop's tool; one that fails or hangs costs only the notification."""
    try:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
