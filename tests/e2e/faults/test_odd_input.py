"""Input that no person types: the program goes on, and what is typed besides counts."""

import contextlib
import random
import signal

import pytest

from tests.e2e.conftest import Start
from tests.unit.terminal.test_input_filter import ALPHABET, STRINGS, Input

#: What ended the program, or was typed into the prompt, with Textual's own reader.
REPORTS = [
    "\x1b[121;1:3u",
    "\x1b[97;1:3u",
    "\x1b[1;1:3A",
    "\x1b[3;1:3~",
    "\x1b[99999999u",
    "\x1b[27;5;9999999~",
    "\x1b[48;0;0;0;0t",
    "\x1b[48;60000;60000;60000;60000t",
    "\x1b[<999;70000;70000M",
    *(f"\x1b{string}{end}" for string in STRINGS for end in ("\x07", "\x1b\\")),
]


def harmless(text: str) -> bool:
    """Whether the text presses no key that leaves, suspends or opens an editor."""
    pressed = Input()
    events = [*pressed.send(text), *pressed.wait(5.0)]
    return not any("ctrl+" in str(event) or str(event) in ("enter", "y", "a") for event in events)


def test_no_report_of_a_terminal_ends_the_program_or_types_anything(start: Start) -> None:
    program = start()
    program.begin()
    for report in REPORTS:
        program.send(report)
    program.send("x")
    program.wait_for("> x")
    assert program.wait_quiet().count("> x\n") <= 1
    choose = random.Random(11)
    for _ in range(300):
        text = "".join(choose.choices(ALPHABET, k=choose.randint(1, 14)))
        if harmless(text):
            program.send(text)
    # A busy machine may take long for all that, and a string that breaks off is waited for.
    for _ in range(20):
        program.wait_quiet(0.7)
        with contextlib.suppress(OSError):
            for key in ("escape", "escape", "escape", "ctrl+q"):
                program.press(key)
                program.wait_quiet(0.1)
        if program.ended:
            break
    assert program.wait_exit() == 0
    assert program.modes == set()


def test_an_interrupt_from_outside_stops_the_run_and_not_the_program(start: Start) -> None:
    program = start(env={"OI_TUI_DEMO_TOKENS_PER_SECOND": "0"})
    program.begin()
    program.signal(signal.SIGINT)
    program.asked_first("count slowly")
    program.answer("y")
    program.wait_for("2 squared is")
    program.signal(signal.SIGINT)
    program.wait_for("interrupted")
    program.signal(signal.SIGINT)
    program.idle()
    program.press("ctrl+q")
    assert program.wait_exit() == 0


def test_ctrl_c_while_everything_is_ended_ends_nothing_midway(start: Start) -> None:
    program = start()
    program.begin()
    program.press("ctrl+q")
    while not program.ended:
        with contextlib.suppress(ProcessLookupError):
            program.signal(signal.SIGINT)
        program.wait_quiet(0.005)
    assert program.wait_exit() == 0
    assert b"Traceback" not in program.raw


@pytest.mark.parametrize("presses", [1, 5, 25])
def test_ctrl_c_while_the_program_loads_ends_it_without_a_traceback(start: Start, presses: int) -> None:
    program = start()
    program.send("\x03")
    for _ in range(presses):
        with contextlib.suppress(OSError):
            program.press("ctrl+c")
        program.wait_quiet(0.01)
    # A terminal that is not yet the program's keeps ctrl+q for itself.
    if "ready" in program.wait_for(lambda screen: "ready" in screen or program.ended, 60):
        program.press("ctrl+q")
    program.wait_exit()
    # Before the program's first line, the interrupt is Python's own, and so is what it says.
    assert b"oi_tui/cli" not in program.raw
    assert program.modes == set()


def test_a_message_typed_before_the_first_frame_is_sent_by_its_enter(start: Start) -> None:
    program = start()
    program.send("hello there\r")
    program.wait_for("I cannot understand you")
