"""Opens, locks and names files that are only appended to, and explains why one cannot be written."""

import fcntl
import os
from pathlib import Path

from oi_tui import paths


def put_in_place(made: Path, target: Path) -> None:
    """Give the file this name, without replacing an existing file. Raises OSError."""
    try:
        os.link(made, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has hard links.
        if os.path.lexists(target):
            raise
        made.rename(target)
    else:
        made.unlink()


# No library: filelock (128 ms to import, 0.21 ms for each lock against 0.001 ms here) locks a file of its own
# beside the one to be guarded, not the open journal itself.
def lock(file: int) -> bool:
    """Claim the open file for this process; False when another one has it.

    The claim ends with the process, however it ends. Where the file system has no locks, everybody
    gets one, and records of several writers simply follow each other.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def open_for_adding(path: Path, flags: int) -> int:
    """Open the file, never through a symbolic link, nor waiting for a pipe's other end. Raises OSError."""
    return os.open(path, flags | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)


def has_newline_at_end(file: int) -> bool:
    """Return whether the last line is complete, as far as that is known."""
    try:
        size = os.fstat(file).st_size
        return size == 0 or os.pread(file, 1, size - 1) == b"\n"
    except OSError:
        return False


def explain_not_saved(error: OSError, path: Path) -> str:
    """Describe what is wrong with the disk."""
    why = paths.explain_write_error(error, path)
    return f"Not saved: {why}. It stays in memory; oi-tui keeps trying."
