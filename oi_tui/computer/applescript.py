"""Runs AppleScript, for the programs of macOS. Written from its documentation, not tested on a Mac."""

from __future__ import annotations

import subprocess
import sys

from oi_tui.computer.errors import ComputerError


def is_available() -> bool:
    """Return whether this is macOS."""
    return sys.platform == "darwin"


def run(script: str, *arguments: str) -> str:
    """Run a script with a handler `on run argv`, so that no text is ever put into its code."""
    done = subprocess.run(
        ["osascript", "-", *arguments], input=script, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ComputerError(f"AppleScript failed: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")
