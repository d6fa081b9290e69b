"""From the start of a program to the first key that it draws, and its memory then: oi-tui and its peers.

Run as `python -m tests.benchmarks.peer_start [ROUNDS]`, after `make bench` has installed the peers. The
programs take turns, so that what else the machine does hits all of them alike. The floor is a bare Textual
application.
"""

import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tests.benchmarks.peers import Program, measure_each, programs, replies

BARE = """
from textual.app import App
from textual.widgets import TextArea

class Bare(App):
    def compose(self):
        yield TextArea(placeholder="READY")

Bare().run()
"""


def start(program: Program) -> float:
    """The seconds until it has drawn a key."""
    began = time.perf_counter()
    with program.started():
        return time.perf_counter() - began


def megabytes(program: Program) -> float:
    """Its memory, once it has loaded what it loads after its first frame."""
    with program.started() as patient:
        patient.pause(8)
        return patient.family_megabytes()


def main(rounds: int) -> None:
    """Start each once for its caches and its memory, and then take turns."""
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, replies() as base:
        bare = Program("a bare Textual application", [sys.executable, "-c", BARE], b"READY", Path(home))
        all_programs = [bare, *programs(base, Path(home))]
        figures = measure_each(
            all_programs, lambda program: {"megabytes with all that it starts": round(megabytes(program))}
        )
        for _ in range(rounds):
            for program in all_programs:
                if "not measured" not in figures[program.name]:
                    seconds[program.name].append(start(program))
    floor = statistics.median(seconds[bare.name])
    for name, taken in seconds.items():
        median = statistics.median(taken)
        figures[name] = {
            "start to a drawn key, s": round(median, 2),
            "to a bare application": round(median / floor, 2),
            **figures[name],
        }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
