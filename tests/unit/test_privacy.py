"""Keys stay out of sight of programs."""

import os
import subprocess
import sys

import pytest

from oi_tui import privacy


def test_provider_keys_are_told_from_other_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_AUTH_TOKEN", "EDITOR", "MY_KEYBOARD"):
        monkeypatch.setenv(name, "x")
    found = privacy.secret_variables()
    assert {"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_AUTH_TOKEN"} <= set(found)
    assert not {"EDITOR", "MY_KEYBOARD", "PATH"} & set(found)


def test_the_first_environment_is_closed_to_others() -> None:
    code = (
        "import ctypes, sys; from oi_tui.privacy import close_to_others; close_to_others();"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) if sys.platform == 'linux' else 0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    # PR_GET_DUMPABLE, from linux/prctl.h, is 1 for an ordinary process.
    assert run.stdout.strip() == "0", run.stderr
