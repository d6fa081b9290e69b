"""Code in a job of Slurm: its own daemons and its own srun, with this machine as the only node."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.messages import Printed, RunEnded
from oi_tui.runtimes import Computer
from tests.runtimes.playing import alive, play, until
from tests.servers.slurm import NoSlurmError, Slurm

pytestmark = pytest.mark.needs("srun", "slurmctld", "slurmd", "munged")


@pytest.fixture
def slurm(own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slurm]:
    try:
        found = Slurm(tmp_path)
    except NoSlurmError as error:
        pytest.skip(str(error))
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    yield found
    found.close()


def test_a_job_keeps_variables_is_stopped_and_leaves_nothing_when_it_is_cancelled(
    slurm: Slurm, make: Callable[..., Computer]
) -> None:
    computer = make(target="command:srun --pty")
    assert play(computer, "python", "import os; x = 6 * 7; print(x)").text == "42\n"
    job = play(computer, "python", "print(os.environ['SLURM_JOB_ID'])").text.strip()
    assert slurm.run("squeue", "-h", "-o", "%i").split() == [job]
    asked = play(computer, "shell", "read -p 'name? ' n; echo hello $n", answers=("Ada\n",))
    assert "hello Ada" in asked.text
    stopped = play(computer, "python", "import time; print('go'); time.sleep(60)", stop_at="go\r\n")
    assert stopped.state == "interrupted"
    assert play(computer, "python", "print(x)").text == "42\n"
    there = [int(line) for line in play(computer, "shell", "sleep 600 & echo $! $$").text.split()]
    for report in computer.run("python", "print('go', flush=True); time.sleep(600)"):
        if isinstance(report, Printed) and "go" in report.text:
            slurm.run("scancel", job)
    assert isinstance(report, RunEnded)
    assert (report.state, "the connection to srun --pty ended" in str(report.reason)) == ("lost", True)
    until(lambda: not any(map(alive, there)))
    # The next code gets a new job, without what the old one knew.
    assert "NameError" in play(computer, "python", "print(x)").text
