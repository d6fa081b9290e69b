"""The real program calls a person who looks elsewhere, and gives the window its own title back."""

import re

from tests.e2e.conftest import Start
from tests.e2e.program import Program

BLUR, FOCUS = "\x1b[O", "\x1b[I"
TITLE = re.compile(rb"\x1b\]2;([^\x1b]*)\x1b\\")


def rings(program: Program) -> int:
    """How often the bell rang; the same character also ends sequences."""
    return re.sub(rb"\x1b\][^\x07\x1b]*\x07", b"", bytes(program.raw)).count(b"\x07")


def leave(program: Program) -> None:
    """Send a message and look elsewhere at once; a key would tell that somebody is there again."""
    program.send("largest files here")
    program.wait_for(lambda screen: "> largest files here" in screen)
    program.send("\r" + BLUR)


def titles(program: Program) -> list[str]:
    return [item.decode() for item in TITLE.findall(bytes(program.raw))]


def test_a_question_calls_the_one_who_looks_elsewhere(start: Start) -> None:
    program = start("--demo", env={"TERM_PROGRAM": "WezTerm"})
    program.begin()
    leave(program)
    program.wait_for("Run this")
    program.wait_for(lambda _: b"\x1b]9;oi-tui: Run this" in bytes(program.raw))
    program.wait_for(lambda _: any("waiting for your approval" in title for title in titles(program)))
    assert bytes(program.raw).count(b"\x1b]9;") == 1


def test_the_one_who_looks_is_not_called(start: Start) -> None:
    program = start("--demo", env={"TERM_PROGRAM": "WezTerm"})
    program.begin()
    program.send(FOCUS)
    program.asked_first("largest files here")
    assert b"\x1b]9;" not in bytes(program.raw)
    assert rings(program) == 0


def test_the_window_gets_its_title_back(start: Start) -> None:
    program = start()
    program.begin()
    program.wait_for(lambda _: titles(program))
    program.press("ctrl+q")
    program.wait_exit()
    assert bytes(program.raw).count(b"\x1b[22;0t") == bytes(program.raw).count(b"\x1b[23;0t") == 1


def test_a_title_and_a_call_can_be_switched_off(start: Start) -> None:
    program = start(
        "--demo", "--notifications", "off", "--no-terminal-title", env={"TERM_PROGRAM": "WezTerm"}
    )
    program.begin()
    leave(program)
    program.wait_for("Run this")
    program.wait_quiet()
    assert titles(program) == []
    assert rings(program) == 0
