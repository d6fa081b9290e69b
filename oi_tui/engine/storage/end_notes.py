"""Notes of how each conversation's file ends, so that a file that lost its end is recognized.

A journal is read to its last line, and nothing in it says that there was another one. So the end of the last
record that was saved is noted elsewhere, without waiting for the disk: after a crash the note may be older
than the file, which says nothing, but never newer. Where the file has not got what was noted, its end was cut
off, or an older copy was put in its place.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from oi_tui import paths

#: The end of a record: the number of messages, and the checksum.
_END = re.compile(rb'("n":(\d{1,9}),"crc":"[0-9a-f]{8}"\})\n\Z')
#: Every note is this long, so that a newer one replaces it in one write that needs no space on the disk.
_LENGTH = 48


class EndNote(NamedTuple):
    """The end of the last record that was saved, and the number of messages then."""

    end: bytes
    messages: int


class EndNotes:
    """The notes for the conversations of a folder. They may be lost at any time; then nothing is known.

    They are not beside the conversations: what copies or restores that folder must not bring them along.
    """

    def __init__(self, conversations: Path) -> None:
        self._folder = paths.state() / "ends" / name_folder(conversations)

    def save(self, id: str, record: bytes) -> None:
        """Note that the conversation ends with this record now."""
        match = _END.search(record[-_LENGTH:])
        if match is None:
            return
        with contextlib.suppress(OSError):
            paths.make_private(self._folder)
            with self._open(id, os.O_WRONLY | os.O_CREAT) as file:
                file.write(match[0].rjust(_LENGTH))

    def read(self, id: str) -> EndNote | None:
        """Return what was noted; None where nothing is known.

        Read the note before the file: another program may be adding to both.
        """
        with contextlib.suppress(OSError), self._open(id, os.O_RDONLY) as file:
            match = _END.fullmatch(file.read(_LENGTH).lstrip())
            if match is not None:
                return EndNote(match[1], int(match[2]))
        return None

    def _open(self, id: str, flags: int) -> FileIO:
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return FileIO(os.open(self._folder / id, flags, 0o600), "w" if flags & os.O_WRONLY else "r")

    def delete_unknown(self, list_known: Callable[[], Iterable[str]]) -> None:
        """Delete the notes of conversations that no longer exist; none where those cannot be listed."""
        with contextlib.suppress(OSError):
            # In this order: a conversation is there before its note.
            names = os.listdir(self._folder)  # noqa: PTH208 -- of ten thousand names, none is made a path
            for name in set(names).difference(list_known()):
                (self._folder / name).unlink()


def name_folder(conversations: Path) -> str:
    """Return the name of what is kept for the conversations of a folder in another place."""
    return hashlib.sha256(os.fsencode(conversations.absolute())).hexdigest()[:16]
