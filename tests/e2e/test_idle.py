"""The program at rest does nothing at all."""

import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Start

#: How long nothing happens, in seconds, and how often the program may be woken meanwhile, by whatever.
_REST, _WAKES = 2.0, 5


def count_wakes(pid: int) -> int:
    """How often threads of a process went to sleep and were woken."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    words = [(task / "status").read_text().split() for task in tasks]
    return sum(int(each[each.index("voluntary_ctxt_switches:") + 1]) for each in words)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
@pytest.mark.parametrize("ran", [False, True])
def test_at_rest_the_program_is_not_woken(start: Start, ran: bool) -> None:
    program = start(columns=160)
    program.begin()
    if ran:
        program.say("%sidebar on")
        # Keys right behind an enter make it a new line.
        program.wait_gone("> %sidebar on")
        program.say("%run python answer = 42; print(answer)")
        program.wait_for("│ 42")
        program.idle()

    def rests() -> bool:
        before, written = count_wakes(program.pid), len(program.raw)
        program.settle(_REST, _REST)
        return count_wakes(program.pid) - before < _WAKES and len(program.raw) == written

    # What was begun at the start or by the run comes to its end first.
    assert any(rests() for _ in range(10))
