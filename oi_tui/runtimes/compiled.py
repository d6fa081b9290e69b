"""Declares languages whose cells are whole programs, compiled or interpreted, on the terminal."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Tuple  # noqa: UP035

from oi_tui.runtimes.language import DRIVERS, Choices, Language, Start
from oi_tui.runtimes.versions import find_version
from oi_tui.system import programs


@dataclass(frozen=True)
class Compiled:
    """The facts of such a language; `option` makes its compiler print its version."""

    name: str
    title: str
    aliases: Tuple[str, ...]  # noqa: UP006 -- evaluated on other machines too, by Python 3.8
    compilers: Tuple[str, ...]  # noqa: UP006
    hint: str
    packages: Mapping[str, str]
    note: str
    option: str = "--version"
    #: Whether its driver tells what the last cell made.
    remembers: bool = False

    def make_language(self) -> Language:
        """Return the language."""
        return Language(
            name=self.name,
            title=self.title,
            aliases=self.aliases,
            hint=self.hint,
            packages=self.packages,
            keeps="",
            find=_find(self.compilers),
            describe=partial(_describe, self.title, self.option),
            start=partial(_start, self.name),
            leave_request="leave",
            note=self.note,
            variables_request="variables {nonce}" if self.remembers else None,
            variable_request="variable {nonce} {name}" if self.remembers else None,
            completion_request="completions {nonce} {name}" if self.remembers else None,
        )


def _find(compilers: "tuple[str, ...]") -> Callable[[Choices], "str | None"]:
    """Find the first of the compilers that is on PATH."""
    return lambda _: next((path for name in compilers if (path := programs.find(name))), None)


def _describe(title: str, option: str, program: str) -> str:
    """Return `C (gcc 12.2.0)`."""
    version = find_version(program, option, r"(\d+\.\d+(?:\.\d+)?)")
    return f"{title} ({re.sub(r'[^ -~]', '?', Path(program).name)} {version}".strip() + ")"


def _start(name: str, program: str, folder: Path) -> Start:
    """Start the driver, which calls the compiler."""
    driver = str(DRIVERS / "compiled_driver.py")
    return Start((sys.executable, "-I", "-B", driver, str(folder), name, program))
