"""Images in terminals that can show them, and in those that cannot."""

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from PIL import Image

from tests.e2e.program import Program
from tests.graphics_terminal import GraphicsTerminal
from tests.processes import wait_until
from tests.terminal import IMAGES_ASKED

KITTY = "\x1b_Gi={number};OK\x1b\\\x1bP>|kitty(0.35.2)\x1b\\\x1b[6;20;10t\x1b[?62;c"
SIXEL = "\x1bP>|foot(1.16.2)\x1b\\\x1b[6;20;10t\x1b[?62;4;22c"
OUTSIDE = {"TMUX": None, "STY": None, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
#: The reply comes slowly, so that the image stays where it is for a while.
SLOWLY = {"OI_TUI_DEMO_TOKENS_PER_SECOND": "1"}


class Shown(GraphicsTerminal, Program):
    """The real program in a terminal with images."""


@pytest.fixture
def open_in(workplace: Path) -> Iterator[type[Shown]]:
    Image.effect_noise((640, 480), 60).save(workplace / "plot.png")
    with ExitStack() as running:

        def start(answers: str, *arguments: str, env: dict[str, str | None] | None = None) -> Shown:
            options = {"cwd": workplace, "columns": 80, "rows": 24, "env": {**OUTSIDE, **(env or {})}}
            return running.enter_context(Shown(*(arguments or ("--demo",)), answers=answers, **options))

        yield start  # type: ignore[misc]


def show(program: Shown) -> None:
    """Have an image in the conversation."""
    program.begin()
    program.say("look at plot.png")
    program.wait_for("image 640x480")


def test_kitty_gets_each_image_once_and_has_none_left_at_the_end(open_in: type[Shown]) -> None:
    program = open_in(KITTY, env=SLOWLY)
    show(program)
    assert wait_until(lambda: len(program.shown) == 1, 30)
    program.press("pageup", "pagedown")
    program.press("f1")
    program.wait_for("type to search keys")
    program.press("escape")
    program.wait_for("image 640x480")
    record = program.record
    [(number, kept)] = record.images.items()
    assert (kept.sent, kept.columns, kept.rows, record.malformed) == (1, 43, 16, [])
    assert program.shown == {number: {(row, column) for row in range(16) for column in range(43)}}
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    assert program.record.deleted == [number]
    left = bytes(program.raw).rpartition(b"a=d")[2]
    assert b"\x1b[?1049l" in left
    assert program.modes == set()


def test_sixels_are_drawn_where_the_image_stands_once_it_rests(open_in: type[Shown]) -> None:
    program = open_in(SIXEL, env=SLOWLY)
    show(program)

    def stands_where_it_is_drawn() -> bool:
        places = (number for number, row in enumerate(program.lines, 1) if "▀" in row)
        return bool(program.sixels) and program.sixels[-1][:2] == (next(places, 0), 3)

    assert wait_until(stands_where_it_is_drawn, 30), (program.sixels, program.lines)
    assert b'"1;1;430;320' in program.sixels[-1][2]
    assert program.record.images == {}


@pytest.mark.parametrize("answers", ["\x1b[?62;22c", ""])
def test_where_the_terminal_shows_none_it_is_sent_none(open_in: type[Shown], answers: str) -> None:
    # A quick reply could scroll the image away before it is drawn.
    program = open_in(answers, env=SLOWLY)
    show(program)
    program.wait_for("▀▀▀▀▀▀▀▀")
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    assert (program.record.images, program.record.deleted, program.sixels) == ({}, [], [])


@pytest.mark.parametrize(
    ("env", "flags"),
    [
        ({"TERM": "linux"}, ()),
        ({"TERM": "screen-256color"}, ()),
        ({"TMUX": "/nonexistent,1,0"}, ()),
        ({}, ("--demo", "--images", "off")),
    ],
)
def test_a_terminal_that_could_be_disturbed_is_not_asked(
    open_in: type[Shown], env: dict[str, str], flags: tuple[str, ...]
) -> None:
    program = open_in(KITTY, *flags, env={**SLOWLY, **env})
    show(program)
    assert IMAGES_ASKED not in program.raw
    assert program.record.images == {}


def test_an_answer_that_comes_late_and_torn_types_nothing_and_answers_nothing(open_in: type[Shown]) -> None:
    program = open_in("")
    program.begin()
    program.asked_first("plot something")
    assert wait_until(lambda: IMAGES_ASKED in program.raw, 40)
    number = program.number
    pieces = (
        f"\x1b_Gi={number[:3]}",
        f"{number[3:]};O",
        "K\x1b\\\x1bP>|ki",
        "tty(0.35.2)\x1b\\\x1b[?6",
        "2;c",
    )
    for piece in pieces:
        program.send(piece)
        time.sleep(0.1)
    program.press("x")
    screen = program.wait_for("x")
    program.wait_quiet()
    assert "Run this" in screen
    assert not any(torn in screen for torn in ("OK", "Gi=", "62;c", "kitty"))


def test_an_answer_to_the_last_question_is_not_left_for_the_shell(open_in: type[Shown]) -> None:
    program = open_in("")
    assert wait_until(lambda: IMAGES_ASKED in program.raw, 40)
    program.press("ctrl+q")
    program.send(KITTY.replace("{number}", program.number))
    assert program.wait_exit() == 0
    assert program.attributes() == program.attributes_before


def test_after_ctrl_z_the_image_is_there_again(open_in: type[Shown]) -> None:
    program = open_in(KITTY, env=SLOWLY)
    show(program)
    assert wait_until(lambda: len(program.shown) == 1, 30)
    [first] = program.record.images
    program.press("ctrl+z")
    assert wait_until(lambda: program.record.deleted == [first], 20)
    assert wait_until(lambda: b"\x1b[?1049l" in program.raw, 20)
    program.signal(signal.SIGCONT)
    assert wait_until(lambda: len(program.shown) == 2, 30)
    assert program.shown.keys() == program.record.images.keys()


def test_an_image_is_looked_at_in_full(open_in: type[Shown]) -> None:
    program = open_in(KITTY, env=SLOWLY)
    show(program)
    assert wait_until(lambda: len(program.shown) == 1, 30)
    program.press("escape")
    program.idle()
    program.press("tab")
    program.wait_for("·>")
    # How much stands below the image depends on when the turn was stopped.
    while "p show image" not in program.wait_quiet(0.3):
        program.press("up")
    program.press("p")
    program.wait_for("open outside")
    assert wait_until(lambda: len(program.record.images) == 2, 30)
    assert list(program.record.images.values())[-1].rows == 22
    program.press("o")
    program.wait_for("There is no display here")
    program.press("escape")
    program.wait_gone("open outside")
    assert wait_until(lambda: len(program.record.deleted) == 1, 20)


def test_nothing_is_written_in_an_idle_second_beside_an_image(open_in: type[Shown]) -> None:
    for answers in (KITTY, SIXEL):
        program = open_in(answers, env=SLOWLY)
        show(program)
        assert wait_until(lambda program=program: program.shown or program.sixels, 30)
        program.press("escape")
        program.idle()
        program.wait_quiet(1.5)
        before = len(program.raw)
        time.sleep(1.0)
        assert len(program.raw) == before
