"""What programs draw becomes cells, what is pressed becomes what an xterm sends."""

import random
import subprocess
import sys
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.style import Style
from textual.app import App, ComposeResult
from textual.events import Key

from oi_tui.text import escape_controls
from oi_tui.widgets.emulator.history import KEPT, OutputHistory
from oi_tui.widgets.emulator.keys import encode_key, paste_text
from oi_tui.widgets.emulator.parser import TerminalEmulator
from oi_tui.widgets.emulator.view import TerminalView


def rows(screen: TerminalEmulator) -> list[str]:
    lines = ("".join(screen.buffer[y][x].data for x in range(screen.columns)) for y in range(screen.lines))
    return [line.rstrip() for line in lines]


def feed_and_read(text: str, columns: int = 20, lines: int = 4) -> list[str]:
    screen = TerminalEmulator(columns, lines)
    screen.feed(text)
    return rows(screen)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("hello", "hello"),
        ("a\rb", "b"),
        ("abc\b\bX", "aXc"),
        ("a\tb", "a       b"),
        ("\x1b[5Gx", "    x"),
        ("abcdef\x1b[3D\x1b[K", "abc"),
        ("abcdef\x1b[1G\x1b[2P", "cdef"),
        ("abc\x1b[1G\x1b[2@", "  abc"),
        ("abcdef\x1b[2G\x1b[3X", "a   ef"),
        ("ab\x1b[4hX\x1b[1GY\x1b[4l", "YabX"),
        ("-\x1b[5b", "------"),
        ("\x1b(0lqk\x1b(Bq", "┌─┐q"),
        ("日本x", "日本x"),
        ("e\u0301x", "e\u0301x"),
        ("a\u202eb\u200bc", "abc"),
        ("\x1b]0;a title\x07x", "x"),
        ("\x1b]8;;http://a.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP+q544e\x1b\\x", "x"),
        ("\x1b_private\x1b\\x", "x"),
        ("\x1b[>4;2mx\x1b[?4m\x1b[<u\x1b[=1u\x1b[>1u", "x"),
        ("\x1b[38:2::1:2:3mx\x1b[4:3my\x1b[58:5:1mz", "xyz"),
        ("\x1b[99999999999999999;1Hx\x1b[Hy", "y"),
        ("\x1b[\x00mx", "mx"),
        ("\x1b7abc\x1b8X", "Xbc"),
    ],
)
def test_a_sequence_leaves_this_on_the_first_line(text: str, first: str) -> None:
    assert feed_and_read(text)[0] == first


def test_lines_wrap_and_scroll() -> None:
    assert feed_and_read("abcdefgh", 4, 2) == ["abcd", "efgh"]
    assert feed_and_read("1\r\n2\r\n3", 4, 2) == ["2", "3"]
    assert feed_and_read("\x1b[?7labcdefgh", 4, 2) == ["abch", ""]
    assert feed_and_read("abcdeé", 4, 3) == ["abcd", "eé", ""]
    assert feed_and_read("abc日", 4, 2) == ["abc", "日"]


def test_a_region_scrolls_and_the_rest_stays() -> None:
    fill = "1\r\n2\r\n3\r\n4\x1b[2;3r"
    assert feed_and_read(fill + "\x1b[3;1H\nx") == ["1", "3", "x", "4"]
    assert feed_and_read(fill + "\x1b[2;1H\x1bMx") == ["1", "x", "2", "4"]
    assert feed_and_read(fill + "\x1b[2;1H\x1b[Lx") == ["1", "x", "2", "4"]
    assert feed_and_read(fill + "\x1b[2;1H\x1b[Mx") == ["1", "x", "", "4"]
    assert feed_and_read(fill + "\x1b[S") == ["1", "3", "", "4"]
    assert feed_and_read(fill + "\x1b[T") == ["1", "", "2", "4"]


def test_the_alternate_screen_comes_and_goes_and_the_first_one_is_as_it_was() -> None:
    screen = TerminalEmulator(10, 2)
    screen.feed("before\x1b[?1049h\x1b[2J\x1b[Hwithin")
    assert rows(screen) == ["within", ""]
    screen.feed("\x1b[?1049l!")
    assert rows(screen) == ["before!", ""]


def test_colours_and_manners_are_kept_with_the_cells() -> None:
    screen = TerminalEmulator(20, 2)
    screen.feed("\x1b[1;31ma\x1b[38;5;200mb\x1b[48;2;1;2;3mc\x1b[0;7md\x1b[me\x1b[38:2::9:8:7mf\x1b[4:0mg")
    styles = [screen.buffer[0][x].style for x in range(7)]
    assert styles[0] == Style.parse("bold color(1)")
    assert styles[1] == Style.parse("bold color(200)")
    assert styles[2] == Style.parse("bold color(200) on #010203")
    assert styles[3] == Style(reverse=True)
    assert styles[4] == Style()
    assert styles[5].color == Style.parse("#090807").color
    assert not styles[6].underline


