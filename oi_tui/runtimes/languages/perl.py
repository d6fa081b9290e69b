"""Perl."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.versions import find_version


def describe(program: str) -> str:
    """`Perl 5.36.0`."""
    return f"Perl {find_version(program, '-v', 'v([0-9.]+)')}".strip()


def start(program: str, folder: Path) -> Start:
    """The driver as a script."""
    return Start((program, str(DRIVERS / "perl_driver.pl"), str(folder)))


LANGUAGE = Language(
    name="perl",
    title="Perl",
    aliases=("pl", "perl5"),
    hint="Install Perl from perl.org.",
    packages=dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk", "brew"), "perl"),
    keeps="variables (also my), subroutines",
    find=find_first_program("perl"),
    describe=describe,
    start=start,
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    completion_request="completions {nonce} {name}",
)
