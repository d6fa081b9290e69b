"""The program killed at random moments: nothing that was seen is lost, nothing is left running."""

import os
import random
import signal
import threading
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.engine.storage import records
from oi_tui.engine.storage.store import Store
from tests import processes
from tests.e2e.program import Program

ROUNDS = int(os.environ.get("OI_TUI_SOAK_ROUNDS", "500")) if os.environ.get("OI_TUI_SOAK") else 3


def list_our_processes() -> list[processes.Process]:
    return processes.marked(os.environ[processes.MARK])


def find_numbered_words(screen: str, word: str) -> set[str]:
    """The numbered words of the conversation that stand on the screen, below the first line."""
    lines = [line for line in screen.split("\n")[1:] if line.startswith("┃") or line[2:].startswith("│")]
    return {part.strip(".,") for line in lines for part in line.split() if part.startswith(word)}


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_kills_at_random_moments_lose_nothing_that_was_seen(workplace: Path, figures: dict[str, int]) -> None:
    chance = random.Random(20)
    figures.update(kills=0, seen=0, lost=0, unreadable=0, damaged=0, strays=0)
    for round_ in range(ROUNDS):
        word = f"w{round_:03}x"
        code = f"import time\nfor i in range(2000): print('{word}' + str(i)); time.sleep(0.001)"
        (workplace / "p.py").write_text(code)
        # The code is typed as one line; what is printed comes from the file.
        arguments = ("--demo", "--resume") if round_ % 2 else ("--demo",)
        with Program(*arguments, cwd=workplace, rows=40) as program:
            program.wait_for("> Type a request", 60)
            program.say(f"%run python exec(open('p.py').read())  # {word}")
            if not round_:
                # On a busy machine nothing may be there yet at any of a few random moments.
                program.wait_for(lambda screen: bool(find_numbered_words(screen, word)))  # noqa: B023
            threading.Event().wait(chance.random() * 2.0)
            screen = program.screen
            program.signal(signal.SIGKILL)
            assert program.wait_exit() == -signal.SIGKILL
            figures["kills"] += 1
            if not processes.wait_until(lambda: not list_our_processes(), 40):
                figures["strays"] += len(list_our_processes())
        store = Store(paths.conversations())
        figures["unreadable"] += sum(bool(summary.problem) for summary in store.list_summaries())
        files = [records.parse(path.read_bytes()) for path in store.folder.glob("*.jsonl")]
        figures["damaged"] += sum(contents.damaged for contents in files)
        stored = "\n".join(m.content for contents in files for m in contents.messages.values())
        words = {part.strip(".,") for part in stored.split() if part.startswith(word)}
        shown = find_numbered_words(screen, word)
        figures["seen"] += len(shown)
        figures["lost"] += len(shown - words)
    assert figures["seen"] > 0
    assert not {name: figures[name] for name in ("lost", "unreadable", "damaged", "strays") if figures[name]}
