"""What the conversation costs, as ratios measured in one run.

Run as `python -m tests.benchmarks.screen_cost [FILE]`; the figures go to FILE as JSON, or to the terminal.
Times are of this process's CPU, in milliseconds, on a screen of 120x40 without a terminal. Ratios carry over
to other machines, milliseconds do not.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.strip import Strip
from textual.widgets import TextArea

from oi_tui import paths
from oi_tui.engine.events import Event, MessageGrew, MessageRecorded, MessageStarted, RunReported
from oi_tui.messages import LineReached, Message
from oi_tui.terminal.sanitize_filter import SanitizeFilter
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.editor.code_editor import CodeEditor

SIZE = (120, 40)
PARAGRAPH = "Both series are **normalised**, so that they begin at `1.0`, and [drawn](http://a.example). "
SHAPES = {
    "mixed": PARAGRAPH * 3 + "\n\n- one item\n- and another\n\n```python\nx = load('a')  # twice\n```\n\n",
    "fence": "value = compute(1, 'two')  # a line of code\n",
    "list": "- item with **bold** words and more of them\n",
    "paragraph": PARAGRAPH,
}
PYTHON = "def compute(first, second):\n    return first + len(second)  # both\n\n"


class Screen(App[None]):
    """A conversation and nothing else."""

    CSS_PATH = [paths.styles() / "conversation.tcss"]

    def compose(self) -> ComposeResult:
        """Mount the conversation."""
        yield Conversation()


def cpu(work: Callable[[], object]) -> float:
    """The milliseconds of CPU that the work takes."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


