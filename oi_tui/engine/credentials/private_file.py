"""A small JSON file that only its owner can read, changed under a lock."""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oi_tui import paths
from oi_tui.paths import replace_file

#: Far more than any of these files needs.
_MAX_BYTES = 4_000_000


class PrivateFileError(OSError):
    """The file is not one to believe; the message says which one, and why."""


def read(path: Path) -> dict[str, Any]:
    """Read the file; without one the result is empty. Raises PrivateFileError or OSError.

    The file must be a regular one and our own, because whoever could write to it could put words into a
    person's mouth. One that others can read is closed to them. Never hangs on a pipe, never follows a link.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PrivateFileError(f"{paths.shorten(path)} is not a regular file")
        if status.st_uid != os.getuid():
            raise PrivateFileError(f"{paths.shorten(path)} belongs to another user")
        if status.st_mode & 0o022:
            raise PrivateFileError(
                f"other users can write to {paths.shorten(path)}; check its contents, then: chmod 600"
            )
        if status.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
        if status.st_size > _MAX_BYTES:
            raise PrivateFileError(f"{paths.shorten(path)} is too large")
        raw = os.read(descriptor, _MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    try:
        values = json.loads(raw) if raw.strip() else {}
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise PrivateFileError(f"{paths.shorten(path)} is damaged: it was not written by oi-tui")
    return values


@contextlib.contextmanager
def edit(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the contents for changes in place; written at the end unless something was raised.

    One program at a time: a lock on the file's folder is held meanwhile. Raises PrivateFileError or OSError.
    """
    with paths.locked(paths.make_private(path.parent)):
        values = read(path)
        before = json.dumps(values)
        yield values
        if json.dumps(values) == before:
            return
        # No more than can be read again.
        text = json.dumps(values, separators=(",", ":")) + "\n"
        if len(text) > _MAX_BYTES:
            raise PrivateFileError(f"{paths.shorten(path)} would become too large")
        replace_file(path, text)
