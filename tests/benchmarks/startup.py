"""How long until a person can type: our first frame against a bare Textual application, in one run.

Run as `python -m tests.benchmarks.startup [ROUNDS]`. Every case starts once before it is measured, so that
no bytecode is missing.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import ptyprocess

BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("READY")

Bare().run()
"""
CASES = {
    "bare Textual application": ([sys.executable, "-c", BARE], b"READY"),
    "oi-tui, prompt on the screen": ([sys.executable, "-m", "oi_tui", "--demo"], b"ype a request"),
    "oi-tui --version": ([sys.executable, "-m", "oi_tui", "--version"], b"oi-tui"),
}


def seconds_until(argv: list[str], needle: bytes, home: str) -> tuple[float, float]:
    """From the start of the process to the moment at which the text has been written to its terminal.

    Returns the time, and the time of the processor for its first thread.
    """
    environment = {**os.environ, "OI_TUI_HOME": home, "TERM": "xterm-256color"}
    began = time.perf_counter()
    process = ptyprocess.PtyProcess.spawn(argv, env=environment, dimensions=(40, 120))
    seen = b""
    while needle not in seen:
        seen += process.read(65536)
    took = time.perf_counter() - began
    used = int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
    process.terminate(force=True)
    process.close()
    return took, used


def main(rounds: int) -> None:
    """Interleave the cases, so that what else the machine does hits all of them alike."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as home:
        for argv, needle in CASES.values():
            seconds_until(argv, needle, home)
        for _ in range(rounds):
            for name, (argv, needle) in CASES.items():
                times[name].append(seconds_until(argv, needle, home))
    medians = {
        name: [statistics.median(column) for column in zip(*taken, strict=True)]
        for name, taken in times.items()
    }
    floor = medians["bare Textual application"]
    figures = {
        name: {
            "time, ms": round(1000 * took),
            "time to floor": round(took / floor[0], 2),
            "CPU, ms": round(1000 * used),
            "CPU to floor": round(used / floor[1], 2),
        }
        for name, (took, used) in medians.items()
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
