"""A pseudo-terminal with a language process, and the guard that ends everything the process started."""

import contextlib
import errno
import fcntl
import os
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pexpect
import ptyprocess

_DRIVERS = Path(__file__).parents[1] / "drivers"
#: Keys that suspend, for which Python has no names: VDSUSP of termios.h.
_MORE_KEYS = {"darwin": (11,)}
_GUARD = "import sys; sys.path.insert(0, sys.argv.pop(1)); import guard"


class _Guarded(ptyprocess.PtyProcess):  # type: ignore[misc]
    """The guard's process together with the terminal that it hands to the program.

    Unlike its parent it runs no Python between fork and exec, because the application has threads; and the
    application's child is the guard, not the program.
    """

    def __init__(self, popen: "subprocess.Popen[bytes]", master: int, slave: int) -> None:
        super().__init__(popen.pid, master)
        self.popen = popen
        self.slave = slave

    closed: bool

    def __del__(self) -> None:
        """Do nothing: `Pty.close` says when the end is."""

    def isalive(self) -> bool:
        """Return whether the guard runs."""
        return self.popen.poll() is None

    def close(self, force: bool = True) -> None:  # noqa: ARG002
        """Close the terminal; the guard learns of it in another way."""
        if not self.closed:
            self.fileobj.close()
            os.close(self.slave)
            self.fd = -1
            self.closed = True


