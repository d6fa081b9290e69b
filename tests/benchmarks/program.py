"""The whole program from outside: keys, silence, memory, as ratios to a bare Textual application in one run.

Run as `python -m tests.benchmarks.program`; the figures are written as JSON.
"""

import json
import statistics
import sys
import tempfile
import time

from tests.benchmarks.patient import Patient

KEYS = 50
SILENCE = 10.0
#: Bytes of output of the flood.
FLOOD = 100_000_000
BARE = """
from textual.app import App
from textual.widgets import TextArea

class Bare(App):
    def compose(self):
        yield TextArea(placeholder="READY")

Bare().run()
"""
CLEAR = "\x15"
Figures = dict[str, float]


def of_keys(waits: list[float]) -> Figures:
    """The median and the 95th percentile of keys that were pressed."""
    return {
        "p50 ms": round(statistics.median(waits), 1),
        "p95 ms": round(waits[int(len(waits) * 0.95) - 1], 1),
    }


def measure_empty_application() -> Figures:
    """The floor: keys in an empty text area, and the memory of the application around it."""
    with Patient("-c", BARE, TEXTUAL_FPS="120") as patient:
        patient.wait_for(b"READY")
        return {**of_keys(patient.keys(KEYS)), "megabytes": round(patient.megabytes())}


def at_rest(home: str) -> dict[str, Figures]:
    """Keys from the first frame on, while LiteLLM loads beside it, and after that; silence; memory."""
    with Patient("-m", "oi_tui", "--demo", OI_TUI_HOME=home) as patient:
        patient.wait_for(b"ype a request")
        loading = of_keys(patient.keys(KEYS))
        patient.type(CLEAR)
        for _ in patient.read(15.0):
            pass
        used, written, start = patient.cpu(), 0, time.perf_counter()
        for data in patient.read(SILENCE):
            written += len(data)
        took = time.perf_counter() - start
        silence = {
            "bytes/s": round(written / took, 1),
            "cpu %": round(100 * (patient.cpu() - used) / took, 2),
        }
        return {
            "while LiteLLM loads": loading,
            "at rest": {**of_keys(patient.keys(KEYS)), "megabytes": round(patient.megabytes())},
            "nothing happens": silence,
        }


def in_a_flood(home: str) -> Figures:
    """Keys while a program writes without an end, and the memory once it has written it all."""
    with Patient("-m", "oi_tui", "--demo", OI_TUI_HOME=home) as patient:
        patient.wait_for(b"ype a request")
        for _ in patient.read(15.0):
            pass
        before = patient.megabytes()
        patient.type(f"%% yes 'a line of the flood, with some words in it' | head -c {FLOOD}; echo ENDED")
        for _ in patient.read(0.5):
            pass
        start = time.perf_counter()
        patient.type("\r")
        patient.wait_for(b"flood")
        figures = of_keys(patient.keys(KEYS))
        patient.wait_for(b"finished", 300)
        return {
            **figures,
            "megabytes more": round(patient.megabytes() - before),
            "output MB/s": round(FLOOD / 1e6 / (time.perf_counter() - start), 1),
        }


def main() -> None:
    """Measure one after the other, and write the figures with their ratios to the floor."""
    with tempfile.TemporaryDirectory() as home:
        figures = {
            "floor: a bare Textual application": measure_empty_application(),
            **at_rest(home),
            "flood": in_a_flood(home),
        }
    floor = next(iter(figures.values()))
    for figure in figures.values():
        for name in ("p50 ms", "p95 ms", "megabytes"):
            if name in figure:
                figure[f"{name.split()[0]} to floor"] = round(figure[name] / floor[name], 2)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
