"""Programs that move the cursor up and down: what stands in the end is what is told and shown."""

# ruff: noqa: E501 - what programs print, as it is

import random

import pytest

from oi_tui.engine.output.plain import make_plain
from oi_tui.widgets.emulator.ansi_text import AnsiText

#: Two bars, as rich, docker and tqdm draw them.
BARS = "start\r\na 1%\r\nb 1%\r\x1b[1A\x1b[2Ka \x1b[32m50%\x1b[0m\r\nb 60%\r\x1b[2K\x1b[1A\x1b[2Ka done\r\nb done\r\nend\r\n"
#: As top draws: what did not change is passed over.
TOP = "before\r\n\x1b[?1h\x1b=\x1b[?25l\x1b[H\x1b[2J\x1b(B\x1b[mtop - 1\x1b[K\r\nTasks: 5\x1b[K\r\n\x1b[7mPID\x1b[m\r\n"
TOP += "\x1b[Htop - 2\x1b[K\r\n\r\n\r\n 42\x1b[K\x1b[?1l\x1b>\x1b[6;1H\r\nafter\r\n"
APT = "Get:1\r\n\x1b7\x1b[0;23r\x1b8\x1b[1A\r\n\x1b7\x1b[24;0f\x1b[42mProgress: [ 10%]\x1b[49m\x1b8Unpacking\r\n"


@pytest.mark.parametrize(
    ("printed", "lines"),
    [
        (BARS, ["start", "a done", "b done", "end"]),
        (TOP, ["before", "top - 2", "Tasks: 5", "PID", " 42", "", "", "after"]),
        (APT, ["Get:1", "Unpacking"]),
        ("one\r\n\x1b[H\x1b[2J\x1b[3Jtwo\r\n\x1b[H\x1b[2Jthree\r\n", ["one", "three"]),
        ("\x1b[3;5Hx\x1b[1;1Hy", ["y", "", "    x"]),
        ("a\r\nb\r\n\x1b[9Ac\r\n", ["c", "b"]),
        ("a\nb\x1b[Ac", ["ac", "b"]),
        ("\x1b[999999999;999999999Hx", None),
        ("x\x1b[0A\x1b[;H\x1b[H\x1b[;5Hz", ["x", "    z"]),
        ("\x1b[2Jgrüße €\r\n\x1b[1A\x1b[2C!", ["gr!ße €"]),
    ],
)
def test_what_stands_in_the_end_is_what_is_left(printed: str, lines: list[str] | None) -> None:
    if lines is None:
        assert make_plain(printed).strip() == "x"
        return
    assert make_plain(printed).rstrip("\n").split("\n") == lines
    assert AnsiText(printed).words() == lines


@pytest.mark.parametrize("printed", [BARS, TOP, APT])
def test_it_is_the_same_however_it_is_cut(printed: str) -> None:
    whole = AnsiText(printed).words()
    for seed in range(50):
        text, rest = AnsiText(), printed
        while rest:
            size = random.Random(seed * 1000 + len(rest)).randint(1, 12)
            text.feed(rest[:size])
            rest = rest[size:]
        assert text.words() == whole


def test_colours_stay_where_they_were_drawn() -> None:
    spans = AnsiText("\r\n\x1b[1A\x1b[31mred\x1b[0m plain\r\n").spans(0)
    assert [(text, style.color is not None) for text, style in spans] == [("red", True), (" plain", False)]


def test_what_only_prints_is_not_drawn() -> None:
    for printed in ("10%\r20%\x1b[K\r\n", "\x1b[31mred\x1b[0m\r\n", "\x1b[J\x1b[2K\r\n", "[1A and [H\r\n"):
        assert not AnsiText(printed).drawing


def test_a_flood_after_a_drawing_is_kept_as_any_other() -> None:
    text = AnsiText("a\r\n\x1b[1Ab\r\n")
    for number in range(40):
        text.feed("".join(f"line {number * 1000 + item}\r\n" for item in range(1000)))
    assert not text.drawing
    assert text.words()[0] == "b"
    assert text.words()[-1] == "line 39999"
    assert text.line_count < 4000


def test_a_long_drawing_lets_its_first_lines_go_for_good() -> None:
    text = AnsiText()
    for number in range(1000):
        text.feed(f"bar\r\n\x1b[1A\x1b[2Kdone {number}\r\n")
    assert text.words() == [f"done {number}" for number in range(1000)]