def test_erasing_leaves_the_colour_of_the_background() -> None:
    screen = TerminalEmulator(5, 2)
    screen.feed("\x1b[4;44m\x1b[2J")
    assert {screen.buffer[y][x].style for y in range(2) for x in range(5)} == {Style.parse("on color(4)")}


def test_what_a_program_asks_is_answered_unless_that_is_long_ago() -> None:
    words: list[str] = []
    screen = TerminalEmulator(10, 3, words.append)
    questions = "ab\r\nc\x1b[6n\x1b[5n\x1b[c\x1b[>c\x1b[?2004h\x1b[?2004$p"
    screen.feed(questions)
    assert words == ["\x1b[2;2R", "\x1b[0n", "\x1b[?6c", "\x1b[>0;10;1c", "\x1b[?2004;1$y"]
    screen.muted = True
    screen.feed(questions)
    assert len(words) == 5


SAMPLE = (
    "\x1b[?1049h\x1b[22;0;0t\x1b[1;24r\x1b[?12h\x1b[?25l\x1b[H\x1b[2Jé日\x1b[38;5;9mred\x1b]0;t\x07\x1b[4;3Hx"
    "\x1bP1$r\x1b\\\x1b[?25h\x1b[2;5H\x1b[K\x1b(0x\x1b(B"
)


def test_where_the_text_is_cut_makes_no_difference() -> None:
    whole = TerminalEmulator(20, 5)
    whole.feed(SAMPLE)
    for cut in range(len(SAMPLE)):
        halves = TerminalEmulator(20, 5)
        halves.feed(SAMPLE[:cut])
        halves.feed(SAMPLE[cut:])
        assert rows(halves) == rows(whole)
        assert (halves.cursor.x, halves.cursor.y) == (whole.cursor.x, whole.cursor.y)
        assert halves.private_modes == whole.private_modes


ODD = [
    *("\x1b[?1049h", "\x1b[?1049l", "\x1b[?6h", "\x1b[?7l", "\x1b[2;3r", "\x1b[4h", "\x1bM", "\n", "\x1b"),
    *("\x1b#8", "\x1bc", "\x1b[?5h", "\x0e", "\x1b]", "\x1bP", "\x9b", "\x1b[?3h", "\x1b[20h"),
]


def test_a_line_is_addressed_in_origin_mode_without_margins() -> None:
    screen = TerminalEmulator(4, 3)
    screen.feed("\x1b[?6h\x1b[3dend\x1b[d")
    assert rows(screen)[2].strip() == "end"
    assert screen.cursor.y == 0


@given(
    st.lists(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from("ABCDEFGHJKLMPSTXZ@`abcdefghlmnrsu").flatmap(
                lambda final: st.lists(st.integers(0, 200), max_size=3).map(
                    lambda numbers: f"\x1b[{';'.join(map(str, numbers))}{final}"
                )
            ),
            st.sampled_from(ODD),
        ),
        max_size=40,
    ),
    st.integers(2, 9),
    st.integers(2, 9),
)
@example(["\x1b[?6h", "\x1b[d", "\x1b[6n"], 2, 2)
def test_nothing_that_a_program_writes_gets_out_of_the_grid(
    pieces: list[str], columns: int, lines: int
) -> None:
    screen = TerminalEmulator(7, 4)
    for number, piece in enumerate(pieces):
        screen.feed(piece)
        if number == len(pieces) // 2:
            screen.resize(lines, columns)
        assert 0 <= screen.cursor.x <= screen.columns
        assert 0 <= screen.cursor.y < screen.lines
    assert all(0 <= y < screen.lines for y in screen.buffer)
    assert all(
        escape_controls(cell.data) == cell.data for row in screen.buffer.values() for cell in row.values()
    )


