"""Paths of the user's data, configuration and state, and of our style sheets.

The folders are those of the platform (platformdirs). `OI_TUI_HOME` names one folder that holds all three
instead, as `data`, `config` and `state`; tests and portable installations use it.
"""

import contextlib
import errno
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from oi_tui.system import environment_names

_NAME = "oi-tui"
#: How long a program waits for another one that writes in the folder, and how often it looks, in seconds.
_LOCK_SECONDS, _LOCK_STEP = 5.0, 0.005
#: The name of the profile that a project's folder brings along.
PROJECT = ".oi-tui.yaml"


def data() -> Path:
    """Return the folder of what a person made: the conversations."""
    return _find_folder("data")


def config() -> Path:
    """Return the folder of what a person set: the profiles."""
    return _find_folder("config")


def state() -> Path:
    """Return the folder of what may be lost without harm: logs, caches, histories."""
    return _find_folder("state")


def conversations() -> Path:
    """Return the folder with one journal for each conversation."""
    return data() / "conversations"


def profiles() -> Path:
    """Return the folder with one YAML file for each profile."""
    return config() / "profiles"


def styles() -> Path:
    """Return the folder of the style sheets: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "styles"
    return inside if inside.is_dir() else package.parent / "styles"


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a folder or leads to one; a link that leads nowhere, in a circle or to
    where we may not look does not.
    """
    try:
        return entry.is_dir()
    except OSError:
        return False


def expand_typed(name: str | Path) -> Path:
    """Return the path that a person typed or a program named; ~ is the home, and ~x stays
    where x is nobody.
    """
    try:
        return Path(os.path.expanduser(name))  # noqa: PTH111 -- Path.expanduser raises for nobody
    except ValueError:  # a name with a NUL or half of a surrogate pair, which no user has
        return Path(name)


def find_home() -> Path:
    """Return the home folder. Without one, as for a user that is not known here, the path leads nowhere."""
    return expand_typed("~").absolute()


def make_private(folder: Path) -> Path:
    """Create the folder, and those above it that are missing, for its owner only (0700).

    A folder of ours that others could enter (because an older program or a person made it so) is closed to
    them, where it is ours to close. Raises OSError when the folder cannot be made.
    """
    missing = []
    parent = folder
    while not parent.exists():
        missing.append(parent)
        parent = parent.parent
    for item in reversed(missing):
        item.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(OSError):  # a folder above may be one that we cannot read
            sync(item.parent)
    status = folder.stat()
    if status.st_mode & 0o077 and status.st_uid == os.getuid():
        folder.chmod(0o700)
    return folder


def flush(descriptor: int) -> None:
    """Wait until what was written is on the disk. Raises OSError.

    On macOS fsync leaves it in the disk's own memory, which a power cut empties.
    """
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(descriptor, full)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY):
                raise  # the disk failed; elsewhere, as on network drives, there is only fsync
    os.fsync(descriptor)


def sync(folder: Path) -> None:
    """Make what was created, renamed or removed in the folder survive a power cut. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(descriptor)
    finally:
        os.close(descriptor)


def find_outside(path: Path, folder: Path) -> Path | None:
    """Return where a path in the folder leads to, if a link on the way leads out of the folder; else None.

    Code that may write only in the folder could put such a link there, so that its target is sent away.
    A path that is outside by its name is no such case: whoever names it means it.
    """
    full_path = Path(os.path.abspath(path))  # noqa: PTH100 -- "../x" is outside by its name
    if folder not in (full_path, *full_path.parents):
        return None
    try:
        target = Path(os.path.realpath(path))
    except ValueError:  # no path at all
        return path
    return None if Path(os.path.realpath(folder)) in (target, *target.parents) else target


def find_cwd() -> Path:
    """Return the working directory. Raises FileNotFoundError, in a sentence, where it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        text = "the current folder was deleted. Change to another one (cd ~), and start again"
        raise FileNotFoundError(errno.ENOENT, text) from None


def replace_file(path: Path, text: str, *, follows_link: bool = True) -> None:
    """Write the file again, for its owner only: it has the old content or the new one, never half of it.

    Where the path is a link, what it leads to is written, or without `follows_link` the link is replaced.
    """
    import tempfile  # costs as much as all of this module, and is not wanted at the start

    target = Path(os.path.realpath(path)) if follows_link else path
    with writing(target):
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                flush(descriptor)
            os.replace(name, target)  # noqa: PTH105
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108
            raise
        sync(target.parent)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this program while its files are read and written again. Raises OSError.

    The lock ends with the program, however it ends. Where the file system has no locks, everybody gets one.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        end = time.monotonic() + _LOCK_SECONDS
        while not _lock(descriptor):
            if time.monotonic() > end:
                text = "another oi-tui is writing to this folder. Wait a moment, and try again"
                raise OSError(errno.EAGAIN, text, str(folder))
            time.sleep(_LOCK_STEP)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def create_file(path: Path, data: bytes) -> None:
    """Write a new file, for its owner only; one that cannot be written whole is not there. Raises OSError."""
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink()
            raise


def explain_write_error(error: OSError, path: Path | None = None) -> str:
    """Return why a file cannot be written, with the folder where it is known.

    `no space left on the disk of ~/work`
    """
    reason = error.strerror or str(error)
    name = str(path or error.filename or "")
    if not name:
        return reason
    folder = shorten(os.path.dirname(name) or os.curdir)  # noqa: PTH120
    folder = "".join(letter if letter.isprintable() else "\ufffd" for letter in folder)
    return {
        errno.ENOSPC: f"no space left on the disk of {folder}",
        errno.EDQUOT: f"your disk quota for {folder} is used up",
        errno.EACCES: f"no permission to write to {folder}",
        errno.EPERM: f"no permission to write to {folder}",
        errno.EROFS: f"{folder} is on a read-only disk",
    }.get(error.errno or 0, f"{folder}: {reason}")


def explain_no_room(error: Exception) -> str | None:
    """Return why a file, perhaps a temporary one, has no place on the disk; None for other errors."""
    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENOENT and "temporary directory" in str(error.strerror):
        return "no folder for temporary files can be written to. Make room in /tmp, or set TMPDIR"
    return explain_write_error(error) if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS) else None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Add the file's name to an OSError: an error while data is written has none."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def _find_folder(kind: str) -> Path:
    home = os.environ.get(environment_names.HOME)
    if home:
        return Path(os.path.abspath(os.path.expanduser(home))) / kind  # noqa: PTH100, PTH111
    import platformdirs

    folder = Path(
        {
            "data": platformdirs.user_data_dir,
            "config": platformdirs.user_config_dir,
            "state": platformdirs.user_state_dir,
        }[kind](_NAME, appauthor=False)
    )
    # Without HOME and without an entry in the password file "~" stays as it is, and a folder of that name
    # would be made wherever we happen to stand.
    return folder if folder.is_absolute() else Path(folder.anchor or os.sep, *folder.parts[1:])


def shorten(path: str | Path) -> str:
    """Return the path as a person writes it, with "~" for the home folder."""
    text = str(path)
    home = os.path.expanduser("~")  # noqa: PTH111
    if home not in ("/", "~") and (text == home or text.startswith(home + os.sep)):
        return "~" + text[len(home) :]
    return text


def is_safe_to_trust(folder: Path) -> bool:
    """Return whether nobody else could have put files there: it belongs to us (or root)
    and only we may write.
    """
    if sys.platform == "win32":
        return True
    status = folder.stat()
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o022
