"""What is known of other processes."""

import os
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
