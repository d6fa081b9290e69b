"""JavaScript in Node.js."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.versions import find_version

#: What package managers call Node.js.
PACKAGES = {
    "apt": "nodejs",
    "dnf": "nodejs",
    "pacman": "nodejs",
    "zypper": "nodejs",
    "apk": "nodejs",
    "brew": "node",
}


def describe(program: str) -> str:
    """`Node.js 20.20.2`."""
    version = find_version(program, "--version", r"v(\S+)")
    return f"Node.js {version}".strip()


def start(program: str, folder: Path) -> Start:
    """Return the driver as a script of its own.

    Node.js ends itself where it finds that a callback was cut off, as interrupts do; so it does not look.
    """
    options = ("--no-force-async-hooks-checks",)
    return Start((program, *options, str(DRIVERS / "javascript_driver.js"), str(folder)))


LANGUAGE = Language(
    name="javascript",
    title="JavaScript",
    aliases=("js", "node", "nodejs", "node.js", "ecmascript", "es6", "mjs", "cjs"),
    hint="Install Node.js 18 or later from nodejs.org.",
    packages=PACKAGES,
    keeps="variables (also const and let), functions, modules",
    find=find_first_program("node", "nodejs"),
    describe=describe,
    start=start,
    active_line="events",
    interrupt_request="interrupt",
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    table_request="table {nonce} {name}",
    completion_request="completions {nonce} {name}",
)
