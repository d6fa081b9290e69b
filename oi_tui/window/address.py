"""Where open windows listen: a socket and a small file for each, in a folder private to the user."""

import hashlib
import json
import os
import re
import secrets
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from oi_tui import paths

#: The version of the protocol; windows of another one are left alone.
VERSION = 1
#: The longest path of a socket that every system takes, in bytes.
_LONGEST = 100
_PROCESS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class WindowAddress:
    """Where one window listens. A client that knows `token` can read the owner's files."""

    name: str
    token: str
    folder: str

    @property
    def socket(self) -> Path:
        """The path of the socket."""
        return find_directory() / f"{self.name}.sock"

    @property
    def file(self) -> Path:
        """The path of the file that says so."""
        return find_directory() / f"{self.name}.json"


def find_directory(*, make: bool = True) -> Path:
    """Return the folder of the addresses; with `make` it is made where it is missing.

    Windows with other conversations (`OI_TUI_HOME`) have a folder of their own. Raises OSError when the
    folder is not ours alone.
    """
    home = hashlib.sha256(os.fsencode(paths.state())).hexdigest()[:12]
    parent = _find_runtime_folder()
    for folder in (parent, parent / home):
        if make:
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise PermissionError(f"{folder} can be used by others")
    return parent / home


def create(folder: Path) -> WindowAddress:
    """Return a new address for a window that works in this folder. Raises OSError."""
    address = WindowAddress(f"{os.getpid()}-{secrets.token_hex(4)}", secrets.token_urlsafe(32), str(folder))
    if len(os.fsencode(address.socket)) > _LONGEST:
        raise OSError(f"{address.socket} is too long for a socket")
    return address


def publish(address: WindowAddress) -> None:
    """Let others find the window; to be called once it listens. Raises OSError."""
    descriptor = os.open(address.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 -- for its owner from the beginning
        json.dump({"version": VERSION, "token": address.token, "folder": address.folder}, file)


def touch(address: WindowAddress) -> None:
    """Note that the person works in this window now."""
    with suppress(OSError):
        os.utime(address.file, (time.time(), time.time()))


def withdraw(address: WindowAddress) -> None:
    """Remove what `publish` and the socket left, and the folder where no other window uses it."""
    with suppress(OSError):
        folder = find_directory(make=False)
        (folder / f"{address.name}.json").unlink(missing_ok=True)
        (folder / f"{address.name}.sock").unlink(missing_ok=True)
        folder.rmdir()


def list_published(folder: Path) -> list[WindowAddress]:
    """Return the windows that say they are open: those that work in this folder first, then the last used.

    What windows left that were killed is removed.
    """
    with suppress(OSError):
        addresses = list(_read_all(find_directory(make=False)))
        addresses.sort(key=lambda item: (item[1].folder == str(folder), item[0]), reverse=True)
        return [address for _, address in addresses]
    return []


def sweep() -> None:
    """Remove the files of windows that were killed. Raises OSError when the folder is not ours alone."""
    for file in list(find_directory().glob("*-*.*")):
        process = file.stem.partition("-")[0]
        if file.suffix in (".sock", ".json") and _PROCESS.fullmatch(process):
            socket_file, description = file.with_suffix(".sock"), file.with_suffix(".json")
            # Another program may have the number of a window that was killed.
            if not _is_running(int(process)) or (description.exists() and not _is_answered(socket_file)):
                with suppress(OSError):
                    socket_file.unlink(missing_ok=True)
                    description.unlink(missing_ok=True)


def _is_answered(path: Path) -> bool:
    """Return whether a window listens at a socket; what cannot be known counts as yes."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            # Its queue is full, for one.
            pass
    return True


def _read_all(folder: Path) -> Iterator[tuple[float, WindowAddress]]:
    """Read the addresses, each with the time when it was last used; a window may close at any moment."""
    for file in list(folder.glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            values = json.loads(file.read_text(encoding="utf-8"))
            address = WindowAddress(file.stem, str(values["token"]), str(values["folder"]))
            if not _is_running(int(file.stem.partition("-")[0])):
                withdraw(address)
            elif values["version"] == VERSION:
                yield file.stat().st_mtime, address


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _find_runtime_folder() -> Path:
    """Return the folder for sockets of this person; programs may be started without the variable for it."""
    for name in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.getuid()}"):
        folder = Path(name)
        if folder.is_absolute() and folder.is_dir() and folder.stat().st_uid == os.getuid():
            return folder / "oi-tui"
    return Path("/tmp") / f"oi-tui-{os.getuid()}"
