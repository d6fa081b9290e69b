"""Finds programs on PATH, except the placeholders of macOS that only offer to install something."""

import functools
import shutil
import subprocess
import sys
from pathlib import Path

#: Programs in /usr/bin of macOS that are placeholders at first, and what says whether the real one is there.
_PLACEHOLDERS = {
    **dict.fromkeys(
        ("git", "python3", "gcc", "g++", "cc", "c++", "clang", "clang++"),
        ("/usr/bin/xcode-select", "--print-path"),
    ),
    "java": ("/usr/libexec/java_home", "--failfast"),
    "jshell": ("/usr/libexec/java_home", "--failfast"),
}
_PLACE = Path("/usr/bin")


def find(name: str) -> str | None:
    """Return the path of a program; None where it is missing, or a placeholder that would open a dialog."""
    path = shutil.which(name)
    if sys.platform == "darwin" and path and name in _PLACEHOLDERS:
        installed = Path(path).parent != _PLACE or _try_command(_PLACEHOLDERS[name])
        return path if installed else None
    return path


@functools.lru_cache(maxsize=None)  # noqa: UP033 -- runs on other machines too, with Python 3.8
def _try_command(command: tuple[str, ...]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=5).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
