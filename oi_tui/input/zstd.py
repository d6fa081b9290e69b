"""Unpacks files of Zstandard, with Python 3.14 or the program zstd."""

import importlib
import io
import shutil
import subprocess
from pathlib import Path
from typing import IO, Any

from oi_tui.runtimes.tables import TableError


def open_zstd(path: Path, mode: str) -> IO[bytes]:
    """Open a packed file to read what is in it. Raises TableError where nothing here unpacks it."""
    try:
        library: Any = importlib.import_module("compression.zstd")
    except ImportError:
        pass
    else:
        stream: IO[bytes] = library.open(path, mode)
        return stream
    program = shutil.which("zstd")
    if program is None:
        raise TableError(
            f"{path.name} cannot be unpacked without the program zstd. Install it, or unpack the file."
        )
    return io.BufferedReader(_Unpacked(program, path))


class _Unpacked(io.RawIOBase):
    """What the program writes."""

    def __init__(self, program: str, path: Path) -> None:
        self._process = subprocess.Popen(
            (program, "-dcq", "--", str(path.absolute())),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def readable(self) -> bool:
        """Return True: it is only read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes. Raises OSError at the end of a damaged file."""
        assert self._process.stdout
        assert self._process.stderr
        data = self._process.stdout.read(len(buffer))
        buffer[: len(data)] = data
        if not data and len(buffer) and self._process.wait():
            why = self._process.stderr.read().decode(errors="replace").strip().split("\n")[-1]
            raise OSError(why.rpartition(" : ")[2] or "the file is damaged")
        return len(data)

    def close(self) -> None:
        """End the program."""
        if not self.closed:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe:
                    pipe.close()
        super().close()
