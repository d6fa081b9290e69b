"""A virtual screen with a window manager and a form, for tests that use mouse and keyboard."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from oi_tui.computer.desktop.x11.desktop import X11

T = TypeVar("T")

#: How long anything on the screen may take, in seconds.
TIMEOUT = 20.0
#: A form that writes what happens to it into the file that is its argument.
FORM = """
import sys, tkinter as tk
log = open(sys.argv[1], "a", buffering=1)
root = tk.Tk()
root.title("Order form")
root.geometry("500x400+100+80")
big = ("DejaVu Sans", 20)
tk.Label(root, text="Customer", font=big).pack()
entry = tk.Entry(root, font=big)
entry.pack()
tk.Button(root, text="Send", font=big, command=lambda: print("sent", entry.get(), file=log)).pack()
tk.Button(root, text="Cancel", font=big, command=lambda: print("cancelled", file=log)).pack()
canvas = tk.Canvas(root, bg="white", height=120)
canvas.pack(fill="x")
for name in ("ButtonPress", "ButtonRelease", "Double-Button"):
    canvas.bind(f"<{name}>", lambda e, n=name: print(n, e.num, e.x, e.y, file=log))
for wheel in (4, 5):
    canvas.bind(f"<Shift-ButtonRelease-{wheel}>", lambda e: print("sideways", e.num, e.x, e.y, file=log))
canvas.bind("<B1-Motion>", lambda e: print("dragged", e.x, e.y, file=log))
root.bind("<KeyPress>", lambda e: print("key", e.keysym, file=log))
root.bind("<KeyRelease>", lambda e: print("up", e.keysym, file=log))
said = before = None
def look():
    global said, before
    now = [n for w in (canvas, entry, root) for n in (w.winfo_rootx(), w.winfo_rooty())]
    if now == before != said:
        said = now
        print("at", *now, file=log)
    before = now
    root.after(50, look)
look()
root.mainloop()
"""


def until(find: Callable[[], T], what: str) -> T:
    """Wait until something is there, and return it."""
    end = time.monotonic() + TIMEOUT
    while not (found := find()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)
    return found


def start_screen(display: str = "", depth: int = 24) -> "tuple[subprocess.Popen[bytes], str]":
    """Start a virtual screen, with this name or a free one; return its process and its name.

    `depth` is the number of bits for the colour of a pixel.
    """
    read, write = os.pipe()
    options = ["-displayfd", str(write), "-screen", "0", f"1280x800x{depth}", "-nolisten", "tcp"]
    words = ["Xvfb", *([display] if display else []), *options]
    server = subprocess.Popen(words, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as file:
        return server, f":{file.readline().strip()}"


@contextmanager
def screen() -> Iterator[str]:
    """A virtual screen with a window manager; yields its name."""
    server, display = start_screen()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with tempfile.TemporaryDirectory() as folder:
        # It says that it is there before it lists the windows that are open, and never takes up one that is
        # opened in between.
        ready = Path(folder, "ready")
        words = ["openbox", "--startup", f"touch {ready}"]
        manager = subprocess.Popen(words, env={**os.environ, "DISPLAY": display}, **quiet)
        try:
            until(ready.exists, "the window manager")
            yield display
        finally:
            for process in (manager, server):
                process.terminate()
                process.wait()


class Form:
    """The form at work, and what it wrote."""

    def __init__(self, log: Path, eyes: X11) -> None:
        self._log = log
        self._eyes = eyes
        self.process = subprocess.Popen([sys.executable, "-c", FORM, str(log)])
        try:
            # The window manager moves a new window, and only then can one point at what is in it.
            x, y, entry_x, entry_y = until(self._places, "the form")
        except BaseException:
            self.close()
            print("windows:", eyes.windows(), "the form wrote:", self.lines)  # noqa: T201
            raise
        self.canvas = x, y
        self.entry = entry_x + 20, entry_y + 10

    def _places(self) -> list[int]:
        """Where canvas and entry are, once nothing moves any more; else nothing."""
        text = [list(map(int, line.split()[1:])) for line in self.lines if line.startswith("at ")]
        windows = [window for window in self._eyes.windows() if window.title == "Order form"]
        if not windows:
            return []
        if not windows[0].active:
            # A window manager that has much to do may leave the keyboard where it was.
            self._eyes.activate(windows[0])
            return []
        there = text and text[-1][4:] == [windows[0].region.x, windows[0].region.y]
        return text[-1][:4] if there else []

    @property
    def lines(self) -> list[str]:
        """What happened to the form."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    def says(self, line: str) -> None:
        """Wait until the form wrote this line."""
        until(lambda: line in self.lines, f"{line!r}; so far: {self.lines[-8:]}")

    def close(self) -> None:
        """End the form."""
        self.process.kill()
        self.process.wait()
