"""The terminal that the end-to-end tests look at shows what a real one would."""

import signal
import sys
from pathlib import Path

import pytest

from oi_tui.widgets.images.kitty import NUMBERS, PLACEHOLDER
from tests.graphics_terminal import find_cells
from tests.terminal import EmulatedScreen, Terminal

APP = """
from textual.app import App
from textual.widgets import Input, Static
class Small(App):
    def compose(self):
        yield Static("héllo 世界 [x]", markup=False)
        yield Input()
    def on_input_submitted(self, event):
        self.query_one(Static).update("said " + event.value)
        event.input.clear()
        if event.value == "bye": self.exit()
Small().run()
"""


def _python(code: str, **options: object) -> Terminal:
    return Terminal(code, command=(sys.executable, "-c"), **options)  # type: ignore[arg-type]


def test_a_textual_program_is_seen_typed_to_and_left_with_its_modes_restored() -> None:
    with _python(APP, columns=60, rows=12) as terminal:
        terminal.wait_for("héllo 世界 [x]")
        assert {1049, 2004} <= terminal.modes
        terminal.say("good day")
        terminal.wait_for("said good day")
        terminal.resize(40, 10)
        terminal.say("again")
        terminal.wait_for(lambda screen: "said again" in screen and len(screen.split("\n")) == 10)
        terminal.say("bye")
        assert terminal.wait_exit() == 0
        assert terminal.modes == set()
        assert terminal.attributes() == terminal.attributes_before
        assert "text" not in terminal.screen


def test_sequences_cut_anywhere_leave_no_trace_on_the_screen() -> None:
    text = (
        b"\x1b[>1u\x1b[?2026$p\x1b_Gi=1,a=q;AAAA\x1b\\\x1b]8;;http://a.example/\x1b\\link\x1b]8;;\x1b\\"
        b"\x1b[38:2:1:2:3mred\x1b[0m\x1b[<u\x1b]0;title\x07\x1bP+q544e\x1b\\ \xe4\xb8\x96 end"
    )
    for cut in range(len(text)):
        screen = EmulatedScreen(40, 5)
        screen.feed(text[:cut])
        screen.feed(text[cut:])
        assert screen.lines[0] == "linkred 世 end", cut


def test_a_frame_is_shown_when_it_is_whole() -> None:
    screen = EmulatedScreen(40, 5)
    screen.feed(b"old\x1b[?2026h\x1b[1;1Hne")
    assert screen.lines[0] == "old"
    screen.feed(b"w\x1b[?2026l")
    assert screen.lines[0] == "new"


def test_a_screen_that_never_comes_fails_with_a_copy_of_it() -> None:
    with _python("print('other'); input()") as terminal:
        terminal.wait_for("other")
        with pytest.raises(AssertionError, match=r"(?s)not seen: 'wanted'.*other"):
            terminal.wait_for("wanted", timeout=0.1)


def test_closing_ends_a_program_that_ignores_signals() -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up'); time.sleep(60)"
    terminal = _python(code)
    terminal.wait_for("up")
    terminal.close()
    assert not Path(f"/proc/{terminal.pid}").exists()
    assert terminal._process.signalstatus == signal.SIGKILL


@pytest.mark.timeout(20)
def test_a_row_of_the_screen_counts_once_it_is_whole() -> None:
    cells = "".join(PLACEHOLDER + NUMBERS[0] + NUMBERS[column] + NUMBERS[0] for column in range(43)).encode()
    row = b"\x1b[38;2;0;0;1m" + cells
    assert [len(find_cells(written)) for written in (row, row + b"\x1b[0m")] == [0, 1]
    assert find_cells(row + b"\x1b[0m") == {1: {(0, column) for column in range(43)}}
