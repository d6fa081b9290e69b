"""Zsh, as a language beside the shell, which is mostly bash."""

from dataclasses import replace

from oi_tui.runtimes.language import find_first_program
from oi_tui.runtimes.languages import shell

LANGUAGE = replace(
    shell.LANGUAGE,
    name="zsh",
    title="Zsh",
    setting="",
    aliases=(),
    hint="Install zsh from your distribution.",
    packages=dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk", "brew"), "zsh"),
    find=find_first_program("zsh"),
    part_of="shell",
)