@pytest.mark.parametrize(
    ("key", "character", "sent"),
    [
        ("a", "a", "a"),
        ("upper_a", "A", "A"),
        ("exclamation_mark", "!", "!"),
        ("plus", "+", "+"),
        ("é", "é", "é"),
        ("space", " ", " "),
        ("enter", "\r", "\r"),
        ("tab", "\t", "\t"),
        ("shift+tab", None, "\x1b[Z"),
        ("backspace", "\x7f", "\x7f"),
        ("escape", "\x1b", "\x1b"),
        ("ctrl+c", "\x03", "\x03"),
        ("ctrl+z", "\x1a", "\x1a"),
        ("ctrl+at", "\x00", "\x00"),
        ("ctrl+space", None, "\x00"),
        ("ctrl+backslash", "\x1c", "\x1c"),
        ("ctrl+underscore", "\x1f", "\x1f"),
        ("alt+x", "x", "\x1bx"),
        ("alt+shift+x", "X", "\x1bX"),
        ("alt+enter", None, "\x1b\r"),
        ("up", None, "\x1b[A"),
        ("home", None, "\x1b[H"),
        ("ctrl+right", None, "\x1b[1;5C"),
        ("alt+shift+up", None, "\x1b[1;4A"),
        ("delete", None, "\x1b[3~"),
        ("shift+pageup", None, "\x1b[5;2~"),
        ("f1", None, "\x1bOP"),
        ("f5", None, "\x1b[15~"),
        ("f12", None, "\x1b[24~"),
        ("f13", None, "\x1b[1;2P"),
        ("ctrl+f1", None, "\x1b[1;5P"),
        ("left_shift", None, ""),
        ("super+a", None, ""),
    ],
)
def test_a_key_is_what_an_xterm_sends(key: str, character: str | None, sent: str) -> None:
    assert encode_key(Key(key, character)) == sent


def test_cursor_keys_have_another_form_when_the_program_asks_for_it() -> None:
    assert encode_key(Key("up", None), application=True) == "\x1bOA"
    assert encode_key(Key("ctrl+up", None), application=True) == "\x1b[1;5A"


def test_a_paste_presses_no_keys() -> None:
    assert paste_text("a\nb\r\nc\td") == "a\rb\rc\td"
    assert paste_text("x\x1b[201~\x03y\x9b", bracketed=True) == "\x1b[200~x[201~y\x1b[201~"


def test_raw_output_knows_the_modes_wherever_it_is_cut() -> None:
    text = "$ vi\r\n\x1b[?1049h\x1b[?1h\x1b=drawing"
    for cut in range(len(text)):
        output = OutputHistory()
        output.feed(text[:cut])
        output.feed(text[cut:])
        assert output.alternate
        assert output.full_screen
        assert output.replay() == "\x1b[?1049h\x1b[?1h\x1b=drawing"
        output.feed("\x1b[?1l\x1b[?1049")
        assert output.full_screen
        output.feed("l")
        assert not output.full_screen


def test_a_long_drawing_can_be_taken_up_in_the_middle() -> None:
    output = OutputHistory()
    output.feed("\x1b[?1049h\x1b[?1h\x1b[?25l")
    for number in range(20_000):
        output.feed(f"\x1b[3;1H{number:08}")
    text = output.replay()
    assert len(text) < 2 * KEPT + 100
    screen = TerminalEmulator(20, 5)
    screen.feed(text)
    assert rows(screen)[2] == "00019999"
    assert {1049, 1} <= screen.private_modes
    assert 25 not in screen.private_modes


@pytest.mark.slow
def test_the_emulator_is_loaded_only_when_a_program_needs_it() -> None:
    modules = "oi_tui.app, oi_tui.screens.chat.commands.chat, oi_tui.screens.chat.view"
    code = f"import sys, {modules}; print('pyte' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class Shown(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.typed: list[str] = []

    def compose(self) -> ComposeResult:
        yield TerminalView(self.typed.append)

    @property
    def view(self) -> TerminalView:
        return self.query_one(TerminalView)

    @property
    def text(self) -> list[str]:
        return [self.view.render_line(y).text.rstrip() for y in range(self.view.size.height)]


async def test_the_view_draws_what_the_program_wrote_and_sends_it_the_keys() -> None:
    app = Shown()
    async with app.run_test(size=(30, 5)) as pilot:
        app.view.focus()
        app.view.feed("日本\x1b[3;4Hxy\x1b[31mz\x1b[5;29H日\x1b[5;30H!\x1b[?1h\x1b[?2004h\x1b[6n")
        await pilot.pause(0.1)
        assert app.text == ["日本", "", "   xyz", "", " " * 29 + "!"]
        await pilot.press("a", "up", "ctrl+c", "ctrl+z", "escape", "tab")
        assert app.typed == ["\x1b[5;30R", "a", "\x1bOA", "\x03", "\x1b", "\t"]
        app.view.feed("\x1b[1;1H")
        await pilot.pause(0.1)
        first = next(iter(app.view.render_line(0)))
        assert first.text == "日"
        assert first.style
        assert first.style.reverse


async def test_a_flood_reaches_its_end_and_keys_do_not_wait_for_it() -> None:
    app = Shown()
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.focus()
        line = "".join(random.Random(1).choices("abcdefgh ", k=78)) + "\r\n"
        for _ in range(20):
            app.view.feed(line * 10_000)
        began = time.monotonic()
        await pilot.press("q")
        assert time.monotonic() - began < 30
        app.view.feed("the end")
        limit = time.monotonic() + 10
        while app.text[-1] != "the end" and time.monotonic() < limit:
            await pilot.pause(0.02)
        assert app.text[-1] == "the end"
        assert app.typed[:1] == ["q"]
