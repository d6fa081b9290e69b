"""A robot that wanders over all screens: nothing breaks, nothing runs unasked, and ctrl+q always leaves."""

import os
from pathlib import Path

import pytest

from tests import processes
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
from tests.e2e.program import Program, messages
from tests.terminal import PROGRAM, framed

SEEDS = range(FIRST_SEED, FIRST_SEED + (200 if SOAK else 2))
STEPS = 120 if SOAK else 25
#: What leaves every mode of the terminal as it was, but for bash's own bracketed paste.
SHELLS = {2004}
QUESTION = ("Run this", "auto-approve", "Run everything")

#: Every screen and bar: how it is opened, and what may be pressed there. A new screen is one line.
VISITS: dict[str, tuple[str, tuple[str, ...]]] = {
    "navigator": ("ctrl+r", (*ARROWS, *LETTERS, *EDITING_KEYS, "ctrl+t")),
    "profile editor": ("f2", (*ARROWS, "/", "m", "d", "x", "escape", "backspace")),
    "models": ("ctrl+l", (*ARROWS, *LETTERS, "backspace")),
    "variables": ("f4", (*ARROWS, *LETTERS, *EDITING_KEYS, "enter", "f5", "ctrl+o")),
    "palette": ("ctrl+p", (*ARROWS, *LETTERS, "backspace")),
    "help": ("f1", (*ARROWS, *LETTERS, "f1")),
    "find bar": ("ctrl+f", (*ARROWS, *LETTERS, *EDITING_KEYS, "enter")),
    "history": ("ctrl+s", (*ARROWS, *LETTERS, "backspace", "tab")),
    "blocks": ("ctrl+up", (*ARROWS, *"bcdfghjkmovwCGJK?", "space", "enter", "shift+up")),
    "keymap": ("%keys", (*ARROWS, *LETTERS, "enter")),
    "grants": ("%permissions", (*ARROWS, "d", "enter", "q")),
    "colours": ("%theme", ARROWS),
    "log": ("%log", (*ARROWS, *LETTERS, "enter")),
    "doctor": ("%doctor", (*ARROWS, "/", "n", "N")),
    "the log's panel": ("%verbose", ARROWS),
    "output": ("%output", (*ARROWS, "/", "n", "N", "s", "enter")),
    "a cell": ("ctrl+up", ("m", "w", "v", "d", "f1", "escape", "C", "up", "o", "f")),
    "changes": ("f8", ARROWS),
    "editor": ("e", (*ARROWS, *LETTERS, *EDITING_KEYS, "f8", "ctrl+f")),
    "sidebar": ("ctrl+b", (*ARROWS, *"jkq", "enter", "space")),
    "keys that act": ("?", ARROWS[:4]),
    "a table": ("%table prices.csv", (*ARROWS, *LETTERS, *EDITING_KEYS, "enter", "ctrl+f")),
    "a table that is not there": ("%table nothing", (*ARROWS, "enter")),
    "terminal": ("ctrl+o", ("up", "down", "x", "\x1d")),
}
SAID = ("count slowly", "largest files here", "ask me something", "plot something", "%new", "%files")


