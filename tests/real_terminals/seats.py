"""Where the terminals run: a virtual X11 screen, or a Wayland compositor without a screen."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from unittest.mock import patch

from oi_tui.computer.desktop.base import Desktop
from oi_tui.computer.desktop.wayland.driver import Wayland
from oi_tui.computer.desktop.x11.desktop import X11
from tests.computer.desktop import screen
from tests.computer.wayland import compositor

#: How long a program that presses a key or reads the clipboard may take, in seconds.
_TIMEOUT = 25.0


class Seat(Protocol):
    """A screen with keyboard, mouse and clipboard."""

    desktop: Desktop
    #: What leads programs to it.
    variables: dict[str, str]
    #: A terminal that is there, and the words before its command.
    terminal: Sequence[str]

    def press(self, keys: Sequence[str]) -> None:
        """Press keys by the names of X11, such as `ctrl+Left`."""

    def type(self, text: str) -> None:
        """Type a text."""

    def put_into_clipboard(self, text: str, selection: str) -> None:
        """Let other programs paste a text from a selection: `clipboard` or `primary`."""

    def read_clipboard(self) -> str:
        """What other programs would paste."""


class _Tools:
    """Runs the programs of a seat."""

    variables: dict[str, str]

    def _run(self, *words: str, text: str | None = None) -> None:
        subprocess.run(
            words,
            input=text,
            text=True,
            env={**os.environ, **self.variables},
            check=True,
            timeout=_TIMEOUT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _read(self, *words: str) -> str:
        env = {**os.environ, **self.variables}
        return subprocess.run(
            words, env=env, capture_output=True, check=False, timeout=_TIMEOUT
        ).stdout.decode()


class X11Seat(_Tools):
    """A virtual X11 screen."""

    terminal: Sequence[str] = ("xterm", "-e")

    def __init__(self, display: str) -> None:
        self.desktop: Desktop = X11(display)
        self.variables = {"DISPLAY": display}

    def press(self, keys: Sequence[str]) -> None:
        """Press keys."""
        self._run("xdotool", "key", "--clearmodifiers", "--delay", "60", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._run("xdotool", "type", "--clearmodifiers", "--delay", "40", text)

    def put_into_clipboard(self, text: str, selection: str) -> None:
        """Let other programs paste a text."""
        self._run("xclip", "-selection", selection, "-in", text=text)

    def read_clipboard(self) -> str:
        """What other programs would paste."""
        return self._read("xclip", "-selection", "clipboard", "-out")


class WaylandSeat(_Tools):
    """A sway without a screen."""

    terminal: Sequence[str] = ("foot",)

    def __init__(self, variables: dict[str, str]) -> None:
        self.variables = variables
        with patch.dict(os.environ, variables):
            self.desktop: Desktop = Wayland()

    def press(self, keys: Sequence[str]) -> None:
        """Press keys."""
        for key in keys:
            *modifiers, name = key.split("+")
            held = [word for modifier in modifiers for word in ("-M", modifier)]
            self._run("wtype", *held, "-k", name, "-s", "60")

    def type(self, text: str) -> None:
        """Type a text."""
        self._run("wtype", "-d", "40", text)

    def put_into_clipboard(self, text: str, selection: str) -> None:
        """Let other programs paste a text."""
        self._run("wl-copy", *(["--primary"] if selection == "primary" else []), text=text)

    def read_clipboard(self) -> str:
        """What other programs would paste."""
        return self._read("wl-paste", "--no-newline")


@contextmanager
def open_x11() -> Iterator[Seat]:
    """A virtual X11 screen, for as long as the block runs."""
    with screen() as display:
        yield X11Seat(display)


@contextmanager
def open_wayland() -> Iterator[Seat]:
    """A compositor without a screen, for as long as the block runs."""
    with tempfile.TemporaryDirectory() as folder, compositor(Path(folder) / "sway") as variables:
        yield WaylandSeat(variables)
