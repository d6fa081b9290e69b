"""oi-tui on a disk and with a clock that fail as a file says, from one moment to the next.

Run as `python faulty.py FAULTS [ARGUMENTS]`. FAULTS is a JSON file, read again whenever it changed: `below`
is the folder whose disk it is, `errors` gives the number of the error for each kind of call that fails, and
`clock` is added to the time of day, in seconds.
"""

import errno
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Faults:
    """What fails now."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stat, self._open = os.stat, os.open
        self._stamp = -1
        self._now: dict[str, Any] = {}
        self._below = str(json.loads(file.read_text())["below"])

    @property
    def now(self) -> dict[str, Any]:
        stamp = self._stat(self._file).st_mtime_ns
        if stamp != self._stamp:
            self._stamp, self._now = stamp, json.loads(self._file.read_text())
        return self._now

    def check(self, kind: str, place: object) -> None:
        """Fail, if calls of this kind fail where this path or descriptor lies."""
        number = self.now["errors"].get(kind)
        if number is None:
            return
        try:
            path = os.readlink(f"/proc/self/fd/{place}") if isinstance(place, int) else os.fsdecode(place)  # type: ignore[call-overload]
        except OSError:
            return
        if os.path.abspath(path).startswith(self._below):
            raise OSError(number, os.strerror(number), path)

    def failing(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(place: Any, *more: Any, **named: Any) -> Any:
            if kind != "open" or (more and more[0] & WRITING):
                self.check(kind, place)
            return call(place, *more, **named)

        return checked

    def install(self) -> None:
        for name in ("open", "write", "fsync", "mkdir", "rename", "replace", "link", "unlink", "ftruncate"):
            setattr(os, name, self.failing(name, getattr(os, name)))
        clock = time.time
        time.time = lambda: clock() + self.now.get("clock", 0)


READ_ONLY = dict.fromkeys(
    ("open", "write", "fsync", "mkdir", "rename", "replace", "link", "unlink"), errno.EROFS
)


if __name__ == "__main__":
    Faults(Path(sys.argv[1])).install()
    from oi_tui.start import main

    sys.argv[1:] = sys.argv[2:]
    sys.exit(main())
