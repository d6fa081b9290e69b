"""How long a key waits for the screen, measured on a pseudo-terminal from outside, as ratios in one run.

Run as `python -m tests.benchmarks.screen_keys`; the figures are written as JSON.
A small application with a conversation and a prompt is started for each case. The floors are the same
application with nothing to do, and a Textual application that repaints one cell 60 times a second.
"""

import json
import os
import statistics
import sys
import time

from tests.benchmarks.patient import Patient

CASES = {
    "floor: nothing happens": "rest 1",
    "floor: one cell repainted at 60 Hz": "dot 1",
    "10 messages": "rest 10",
    "1,000 messages": "rest 1000",
    "5,000 messages": "rest 5000",
    "250 tokens/s": "stream 10 1000",
    "250 tokens/s after 50,000 characters": "stream 10 50000",
    "250 tokens/s with 1,000 messages": "stream 1000 1000",
    "output flood": "flood 10",
    "active line at 60 Hz": "line 10",
}
KEYS = 60
_PROSE = "Both are **normal**, so they begin at `1.0`.\n\n- an item\n- one\n\n```python\nx = 1\n```\n\n"


def application(case: str, messages: int, length: int = 0) -> None:
    """Run one case in this terminal."""
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from textual.app import App, ComposeResult
    from textual.widgets import Static, TextArea

    from oi_tui import paths
    from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted, RunReported
    from oi_tui.messages import LineReached, Message
    from oi_tui.widgets.conversation.conversation import Conversation

    class Case(App[None]):
        CSS_PATH = [paths.styles() / "conversation.tcss"]
        CSS = "#prompt { height: 3; border: none; } #dot { height: 1; }"

        def compose(self) -> ComposeResult:
            yield Static("", id="dot")
            if case != "dot":
                yield Conversation()
            yield TextArea(id="prompt")

        def on_mount(self) -> None:
            self.query_one("#prompt").focus()
            if case != "dot":
                self.view = self.query_one(Conversation)
                for number in range(messages):
                    words = _PROSE if number % 2 else f"Question {number}"
                    role = "assistant" if number % 2 else "user"
                    self.view.apply(MessageRecorded(Message(role=role, type="message", content=words)))
            self.turn = 0
            begin = {"dot": self.dot, "stream": self.stream, "flood": self.flood, "line": self.line}.get(case)
            if begin:
                begin()

        def dot(self) -> None:
            label = self.query_one("#dot", Static)

            def paint() -> None:
                self.turn += 1
                label.update("-+"[self.turn % 2])

            self.set_interval(1 / 60, paint)

        def stream(self) -> None:
            message = Message(role="assistant", type="message")
            text = _PROSE * 4_000
            self.view.apply(MessageStarted(message))
            self.view.apply(MessageGrew(message.id, text[:length]))
            self.turn = length

            def token() -> None:
                self.view.apply(MessageGrew(message.id, text[self.turn : self.turn + 4]))
                self.turn += 4

            self.set_interval(1 / 250, token)

        def running(self) -> Message:
            code = "\n".join(f"value_{number} = compute({number}, 'two')" for number in range(30))
            message = Message(role="assistant", type="code", format="python", content=code, state="running")
            self.view.apply(MessageRecorded(message))
            return message

        def flood(self) -> None:
            out = Message(role="computer", type="console", format="output", parent=self.running().id)
            self.view.apply(MessageStarted(out))
            chunk = "\x1b[32m2026-03-01\x1b[0m a line of output with some words to fill it up\r\n" * 900
            self.set_interval(1 / 60, lambda: self.view.apply(MessageGrew(out.id, chunk)))

        def line(self) -> None:
            message = self.running()

            def reach() -> None:
                self.turn += 1
                self.view.apply(RunReported(message.id, LineReached(1 + self.turn % 30)))

            self.set_interval(1 / 60, reach)

    Case().run()


def measure(case: str) -> dict[str, float]:
    """Median and 95th percentile of the keys of a case; its CPU and what it writes without keys."""
    with Patient("-m", "tests.benchmarks.screen_keys", "--case", *case.split()) as patient:
        for _ in patient.read(2.5):
            pass
        before, written, start = patient.cpu(), 0, time.perf_counter()
        for data in patient.read(1.5):
            written += len(data)
        took = time.perf_counter() - start
        used = patient.cpu() - before
        waits = patient.keys(KEYS)
    return {
        "p50 ms": round(statistics.median(waits), 1),
        "p95 ms": round(waits[int(len(waits) * 0.95) - 1], 1),
        "cpu %": round(100 * used / took, 1),
        "bytes/s": round(written / took),
    }


def main() -> None:
    """Measure all cases, and write the figures with their ratios to the floors."""
    if sys.argv[1:2] == ["--case"]:
        application(sys.argv[2], *map(int, sys.argv[3:]))
        return
    figures = {name: measure(case) for name, case in CASES.items()}
    still, busy = (figures[name] for name in list(CASES)[:2])
    for name, figure in figures.items():
        floor = still if CASES[name].startswith("rest") else busy
        figure["p50 to floor"] = round(figure["p50 ms"] / floor["p50 ms"], 2)
        figure["p95 to floor"] = round(figure["p95 ms"] / floor["p95 ms"], 2)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
