"""A command that prints 20 MB: its end on the screen, keys meanwhile, memory; oi-tui and its peers.

Run as `python -m tests.benchmarks.peer_flood`, after `make bench` has installed the peers. Each runs the same
command of the shell from its prompt. The floor is the same command in a terminal that nobody draws.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path

from tests.benchmarks.peers import LETTERS, Figures, Program, measure_each, programs, replies
from tests.benchmarks.program import CLEAR

MEGABYTES = 20
#: Seconds after which nobody waits any longer.
TIMEOUT = 45
#: Without a dollar, which opens a list of choices in codex.
COMMAND = (
    f"yes 'a line of the flood, with some words in it' | head -c {MEGABYTES}000000; printf 'END%dED\\n' 2"
)
END = b"END2ED"


def measure(program: Program) -> Figures:
    """Run the command, and type while it prints."""
    with program.started() as patient:
        patient.pause(5)
        # The letter of the start goes, and the command takes its place.
        patient.type(CLEAR)
        patient.pause(0.5)
        for character in program.shell + COMMAND:
            patient.type(character)
            patient.pause(0.02)
        patient.pause(1)
        before, used = patient.family_megabytes(), patient.family_cpu()
        began = time.perf_counter()
        patient.type("\r")
        waits: list[float] = []
        whole: float | str = f"over {TIMEOUT}"
        letters = iter(LETTERS)
        while time.perf_counter() - began < TIMEOUT:
            if patient.sees(program.shell_end or END, 0.1):
                whole = round(time.perf_counter() - began, 1)
                break
            letter = next(letters, "")
            if letter and program.has_prompt_always:
                waits.append(patient.key(letter, 5))
        grown = patient.family_megabytes() - before
        return {
            "end on the screen, s": whole,
            "key p50, ms": round(statistics.median(waits), 1) if waits else "none",
            "key worst, ms": round(max(waits), 1) if waits else "none",
            "megabytes more": round(grown),
            "CPU, s": round(patient.family_cpu() - used, 1),
        }


def main() -> None:
    """Measure one after the other."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, replies() as base:
        bare = ["sh", "-c", "printf READY; exec sh"]
        shell = Program("a shell, drawn by nobody", bare, b"READY", Path(home), shell="")
        print(json.dumps(measure_each([*programs(base, Path(home)), shell], measure), indent=1))


if __name__ == "__main__":
    main()
