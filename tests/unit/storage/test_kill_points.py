"""Killed at any call to the file system, what is done to conversations and files is done or not done."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kill_points import SCENARIOS

pytestmark = pytest.mark.slow

#: At least so many calls are tried.
FEWEST = {"import": 40, "delete": 20, "export": 25, "restoring": 30, "listing": 25}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_killed_at_any_call_a_deed_is_done_or_not_done_and_can_be_done_again(
    scenario: str, tmp_path: Path
) -> None:
    reported = subprocess.run(
        (sys.executable, "-m", "tests.kill_points", scenario, tmp_path),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert reported.returncode == 0, reported.stderr
    found = json.loads(reported.stdout)
    assert found["problems"] == []
    assert found["kills"] >= FEWEST.get(scenario, 12)
