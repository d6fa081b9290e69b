"""Finds the version of a program, once."""

import os
import re
import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from oi_tui.system.environment import is_secret


def find_version(program: str, option: str, pattern: str) -> str:
    """Run `program option` and return the first group of `pattern`; empty when it does not match."""
    try:
        changed = Path(program).stat().st_mtime_ns
    except OSError:
        return ""
    return _ask(program, option, pattern, changed)


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
            env={name: value for name, value in os.environ.items() if not is_secret(name, value)},
            timeout=10,  # the first start of a large program on a busy machine takes seconds
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(pattern, answer.stdout.decode("utf-8", "replace"))
    return match.group(1) if match else ""