class Pty(pexpect.spawn):  # type: ignore[type-arg] # generic in its stubs only
    """pexpect's terminal around a guarded program. Raises OSError when it cannot be started.

    With `descriptors`, which it inherits, the program is a wrapper that starts the language inside of it.

    The application keeps the program's side of the terminal open as well: reading then never fails because
    the last program went, and modes can be set while none runs.
    """

    ptyproc: _Guarded

    def __init__(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        cwd: Path,
        size: tuple[int, int],
        descriptors: Sequence[int] = (),
    ) -> None:
        columns, lines = size
        self._descriptors = tuple(descriptors)
        wrapped = ",".join(map(str, descriptors)) or "-"
        guard = ["-I", "-S", "-c", _GUARD, str(_DRIVERS), "MASTER", "TERMINAL", str(folder), wrapped, *argv]
        super().__init__(
            sys.executable, guard, env=dict(env), cwd=str(cwd), dimensions=(lines, columns), timeout=None
        )
        os.set_blocking(self.child_fd, False)
        self._sane = termios.tcgetattr(self.slave)
        self._accepts_any_line = False

    def _spawnpty(self, args: list[str], **options: Any) -> _Guarded:
        master, slave = os.openpty()
        try:
            _set_modes(slave)
            popen = subprocess.Popen(
                [{"MASTER": str(master), "TERMINAL": str(slave)}.get(word, word) for word in args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(master, slave, *self._descriptors),
                env=options["env"],
                cwd=options["cwd"],
                start_new_session=True,
                bufsize=0,
            )
        except BaseException:
            os.close(master)
            os.close(slave)
            raise
        process = _Guarded(popen, master, slave)
        process.setwinsize(*options["dimensions"])
        return process

    @property
    def slave(self) -> int:
        """The program's side of the terminal."""
        return self.ptyproc.slave

    @property
    def guard_output(self) -> int:
        """The pipe on which the guard reports how the program ended. Raises OSError once it is closed."""
        assert self.ptyproc.popen.stdout is not None
        try:
            return self.ptyproc.popen.stdout.fileno()
        except ValueError:
            raise OSError(errno.EBADF, "the terminal was closed") from None

    @property
    def foreground(self) -> int:
        """The process group that has the keyboard; 0 when there is none."""
        try:
            return os.tcgetpgrp(self.child_fd)
        except OSError:
            return 0

    @property
    def echoing(self) -> bool:
        """Whether what is typed is shown, or read key by key, as against the line of a password."""
        try:
            flags = termios.tcgetattr(self.slave)[3]
        except termios.error:
            return True  # macOS takes the terminal away from everybody when its program ends
        by_key = not (flags & termios.ICANON or self._accepts_any_line)
        return bool(flags & termios.ECHO) or by_key

    @property
    def echoes(self) -> bool:
        """Whether the terminal itself shows what is typed."""
        try:
            return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)
        except termios.error:
            return False

    @property
    def unread(self) -> bool:
        """Whether something was typed that the program could read and has not read."""
        try:
            return any(fcntl.ioctl(self.slave, termios.FIONREAD, bytes(4)))
        except OSError:
            return False

    @property
    def device(self) -> int:
        """The number of the terminal's device; 0 when it is gone with its program."""
        try:
            return os.fstat(self.slave).st_rdev
        except OSError:
            return 0

    def make_sane(self) -> None:
        """Set the modes that a run begins with, whatever the last one left, and forget what nobody read."""
        self._accepts_any_line = False
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.slave, termios.TCSANOW, self._sane)
            termios.tcflush(self.slave, termios.TCIFLUSH)

    def type_unseen(self, data: bytes) -> None:
        """Type a short line unseen; from the next run on, the terminal shows again what is typed."""
        modes = termios.tcgetattr(self.slave)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(self.slave, termios.TCSANOW, modes)
        os.write(self.child_fd, data)

    def accept_any_line(self, on: bool = True) -> None:
        """Accept a line of any length. A terminal that keeps lines for corrections drops what it cannot keep.

        A program that reads lines gets such a line in pieces. It has to be switched off for the next one.
        """
        if on == self._accepts_any_line:
            return
        with contextlib.suppress(termios.error):
            modes = termios.tcgetattr(self.slave)
            if on != bool(modes[3] & termios.ICANON):
                # The program itself has changed it meanwhile, or reads key by key.
                self._accepts_any_line = False
                return
            modes[3] ^= termios.ICANON
            for place, number in ((termios.VMIN, 1), (termios.VTIME, 0)):
                modes[6][place] = number if on else self._sane[6][place]
            termios.tcsetattr(self.slave, termios.TCSANOW, modes)
            self._accepts_any_line = on

    def end_program(self) -> None:
        """Have the guard kill everything that the program started; it reports the end as usual."""
        assert self.ptyproc.popen.stdin is not None
        # Another thread may be closing the terminal, and that pipe with it.
        with contextlib.suppress(OSError, ValueError):
            self.ptyproc.popen.stdin.write(b"kill\n")

    def close(self, force: bool = True) -> None:
        """Have the guard end everything, wait for it (at most 6 s), and close the terminal."""
        if self.closed:
            return
        popen = self.ptyproc.popen
        assert popen.stdin is not None
        assert popen.stdout is not None
        with contextlib.suppress(OSError):
            popen.stdin.close()
        try:
            popen.wait(6)
        except subprocess.TimeoutExpired:
            popen.kill()
            popen.wait()
        popen.stdout.close()
        super().close(force)


def _set_modes(slave: int) -> None:
    modes = termios.tcgetattr(slave)
    # Without flow control nothing that is printed can hold the output up; without the flush an interrupt
    # throws no unread output away; nothing could bring a program back that a key suspended, or output that a
    # key threw away.
    modes[0] = (modes[0] | termios.ICRNL | getattr(termios, "IUTF8", 0)) & ~termios.IXON
    modes[1] |= termios.OPOST | termios.ONLCR
    modes[3] = (modes[3] | termios.NOFLSH) & ~getattr(termios, "ECHOCTL", 0)
    off = bytes([os.fpathconf(slave, "PC_VDISABLE")])
    for place in (termios.VSUSP, termios.VDISCARD, *_MORE_KEYS.get(sys.platform, ())):
        modes[6][place] = off
    termios.tcsetattr(slave, termios.TCSANOW, modes)
