"""Terminals, pipes and files that do not take all that is written: nothing is lost without a word."""

import fcntl
import os
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests import processes
from tests.e2e.program import Program
from tests.terminal import PROGRAM

#: Starts a program on a terminal that does not block, as ssh and Node may leave it.
_NONBLOCKING = """
import os, sys
for number in range(3):
    os.set_blocking(number, False)
os.execv(sys.argv[1], sys.argv[1:])
"""


def _set_flow(program: Program, action: int) -> None:
    """Stop or start the output of the program's terminal, as ctrl+s and ctrl+q do."""
    terminal = os.open(f"/proc/{program.pid}/fd/0", os.O_RDWR | os.O_NOCTTY)
    try:
        termios.tcflow(terminal, action)
    finally:
        os.close(terminal)


def test_the_screen_survives_a_terminal_that_took_nothing_for_a_while(workplace: Path) -> None:
    command = (sys.executable, "-c", _NONBLOCKING, *PROGRAM)
    with Program("--demo", command=command, cwd=workplace) as program:
        program.begin()
        _set_flow(program, termios.TCOOFF)
        program.press("f1")
        program.wait_quiet(1.0)
        _set_flow(program, termios.TCOON)
        program.wait_for("type to search keys and commands")
        program.press("escape")
        program.wait_gone("type to search keys and commands")


def test_long_output_reaches_a_pipe_that_takes_only_a_part_at_once(workplace: Path) -> None:
    command = [*PROGRAM, "--help"]
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    reads, writes = os.pipe()
    size = fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    assert len(whole) > size
    os.set_blocking(writes, False)

    def is_full() -> bool:
        waiting = fcntl.ioctl(reads, termios.FIONREAD, bytes(4))
        return int.from_bytes(waiting, sys.byteorder) == size

    with (
        open(reads, "rb") as pipe,
        subprocess.Popen(command, stdout=writes, stderr=subprocess.PIPE) as process,
    ):
        os.close(writes)
        assert processes.wait_until(is_full, 40)
        assert pipe.read() == whole
        _, errors = process.communicate(timeout=40)
        assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize("flag", ["--help", "--version", "--doctor", "--profiles"])
def test_output_to_a_full_disk_fails_with_one_sentence(workplace: Path, flag: str) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [*PROGRAM, flag], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert process.returncode in {1, 2}
    assert process.stderr.startswith("oi-tui: ")
    assert process.stderr.endswith("No space left on device\n")
    assert process.stderr.count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_the_screen_is_whole_where_python_is_told_another_encoding(workplace: Path, encoding: str) -> None:
    with Program("--demo", cwd=workplace, env={"PYTHONIOENCODING": encoding}) as program:
        program.begin()
        program.press("f1")
        program.wait_for("╭─ Help ─")
