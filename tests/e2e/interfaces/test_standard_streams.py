"""Standard streams that are closed: the program starts all the same, and writes into no file of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow]
COMMAND = f'"{sys.executable}" -m oi_tui'


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `oi-tui` stands for the program."""
    script = line.replace("oi-tui", COMMAND)
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("line", ["oi-tui --demo <&-", "oi-tui --demo >&-", "oi-tui --demo <&- >&- 2>&-"])
def test_a_closed_stream_is_like_the_null_device(line: str, workplace: Path) -> None:
    done = run(line, workplace)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_file_gets_the_number_of_a_closed_stream(workplace: Path) -> None:
    (workplace / "later").write_text("canary")
    code = (
        "import os; from oi_tui.system.streams import open_missing_streams; open_missing_streams(); "
        "descriptor = os.open('later', os.O_RDWR); print('printed', flush=True); "
        "assert descriptor > 2, descriptor"
    )
    script = f'"{sys.executable}" -c "{code}" <&- >&-'
    assert run(script, workplace).stderr == ""
    assert (workplace / "later").read_text() == "canary"
