"""The channel of Python drivers whose cells are not Python: requests in, events and marks out.

It runs on Python 3.8 and later and needs nothing but the standard library.
"""

# mypy: ignore-errors

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys

_LARGEST_REASON = 300


class Stopped(BaseException):
    """Raised in a run that ignored KeyboardInterrupt."""


class Failed(Exception):
    """The cell cannot be run; the message is the reason."""


def find_working_directory():
    """Return the working directory. Raises Failed where it was deleted."""
    try:
        return os.getcwd()
    except OSError as error:
        message = "the working directory cannot be used ({}). Create it again, or start elsewhere"
        raise Failed(message.format(error.strerror)) from None


class Channel:
    """The pipes to the application, on high descriptors that no child inherits."""

    def __init__(self, folder):
        self._requests = os.fdopen(self._high(os.path.join(folder, "requests"), os.O_RDONLY), "r")
        self._events = self._high(os.path.join(folder, "events"), os.O_WRONLY)
        self._terminal = self._copy(1)
        self._count = 0
        self._owner = os.getpid()
        self._nonce = "idle"
        #: The cell that runs, as error messages name it.
        self.cell = "cell"

    @staticmethod
    def _high(path, flags):
        low = os.open(path, flags)
        high = Channel._copy(low)
        os.close(low)
        return high

    @staticmethod
    def _copy(number):
        """Copy a descriptor to a number that programs do not expect, a lower one where few are allowed."""
        try:
            return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 200)
        except OSError:
            return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 20)

    def send(self, event, placed=False, **fields):
        """Tell the application; with `placed`, also leave a mark at this place of the output."""
        if os.getpid() != self._owner:
            return
        fields["event"] = event
        if placed:
            sys.stdout.flush()
            self._count += 1
            fields["mark"] = "{}.{}".format(self._nonce, self._count)
        # The line begins again: an interrupt may have cut off the event before.
        self._write(self._events, b"\n" + json.dumps(fields).encode() + b"\n")
        if placed:
            self._write(self._terminal, "\x1b]6973;{}\x07".format(fields["mark"]).encode())

    @staticmethod
    def _write(number, data):
        view = memoryview(data)
        while view:
            view = view[os.write(number, view) :]

    def serve(self, run, cancel=None, leave=None, answer=None):
        """Serve requests until the application disconnects; `run` returns the state and the reason.

        `cancel` is called when a run was interrupted, `leave` when the language is to end. `answer` returns
        the fields of the answer to a question.
        """
        signal.signal(signal.SIGINT, _ignore)
        signal.signal(signal.SIGUSR2, _stop)
        self.send("ready", stop=int(signal.SIGUSR2))
        while True:
            try:
                line = self._requests.readline()
                if not line:
                    return
                words = line.rstrip("\n").split(" ", 2)
                if words[0] == "run":
                    self._run(run, cancel, words[1], words[2])
                elif words[0] == "leave":
                    if leave is not None:
                        leave()
                    return
                elif answer is not None:
                    self.send(words[0], nonce=words[1], **answer(words[0], words[2] if words[2:] else ""))
            except (KeyboardInterrupt, Stopped):
                continue

    def _run(self, run, cancel, nonce, path):
        self._nonce = nonce
        self.cell = os.path.basename(path).replace("-", " ")
        try:
            try:
                with open(path, encoding="utf-8", errors="replace", newline="") as file:
                    code = file.read()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                state, reason = run(code)
            finally:
                signal.signal(signal.SIGINT, _ignore)
        except (KeyboardInterrupt, Stopped):
            state, reason = "interrupted", None
            if cancel is not None:
                cancel()
        except Failed as error:
            state, reason = "failed", str(error)
        except Exception as error:
            # The language's next cell may succeed: a disk has room again, a folder is there.
            state, reason = "failed", _describe_error(error)
        if os.getpid() != self._owner:
            os._exit(0 if state == "finished" else 1)
        self.send(
            "finished", placed=True, nonce=nonce, state=state, reason=reason and reason[:_LARGEST_REASON]
        )


def _describe_error(error):
    """Say in one line what went wrong, and with which file."""
    if isinstance(error, OSError) and error.strerror:
        return "{}: {}".format(error.filename or type(error).__name__, error.strerror)
    return " ".join("{}: {}".format(type(error).__name__, error).split())


def _ignore(*_):
    """Do nothing: nothing runs that could be interrupted."""


def _stop(*_):
    raise Stopped
