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


def seconds_until(argv: list[str], needle: bytes, home: str) -> float:
    """From the start of the process to the moment at which the text has been written to its terminal."""
    environment = {**os.environ, "OI_TUI_HOME": home, "TERM": "xterm-256color"}
    began = time.perf_counter()
    process = ptyprocess.PtyProcess.spawn(argv, env=environment, dimensions=(40, 120))
    seen = b""
    while needle not in seen:
        seen += process.read(65536)
    took = time.perf_counter() - began
    process.terminate(force=True)
    process.close()
    return took


def main(rounds: int) -> None:
    """Interleave the cases, so that what else the machine does hits all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as home:
        for argv, needle in CASES.values():
            seconds_until(argv, needle, home)
        for _ in range(rounds):
            for name, (argv, needle) in CASES.items():
                times[name].append(seconds_until(argv, needle, home))
    floor = statistics.median(times["bare Textual application"])
    print(
        json.dumps(
            {
                name: {
                    "median_ms": round(1000 * statistics.median(taken)),
                    "ratio": round(statistics.median(taken) / floor, 2),
                }
                for name, taken in times.items()
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
