"""The channel to the application: pipes on high descriptors, and a few bytes with the active line."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import _signal
import _thread
import fcntl
import mmap
import os
import struct

# A program may put others in their place.
from os import fstat, getpgrp, getpid, read, set_blocking, tcgetpgrp, tcsetpgrp, write
from select import select

try:
    from _json import encode_basestring_ascii as _quoted
except ImportError:
    from json.encoder import encode_basestring_ascii as _quoted


def spell(value):
    """Return the value as JSON: what `json.dumps` says of what events hold, without the price
    of importing it.
    """
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, dict):
        return "{%s}" % ",".join("{}:{}".format(_quoted(name), spell(item)) for name, item in value.items())
    return "[%s]" % ",".join(spell(item) for item in value)


class Channel:
    """The pipes to the application, on high descriptors that no child inherits."""

    def __init__(self, folder):
        self._places = {
            "requests": (os.path.join(folder, "requests"), os.O_RDONLY),
            "_events": (os.path.join(folder, "events"), os.O_WRONLY),
            "terminal": ("/dev/tty", os.O_RDWR),
        }
        for name, place in self._places.items():
            setattr(self, name, self._high(os.open(*place) if name != "terminal" else os.dup(1)))
        with open(os.path.join(folder, "line"), "r+b") as file:
            self._line = mmap.mmap(file.fileno(), 12)
        self._pack = struct.Struct("=i").pack_into
        self._lock = _thread.allocate_lock()
        self._count = 0
        self.unread = b""
        self._owner = os.getpid()
        self.nonce = "idle"
        os.register_at_fork(after_in_child=self._close)

    @staticmethod
    def _high(number):
        try:
            high = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 200)
        except OSError:
            # So few are allowed here (ulimit -n).
            high = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 20)
        os.close(number)
        return high

    def _close(self):
        for number in (self.requests, self._events):
            try:
                os.close(number)
            except OSError:
                pass
        self._owner = 0

    @property
    def closed(self):
        return not self._owner

    def repair(self):
        """Open again what a program closed along with all else that was open."""
        if self._owner != getpid():
            return
        for name, place in self._places.items():
            try:
                fstat(getattr(self, name))
            except OSError:
                setattr(self, name, self._high(os.open(*place)))

    def line(self, number):
        """Say which line runs now; 0 for none."""
        self._pack(self._line, 0, number)

    def cell(self, number, run):
        """Report which cell runs, by the numbers in the name of its file."""
        self._pack(self._line, 4, number)
        self._pack(self._line, 8, run)

    def request(self):
        """Wait for the next request. Returns its words, or None when the application has disconnected."""
        while b"\n" not in self.unread:
            try:
                piece = read(self.requests, 65536)
            except KeyboardInterrupt:
                continue
            if not piece:
                return None
            self.unread += piece
        line, _, self.unread = self.unread.partition(b"\n")
        return line.decode().split(" ", 2)

    def has_request(self):
        """Return whether the next request has come, or the application has disconnected."""
        return bool(self.unread) or bool(select([self.requests], [], [], 0)[0])

    def send(self, event, placed=False, **fields):
        """Tell the application; with `placed`, also leave a mark at this place of the output."""
        if self._owner != getpid():
            return
        fields["event"] = event
        with self._lock:
            mark = None
            if placed:
                self._count += 1
                mark = fields["mark"] = "{}.{}".format(self.nonce, self._count)
            # The line begins again, whatever else the program has written there.
            self.write(self._events, b"\n" + spell(fields).encode() + b"\n")
            if mark is not None:
                self.write(self.terminal, "\x1b]6973;{}\x07".format(mark).encode())

    @staticmethod
    def write(number, data):
        view = memoryview(data)
        while view:
            try:
                view = view[write(number, view) :]
            except BlockingIOError:
                # The program's own terminal, which it made so.
                set_blocking(number, True)

    def repair_terminal(self):
        """Make terminal output blocking and the keyboard usable again, however a program changed them."""
        try:
            set_blocking(self.terminal, True)
            if tcgetpgrp(self.terminal) != getpgrp():
                # Who asks for the keyboard from the background is stopped, unless he is deaf to that.
                before = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGTTOU,))
                tcsetpgrp(self.terminal, getpgrp())
                _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
        except OSError:
            pass
