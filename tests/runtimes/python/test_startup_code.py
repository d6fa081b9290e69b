"""Code of a profile that runs when a language starts."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from oi_tui.messages import Printed, RunEnded, Starting
from oi_tui.runtimes.computer import Computer
from oi_tui.runtimes.pty_runtime import PtyRuntime
from tests.runtimes.playing import living, play, until


@pytest.fixture
def computer() -> Iterator[Computer]:
    made = Computer(startup=(("python", "print('quiet')\ntool = 20"), ("py", "tool += 1"), ("shell", "A=5")))
    yield made
    made.close()


def run(computer: Computer, language: str, code: str) -> str:
    reports = list(computer.run(language, code))
    assert isinstance(reports[-1], RunEnded)
    return "".join(report.text for report in reports if isinstance(report, Printed)).strip()


def test_it_runs_once_before_the_first_code_and_silently(computer: Computer) -> None:
    assert run(computer, "python", "print(tool)") == "21"
    assert run(computer, "python", "print(tool)") == "21"
    assert run(computer, "bash", "echo $A") == "5"


def test_it_runs_again_after_a_reset_and_after_a_loss(computer: Computer) -> None:
    run(computer, "python", "tool = 0")
    computer.reset()
    assert run(computer, "python", "print(tool)") == "21"
    run(computer, "python", "import os; os._exit(3)")
    assert run(computer, "python", "print(tool)").endswith("21")


def test_what_fails_is_shown_with_its_output(computer: Computer) -> None:
    computer.use_startup((("python", "print('before')\n1 / 0"), ("python", "input()")))
    reports = list(computer.run("python", "print('mine')"))
    words = "".join(report.text for report in reports if isinstance(report, Printed))
    assert words.startswith("oi-tui: the startup code of the profile failed")
    assert "before" in words
    assert "ZeroDivisionError" in words
    assert "EOFError" in words
    assert words.rstrip().endswith("mine")
    assert isinstance(reports[0], Starting)


def test_it_runs_later_where_the_language_did_not_start(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with closing(
        Computer(cwd=folder, startup=(("python", "tool = 20"), ("python", "tool += 1")))
    ) as computer:
        reports = list(computer.run("python", "print(tool)"))
        assert [type(report) for report in reports] == [Starting, RunEnded]
        end = reports[-1]
        assert isinstance(end, RunEnded)
        assert (end.state, str(folder) in (end.reason or "")) == ("failed", True)
        folder.mkdir()
        assert run(computer, "python", "print(tool)") == "21"


def test_it_runs_later_where_the_start_was_interrupted(computer: Computer) -> None:
    reports = computer.run("python", "print(tool)")
    assert isinstance(next(reports), Starting)
    computer.interrupt()
    *_, end = reports
    assert isinstance(end, RunEnded)
    assert end.state == "interrupted"
    assert run(computer, "python", "print(tool)") == "21"


def test_it_runs_again_in_a_language_that_ends_just_before_a_cell(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(computer, "python", "tool = 0")
    runtime = computer.targets.current.runtimes["python"]
    assert isinstance(runtime, PtyRuntime)
    begin = runtime.run

    def end_first(*arguments: Any) -> Any:
        monkeypatch.undo()
        # The cell is faster than what watches the idle language.
        process = runtime._process
        assert process
        process.on_end_at_rest = lambda _: None
        os.kill(living(computer)["python"], signal.SIGKILL)
        until(lambda: process.ended or process.is_dying)
        return begin(*arguments)

    monkeypatch.setattr(runtime, "run", end_first)
    played = play(computer, "python", "print(tool)")
    assert (played.text, played.state) == ("21\n", "finished")
    assert played.reason.startswith("Python ended between runs (killed by SIGKILL) and was restarted; ")
    # The cell has said it.
    assert computer.targets.pop_losses() == ()
    assert play(computer, "python", "print(tool)").reason == ""


@pytest.mark.slow
def test_it_runs_again_on_the_target_on_which_a_language_ended(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"print('x', end='', file=open({str(started)!r}, 'a'))"
    with closing(Computer(startup=(("python", code),))) as computer:
        run(computer, "python", "1")
        pid = living(computer)["python"]
        computer.targets.connect("command:env")
        ended = threading.Event()
        computer.targets.on_loss = ended.set
        with computer.at("command:env"):
            run(computer, "python", "1")
            assert started.read_text() == "xx"
            os.kill(pid, signal.SIGKILL)
            assert ended.wait(20)
            run(computer, "python", "1")
            assert started.read_text() == "xx"
        run(computer, "python", "1")
        assert started.read_text() == "xxx"
