"""The interface of a sandbox mechanism: requests, commands and errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from oi_tui.runtimes.sandbox.limits import USUAL, SandboxLimits


class NoSandboxError(RuntimeError):
    """The sandbox is asked for and is not available; the message says why, and what to do, in sentences.

    `finding` has what is wrong and what to do apart, where both are known.
    """

    def __init__(self, message: str, finding: tuple[str, str] | None = None) -> None:
        super().__init__(message)
        self.finding = finding or (message, "")


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """A program to start inside. All paths are real ones except those of `argv` and `programs`."""

    #: The path of the language's program, which `argv` may begin with something else to start.
    program: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    #: The folder that the program may change, where it starts.
    cwd: Path
    #: The folder of its way to the application.
    channel: Path
    #: What is hidden inside, whether it exists or not.
    ours: tuple[Path, ...] = ()
    #: What is run outside as well, so that code inside must not change it.
    programs: tuple[str, ...] = ()
    #: What code inside must not change in the working directory.
    read_only: tuple[Path, ...] = ()
    #: Folders there that code inside must not rename.
    pinned: tuple[Path, ...] = ()
    limits: SandboxLimits = USUAL
    #: The socket of the proxy by which it reaches some hosts; None for no network.
    gateway: Path | None = None


@dataclass(frozen=True, slots=True)
class SandboxedCommand:
    """How to start a program inside: arguments, environment, and descriptors to inherit.

    The caller closes the descriptors afterwards.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    descriptors: tuple[int, ...] = ()


class Mechanism(Protocol):
    """A module that encloses programs on some system."""

    def find_problem(self) -> tuple[str, str] | None:
        """Return what is wrong and how to fix it; None when it works, found by trying."""

    def explain_weakness(self) -> tuple[str, str] | None:
        """Return what this version of it cannot prevent and how to fix it; None where there is nothing."""

    def find_temporary_folder(self, channel: Path) -> Path:
        """Return the folder inside for what may be lost."""

    def enclose(self, wanted: SandboxRequest) -> SandboxedCommand:
        """Build the command that starts a program inside. Raises NoSandboxError or OSError."""
