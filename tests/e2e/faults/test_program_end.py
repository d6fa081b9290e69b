"""Every end of the program: the conversation is kept, the terminal restored, no process left."""

import os
import signal
import sys
import termios
from pathlib import Path

import pytest

from tests import processes
from tests.e2e.conftest import Start
from tests.e2e.program import Program
from tests.terminal import PROGRAM, Terminal, framed

SLOW = {"OI_TUI_DEMO_TOKENS_PER_SECOND": "40"}


def list_our_processes() -> list[processes.Process]:
    return processes.marked(os.environ[processes.MARK])


def bring_to_moment(program: Program, moment: str) -> Program:
    """Bring the program to a moment of its life."""
    program.begin()
    match moment:
        case "streaming":
            program.say("help")
            program.wait_for("I cannot understand you")
        case "asking":
            program.asked_first("count slowly")
        case "running":
            program.asked_first("count slowly")
            program.answer("y")
            program.wait_for("2 squared is")
        case "reading":
            program.asked_first("ask me something")
            program.answer("y")
            program.wait_for("asks: What is your name")
        case "dialog":
            program.say("%theme")
            program.wait_for("catppuccin-latte")
    return program


MOMENTS = ["idle", "streaming", "asking", "running", "reading"]


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        *((moment, number) for moment in MOMENTS for number in (signal.SIGTERM, signal.SIGHUP)),
        ("running", signal.SIGQUIT),
        ("idle", signal.SIGUSR1),
    ],
)
def test_a_signal_ends_it_with_the_terminal_as_it_was(
    start: Start, moment: str, number: signal.Signals
) -> None:
    program = bring_to_moment(start(env=SLOW), moment)
    program.signal(number)
    assert program.wait_exit() == 128 + number
    assert program.modes == set()
    assert program.attributes() == program.attributes_before
    assert "Traceback" not in program.screen
    assert processes.wait_until(lambda: not list_our_processes(), 40), list_our_processes()


def test_an_end_that_hangs_is_cut_short_with_the_terminal_as_it_was(start: Start) -> None:
    hanging = "import time; from oi_tui.terminal.driver import TerminalDriver as driver; "
    hanging += "driver.disable_input = lambda _: time.sleep(600)"
    command = (sys.executable, "-c", f"{hanging}; from oi_tui.start import start; start()")
    program = start("--demo", command=command, quick=None)
    program.begin()
    program.signal(signal.SIGTERM)
    assert program.wait_exit() == 128 + signal.SIGTERM
    assert program.modes == set()
    assert program.attributes() == program.attributes_before


def test_a_signal_ends_it_while_a_thousand_keys_wait(start: Start) -> None:
    slow = (
        "import time; from oi_tui.widgets.prompt.text_area import PromptTextArea as area; edit = area.edit; "
    )
    slow += "edit = area.edit; area.edit = lambda self, change: (time.sleep(0.05), edit(self, change))[1]"
    command = (sys.executable, "-c", f"{slow}; from oi_tui.start import start; start()")
    program = start("--demo", command=command, quick=None)
    program.begin()
    program.send("x" * 1000)
    program.wait_for("xxx")
    program.signal(signal.SIGTERM)
    assert program.wait_exit(20) == 128 + signal.SIGTERM
    assert program.modes == set()


