"""What the robots share: keys, texts and sizes, and one thing done after another, as the seed decides."""

import os
import random
from collections.abc import Callable, Sequence

from tests.e2e.program import Program
from tests.terminal import framed

SOAK = bool(os.environ.get("OI_TUI_SOAK"))
FIRST_SEED = int(os.environ.get("OI_TUI_SEED", "0"))

#: Keys that mean something, and some that do not; none of them answers a question with yes.
ARROWS = ("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "shift+tab")
LETTERS = tuple("bcdefghijklmnopqstuvwxzBCGJKNX/?%@.[(0")
EDITING_KEYS = ("escape", "backspace", "delete", *(f"ctrl+{letter}" for letter in "uaekwj"))
PASTES = ("one", "y\ny\n", "[b]x[/b] \x1b[2J \u202e", "/tmp", "line\n" * 50, "界" * 60, "")
SIZES = ((1, 1), (2, 1), (10, 3), (20, 6), (40, 10), (60, 18), (80, 24), (100, 30), (120, 40), (300, 100))


def is_conversation(screen: str) -> bool:
    return "oi-tui" in screen.split("\n")[0] and "ctrl+s save" not in screen


class Robot:
    """Uses the program; a subclass lists what it does, with weights."""

    #: What it may do next, and how often, relative to the rest.
    actions: Sequence[tuple[int, Callable[[], None]]]

    def __init__(self, program: Program, seed: int) -> None:
        self.program = program
        self.seed = seed
        self.random = random.Random(seed)
        self._log: list[str] = []

    def step(self) -> None:
        """Do one of the actions."""
        weights, actions = zip(*self.actions, strict=True)
        self.random.choices(actions, weights)[0]()

    def note(self, action: str) -> None:
        """Keep what was done for the report."""
        self._log.append(action)

    def report(self) -> str:
        """Return what was done, and what the screen shows."""
        return f"seed {self.seed}: {' '.join(self._log)}\n{framed(self.program.screen)}"

    def check_output(self) -> None:
        """Fail if the program reported that it failed."""
        output = bytes(self.program.raw)
        assert b"Traceback" not in output, self.report()
        assert b"oi-tui failed" not in output, self.report()

    def paste(self) -> None:
        text = self.random.choice(PASTES)
        self.note(f"paste {text[:9]!r}")
        self.program.paste(text)
