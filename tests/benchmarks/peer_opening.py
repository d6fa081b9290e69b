"""Opening a conversation of 1,000 messages: oi-tui, and Textual's own Markdown widgets with the same texts.

Run as `python -m tests.benchmarks.peer_opening [ROUNDS]`. Each case is the time from the start of the program
to the last message on the screen, with 1,000 messages and with 2; the difference is what the messages cost.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from tests.benchmarks.patient import Patient
from tests.benchmarks.peers import LAST, LETTERS, PROSE

COUNTS = (2, 1_000)


def texts(count: int) -> list[str]:
    """Questions and answers by turns, and a last word."""
    return [PROSE if number % 2 else f"Question {number}" for number in range(count - 1)] + [LAST]


def widgets(count: int) -> None:
    """Show the messages in one Markdown widget each."""
    from textual.app import App, ComposeResult
    from textual.containers import VerticalScroll
    from textual.widgets import Input, Markdown

    class Opening(App[None]):
        def compose(self) -> ComposeResult:
            with VerticalScroll() as scroll:
                scroll.anchor()
                for text in texts(count):
                    yield Markdown(text)
            yield Input()

        def on_mount(self) -> None:
            self.query_one(Input).focus()

    Opening().run()


def save(home: Path, count: int) -> str:
    """Write the conversation as oi-tui keeps it, and return its id."""
    journal = Store(paths.conversations()).create(cwd=home, model="demo")
    for number, text in enumerate(texts(count)):
        role = "assistant" if number % 2 else "user"
        journal.put(Message(role=role, type="message", content=text, state="finished"))
    journal.close()
    return journal.id


def measure_opening(*arguments: str, **environment: str) -> tuple[float, float, float]:
    """The seconds to the last message; the median of keys then, in ms; megabytes."""
    began = time.perf_counter()
    with Patient(*arguments, **environment) as patient:
        patient.wait_for(LAST.encode(), 300)
        took = time.perf_counter() - began
        patient.pause(3)
        waits = []
        for letter in LETTERS[:20]:
            waits.append(patient.key(letter, 5))
            patient.pause(0.05)
        return took, statistics.median(waits), patient.family_megabytes()


def main(rounds: int) -> None:
    """Take turns, so that what else the machine does hits all alike."""
    seen: dict[str, dict[int, list[tuple[float, float, float]]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        os.environ["OI_TUI_HOME"] = os.environ["HOME"] = place
        ids = {count: save(Path(place), count) for count in COUNTS}
        for turn in range(rounds + 1):
            for count in COUNTS:
                ours = measure_opening("-m", "oi_tui", "--demo", "--resume", ids[count])
                theirs = measure_opening("-m", "tests.benchmarks.peer_opening", "--widgets", str(count))
                if turn:  # the first is for their caches
                    seen["oi-tui"][count].append(ours)
                    seen["Textual's Markdown widgets"][count].append(theirs)
    figures = {}
    for name, cases in seen.items():
        few, many = (
            [statistics.median(column) for column in zip(*cases[count], strict=True)] for count in COUNTS
        )
        figures[name] = {
            "start to the last of 2, s": round(few[0], 2),
            "start to the last of 1,000, s": round(many[0], 2),
            "more for 998 messages, s": round(many[0] - few[0], 2),
            "key then, p50 ms": round(many[1], 1),
            "megabytes more": round(many[2] - few[2]),
        }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--widgets"]:
        widgets(int(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