async def streaming(shape: str, length: int, *, code: bool = False) -> float:
    """The cost of a token of 4 characters after `length` of them, drawn 30 times a second."""
    async with Screen().run_test(size=SIZE) as pilot:
        view = pilot.app.query_one(Conversation)
        kind = "code" if code else "message"
        message = Message(role="assistant", type=kind, format="python" if code else None, state="writing")
        opening = "```python\n" if shape == "fence" and not code else ""
        body = (SHAPES[shape] if not code else PYTHON) * (length // 60 + 60)
        view.apply(MessageStarted(message))
        view.apply(MessageGrew(message.id, opening + body[:length]))
        view.transcript.flush()
        await pilot.pause()
        at, frames, tokens = length, 40, 8  # 240 tokens a second in frames of 33 ms

        def frame() -> None:
            nonlocal at
            for _ in range(tokens):
                view.apply(MessageGrew(message.id, body[at : at + 4]))
                at += 4
            view.transcript.flush()
            for y in range(SIZE[1]):
                view.transcript.render_line(y)

        costs = [cpu(frame) / tokens for _ in range(frames)]
        return sum(costs) / len(costs)


async def opening(count: int) -> tuple[float, float]:
    """The cost of opening a conversation, to its first frame; and of a page while scrolling."""
    events: list[Event] = []
    for number in range(count):
        role = "user" if number % 2 == 0 else "assistant"
        text = f"Question {number}" if number % 2 == 0 else SHAPES["mixed"]
        events.append(MessageRecorded(Message(role=role, type="message", content=text)))
    async with Screen().run_test(size=SIZE) as pilot:
        view = pilot.app.query_one(Conversation)
        view.apply(MessageRecorded(Message(role="assistant", type="message", content=SHAPES["mixed"] * 20)))
        await pilot.pause()
        view.clear()
        await pilot.pause()
        start = time.process_time()
        for event in events:
            view.apply(event)
        view.transcript.flush()
        await pilot.pause()
        pilot.app.screen._compositor.render_strips()
        opened = (time.process_time() - start) * 1000

        def scroll() -> None:
            view.page_up()
            for y in range(SIZE[1]):
                view.transcript.render_line(y)

        return opened, median([cpu(scroll) for _ in range(5)])


async def flood(megabytes: int) -> tuple[float, float]:
    """The cost of a megabyte of coloured output, drawn every 64 kB; and of splitting it into lines."""
    line = (
        "\x1b[32m2026-03-01\x1b[0m line of output with \x1b[1mcolours\x1b[0m and more words to fill it up\r\n"
    )
    chunk = line * (65536 // len(line))
    rounds = megabytes * 1_000_000 // len(chunk)
    async with Screen().run_test(size=SIZE) as pilot:
        view = pilot.app.query_one(Conversation)
        cell = Message(role="assistant", type="code", format="python", content="pass", state="running")
        out = Message(role="computer", type="console", format="output", parent=cell.id)
        view.apply(MessageRecorded(cell))
        view.apply(MessageStarted(out))

        def run() -> None:
            for _ in range(rounds):
                view.apply(MessageGrew(out.id, chunk))
                view.transcript.flush()
                for y in range(SIZE[1]):
                    view.transcript.render_line(y)

        return cpu(run) / megabytes, cpu(lambda: [chunk.split("\n") for _ in range(rounds)]) / megabytes


async def active_line(lines: int) -> float:
    """The cost of moving the mark of the line that runs in a cell of so many lines."""
    async with Screen().run_test(size=SIZE) as pilot:
        view = pilot.app.query_one(Conversation)
        code = PYTHON * (lines // 3)
        cell = Message(role="assistant", type="code", format="python", content=code, state="running")
        view.apply(MessageRecorded(cell))
        view.transcript.flush()

        def move() -> None:
            for number in range(1, 31):
                view.apply(RunReported(cell.id, LineReached(number)))
                view.transcript.flush()

        return cpu(move) / 30


async def typing(make: Callable[[str], TextArea], lines: int) -> float:
    """The cost of a character typed at the beginning of so many lines, drawn."""

    class ChatDriver(App[None]):
        def compose(self) -> ComposeResult:
            yield make(PYTHON * (lines // 3))

    async with ChatDriver().run_test(size=SIZE) as pilot:
        editor = pilot.app.query_one(TextArea)
        editor.focus()
        await pilot.pause()

        def key() -> None:
            editor.insert("x")
            for y in range(SIZE[1] - 2):
                editor.render_line(y)

        return median([cpu(key) for _ in range(15)])


def guard() -> tuple[float, float]:
    """What the last guard costs a frame, and what it costs to turn the frame's lines into bytes."""
    styles = [Style.parse(f"#{n:02x}8060 on #101010") for n in range(0, 160, 20)]
    line = [Segment("fourteen words", style) for style in styles]
    console = Console(force_terminal=True, color_system="truecolor", width=SIZE[0])
    filtering = SanitizeFilter()
    black = Color.parse("#000000")

    def guarded() -> None:
        for _ in range(SIZE[1]):
            filtering.apply(line, black)

    def written() -> None:
        for _ in range(SIZE[1]):
            Strip(line).render(console)

    return median([cpu(guarded) for _ in range(50)]), median([cpu(written) for _ in range(50)])


async def measure() -> dict[str, object]:
    """All figures."""
    tokens = {}
    for shape in SHAPES:
        short, long = await streaming(shape, 1_000), await streaming(shape, 50_000)
        tokens[shape] = {"1k": short, "50k": long, "ratio": long / short}
    short, long = await streaming("fence", 1_000, code=True), await streaming("fence", 50_000, code=True)
    tokens["cell"] = {"1k": short, "50k": long, "ratio": long / short}
    few, some, many = [min([await opening(count) for _ in range(3)]) for count in (50, 500, 5_000)]
    sink, split = await flood(20)
    stock = await typing(lambda text: TextArea(text, language=None), 2_000)
    own = await typing(lambda text: CodeEditor(text, "python"), 2_000)
    guarding, writing = guard()
    return {
        "ms a token while streaming": tokens,
        "opening, ms": {"50": few[0], "500": some[0], "5000": many[0], "ratio": many[0] / few[0]},
        "a page while scrolling, ms": {"500": some[1], "5000": many[1], "ratio": many[1] / some[1]},
        "flood, ms a megabyte": {"shown": sink, "split into lines": split, "megabytes a second": 1000 / sink},
        "active line, ms": {"20 lines": await active_line(21), "2000 lines": await active_line(2_001)},
        "typing in 2,000 lines, ms": {"own, coloured": own, "TextArea, plain": stock, "ratio": own / stock},
        "guard, ms a frame": {"guard": guarding, "bytes of the frame": writing, "share": guarding / writing},
    }


def main() -> None:
    """Measure, and write the figures."""
    figures = json.dumps(asyncio.run(measure()), indent=1, default=float)
    rounded = json.dumps(
        json.loads(figures, parse_float=lambda text: round(float(text), 4 if float(text) < 0.1 else 2)),
        indent=1,
    )
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(rounded + "\n", encoding="utf-8")
    else:
        sys.stdout.write(rounded + "\n")


if __name__ == "__main__":
    main()
