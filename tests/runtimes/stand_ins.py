"""Programs that stand in for others: what they were given is written down, and what they do is said."""

import shlex
import sys
from pathlib import Path

import pytest


def stand_in(folder: Path, name: str, does: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in front of PATH that runs these lines of sh. Returns where its arguments are noted."""
    programs, notes = folder / "programs", folder / f"{name}.arguments"
    programs.mkdir(exist_ok=True)
    program = programs / name
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >>{shlex.quote(str(notes))}\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return notes


def python_lines(code: str) -> str:
    """Lines of sh that run this Python with the program's arguments."""
    return f'exec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"'
