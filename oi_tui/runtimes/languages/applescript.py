"""AppleScript, on macOS."""

from pathlib import Path

from oi_tui.runtimes.language import Language, Start, find_first_program
from oi_tui.runtimes.languages import shell


def describe(program: str) -> str:
    """`AppleScript (/usr/bin/osascript)`."""
    return f"AppleScript ({program})"


def start(_: str, folder: Path) -> Start:
    """Start a shell that runs osascript for each cell, so that terminal, stop and status are a shell's."""
    return shell.start("/bin/sh", folder)


def request(nonce: str, path: Path) -> str:
    """Have osascript run the cell, and the shell report its end."""
    return shell.request(nonce, path, "osascript")


LANGUAGE = Language(
    name="applescript",
    title="AppleScript",
    aliases=("osascript", "apple-script"),
    hint="It is a part of macOS and runs only there.",
    keeps="",
    find=find_first_program("osascript"),
    describe=describe,
    start=start,
    request=request,
    opens_pipes=True,
    outside="it has other applications do its work",
    interrupt_request=shell.LANGUAGE.interrupt_request,
)
