"""Julia."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.versions import describe_version


def start(program: str, folder: Path) -> Start:
    """Return the driver as a script, without the person's own start-up file."""
    driver = str(DRIVERS / "julia_driver.jl")
    return Start((program, "--startup-file=no", "--color=yes", "--banner=no", driver, str(folder)))


LANGUAGE = Language(
    name="julia",
    title="Julia",
    aliases=("jl", "ijulia", "julialang"),
    hint="Install Julia 1.6 or later from julialang.org/downloads.",
    packages={"dnf": "julia", "pacman": "julia", "apk": "julia", "brew": "julia"},
    keeps="variables, functions, types, loaded packages",
    find=find_first_program("julia"),
    describe=describe_version("Julia", "--version", "julia version ([0-9.]+)"),
    start=start,
    active_line="cell",
    may_miss_interrupt=True,
    timeout=60.0,
)
