"""`computer.terminal`: code in other languages, each run in a new process."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool, cannot

#: Language -> programs that can run it, and the arguments before the file with the code.
_PROGRAMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "python": ((sys.executable,),),
    "shell": ((os.environ.get("SHELL") or "sh",), ("bash",), ("sh",)),
    "bash": (("bash",),),
    "javascript": (("node",),),
    "ruby": (("ruby",),),
    "perl": (("perl",),),
    "lua": (("lua",), ("lua5.4",)),
    "r": (("Rscript",),),
    "octave": (("octave-cli",), ("octave",)),
    "applescript": (("osascript",),),
    "powershell": (("pwsh", "-NoProfile", "-File"),),
}
_ENDINGS = {"powershell": ".ps1"}
#: How long a program may go on after it was told to end, in seconds.
_GRACE_SECONDS = 2.0
#: Package managers with the arguments that install without a question.
_INSTALLERS = {
    "apt-get": ("install", "-y"),
    "dnf": ("install", "-y"),
    "pacman": ("-S", "--noconfirm"),
    "zypper": ("--non-interactive", "install"),
    "apk": ("add",),
}


class Terminal(Tool):
    """Run code in other languages. Each run is a new process, which remembers nothing."""

    def __init__(self, computer: Any) -> None:
        super().__init__(computer)
        self._running: subprocess.Popen[str] | None = None

    @property
    def languages(self) -> list[str]:
        """The languages that can run here."""
        return [name for name in _PROGRAMS if self.get_language(name)]

    def get_language(self, language: str) -> str | None:
        """Return the program that runs a language, or None."""
        return next(
            (program for argv in _PROGRAMS.get(language.lower(), ()) if (program := shutil.which(argv[0]))),
            None,
        )

    def run(self, language: str, code: str, stream: bool = False, display: bool = False) -> Any:
        """Run code in a new process in the working directory.

        Return the messages of its output, as in Open Interpreter: a list of dictionaries, whose "content" is
        the text. With `stream`, return them one line at a time; with `display`, print the output as well.
        """
        argv = self._argv(language)
        lines = self._lines(argv, code, _ENDINGS.get(language.lower(), ""), display)
        messages = (_write_message(line) for line in lines)
        return messages if stream else [_write_message("".join(message["content"] for message in messages))]

    def stop(self) -> None:
        """End the program that runs, and the programs that it started."""
        if process := self._running:
            _signal_group(process, signal.SIGTERM)

    def terminate(self) -> None:
        """End the program that runs, and the programs that it started."""
        self.stop()

    def sudo_install(self, package: str) -> bool:
        """Install a package of the operating system with its package manager and sudo; True when it worked.

        sudo must not need a password here: where it does, ask the user to install the package.
        """
        return install_package(package)

    def _argv(self, language: str) -> list[str]:
        for argv in _PROGRAMS.get(language.lower(), ()):
            if program := shutil.which(argv[0]):
                return [program, *argv[1:]]
        raise ComputerError(f"{language} cannot run here. Languages: {', '.join(self.languages)}.")

    def _lines(self, argv: list[str], code: str, ending: str, display: bool) -> Iterator[str]:
        with tempfile.NamedTemporaryFile("w", suffix=ending, encoding="utf-8") as file:
            file.write(code)
            file.flush()
            options: dict[str, Any] = {
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.STDOUT,
                "text": True,
                "errors": "replace",
                "start_new_session": True,
            }
            process = self._running = subprocess.Popen([*argv, file.name], **options)
            try:
                for line in process.stdout or ():
                    if display:
                        print(line, end="")
                    yield line
                process.wait()
            finally:
                if self._running is process:
                    self._running = None
                with process:
                    if process.returncode is None:
                        _end_group(process)
            if process.returncode:
                yield f"exit status {process.returncode}\n"


def install_package(package: str, *, may_ask: bool = False) -> bool:
    """Install a package of the operating system; True when that worked.

    With `may_ask`, sudo may ask for a password in the terminal.
    """
    for name, arguments in _INSTALLERS.items():
        if shutil.which(name):
            sudo = [] if os.geteuid() == 0 else ["sudo"] if may_ask else ["sudo", "-n"]
            return subprocess.run([*sudo, name, *arguments, "--", package], check=False).returncode == 0
    raise cannot("sudo_install", f"none of {', '.join(_INSTALLERS)} is installed.")


def _end_group(process: subprocess.Popen[str]) -> None:
    """End what a program started, and the program if it still runs; kill what does not end."""
    _signal_group(process, signal.SIGTERM)
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _signal_group(process, signal.SIGKILL)


def _signal_group(process: subprocess.Popen[str], number: int) -> None:
    """Send a signal to a program that nobody has waited for, and to what it started."""
    # macOS refuses where all of them have ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _write_message(text: str) -> dict[str, str]:
    return {"role": "computer", "type": "console", "format": "output", "content": text}
