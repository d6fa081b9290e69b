"""What many saved conversations cost, as ratios measured in one run.

Run as `python -m tests.benchmarks.conversations [MANY]`: 100 conversations of 50 messages against MANY
(10,000) of them. Writes about 15 KB for each into a temporary folder, and says how long the index of words
took to make. The screens of both are opened by turns, each in a process of its own, so that what else the
machine does, and what a process has taken before, is the same for both. The figures go to the terminal as
JSON. Ratios carry over to other machines, times do not.
"""

import asyncio
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import ClassVar

from textual.app import App
from textual.widgets import Input

from oi_tui import paths
from oi_tui.engine.storage import records
from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.search import search, split_words
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.themes import THEMES
from oi_tui.widgets.lists.conversation_list import ConversationList

FEW, MANY, MESSAGES = 100, 10_000, 50
#: What is typed into the search, key by key.
SOUGHT = "request 7"
#: How often the screen of each is opened, and how often all of it is typed there.
RUNS, ROUNDS = 5, 3
WORDS = [
    f"{first}{second}" for first in "bcdfghklmnprstvw" for second in ("ale", "ind", "ost", "umber", "ight")
]


class Stage(App[None]):
    """The navigator and nothing else."""

    CSS_PATH: ClassVar = sorted(paths.styles().glob("*.tcss"))

    def __init__(self) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "oi-dark"


def fill(folder: Path, count: int) -> Store:
    """Conversations of requests, code and output; each has one word of its own in its output."""
    folder.mkdir(parents=True)
    chance = random.Random(count)
    kinds = (("user", "message"), ("assistant", "message"), ("assistant", "code"), ("computer", "console"))
    for number in range(count):
        header = {"id": f"c{number}", "created": 0.0, "cwd": f"/data/{number % 50}", "model": "m"}
        lines = [{"oi_tui": records.VERSION, **header, "title": f"request {number}", "n": 0}]
        for place in range(MESSAGES):
            role, kind = kinds[place % 4]
            shown = " ".join(chance.choices(WORDS, k=30)) + (f" needle{number}x" if place == 3 else "")
            message = Message(role=role, type=kind, content=shown, state="finished")  # type: ignore[arg-type]
            lines.append({"message": message.to_dict(), "n": place + 1})
        path = folder / f"c{number}.jsonl"
        path.write_bytes(b"".join(records.encode(line) for line in lines))
        os.utime(path, (1_700_000_000 + number * 60,) * 2)
    return Store(folder)


def resident() -> float:
    """The memory of this process, in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


async def on_screen(store: Store, count: int) -> dict[str, float]:
    """Open the navigator, filter with every key, and look for a word in what was said."""
    app = Stage()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        before = resident()
        start, busy = time.perf_counter(), time.process_time()
        navigator = NavigatorScreen(store)
        await app.push_screen(navigator)
        rows = navigator.query_one(ConversationList)
        listed = asyncio.Event()
        navigator.watch(rows, "virtual_size", lambda: len(rows.items) < count or listed.set())
        await listed.wait()
        await pilot.pause()
        opened, worked = time.perf_counter() - start, time.process_time() - busy
        await app.workers.wait_for_complete()
        await pilot.pause()
        memory = resident() - before
        keys = []
        box = navigator.query_one(Input)
        for _ in range(ROUNDS):
            for end in range(1, len(SOUGHT) + 1):
                start = time.perf_counter()
                box.value = SOUGHT[:end]
                while list(rows.words) != split_words(SOUGHT[:end]):
                    await asyncio.sleep(0)
                for line in range(rows.size.height):
                    rows.render_line(line)
                keys.append(time.perf_counter() - start)
                # The search in what was said would go on while the next key is measured.
                box.value = ""
                while rows.words:
                    await asyncio.sleep(0)
    index = FullTextIndex(store.folder / "words.sqlite3")
    index.update(store)
    return {
        "opening the screen, s": opened,
        "opening the screen, s of the processor": worked,
        "a key that filters, s": median(keys),
        "memory of the screen, MB": memory,
        "a word of an output, s": median(time_search(store, index, n) for n in (1, count // 2, count - 1)),
    }


def time_search(store: Store, index: FullTextIndex, number: int) -> float:
    """Seconds until the one conversation was found that has this word in its output."""
    ids = [summary.id for summary in store.list_summaries()]
    start = time.perf_counter()
    looked = search(store, f"needle{number}x", ids, index=index)
    hit = next(hit for hit in looked if hit is not None)
    took = time.perf_counter() - start
    assert hit.id == f"c{number}"
    assert not [hit for hit in looked if hit is not None]
    return took


def prepared(folder: Path, count: int) -> dict[str, float]:
    """Write so many conversations, and read them for the first time."""
    store = fill(folder, count)
    start = time.perf_counter()
    store.make_listing()
    first = time.perf_counter() - start
    start = time.perf_counter()
    FullTextIndex(folder / "words.sqlite3").update(store)
    return {"first reading of the list, s": first, "making the index, s": time.perf_counter() - start}


def measure_screen(folder: Path, count: int) -> dict[str, float]:
    """The figures of the screen, from a process of its own."""
    command = (sys.executable, "-m", "tests.benchmarks.conversations", "--screen", str(folder), str(count))
    reported = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    figures: dict[str, float] = json.loads(reported.stdout)
    return figures


def compared(place: Path, many: int) -> dict[str, dict[str, float]]:
    """All figures, of few and of many."""
    counts = {place / "few": FEW, place / "many": many}
    figures = {count: prepared(folder, count) for folder, count in counts.items()}
    runs: dict[int, list[dict[str, float]]] = {count: [] for count in counts.values()}
    for _ in range(RUNS):
        for folder, count in counts.items():
            runs[count].append(measure_screen(folder, count))
    for count, item in runs.items():
        # The quickest is what it costs; the others had to wait for something else.
        figures[count] |= {name: min(run[name] for run in item) for name in item[0]}
    few, more = figures[FEW], figures[many]
    return {
        name: {
            str(FEW): round(few[name], 4),
            str(many): round(more[name], 4),
            "ratio": round(more[name] / max(few[name], 1e-4), 2),
        }
        for name in few
    }


def main() -> None:
    """Measure, and write the figures."""
    if sys.argv[1:2] == ["--screen"]:
        folder, count = Path(sys.argv[2]), int(sys.argv[3])
        sys.stdout.write(json.dumps(asyncio.run(on_screen(Store(folder), count))))
        return
    many = int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    with tempfile.TemporaryDirectory() as place:
        os.environ["OI_TUI_HOME"] = os.environ["HOME"] = place
        figures = compared(Path(place), many)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
