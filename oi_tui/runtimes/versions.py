"""Finds the version of a program, once."""

import os
import re
import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from oi_tui.system.environment import select_public_variables

#: What keeps rustup and go from downloading another version of themselves.
_INSTALL_NOTHING = {"RUSTUP_AUTO_INSTALL": "0", "GOTOOLCHAIN": "local"}


def find_version(program: str, option: str, pattern: str) -> str:
    """Run `program option` and return the first group of `pattern`; empty when it does not match.

    A stand-in of rustup, asdf or volta would run what a file of the current folder names, or download it.
    So the question is put elsewhere, and nothing is installed for it.
    """
    # Not resolved: a stand-in is a link, and knows by its name what it stands for.
    program = os.path.abspath(program)  # noqa: PTH100
    try:
        changed = Path(program).stat().st_mtime_ns
    except OSError:
        return ""
    return "" if _would_set_up(program) else _ask(program, option, pattern, changed)


def _would_set_up(program: str) -> bool:
    """Return whether it is rustup, which would make its folder only to say that it has nothing to run."""
    home = os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup")  # noqa: PTH111 -- there may be none
    return Path(program).resolve().name == "rustup" and not Path(home).is_dir()


def describe_version(title: str, option: str, pattern: str) -> Callable[[str], str]:
    """Describe a program by a title and its version, such as `Perl 5.36.0`; see `find_version`."""

    def describe(program: str) -> str:
        return f"{title} {find_version(program, option, pattern)}".strip()

    return describe


@lru_cache(maxsize=64)
def _ask(program: str, option: str, pattern: str, _changed: int) -> str:
    try:
        answer = subprocess.run(
            [program, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**select_public_variables(), **_INSTALL_NOTHING, "PWD": "/"},
            cwd="/",
            timeout=10,  # the first start of a large program on a busy machine takes seconds
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(pattern, answer.stdout.decode("utf-8", "replace"))
    return match.group(1) if match else ""