def test_a_signal_ends_it_and_the_editor_outside_that_has_the_terminal(start: Start, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho has the terminal\nexec sleep 1000\n")
    editor.chmod(0o700)
    program = bring_to_moment(start(env={"EDITOR": str(editor)}), "asking")
    program.press("ctrl+g")
    program.wait_for("has the terminal")
    program.signal(signal.SIGTERM)
    assert program.wait_exit() == 128 + signal.SIGTERM
    assert program.attributes() == program.attributes_before
    assert processes.wait_until(lambda: not list_our_processes(), 40), list_our_processes()


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_q_leaves_at_once_with_the_terminal_as_it_was(start: Start, moment: str) -> None:
    program = bring_to_moment(start(env=SLOW), moment)
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    assert program.modes == set()
    assert program.attributes() == program.attributes_before
    assert processes.wait_until(lambda: not list_our_processes(), 40), list_our_processes()


@pytest.mark.parametrize("moment", ["streaming", "asking", "running"])
def test_after_kill_9_nothing_runs_and_the_conversation_can_be_opened(start: Start, moment: str) -> None:
    program = bring_to_moment(start(env=SLOW), moment)
    asked = "help" if moment == "streaming" else "count slowly"
    program.signal(signal.SIGKILL)
    assert program.wait_exit() == -signal.SIGKILL
    assert processes.wait_until(lambda: not list_our_processes(), 40), list_our_processes()
    again = start(env=SLOW)
    again.begin()
    again.press("ctrl+r")
    again.wait_for("1 saved")
    again.wait_for(asked)
    again.press("enter")
    # The list of conversations shows the beginning of this one beside it.
    again.wait_gone("type search")
    screen = again.wait_for("Scripted demo" if moment != "streaming" else "I cannot understand you")
    assert "not an AI" in screen
    if moment == "running":
        again.wait_for("2 squared is")


def test_closing_the_terminal_ends_everything(start: Start) -> None:
    program = bring_to_moment(start(), "running")
    program.hang_up()
    assert processes.wait_until(lambda: not list_our_processes(), 40), list_our_processes()


@pytest.mark.needs("setsid")
def test_a_closed_terminal_ends_the_program_at_rest_that_no_signal_tells_of_it(workplace: Path) -> None:
    with Program("--demo", command=("setsid", "-w", *PROGRAM), cwd=workplace) as program:
        program.begin()
        program.hang_up()
        assert processes.wait_until(lambda: not list_our_processes(), 40), list_our_processes()


@pytest.mark.parametrize("moment", ["idle", "streaming", "running", "dialog"])
def test_ctrl_z_gives_the_shell_a_clean_terminal_and_fg_comes_back(
    workplace: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PS1", "shell> ")
    for name, value in SLOW.items():
        monkeypatch.setenv(name, value)
    with Program(command=("bash", "--norc", "--noprofile", "-i"), cwd=workplace) as terminal:
        terminal.wait_for("shell>")
        terminal.say(" ".join([*PROGRAM, "--demo"]))
        bring_to_moment(terminal, moment)
        assert 1049 in terminal.modes
        terminal.press("ctrl+z")
        # The shell prompts anew once it has said that the job stopped, with its own settings of the terminal.
        terminal.wait_for(lambda screen: screen.partition("Stopped")[2].rstrip().endswith("shell>"))
        assert terminal.modes - {2004} == set()
        cooked = termios.ECHO | termios.ICANON
        assert processes.wait_until(lambda: terminal.attributes()[3] & cooked or 2004 in terminal.modes, 40)
        terminal.say("echo back $((40 + 2))")
        terminal.wait_for("back 42")
        terminal.say("fg")
        terminal.wait_for("f1 help")
        assert "shell>" not in terminal.screen, framed(terminal.screen)
        if moment == "running":
            terminal.wait_for("counted to the end", 30)
        if moment == "streaming":
            terminal.wait_for("ctrl+l lists them", 30)
        if moment == "dialog":
            terminal.wait_for("catppuccin-latte")
            terminal.press("escape")
            terminal.wait_gone("catppuccin-latte")
        terminal.idle()
        terminal.press("ctrl+q")
        # A new prompt, not the one that the restored screen shows from before.
        terminal.wait_for(lambda screen: screen.rstrip().endswith("shell>"))
        terminal.say("exit")
        terminal.wait_exit()


def test_an_empty_conversation_is_not_saved(start: Start) -> None:
    program = bring_to_moment(start(), "idle")
    program.press("ctrl+r")
    program.wait_for("Conversations")
    assert "1 saved" not in program.screen


def test_ctrl_c_stops_first_and_leaves_at_the_second_time(start: Start) -> None:
    program = bring_to_moment(start(), "running")
    program.press("ctrl+c")
    program.wait_for("variables kept")
    program.idle()
    program.press("ctrl+c")
    program.wait_for("again quits")
    program.press("ctrl+c")
    assert program.wait_exit() == 0
    assert program.modes == set()


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 6), (200, 60)])
def test_every_size_is_survived_in_the_middle_of_a_run(start: Start, size: tuple[int, int]) -> None:
    program = bring_to_moment(start(), "running")
    program.resize(*size)
    program.wait_for(lambda screen: screen.split("\n")[-1].strip())
    program.resize(100, 30)
    program.wait_for("squared is")
    program.press("escape")
    program.wait_for("variables kept")
    program.idle()


def test_a_terminal_that_cannot_place_text_gets_plain_lines(workplace: Path) -> None:
    with Terminal("--demo", cwd=workplace, env={"TERM": "dumb"}) as terminal:
        terminal.wait_for("plain mode")
        # The line editor may still be taking over the terminal, which loses an end of input typed before.
        terminal.wait_for(lambda screen: screen.rstrip().endswith("\n>"))
        terminal.send("\x04")
        assert terminal.wait_exit() == 0


@pytest.mark.parametrize("errors", ["2>errors.txt", "2>&-"])
def test_the_screen_appears_also_where_standard_error_does_not_go_to_the_terminal(
    start: Start, workplace: Path, errors: str
) -> None:
    program = start("-c", f'"$0" "$@" {errors}; echo "ended with $?"', *PROGRAM, "--demo", command=["sh"])
    program.begin()
    program.press("ctrl+q")
    program.wait_for("ended with 0")
    written = workplace / "errors.txt"
    assert not written.exists() or not written.read_text(encoding="utf-8")


def test_closing_the_terminal_leaves_no_traceback_where_standard_error_goes(
    start: Start, workplace: Path
) -> None:
    program = start("-c", 'exec "$0" "$@" 2>errors.txt', *PROGRAM, "--demo", command=["sh"])
    program = bring_to_moment(program, "streaming")
    program.hang_up()
    assert processes.wait_until(lambda: not list_our_processes(), 40), list_our_processes()
    assert (workplace / "errors.txt").read_text(encoding="utf-8") == ""