class Walker(Robot):
    """Visits one screen after another, and waits for each."""

    def __init__(self, program: Program, seed: int) -> None:
        super().__init__(program, seed)
        self.actions = [
            (8, self._visit),
            (3, self._say),
            (3, self._press),
            (2, self.paste),
            (2, self._point),
            (2, self._resize),
            (1, self._look_away),
            (1, self._stop),
            (1, self._suspend),
        ]

    def _keys(self, known: tuple[str, ...], most: int) -> None:
        for key in self.random.choices(known, k=self.random.randint(1, most)):
            self.note(key)
            self.program.press(key)

    def _visit(self) -> None:
        name = self.random.choice(list(VISITS))
        way, known = VISITS[name]
        self.note(f"<{name}>")
        if way.startswith("%"):
            self._empty_prompt()
            self.program.send(way)
            self.program.press("enter")
        else:
            self.program.press(way)
        self.program.settle(0.05, 2)
        self._keys(known, 8)
        self._back()

    def _back(self) -> None:
        """To the conversation, whatever is open."""
        self.program.send("\x1d")
        for _ in range(4):
            self.program.press("escape")
            self.program.settle(0.05, 2)

    def come_back(self) -> None:
        """To the conversation, also where a screen that was asked for long before opens only now."""
        for _ in range(20):
            self._back()
            if is_conversation(self.program.screen):
                break
        self.program.wait_for(is_conversation)

    def _empty_prompt(self) -> None:
        self._back()
        self.program.press("ctrl+down", "ctrl+u")
        self.program.settle(0.05, 2)

    def _say(self) -> None:
        words = self.random.choice(SAID)
        self.note(words)
        self._empty_prompt()
        self.program.send(words)
        self.program.settle(0.05, 2)
        self.program.press("enter")
        self.program.settle(self.random.choice((0.05, 0.3)), 3)

    def _press(self) -> None:
        # Not f6: it ends editing and runs the code, which is a yes.
        others = ("f3", "f5", "f8", "ctrl+g", "ctrl+t", "ctrl+n", "\x1d")
        self._keys((*ARROWS, *EDITING_KEYS, *LETTERS, *others), 12)

    def _point(self) -> None:
        """Press, press twice, drag and turn the wheel; not where a click would be an answer."""
        x, y = self.random.randint(1, self.program.columns), self.random.randint(1, self.program.rows)
        button = self.random.choice((0, 2, 64, 65, 35))
        if any(words in self.program.screen for words in QUESTION):
            button = 64
        self.note(f"mouse {button} {x},{y}")
        press, release = f"\x1b[<{button};{x};{y}M", f"\x1b[<{button};{x};{y}m"
        match self.random.choice(("once", "twice", "drag")):
            case "twice":
                self.note("twice")
                self.program.send((press + release) * 2)
            case "drag":
                places = [
                    (self.random.randint(1, self.program.columns), self.random.randint(1, self.program.rows))
                    for _ in range(self.random.randint(1, 5))
                ]
                self.note(f"drag {places}")
                moves = "".join(f"\x1b[<{button | 32};{to[0]};{to[1]}M" for to in places)
                self.program.send(f"{press}{moves}\x1b[<{button};{places[-1][0]};{places[-1][1]}m")
            case _:
                self.program.send(press + release)

    def _resize(self) -> None:
        size = self.random.choice(SIZES)
        self.note(f"{size[0]}x{size[1]}")
        self.program.resize(*size)
        self.program.settle(0.05, 2)
        if self.random.random() < 0.7:
            self.program.resize(100, 30)

    def _look_away(self) -> None:
        self.note("focus out and in")
        self.program.send("\x1b[O")
        self.program.settle(0.05, 1)
        self.program.send("\x1b[I")

    def _stop(self) -> None:
        """ctrl+c once; the key after it makes sure that a second one is not the second."""
        self._empty_prompt()
        self.program.send("x")
        self.program.press("ctrl+c")
        self.note("ctrl+c")
        self.program.settle(0.05, 2)
        self.program.press("left")

    def _suspend(self) -> None:
        self._empty_prompt()
        self.program.resize(100, 30)
        self.note("ctrl+z, fg")
        # In the prompt the key takes typing back, and a dialog has no such key. A program that is behind may
        # still show settings that were opened before, and take the key in the prompt after all.
        for _ in range(20):
            self.come_back()
            self.program.press("f2")
            # On a busy machine the settings are drawn after a silence.
            if processes.wait_until(lambda: "ctrl+s save" in self.program.screen, 3):
                self.program.press("ctrl+z")
                if processes.wait_until(lambda: "Stopped" in self.program.screen, 20):
                    break
        self.program.wait_for("Stopped")
        self.program.send("fg\r")
        self.program.wait_for(lambda _: 1049 in self.program.modes)
        self.program.settle(0.1, 3)


def check_nothing_broke(robot: Robot) -> None:
    """Nothing has broken so far, and nothing ran."""
    robot.check_output()
    approved = [message for message in messages() if message.get("decision", "rejected") != "rejected"]
    assert not approved, f"{approved}\n{robot.report()}"


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_walk_breaks_nothing_runs_nothing_and_can_be_left(
    workplace: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PS1", "shell> ")
    # What the editor "changes" is nothing.
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("OI_TUI_DEMO_TOKENS_PER_SECOND", "200")
    with Program(command=("bash", "--norc", "--noprofile", "-i"), cwd=workplace) as program:
        program.wait_for("shell>")
        program.say(" ".join([*PROGRAM, "--demo"]))
        program.begin()
        robot = Walker(program, seed)
        for _ in range(STEPS):
            try:
                robot.step()
            except AssertionError as error:
                error.add_note(robot.report())
                raise
            check_nothing_broke(robot)
        program.resize(100, 30)
        robot.come_back()
        last = program.screen.rstrip("\n").split("\n")[-1]
        assert last.strip(), framed(program.screen)
        assert len(last) <= program.columns
        program.press("ctrl+q")
        program.wait_for(lambda screen: screen.rstrip().endswith("shell>") and 1049 not in program.modes)
        program.send("echo left with $?\r")
        program.wait_for("left with 0")
        check_nothing_broke(robot)
        assert program.modes - SHELLS == set()
        program.send("exit\r")
        program.wait_exit()
    assert processes.wait_until(lambda: not processes.marked(os.environ[processes.MARK]), 40)
