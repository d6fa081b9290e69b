"""A robot that does not wait: whatever it pressed, and when, the prompt then takes what is typed."""

import pytest

from tests import processes
from tests.e2e.conftest import Start
from tests.e2e.faults.robot import (
    ARROWS,
    EDITING_KEYS,
    FIRST_SEED,
    LETTERS,
    SIZES,
    SOAK,
    Robot,
    is_conversation,
)
from tests.e2e.program import Program, decisions

SEEDS = range(FIRST_SEED, FIRST_SEED + (200 if SOAK else 1))
STEPS = 40 if SOAK else 12
#: Keys that open something, from wherever.
OPENERS = (
    *("f1", "f2", "f3", "f4", "f8", "?", "ctrl+up"),
    *("ctrl+b", "ctrl+f", "ctrl+l", "ctrl+o", "ctrl+p", "ctrl+r"),
)
COMMANDS = (
    *("%keys", "%permissions", "%theme", "%log", "%new", "%verbose", "%output", "%help"),
    "%table prices.csv",
)
REQUESTS = ("largest files here", "count slowly", "ask me something", "tell me of [b]x[/b]")


class HastyRobot(Robot):
    """Mostly does the next thing without a look at what the last one did."""

    def __init__(self, program: Program, seed: int) -> None:
        super().__init__(program, seed)
        self.actions = [
            (8, self._open),
            (6, self._press),
            (3, self._say),
            (4, self._resize),
            (2, self.paste),
            (3, self._point),
            (1, self._look_away),
        ]

    def step(self) -> None:
        """Do one of the actions, and seldom wait a moment."""
        super().step()
        if self.random.random() < 0.3:
            self.program.settle(0.02, self.random.choice((0.05, 0.2, 1)))

    def _send(self, *keys: str) -> None:
        self.note(" ".join(keys))
        self.program.press(*keys)

    def _open(self) -> None:
        key = self.random.choice(OPENERS)
        self._send(*[key] * self.random.choice((1, 1, 1, 2)))

    def _press(self) -> None:
        known = self.random.choice((ARROWS, LETTERS, EDITING_KEYS, ("escape",)))
        self._send(*self.random.choices(known, k=self.random.randint(1, 6)))

    def _say(self) -> None:
        self._send("escape", "escape", "ctrl+u", self.random.choice((*COMMANDS, *REQUESTS)))
        self.program.settle(0.03, 0.3)
        self._send("enter")

    def _resize(self) -> None:
        columns, rows = self.random.choice(SIZES)
        self.note(f"{columns}x{rows}")
        self.program.resize(columns, rows)

    def _point(self) -> None:
        """Turn the wheel, or move; a click could be an answer."""
        x, y = self.random.randint(1, self.program.columns), self.random.randint(1, self.program.rows)
        button = self.random.choice((64, 65, 35))
        self.note(f"mouse {button} {x},{y}")
        self.program.send(f"\x1b[<{button};{x};{y}M" * self.random.randint(1, 5))

    def _look_away(self) -> None:
        self.note("focus out and in")
        self.program.send("\x1b[O\x1b[I")

    def type_into_prompt(self) -> bool:
        """Type a word into the prompt, as a person does who sees something else there: escape, and again."""
        self.program.resize(100, 30)
        for number in range(20):
            for _ in range(4):
                self.program.send("\x1d")
                self.program.press("escape")
                self.program.settle(0.1, 1)
            word = f"zebra{number}"
            self.program.press("ctrl+u")
            self.program.send(word)
            if processes.wait_until(lambda word=word: f"> {word}" in self.program.screen, 15):
                # A window that had another size for a moment is drawn again a second later.
                return processes.wait_until(lambda: is_conversation(self.program.screen), 15)
        return False


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_hasty_walk_the_prompt_takes_what_is_typed(
    start: Start, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OI_TUI_DEMO_TOKENS_PER_SECOND", "200")
    program = start("--demo")
    robot = HastyRobot(program, seed)
    if robot.random.random() < 0.7:
        program.begin()
    for _ in range(STEPS):
        robot.step()
    assert robot.type_into_prompt(), robot.report()
    robot.check_output()
    assert set(decisions()) <= {"rejected"}, robot.report()
    program.press("ctrl+q")
    assert program.wait_exit() == 0, robot.report()
