"""On Windows, where nothing of it can run, the program says so in one sentence."""

import subprocess
import sys

import pytest

#: Makes a Python take itself for one on Windows, which has none of these modules.
WINDOWS = """
import sys
sys.platform = 'win32'
for name in ('fcntl', 'termios', 'pty', 'resource', 'pwd', 'grp'):
    sys.modules[name] = None
"""
SENTENCE = "oi-tui runs on Linux and macOS, not on Windows itself: install WSL"


def on_windows(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WINDOWS + code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "code",
    [
        "from oi_tui.start import main; sys.exit(main([]))",
        "from oi_tui.start import main; sys.exit(main(['--doctor']))",
        "import runpy; runpy.run_module('oi_tui', run_name='__main__')",
    ],
)
def test_the_program_names_wsl_and_fails(code: str) -> None:
    done = on_windows(code)
    assert done.returncode == 2
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert done.stderr.startswith(SENTENCE)


@pytest.mark.parametrize(
    "code", ["from oi_tui import OpenInterpreter", "import oi_tui; oi_tui.OpenInterpreter"]
)
def test_the_python_api_names_it_too(code: str) -> None:
    done = on_windows(code)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {SENTENCE}")


def test_the_version_is_reported_there() -> None:
    assert on_windows("from oi_tui.start import main; main(['--version'])").stdout.startswith("oi-tui ")
