"""Checks the folders: writable, private, and with enough free space."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from oi_tui import paths
from oi_tui.doctor.finding import Diagnosis
from oi_tui.system import environment_names

#: Less room than this is a problem, in bytes.
LEAST_ROOM = 200_000_000
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def check_folders() -> Iterator[Diagnosis]:
    """Check our own folders, the working directory, and the one for temporary files."""
    home = os.environ.get("HOME", "")
    if not home:
        yield Diagnosis(None, "HOME is not set; the home folder is taken from the system's list of users")
    elif not Path(home).is_dir():
        yield Diagnosis(False, f"HOME is {home}, which is not a folder", "Set HOME to your home folder.")
    for name, find in (("data", paths.data), ("settings", paths.config), ("state", paths.state)):
        yield _check_folder(name, find())
    try:
        here = Path.cwd()
    except OSError:
        yield Diagnosis(False, "the working directory is gone", "Change to another folder, and start again.")
    else:
        good = os.access(here, os.R_OK | os.X_OK)
        writable = "" if os.access(here, os.W_OK) else ", which programs cannot write to"
        yield Diagnosis(good, f"working directory {paths.shorten(here)}{writable}")
    try:
        with tempfile.TemporaryFile():
            yield Diagnosis(True, f"temporary files go to {tempfile.gettempdir()}")
    except OSError as error:
        why = (paths.explain_no_room(error) or str(error)).partition(". ")[0]
        yield Diagnosis(False, f"no temporary file can be made: {why}", "Make room, or set TMPDIR.")


def _check_folder(name: str, folder: Path) -> Diagnosis:
    short = paths.shorten(folder)
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    about = f"{name} in {short}" + ("" if there == folder else " (made when it is first needed)")
    problem = _try_to_write(there)
    if problem and problem.errno not in _NO_ROOM:
        here = paths.shorten(there)
        fix = f"Make {here} a folder that you can write to, or set {environment_names.HOME} to one."
        return Diagnosis(False, f"{about}: cannot be written to ({problem.strerror})", fix)
    try:
        room = shutil.disk_usage(there).free
    except OSError:
        room = LEAST_ROOM
    if problem or room < LEAST_ROOM:
        words = "nothing more can be written" if problem else f"{room / 1e6:.0f} MB are free"
        return Diagnosis(False, f"{about}: {words}", "Make room on that disk.")
    if there == folder and folder.stat().st_mode & 0o077:
        mode = f"{folder.stat().st_mode & 0o777:o}"
        return Diagnosis(False, f"{about}: other users can read it (mode {mode})", f"chmod 700 {short}")
    return Diagnosis(True, f"{about}, {room / 1e9:.1f} GB free")


def _try_to_write(folder: Path) -> OSError | None:
    """Find out why the folder is not writable, by trying; leaves nothing behind."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * 4096)
            file.flush()
    except OSError as error:
        return error
    return None
