"""Perl."""

from oi_tui.runtimes.language import Language, find_first_program, start_driver
from oi_tui.runtimes.versions import describe_version

LANGUAGE = Language(
    name="perl",
    title="Perl",
    aliases=("pl", "perl5"),
    hint="Install Perl from perl.org.",
    packages=dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk", "brew"), "perl"),
    keeps="variables (also my), subroutines",
    find=find_first_program("perl"),
    describe=describe_version("Perl", "-v", "v([0-9.]+)"),
    start=start_driver("perl_driver.pl"),
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    completion_request="completions {nonce} {name}",
)
