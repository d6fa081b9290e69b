"""Keys while a reply of 50,000 characters comes at 4,000 characters a second: oi-tui and its peers.

Run as `python -m tests.benchmarks.peer_streaming`, after `make bench` has installed the peers. The same
server streams the same reply to each. Textual's MarkdownStream gets it without a server, in an application
with nothing but a `Markdown` and a text area.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.peers import (
    LAST,
    LENGTH,
    LETTERS,
    PIECE,
    PIECES_A_SECOND,
    REPLY,
    Figures,
    Program,
    measure_each,
    programs,
    replies,
)

#: Seconds after which nobody waits any longer.
TIMEOUT = 60
STREAM = "a Textual application with MarkdownStream"


def markdown_stream() -> None:
    """Stream the reply into a `Markdown` once a line is entered."""
    from textual.app import App, ComposeResult
    from textual.containers import VerticalScroll
    from textual.widgets import Input, Markdown

    class Streaming(App[None]):
        def compose(self) -> ComposeResult:
            with VerticalScroll() as scroll:
                scroll.anchor()
                yield Markdown()
            yield Input(placeholder="READY")

        def on_mount(self) -> None:
            self.query_one(Input).focus()

        def on_input_submitted(self) -> None:
            self.query_one(Input).value = ""
            self.run_worker(self.stream())

        async def stream(self) -> None:
            import asyncio

            stream = Markdown.get_stream(self.query_one(Markdown))
            began = time.perf_counter()
            for number, place in enumerate(range(0, LENGTH, PIECE)):
                await asyncio.sleep(max(0.0, began + number / PIECES_A_SECOND - time.perf_counter()))
                await stream.write(REPLY[place : place + PIECE])
            await stream.stop()

    Streaming().run()


def measure(program: Program) -> Figures:
    """Ask, type while the reply comes, and wait for its end on the screen."""
    with program.started() as patient:
        # What it loads after its first frame is none of this; and some take an enter at once for a paste.
        patient.pause(5)
        before = patient.family_cpu()
        patient.type("\r")
        patient.wait_for(b"normal", 60)
        began = time.perf_counter()
        waits = []
        letters = iter(LETTERS[:-1] if program.has_prompt_always else "")
        whole: float | str = f"over {TIMEOUT}"
        while time.perf_counter() - began < TIMEOUT:
            if patient.sees(LAST.encode(), 0.1):
                whole = round(time.perf_counter() - began, 1)
                break
            if letter := next(letters, ""):
                waits.append(patient.key(letter, 5))
        used = patient.family_cpu() - before
    waits.sort()
    return {
        "key p50, ms": round(statistics.median(waits), 1) if waits else "no prompt meanwhile",
        "key p95, ms": round(waits[int(len(waits) * 0.95) - 1], 1) if waits else "no prompt meanwhile",
        "whole reply on the screen, s": whole,
        "CPU, s": round(used, 1),
    }


def main() -> None:
    """Measure one after the other."""
    if sys.argv[1:] == ["--stream"]:
        markdown_stream()
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, replies() as base:
        itself = [sys.executable, "-m", "tests.benchmarks.peer_streaming", "--stream"]
        stream = Program(STREAM, itself, b"READY", Path.cwd())
        print(json.dumps(measure_each([*programs(base, Path(home)), stream], measure), indent=1))


if __name__ == "__main__":
    main()
