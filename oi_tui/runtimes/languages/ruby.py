"""Ruby."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.versions import find_version


def describe(program: str) -> str:
    """`Ruby 3.1.2`."""
    return f"Ruby {find_version(program, '--version', 'ruby ([0-9.]+)')}".strip()


def start(program: str, folder: Path) -> Start:
    """The driver as a script."""
    return Start((program, str(DRIVERS / "ruby_driver.rb"), str(folder)))


LANGUAGE = Language(
    name="ruby",
    title="Ruby",
    aliases=("rb", "irb"),
    hint="Install Ruby from ruby-lang.org.",
    packages=dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk", "brew"), "ruby"),
    keeps="variables, methods, classes",
    find=find_first_program("ruby"),
    describe=describe,
    start=start,
    active_line="cell",
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    completion_request="completions {nonce} {name}",
)
