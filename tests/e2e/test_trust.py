"""Approval can be trusted: what was typed before, pasted, or typed by a machine answers nothing."""

import re
import threading
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import Program, decisions
from tests.e2e.test_main_job import call, start_job
from tests.servers.openai_server import ModelServer, Say, spoken
from tests.terminal import framed

MAKES_A_FILE = "open('ran.txt', 'w').write('it ran')"


class Robot:
    """Presses keys 15 times a second until it is stopped; `pressed` is what it sent."""

    def __init__(self, program: Program, keys: str) -> None:
        self.pressed = ""
        self._program, self._keys = program, keys
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> "Robot":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stopped.wait(1 / 15):
            key = self._keys[len(self.pressed) % len(self._keys)]
            self._program.send(key)
            self.pressed += key


def prompt(program: Program) -> str:
    """What stands in the prompt."""
    lines = program.lines
    first = max(i for i, line in enumerate(lines) if line.startswith(" > "))
    return "".join(line[3:] for line in lines[first:-1])


def test_a_robot_s_letters_end_up_in_the_prompt_and_approve_nothing(start: Start, workplace: Path) -> None:
    with ModelServer(spoken(Say("Here it comes. " * 5), call(MAKES_A_FILE))) as server:
        program = start_job(start, server)
        program.say("go")
        program.wait_for("┃ go")
        with Robot(program, "y1a") as robot:
            program.wait_for("Run this python code?")
            seen = len(robot.pressed)
            program.wait_for(lambda _: len(robot.pressed) > seen + 30)
        program.wait_for(lambda _: prompt(program) == robot.pressed)
        program.wait_for("tab to answer")
    assert not (workplace / "ran.txt").exists()
    assert decisions() == []


def test_a_robot_with_enter_queues_messages_and_approves_nothing(start: Start, workplace: Path) -> None:
    with ModelServer(spoken(Say("Here it comes. " * 5), call(MAKES_A_FILE))) as server:
        program = start_job(start, server)
        program.say("go")
        program.wait_for("┃ go")
        with Robot(program, "y\r 1\r") as robot:
            program.wait_for("Run this python code?")
            seen = len(robot.pressed)
            program.wait_for(lambda _: len(robot.pressed) > seen + 30)
        program.wait_for("Run this python code?")
    assert not (workplace / "ran.txt").exists()
    assert decisions() == []


@pytest.mark.parametrize(
    "pasted",
    ["\x1b[200~y\x1b[201~", "\x1b[200~y\ny\n\x1b[201~", "yes please\r", "y\r", "y y y"],
    ids=["bracketed", "bracketed lines", "words", "letter and enter", "letters"],
)
def test_what_is_pasted_at_the_open_question_approves_nothing(
    start: Start, workplace: Path, pasted: str
) -> None:
    with ModelServer(spoken(call(MAKES_A_FILE)), spoken(Say("It is done."))) as server:
        program = start_job(start, server)
        program.asked_first("go")
        program.send(pasted)
        program.wait_for(lambda screen: "tab to answer" in screen or "press the key again" in screen)
        assert not (workplace / "ran.txt").exists()
        assert decisions() == []
        # The question is still open, and a person can answer it.
        program.reach()
        program.answer("y")
        program.wait_for("It is done.")
    assert (workplace / "ran.txt").exists()
    assert decisions() == ["approved"]


def test_what_was_typed_before_the_question_came_is_kept(start: Start, workplace: Path) -> None:
    with ModelServer(spoken(Say("Wait for it. " * 20), call(MAKES_A_FILE), size=2)) as server:
        program = start_job(start, server)
        program.say("go")
        program.wait_for("┃ go")
        program.send("yay")
        program.wait_for("tab to answer")
        assert prompt(program) == "yay"
    assert not (workplace / "ran.txt").exists()


HOSTILE = (
    "\x1b]0;OWNED\x07\x1b]52;c;T1dORUQ=\x07\x1b[?1049l\x1b[2J\x1b[31mred\x1b[0m\x1bP+q544e\x1b\\\x9b6n"
    "\x1b_Gi=31;AAAA\x1b\\\x1b]8;;http://evil.example/\x1b\\here\x1b]8;;\x1b\\\x1bc\u202eback\u200b[bold]x[/bold]"
)
#: Sequences of the hostile text that the renderer itself never writes.
FORBIDDEN = (
    b"\x1b]0;",
    b"\x1b]52",
    b"\x1bP+q",
    b"\x1b_G",
    b"evil.example/\x1b\\",
    b"\x1bc",
    b"\xc2\x9b",
    "\u202e".encode(),
)


def beside_our_question(program: Program) -> bytes:
    """What went to the terminal, without the question about images that the start asks."""
    return re.sub(rb"\x1b_Gi=\d+,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", b"", bytes(program.raw), count=1)


def test_no_sequence_of_a_model_or_program_reaches_the_terminal(start: Start) -> None:
    code = f"print({HOSTILE!r})"
    answers = spoken(Say(f"Look: {HOSTILE} end of words"), call(code)), spoken(Say("All quiet."))
    with ModelServer(*answers) as server:
        program = start_job(start, server)
        screen = program.asked_first("go")
        assert "end of words" in screen
        program.answer("y")
        program.wait_for("All quiet.")
        program.idle()
        written = beside_our_question(program)
        found = [sequence for sequence in FORBIDDEN if sequence in written]
        assert found == [], framed(program.screen)
        # The alternate screen was entered once and not left.
        assert re.findall(rb"\x1b\[\?1049[hl]", written) == [b"\x1b[?1049h"]
        assert "[bold]x[/bold]" in program.screen
