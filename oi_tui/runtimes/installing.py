"""Explains how to install a missing language on this machine."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping

from oi_tui.runtimes.language import Language

#: The package managers in the order in which they are looked for, and what installs a package.
MANAGERS: dict[str, str] = {
    "brew": "brew install {package}",
    "apt": "{root}apt install {package}",
    "dnf": "{root}dnf install {package}",
    "pacman": "{root}pacman -S {package}",
    "zypper": "{root}zypper install {package}",
    "apk": "{root}apk add {package}",
}


def explain_how_to_get(language: Language, which: Callable[[str], str | None] = shutil.which) -> str:
    """Return the command that installs the language here, in a sentence; the language's own hint
    without one.
    """
    return find_command(language.packages, which) or language.hint


def find_command(
    packages: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> str | None:
    """Return the command that installs one of the packages here, in a sentence.

    None without a manager for it.
    """
    for manager, command in MANAGERS.items():
        package = packages.get(manager)
        # On Linux the distribution's package manager comes first; some people have Homebrew as well.
        if package and which(manager) and not (manager == "brew" and _has_another(packages, which)):
            root = "" if os.geteuid() == 0 else "sudo "
            return f"Install it with: {command.format(root=root, package=package)}"
    return None


def _has_another(packages: Mapping[str, str], which: Callable[[str], str | None]) -> bool:
    others = (name for name in MANAGERS if name != "brew" and name in packages)
    return sys.platform != "darwin" and any(which(name) for name in others)
