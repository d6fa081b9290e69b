"""Programs that take the whole terminal, in the real application."""

import re
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import Program, messages
from tests.terminal import framed

BACK = "ctrl+] back"
KEY_BACK, KEY_FOCUS = "\x1d", "\x0f"


def within(program: Program, text: str = "") -> str:
    """Wait until a program has the screen and shows the text."""
    return program.wait_for(lambda screen: BACK in screen and text in screen)


def wait_for_conversation(program: Program, text: str = "") -> str:
    """Wait until the conversation is back and shows the text."""
    return program.wait_for(lambda screen: BACK not in screen and "oi-tui" in screen and text in screen)


def start_full_screen_program(start: Start, command: str, **options: object) -> Program:
    program = start("--demo", **options)
    program.begin()
    program.say(f"%% {command}")
    return program


def numbered(folder: Path) -> None:
    (folder / "lines.txt").write_text("".join(f"this is line {n}\n" for n in range(1, 501)))


@pytest.mark.needs("less")
def test_less_pages_searches_and_leaves_nothing_behind(start: Start, workplace: Path) -> None:
    numbered(workplace)
    program = start_full_screen_program(start, "less lines.txt; echo less has ended")
    rows = program.rows - 2
    screen = within(program, f"this is line {rows}\n")
    assert screen.startswith("this is line 1\n"), framed(screen)
    assert screen.count("this is line") == rows, framed(screen)
    program.press(" ")
    within(program, f"this is line {2 * rows}\n")
    program.press("up")
    within(program, f"this is line {rows}\n")
    program.send("/line 321")
    program.wait_for("/line 321")
    program.press("enter")
    screen = program.wait_for(lambda screen: screen.startswith("this is line 321\n"))
    program.press("q")
    screen = wait_for_conversation(program, "finished")
    assert "less has ended" in screen
    assert "this is line" not in screen
    program.idle()


@pytest.mark.needs("vi")
def test_vi_writes_a_file(start: Start, workplace: Path) -> None:
    program = start_full_screen_program(start, "vi note.txt")
    within(program, "~")
    program.press("i")
    program.send("first line")
    program.press("enter")
    program.send("wörld 日本")
    program.wait_for("wörld 日本")
    program.press("escape")
    program.wait_gone("-- INSERT --")
    # Elsewhere these keys are the application's own; the last one would leave it.
    program.press("ctrl+r", "ctrl+l", "ctrl+q")
    program.wait_for("-- VISUAL BLOCK --")
    program.press("escape")
    program.wait_gone("-- VISUAL BLOCK --")
    program.send(":wq")
    program.wait_for(":wq")
    program.press("enter")
    wait_for_conversation(program, "finished")
    program.idle()
    assert (workplace / "note.txt").read_text(encoding="utf-8") == "first line\nwörld 日本\n"


@pytest.mark.needs("less")
def test_the_way_back_and_in_again(start: Start, workplace: Path) -> None:
    numbered(workplace)
    program = start_full_screen_program(start, "less lines.txt")
    within(program, "this is line 1\n")
    program.press("G")
    within(program, "this is line 500\n")
    program.send(KEY_BACK)
    screen = wait_for_conversation(program, "full-screen program")
    assert "this is line" not in screen
    program.send(KEY_FOCUS)
    within(program, "this is line 500\n")
    program.press("g")
    within(program, "this is line 1\n")
    program.send(KEY_BACK)
    wait_for_conversation(program)
    # less does not end at an interrupt; the second escape ends it.
    program.press("escape")
    wait_for_conversation(program, "esc again ends")
    # A key that is held down repeats: what follows at once is the same press.
    program.wait_for(lambda screen: re.search(r"(stopping shell|for input) +[1-9]", screen))
    program.press("escape")
    program.idle()
    assert "less lines.txt" in program.screen


