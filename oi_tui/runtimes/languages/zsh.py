"""Zsh, as a language beside the shell, which is mostly bash."""

from dataclasses import replace

from oi_tui.runtimes.language import first_of
from oi_tui.runtimes.languages import shell

LANGUAGE = replace(
    shell.LANGUAGE,
    name="zsh",
    title="Zsh",
    setting="",
    aliases=(),
    hint="Install zsh from your distribution.",
    packages=dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk", "brew"), "zsh"),
    find=first_of("zsh"),
    part_of="shell",
)
