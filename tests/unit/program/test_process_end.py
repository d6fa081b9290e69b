"""The process ends as soon as all is done that was registered for its end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[3])
PROGRAM = """
import atexit, threading
from oi_tui import start

class Kept:
    def __del__(self): print("freed")

kept = Kept()

def later():
    threading.main_thread().join()
    print("thread")

def main():
    atexit.register(print, "registered")
    threading.Thread(target=later).start()
    print("main")
    {ending}

start.main = main
start.start()
"""


def run(ending: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(ending=ending)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": ROOT},
    )
    return done.returncode, done.stdout.split()


@pytest.mark.parametrize("code", [0, 3])
def test_threads_end_and_what_is_registered_runs_but_nothing_is_freed_by_itself(code: int) -> None:
    assert run(f"return {code}") == (code, ["main", "thread", "registered"])


def test_an_exit_from_within_ends_it_as_python_does() -> None:
    code, printed = run("raise SystemExit(5)")
    assert (code, printed[:3]) == (5, ["main", "thread", "registered"])


def test_an_output_that_is_gone_is_no_success() -> None:
    """The exit code is that of a program which the signal about closed pipes ended."""
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(ending="return 0")],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": ROOT},
    ) as process:
        os.close(writing)
        assert not process.communicate()[1]
    assert process.returncode == 128 + signal.SIGPIPE
