"""The prompt of the real program, in a real terminal."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import Program, messages

LONG = "".join(f"line {number}\n" for number in range(1, 215))


@pytest.fixture
def program(start: Start) -> Program:
    program = start(columns=80, rows=24)
    program.begin()
    return program


def list_sent_texts() -> list[str]:
    return [
        message["content"]
        for message in messages()
        if message["role"] == "user" and message["type"] == "message"
    ]


def test_a_file_and_a_variable_are_completed_and_told(program: Program, workplace: Path) -> None:
    (workplace / "my notes.txt").write_text("x")
    program.say("%python prices = [1.5, 2.5]")
    program.wait_for("finished")
    program.idle()
    program.send("read @my")
    program.wait_for("> my notes.txt")
    program.press("tab")
    program.wait_for('@"my notes.txt"')
    program.send("and @pri")
    program.wait_for("> prices ")
    program.press("tab")
    program.wait_for("and @prices")
    program.press("enter")
    program.wait_for("python variable: list of 2")
    assert list_sent_texts() == [
        'read "my notes.txt" and prices\n\n(`prices` is a python variable: list of 2, the first: float)'
    ]


def test_a_long_paste_is_folded_on_the_screen_and_whole_in_the_message(program: Program) -> None:
    program.send("see ")
    program.paste(LONG)
    program.wait_for("> see [pasted 214 lines]")
    program.press("enter")
    program.wait_for("I am the demo model")
    program.idle()
    assert list_sent_texts() == [f"see {LONG}".rstrip()]


def test_a_long_paste_of_a_terminal_that_does_not_mark_it_is_folded_too(program: Program) -> None:
    program.send(LONG.replace("\n", "\r"))
    program.wait_for("> [pasted 214 lines]")
    program.press("enter")
    program.wait_for("I am the demo model")
    program.idle()
    assert list_sent_texts() == [LONG.rstrip()]


@pytest.mark.parametrize("keys", ["\x1b[27u\x1b[27u", "\x03"])
def test_text_that_is_typed_right_after_a_key_that_clears_the_prompt_stays(
    program: Program, keys: str
) -> None:
    program.send("before")
    program.wait_for("> before")
    program.send(f"{keys}after")
    program.wait_for("> after")
    program.press("ctrl+z", "ctrl+z")
    program.wait_for("> before")


@pytest.mark.parametrize("keys", ["\x1b[27u\x1b[27u", "\x03"])
def test_text_that_is_typed_after_such_a_key_while_the_program_loads_stays(start: Start, keys: str) -> None:
    program = start(columns=80, rows=24)
    program.send("before")
    program.wait_for("> before")
    program.send(f"{keys}after")
    program.wait_for("> after")


def test_a_file_that_is_dropped_in_is_named(program: Program, workplace: Path) -> None:
    (workplace / "a picture.png").write_bytes(b"x")
    program.paste(f"{workplace}/a\\ picture.png ")
    program.wait_for('> @"a picture.png"')


def test_the_terminal_caret_stands_where_the_next_character_goes(program: Program) -> None:
    program.wait_for(lambda _: program.cursor == (3, 22))
    program.send("日本é")
    program.wait_for(lambda _: program.cursor == (8, 22))
    program.resize(60, 18)
    program.wait_for(lambda _: program.cursor == (8, 16))


def test_a_window_that_was_smaller_for_a_moment_is_drawn_again(program: Program) -> None:
    before = program.idle()
    for _ in range(5):
        program.resize(30, 8)
        program.resize(80, 24)
        program.wait_for(lambda screen: screen == before)


@pytest.mark.parametrize("used", [True, False])
def test_the_mouse_is_used_or_left_to_the_terminal(start: Start, used: bool) -> None:
    program = start(*(["--demo"] if used else ["--demo", "--no-mouse"]), columns=80, rows=24)
    program.begin()
    assert (1000 in program.modes) is used
    program.say("%mouse")
    program.wait_for(
        "Mouse support is off; your terminal handles the mouse." if used else "Mouse support is on"
    )
    program.wait_for(lambda _: (1000 in program.modes) is not used)


def test_a_long_question_is_shown_with_its_end_and_a_password_is_dots_and_kept_nowhere(
    program: Program, workplace: Path, own_world: Path
) -> None:
    program.say("%python import getpass; word = getpass.getpass('why ' * 60 + '[Y/n] ')")
    program.wait_for("[Y/n]")
    screen = program.wait_for("asks: …")
    assert "hidden; not saved" in screen
    program.send("hunter2-canary")
    screen = program.wait_for("••••")
    assert "hunter2" not in screen
    program.press("enter")
    program.idle()
    program.say("%python print(len(word), 'characters')")
    program.wait_for("14 characters")
    program.idle()
    files = [path for path in own_world.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"hunter2-canary" in path.read_bytes()]
    assert b"hunter2-canary" not in program.raw


def test_a_password_right_after_a_name_is_dots_too(program: Program) -> None:
    program.say("%% read -p 'user: ' u; read -rsp 'word: ' p; echo; echo $u ${#p} long")
    program.wait_for("asks: user:")
    program.send("ada\r")
    program.wait_for("asks: word:")
    program.send("hunter2")
    assert "hunter2" not in program.wait_for("•••••••")
    program.press("enter")
    program.wait_for("ada 7 long")
    assert b"hunter2" not in program.raw


@pytest.mark.parametrize("sent", ["ada\r42\r", "\x1b[200~ada\r42\r\x1b[201~", f"ada\r42\r{'-x' * 200}\r"])
def test_lines_that_come_ahead_of_the_questions_answer_them_one_by_one(program: Program, sent: str) -> None:
    """They come as keys, as a marked paste, and as so much at once that it is taken for a paste."""
    program.say("%python [input(q) for q in ('name? ', 'number? ')]")
    program.wait_for("asks: name?")
    program.send(sent)
    program.wait_for("['ada', '42']")
    program.idle()
    # The keyboard is back at the prompt.
    program.send("next words")
    program.wait_for("> next words")


def test_the_rest_of_a_paste_stays_for_the_next_question(program: Program) -> None:
    program.say("%python [input(q) for q in ('name? ', 'number? ')]")
    program.wait_for("asks: name?")
    program.paste("ada\n4")
    program.wait_for("asks: number?")
    program.wait_for(lambda screen: any(line.split()[-1:] == ["4"] for line in screen.split("\n")[-6:]))
    program.send("2")
    program.press("enter")
    program.wait_for("['ada', '42']")
