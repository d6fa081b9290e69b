"""Record a session with the demo model as an asciinema cast: `python -m tests.record_demo FILE`.

The program runs in a pseudo-terminal, and what it writes is kept with its time. `asciinema play FILE` shows
it.
"""

import argparse
import codecs
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.terminal import Terminal

COLUMNS, ROWS = 100, 30
#: The seconds between two keys of a person, and how long they look at what is new.
_KEY, _LOOK = 0.05, 1.5
#: No pause of the cast is longer, in seconds: how fast this machine is does not matter to a reader.
_LONGEST_PAUSE = 2.0
_SALES = "month,region,amount\n" + "".join(
    f"{month},{region},{amount}\n"
    for month, amounts in (("jan", (120, 95)), ("feb", (90, 130)), ("mar", (210, 140)), ("apr", (180, 205)))
    for region, amount in zip(("north", "south"), amounts, strict=True)
)
#: A piece of output: when it came, in seconds, and its bytes.
Piece = tuple[float, bytes]


class Recorder:
    """Notes when a terminal's program wrote what."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._ends: list[tuple[float, int]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        seen = 0
        while not self._done.wait(0.01):
            if (size := len(self._terminal.raw)) > seen:
                seen = size
                self._ends.append((time.monotonic(), size))

    def finish(self) -> list[Piece]:
        """Stop, and return what was written."""
        self._done.set()
        self._thread.join()
        raw, start, pieces = bytes(self._terminal.raw), 0, list[Piece]()
        self._ends.append((time.monotonic(), len(raw)))
        for at, end in self._ends:
            if end > start:
                pieces.append((at, raw[start:end]))
                start = end
        return pieces


def cast(pieces: Sequence[Piece], columns: int, rows: int) -> Iterator[str]:
    """The lines of a cast, version 2: a header, then an event for each piece."""
    environment = {"TERM": "xterm-256color", "SHELL": "/bin/bash"}
    header = {"version": 2, "width": columns, "height": rows, "title": "oi-tui", "env": environment}
    yield json.dumps(header)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    now, before = 0.0, pieces[0][0] if pieces else 0.0
    for at, data in pieces:
        now += min(at - before, _LONGEST_PAUSE)
        before = at
        if text := decoder.decode(data):
            yield json.dumps([round(now, 3), "o", text], ensure_ascii=False)


def play(terminal: Terminal) -> None:
    """Ask for two things, approve the code, look at the result, and quit."""
    terminal.wait_for("Type a request")
    terminal.wait_for("Try")
    for request, pieces, ends in (("summarise sales.csv", 1, "sales.csv"), ("plot sales.csv", 2, "drew")):
        _look(terminal)
        for character in request:
            terminal.send(character)
            time.sleep(_KEY)
        terminal.press("enter")
        for _ in range(pieces):
            terminal.wait_for("Run this python code?")
            # The question is answered once nobody types any more.
            terminal.wait_gone("stop typing to answer")
            _look(terminal)
            terminal.press("y")
            terminal.wait_gone("Run this python code?")
        terminal.wait_for(ends)
        terminal.wait_for("ready")
    _look(terminal)
    terminal.press("ctrl+q")
    terminal.wait_exit()


def _look(terminal: Terminal) -> None:
    terminal.settle(0.5, 3.0)
    time.sleep(_LOOK)


def record() -> list[Piece]:
    """Run the session in a folder with a small table, as a person without settings."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "sales"
        folder.mkdir()
        (folder / "sales.csv").write_text(_SALES, encoding="utf-8")
        own = {name: None for name in os.environ if name.startswith(("XDG_", "OI_TUI", "TEXTUAL"))}
        env = own | {"HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": None}
        with Terminal("--demo", cwd=folder, env=env, columns=COLUMNS, rows=ROWS) as terminal:
            recorder = Recorder(terminal)
            play(terminal)
            return recorder.finish()


def main() -> None:
    """Write the cast."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("file", type=Path, help="where to write the cast")
    file = arguments.parse_args().file
    lines = list(cast(record(), COLUMNS, ROWS))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
