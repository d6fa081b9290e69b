"""A program that a fork server started: to the terminal and to the test it is one that was started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SETTLED
from tests.e2e.conftest import CALM, Start
from tests.processes import descendants
from tests.quick_starts import fork_server
from tests.quick_starts.program import Fork, QuickPrograms


def test_it_leads_a_session_in_its_terminal_and_ends_with_its_own_status(start: Start) -> None:
    program = start()
    assert isinstance(program._process, Fork)
    program.begin()
    assert os.getsid(program.pid) == os.getpgid(program.pid) == program.pid
    assert os.tcgetpgrp(program._process.fd) == program.pid
    assert (program.columns, program.rows) == tuple(os.get_terminal_size(program._process.fd))
    program.signal(signal.SIGKILL)
    assert program.wait_exit() == -signal.SIGKILL


def test_arguments_environment_and_folder_are_those_of_the_test(start: Start, workplace: Path) -> None:
    program = start("--no-such-flag", env={"HOME": str(workplace)})
    assert program.wait_exit() == 2
    assert "no-such-flag" in program.screen


def test_what_is_read_at_the_start_of_python_needs_a_start(tmp_path: Path) -> None:
    here = {**SETTLED, **CALM}
    programs = QuickPrograms(tmp_path, here)
    assert programs.can_start_with({**here, "HOME": "/elsewhere"})
    for changed in ({"TERM": "dumb"}, {"TEXTUAL_FPS": "5"}, {"NO_COLOR": "1"}, {"TZ": "Asia/Tokyo"}):
        assert not programs.can_start_with({**here, **changed})
    assert not programs.can_start_with({name: value for name, value in here.items() if name != "COLORTERM"})


@pytest.mark.parametrize("is_fork", [True, False])
def test_a_command_with_pipes_is_answered_and_signalled_as_one_that_was_started(
    quick_commands: None, workplace: Path, monkeypatch: pytest.MonkeyPatch, is_fork: bool
) -> None:
    if not is_fork:
        monkeypatch.delenv(fork_server.COMMANDS)
    command = [sys.executable, "-P", "-m", "oi_tui"]
    ended = subprocess.run([*command, "--no-such-flag"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no-such-flag" in ended.stderr
    for number, status in ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)):
        with subprocess.Popen(
            [*command, "--demo", "--acp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin
            assert process.stdout
            process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}\n')
            process.stdin.flush()
            assert b'"id":1' in process.stdout.readline().replace(b" ", b"")
            # What it starts is started by the fork, where there is one.
            assert bool(descendants(process.pid)) != is_fork
            process.send_signal(number)
            assert process.wait(60) == status
