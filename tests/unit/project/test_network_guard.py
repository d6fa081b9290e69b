"""The guard of conftest.py guards: a test of the tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import conftest, processes

pytest_plugins = ["pytester"]
SLEEPER = "[sys.executable, '-c', 'import time; time.sleep(60)']"


@pytest.mark.parametrize(
    "start",
    [
        f"subprocess.Popen({SLEEPER})",
        f"subprocess.Popen({SLEEPER}, start_new_session=True)",
        f"subprocess.run([sys.executable, '-c', \"import subprocess, sys; subprocess.Popen({SLEEPER})\"])",
    ],
    ids=["child", "session", "orphan"],
)
def test_a_test_that_leaves_a_process_fails_and_the_process_is_ended(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    pytester.makeconftest("from tests.conftest import own_world\n")
    pytester.makepyfile(f"import subprocess, sys\n\ndef test_leaves():\n    sys.leaked = {start}\n")
    plugins = ("asyncio", "cacheprovider", "textual-snapshot")
    without = [word for name in plugins for word in ("-p", f"no:{name}")]
    # It runs in this process, whose later tests have the usual timeout again.
    with monkeypatch.context() as patch:
        patch.setattr(conftest, "TIMEOUT", 0.2)
        result = pytester.runpytest("-n", "0", *without, "-W", "ignore")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*left behind: *time.sleep(60)*"])


def test_a_person_s_own_set_up_is_out_of_reach(own_world: Path) -> None:
    words = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, oi_tui.paths as p; print(p.data(), p.config(), os.environ['HOME'])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(str(own_world) in place for place in words.stdout.split())
    assert processes.marked(os.environ[processes.MARK]) == []