@pytest.mark.needs("less")
def test_the_program_follows_the_size_of_the_window(start: Start, workplace: Path) -> None:
    numbered(workplace)
    program = start_full_screen_program(start, "less lines.txt; stty size")
    within(program, "this is line 28\n")
    program.resize(80, 20)
    program.wait_for(lambda screen: "this is line 18\n" in screen and "this is line 19\n" not in screen)
    program.resize(120, 40)
    within(program, "this is line 38\n")
    program.press("q")
    screen = wait_for_conversation(program, "finished")
    # Back in the conversation, programs are as wide as their output is shown.
    assert "36 114" in screen or "39 120" in screen, framed(screen)


def test_a_line_as_wide_as_the_terminal_of_its_program_is_one_line_on_a_wide_screen(start: Start) -> None:
    program = start("--demo", columns=220, rows=40)
    program.begin()
    # The sidebar comes with the first cell, and takes columns from the next one.
    program.say("%% echo first cell")
    program.wait_for("Files changed")
    program.idle()
    program.say("%% stty size; printf '%*s\\n' $(stty size | cut -d' ' -f2) end | tr ' ' -")
    screen = program.wait_for(lambda screen: screen.count("finished") == 2)
    columns = int(re.search(r"│ \d+ (\d+)\s", screen)[1])  # type: ignore[index]
    assert columns > 120
    assert f"│ {'-' * (columns - 3)}end" in screen, framed(screen)


def test_a_program_that_dies_on_the_alternate_screen_gives_the_screen_back(
    start: Start, workplace: Path
) -> None:
    (workplace / "dies.sh").write_text(
        r"printf '\033[?1049h\033[2J\033[Hgoing %s' down; until [ -e now ]; do sleep 0.1; done; kill -9 $$"
    )
    program = start_full_screen_program(start, ". ./dies.sh")
    within(program, "going down")
    (workplace / "now").touch()
    screen = wait_for_conversation(program)
    assert "going down" not in screen
    program.idle()
    program.say("%% echo alive again")
    wait_for_conversation(program, "alive again")


@pytest.mark.needs("less", "vi")
def test_several_programs_of_one_run_have_the_screen_one_after_the_other(
    start: Start, workplace: Path
) -> None:
    numbered(workplace)
    program = start_full_screen_program(start, "less lines.txt; sleep 1.5; echo in between; vi lines.txt")
    within(program, "this is line 1\n")
    program.press("q")
    wait_for_conversation(program)
    within(program, "lines.txt")
    program.send(":q")
    program.wait_for(":q")
    program.press("enter")
    wait_for_conversation(program, "in between")
    program.idle()


@pytest.mark.needs("less")
def test_nothing_opens_under_the_fingers_of_somebody_who_types(start: Start, workplace: Path) -> None:
    numbered(workplace)
    program = start_full_screen_program(start, "sleep 1; less lines.txt")
    # Text right behind the enter would make a new line of it.
    program.wait_for("[1] shell")
    program.send("!touch made-by-less")
    program.wait_for("a full-screen program has the terminal")
    screen = program.wait_for(lambda screen: re.search(r"for input +[2-9] s", screen))
    assert BACK not in screen
    assert "!touch made-by-less" in screen
    program.press("ctrl+u")
    within(program, "this is line 1\n")
    program.press("q")
    wait_for_conversation(program, "finished")
    assert not (workplace / "made-by-less").exists()


def test_a_plain_program_can_be_used_by_its_terminal_too(start: Start) -> None:
    program = start_full_screen_program(start, "read -n 1 -p 'any key? ' key; echo; echo got $key")
    program.wait_for("shell is waiting for")
    program.send(KEY_FOCUS)
    within(program, "any key?")
    program.press("x")
    wait_for_conversation(program, "got x")
    program.idle()
    program.send(KEY_FOCUS)
    program.wait_for("Output of [1] shell")


@pytest.mark.needs("less")
def test_what_a_full_screen_program_drew_is_not_told_to_the_model(start: Start, workplace: Path) -> None:
    numbered(workplace)
    program = start_full_screen_program(start, "less lines.txt")
    within(program, "this is line 1\n")
    program.press("q")
    wait_for_conversation(program, "finished")
    program.idle()
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    assert program.modes == set()
    assert [message["state"] for message in messages() if message["type"] == "code"] == ["finished"]
