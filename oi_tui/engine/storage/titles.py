"""The titles and pins of conversations; the newest entry counts."""

import contextlib
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from oi_tui import paths

_MAX_BYTES = 100_000_000


class TitleIndex:
    """A file of JSON lines that is only ever added to, and of which every readable line is used."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def save(self, id: str, **facts: str | bool) -> None:
        """Save a `title`, one that was only `suggested`, or whether it is `pinned`.

        On disk when it returns. Raises OSError.
        """
        paths.make_private(self._path.parent)
        line = json.dumps({"id": id, **facts}).encode() + b"\n"
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with paths.writing(self._path):
            descriptor = os.open(self._path, flags, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    line = b"\n" + line
                if os.write(descriptor, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                paths.flush(descriptor)
                if not size:
                    paths.sync(self._path.parent)
            finally:
                os.close(descriptor)

    def find_title(self, id: str) -> str | None:
        """Return the title that a person gave to the conversation, else the one
        that was suggested, if any.
        """
        entry = self.read_entries().get(id, {})
        return entry.get("title") or entry.get("suggested")

    def read_entries(self) -> dict[str, dict[str, Any]]:
        """Return the entries by conversation id; empty when there is no readable file."""
        titles: dict[str, dict[str, Any]] = {}
        for line in self._read_lines():
            with contextlib.suppress(ValueError, RecursionError):
                entry = json.loads(line)
                if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                    titles.setdefault(entry["id"], {}).update(entry)
        for entry in titles.values():
            for name in ("title", "suggested"):
                if not isinstance(entry.get(name), str):
                    entry.pop(name, None)
        return titles

    def _read_lines(self) -> list[bytes]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path, flags)
        except OSError:
            return []
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return []
            return file.read(_MAX_BYTES).split(b"\n")
