"""What is known of other processes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from oi_tui.runtimes.processes import process_table


@pytest.mark.skipif(sys.platform != "linux", reason="the two clocks of Linux")
def test_the_start_of_a_process_is_right_though_we_wait_for_a_processor_between_two_clocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began = process_table.find_start(os.getpid())
    read_clock = time.clock_gettime
    waits = iter([0.2])

    def read_and_wait(clock: int) -> float:
        now = read_clock(clock)
        until = time.monotonic() + next(waits, 0.0)
        while time.monotonic() < until:
            pass
        return now

    monkeypatch.setattr(time, "clock_gettime", read_and_wait)
    assert process_table.find_start(os.getpid()) == pytest.approx(began, abs=0.02)


#: Catches SIGINT and forks; the copy takes its next step at each letter, and says when it is done.
COPY = """
import os, signal, sys
signal.signal(signal.SIGINT, lambda *_: None)
if pid := os.fork():
    print(pid, flush=True)
    sys.exit(os.waitpid(pid, 0)[1])
sys.stdin.buffer.raw.read(1)
signal.signal(signal.SIGINT, signal.SIG_DFL)
print("default", flush=True)
sys.stdin.buffer.raw.read(1)
os.execlp("sh", "sh", "-c", "trap : INT; echo program; read end")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_a_child_is_a_copy_that_catches_a_signal_until_it_has_given_up_the_handler() -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", COPY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    assert started.stdin
    assert started.stdout
    with started:
        pid = int(started.stdout.readline())
        assert process_table.is_copy_that_catches(pid, signal.SIGINT)
        assert not process_table.is_copy_that_catches(pid, signal.SIGUSR1)
        started.stdin.write(b"d")
        assert started.stdout.readline() == b"default\n"
        assert not process_table.is_copy_that_catches(pid, signal.SIGINT)
        started.stdin.write(b"e")
        assert started.stdout.readline() == b"program\n"
        # It catches the signal again, and is no copy.
        assert not process_table.is_copy_that_catches(pid, signal.SIGINT)
        started.stdin.write(b"\n")
    assert not process_table.is_copy_that_catches(pid, signal.SIGINT)
