"""A robot that types across the appearance of the question: it approves nothing and loses no key."""

import os
import random
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import decisions
from tests.e2e.test_main_job import call, start_job
from tests.e2e.test_trust import MAKES_A_FILE, Robot
from tests.servers.openai_server import ModelServer, Say, spoken

SOAK = bool(os.environ.get("OI_TUI_SOAK"))
#: What the robot types, over and over; together 1,000 rounds in the long form.
MIXES = {"letters": "y1a", "enters": "y\r1\r", "spaces": "y 1 ", "only enter": "\r\ry"}
ROUNDS = 1_000 // len(MIXES) if SOAK else 2
QUESTION = "Run this python code?"


def keys_of(text: str) -> str:
    """What was typed, whatever was made of blanks and line ends."""
    return "".join(text.split())


@pytest.mark.soak
@pytest.mark.timeout(7_200 if SOAK else 120)
@pytest.mark.parametrize("mix", MIXES)
def test_across_the_appearance_of_the_question_nothing_is_approved_and_no_key_is_lost(
    start: Start, workplace: Path, mix: str
) -> None:
    dice = random.Random(mix)
    with ModelServer() as server:
        program = start_job(start, server)
        program.send("go")
        program.wait_for("> go")
        sent = "go"
        for _ in range(ROUNDS):
            words = Say("Here it comes. " * dice.randint(0, 12))
            server.answer(spoken(words, call(MAKES_A_FILE), size=dice.choice((1, 4, 60))))
            program.press("enter")
            server.exchange()
            with Robot(program, MIXES[mix]) as robot:
                program.wait_for(QUESTION)
                seen = len(robot.pressed)
                program.wait_for(lambda _, robot=robot, seen=seen: len(robot.pressed) > seen + 12)
            assert keys_of(server.requests[0]["messages"][-1]["content"]) == keys_of(sent)
            # Escape ends the turn; what was queued comes back to the prompt: the next round sends it.
            program.press("escape")
            program.wait_gone(QUESTION)
            program.idle()
            assert not (workplace / "ran.txt").exists()
            assert set(decisions()) <= {"rejected"}
            sent = robot.pressed
        server.answer(spoken(Say("That was all.")))
        program.press("enter")
        program.wait_for("That was all.")
        assert keys_of(server.requests[0]["messages"][-1]["content"]) == keys_of(sent)
