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

from tests.benchmarks.peers import Program, programs, replies

BARE = """
from textual.app import App
from textual.widgets import TextArea

class Bare(App):
    def compose(self):
        yield TextArea(placeholder="READY")

Bare().run()
"""


def start(program: Program) -> tuple[float, float]:
    """The seconds until it has drawn a key; and its megabytes."""
    began = time.perf_counter()
    with program.started() as patient:
        took = time.perf_counter() - began
        patient.pause(5)
        return took, patient.family_megabytes()


def main(rounds: int) -> None:
    """Start each once for its caches, and then take turns."""
    seconds: dict[str, list[float]] = defaultdict(list)
    memory: dict[str, float] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, replies() as base:
        bare = Program("a bare Textual application", [sys.executable, "-c", BARE], b"READY", Path(home))
        all_programs = [bare, *programs(base, Path(home))]
        for program in all_programs:
            start(program)
        for _ in range(rounds):
            for program in all_programs:
                took, memory[program.name] = start(program)
                seconds[program.name].append(took)
    floor = statistics.median(seconds[bare.name])
    figures = {
        name: {
            "start to a drawn key, s": round(statistics.median(taken), 2),
            "to a bare application": round(statistics.median(taken) / floor, 2),
            "megabytes with all that it starts": round(memory[name]),
        }
        for name, taken in seconds.items()
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
