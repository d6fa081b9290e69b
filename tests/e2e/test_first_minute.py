"""A newcomer's first minute with the demo model: ask, approve, edit, reject, answer, stop."""

import os
import re
from pathlib import Path

from tests.e2e.conftest import Start
from tests.e2e.program import Program, messages
from tests.terminal import framed

SLOW = {"OI_TUI_DEMO_TOKENS_PER_SECOND": "40"}


def start_demo(start: Start, **options: object) -> Program:
    program = start(**options)
    program.begin()
    return program


def test_a_file_is_summarised_with_figures_that_are_true(start: Start) -> None:
    # All of it as a person starts it: the others are forks, as the fixture says.
    program = start_demo(start, rows=40, quick=None)
    screen = program.asked_first("summarise prices.csv")
    assert 'open("prices.csv"' in screen
    assert "not an AI" in screen
    program.answer("y")
    program.wait_for("columns hold numbers")
    screen = program.idle()
    assert re.search(r"close +│ +62 │ +184\.58 │ +173\.43 │ +201\.01", screen), framed(screen)


def test_the_reply_streams_in_before_it_is_whole(start: Start) -> None:
    program = start_demo(start, env=SLOW)
    program.say("break something")
    program.wait_for("I will make a mis")
    program.wait_for("basket = {")
    assert "Run this" not in program.screen
    program.asked()


def test_an_edited_line_is_what_runs_and_the_model_hears_of_it(start: Start, workplace: Path) -> None:
    program = start_demo(start)
    program.asked_first("break something")
    program.answer("e")
    program.wait_for("f5 done")
    program.press("ctrl+home")
    program.send("open('by hand.txt', 'w').write('edited')")
    program.press("enter")
    program.wait_for("by hand.txt")
    assert not (workplace / "by hand.txt").exists()
    program.press("f5")
    program.answer("y")
    program.wait_for("You edited my code")
    assert (workplace / "by hand.txt").read_text() == "edited"


def test_a_rejection_with_a_reason_leads_to_another_way(start: Start) -> None:
    program = start_demo(start)
    program.asked_first("shell: what machine is this")
    program.answer("n")
    program.wait_for("Why not")
    program.say("no shell, please")
    program.wait_for("because: “no shell, please”")
    screen = program.asked()
    assert "import platform" in screen
    program.answer("y")
    program.wait_for("The other way worked")


def test_a_program_that_asks_gets_its_answers(start: Start) -> None:
    program = start_demo(start)
    program.asked_first("ask me something")
    program.answer("y")
    program.wait_for("asks: What is your name")
    program.say("Grace")
    program.wait_for("asks: And a whole number")
    program.say("1001")
    program.answer("y")
    program.wait_for("Grace, your number 1001 is a product of primes")
    assert "7 x 11 x 13" in program.idle()


def test_escape_stops_a_stream_at_once_and_keeps_what_came(start: Start) -> None:
    program = start_demo(start, env=SLOW)
    program.say("help")
    program.wait_for("I cannot understand you")
    program.press("escape")
    program.wait_for("stopped by you")
    assert "I cannot understand you" in program.idle()
    assert "For real work" not in program.screen


def test_escape_stops_a_run_and_its_memory_is_kept(start: Start) -> None:
    program = start_demo(start)
    program.asked_first("count slowly")
    program.answer("y")
    program.wait_for("2 squared is")
    program.wait_for(lambda screen: re.search(r"> +6 +time\.sleep", screen))
    program.press("escape")
    program.wait_for("variables kept")
    program.idle()
    program.say("go on")
    program.answer("y")
    screen = program.wait_for("counted to the end")
    assert "I remember that we got to" in screen


def test_a_plot_is_shown_and_saved(start: Start) -> None:
    program = start_demo(start)
    program.asked_first("plot something")
    program.answer("y")
    program.answer("y")
    program.wait_for("each on a scale of its own")
    [image] = [message for message in messages() if message["type"] == "image"]
    assert image["format"] == "base64.png"
    assert list(Path(os.environ["OI_TUI_HOME"]).glob("data/outputs/*.png"))


def test_an_error_is_read_and_repaired(start: Start) -> None:
    program = start_demo(start)
    program.asked_first("break something")
    program.answer("y")
    program.wait_for("It failed as it should")
    program.answer("y")
    program.wait_for("Repaired: 3 kinds of fruit for 4.50")


def test_always_is_asked_once_and_runs_the_next_step_by_itself(start: Start) -> None:
    program = start_demo(start)
    program.asked_first("plot something")
    program.press("a")
    screen = program.wait_for("all python, whatever it does")
    offer = next(line for line in screen.splitlines() if "all python, whatever it does" in line)
    program.press(next(character for character in offer if character.isdecimal()))
    program.wait_for("each on a scale of its own")
    program.say("break something")
    program.wait_for("Repaired: 3 kinds of fruit for 4.50")
