"""The self-test of the sandbox leaves nothing, however it ends."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from oi_tui.runtimes.sandbox import self_test
from oi_tui.runtimes.sandbox.base import SandboxedCommand
from tests.runtimes.playing import marked, until

pytestmark = pytest.mark.needs("sh", "sleep")

#: As bubblewrap is while it sets a sandbox up: one process waits for another.
SETTING_UP = "sleep {0} & echo begun >&2; exec sleep {0}"


def test_a_self_test_that_hangs_is_ended_with_all_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "_TIMEOUT", 0.1)
    seconds = str(2000 + random.random())
    command = SandboxedCommand(("/bin/sh", "-c", SETTING_UP.format(seconds)), {"PATH": "/usr/bin:/bin"})
    assert "timed out" in str(self_test.try_to_escape(lambda _: command))
    until(lambda: not marked(seconds))


ENDING = """
import os, sys, threading, time
from oi_tui.runtimes.sandbox import self_test
from oi_tui.runtimes.sandbox.base import SandboxedCommand

command = SandboxedCommand(("/bin/sh", "-c", sys.argv[1]), dict(os.environ))
threading.Thread(target=self_test.try_to_escape, args=(lambda _: command,), daemon=True).start()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
"""


def test_a_self_test_in_a_thread_ends_with_the_program(tmp_path: Path) -> None:
    seconds, begun = str(2000 + random.random()), tmp_path / "begun"
    code = SETTING_UP.format(seconds).replace("echo begun >&2", f"touch {begun}")
    subprocess.run([sys.executable, "-c", ENDING, code, str(begun)], check=True, timeout=30)
    until(lambda: not marked(seconds))
