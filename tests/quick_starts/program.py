"""oi-tui in a pseudo-terminal, as a process of a fork server that has imported Textual and the application.

The fork leads a session of its own, whose terminal this is, and calls what the command calls. Where a test is
about the start itself, or changes what is read while modules are imported, the command is started.
"""

import fcntl
import os
import signal
import socket
import struct
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

from ptyprocess import PtyProcess

from tests.quick_starts.asking import NUMBER, order

#: The variables that are read while modules are imported, or by Python itself, beside those of Textual.
_READ_AT_IMPORT = (
    "COLORTERM",
    "ESCDELAY",
    "LANG",
    "LC_ALL",
    "LC_TERMINAL",
    "NO_COLOR",
    "TERM",
    "TERM_PROGRAM",
    "TZ",
)
#: Where the plugin of snapshots keeps its files: set in all tests, and read by nothing else.
_OF_SNAPSHOTS = "TEXTUAL_SNAPSHOT_"


class QuickPrograms:
    """A fork server at an address, with the environment in which it has imported the application."""

    def __init__(self, address: Path, environment: Mapping[str, str]) -> None:
        self._address = str(address)
        self._environment = _read_at_import(environment)

    def can_start_with(self, environment: Mapping[str, str]) -> bool:
        """Whether what it has imported is what the command would import in this environment."""
        return _read_at_import(environment) == self._environment

    def spawn(
        self, arguments: Sequence[str], cwd: str, env: Mapping[str, str], dimensions: tuple[int, int]
    ) -> "Fork":
        """Start oi-tui with these arguments."""
        ours, its = os.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", *dimensions, 0, 0))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        pid = order(connection, arguments, [its, its, its], env, cwd)
        os.close(its)
        return Fork(pid, ours, connection)


class Fork(PtyProcess):  # type: ignore[misc]
    """The program, whose end the fork server tells."""

    def __init__(self, pid: int, fd: int, connection: socket.socket) -> None:
        super().__init__(pid, fd)
        self._connection = connection

    def isalive(self) -> bool:
        if not self.terminated:
            try:
                told = self._connection.recv(NUMBER, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return True
            self._connection.close()
            code = os.waitstatus_to_exitcode(int.from_bytes(told, "big")) if told else -signal.SIGKILL
            self.exitstatus, self.signalstatus = (code, None) if code >= 0 else (None, -code)
            self.terminated = True
        return False


def _read_at_import(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name in _READ_AT_IMPORT or (name.startswith("TEXTUAL") and not name.startswith(_OF_SNAPSHOTS))
    }
