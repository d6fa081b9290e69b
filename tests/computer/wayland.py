"""A Wayland compositor without a screen, and a terminal in it that writes down what it gets."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.computer.desktop import until

_CONFIG = """
output HEADLESS-1 resolution 800x600
default_border none
focus_follows_mouse no
"""
#: Each key and button is written as a line, with its release; lines of dots show where the pointer was.
_RECORDER = r"""
import os, re, sys, tty
tty.setraw(0)
# All movements with their places, and all keys with their releases and as numbers.
os.write(1, b"\x1b[?1003h\x1b[?1006h\x1b[>11u\x1b]0;Recorder\x07\r\nPress HERE please\r\n\x1b[c")
# Keys are spelled in another way until the terminal has read all of that. Its answer comes after it.
rest = b""
while not (answer := re.search(rb"\x1b\[\?[0-9;]*c", rest)):
    rest += os.read(0, 4096)
rest = rest[answer.end():]
log = open(sys.argv[1], "a", buffering=1, encoding="utf-8")
while True:
    while found := re.match(rb"\x1b\[(<?)([0-9;:]*)([Mmu~A-Z])", rest):
        mouse, numbers, end = (item.decode() for item in found.groups())
        rest = rest[found.end():]
        if mouse:
            button, column, row = numbers.split(";")
            print("button", button, "up" if end == "m" else "down", column, row, file=log)
        else:
            key, _, more = numbers.partition(";")
            event = {"": "down", "1": "down", "2": "again", "3": "up"}[more.partition(":")[2]]
            print("key", key + ("" if end == "u" else end), event, file=log)
    if not (data := os.read(0, 4096)):
        break
    rest += data
"""


@contextmanager
def compositor(folder: Path) -> Iterator[dict[str, str]]:
    """A sway without a screen; yields the variables that lead to it."""
    folder.mkdir()
    config = folder / "config"
    config.write_text(_CONFIG)
    folder.chmod(0o777)
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and parent.stat().st_mode & 0o011 == 0:
            parent.chmod(parent.stat().st_mode | 0o011)
    # It refuses to run as root.
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
    env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env |= {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
    env |= {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    with (folder.parent / "sway.log").open("wb") as log:
        sway = subprocess.Popen([*user, "sway", "-c", str(config)], env=env, stdout=log, stderr=log)
    try:
        socket = until(lambda: [item for item in folder.glob("wayland-*") if item.is_socket()], "sway")
        yield {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": socket[0].name}
    finally:
        sway.terminate()
        sway.wait()


class Recorder:
    """The terminal at work, and what it wrote down."""

    def __init__(self, log: Path, variables: dict[str, str]) -> None:
        self._log = log
        argv = ["foot", "--fullscreen", sys.executable, "-c", _RECORDER, str(log)]
        self.process = subprocess.Popen(
            argv, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until(lambda: log.exists() or self.process.poll() is not None, "the terminal")
        assert log.exists(), "the terminal ended"

    @property
    def lines(self) -> list[str]:
        """What the terminal got."""
        return self._log.read_text("utf-8").splitlines()

    def says(self, line: str) -> None:
        """Wait until the terminal got this."""
        until(lambda: line in self.lines, f"{line!r}; so far: {self.lines[-12:]}")

    def pressed(self) -> list[str]:
        """The keys and buttons that are down."""
        down: dict[str, None] = {}
        for line in self.lines:
            kind, number, state, *_ = line.split()
            # Movements have 32 in their number, and turns of the wheel 64. Held keys are in it as well.
            if kind == "button" and (int(number) & 96 or int(number) & 3 == 3):
                continue
            name = f"{kind} {int(number) & 3 if kind == 'button' else number}"
            if state == "down":
                down[name] = None
            elif state == "up":
                down.pop(name, None)
        return list(down)

    def close(self) -> None:
        """End the terminal."""
        self.process.kill()
        self.process.wait()
