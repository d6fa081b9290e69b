"""Output streams that write all of a text, also where the terminal or pipe takes only a part at once."""

import io
import os
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class BlockingOutput(io.RawIOBase):
    """A raw stream to a file descriptor, which waits until it can write.

    Whether a terminal or pipe blocks is a property of the open file, which all programs on it share: one of
    them, such as ssh or Node, may have made it non-blocking. Python's own streams would lose text there.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: "ReadableBuffer") -> int:
        """Write what fits, at least one byte, and return how many bytes that were."""
        while True:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:
                poll = select.poll()
                poll.register(self._descriptor, select.POLLOUT)
                poll.poll()


def open_missing_streams() -> None:
    """Open the null device in place of each standard stream that this process was started without.

    The next file that is opened would get its number, and what a program prints would be written into it.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest number that is free: those below it are open by now.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", errors="replace", closefd=False))


def block_standard_output() -> None:
    """Let standard output and standard error of this process wait until they can write."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            text = io.TextIOWrapper(
                io.BufferedWriter(BlockingOutput(stream.fileno())),
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
            )
            setattr(sys, name, text)
