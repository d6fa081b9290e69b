"""Says which files code may read without a finding: plain data files of the working directory."""

import fnmatch
import os
import re
from pathlib import Path

from oi_tui.engine.review.folder import Folder

#: Names of files that may hold secrets.
_SECRET = re.compile(
    r"secret|credential|passw|token|private|htpasswd|keystore|wallet|cookie|id_(?:rsa|dsa|ecdsa|ed25519)"
    r"|\.(?:pem|key|p12|pfx|jks|ppk|gpg|asc|kdbx|keytab|env|ovpn)\b|(?:^|[._-])(?:api)?keys?(?:[._-]|$)",
    re.IGNORECASE,
)
#: No more files than these are looked at for one pattern.
_MOST_MATCHES = 2_000


def explain_unreadable(name: str, folder: Folder, *, listing: bool = False) -> str:
    """Return why reading the file is a finding; "" for plain files in the working directory.

    With `listing`, the names within a folder are read and not what files hold.
    """
    if not name or any(ord(item) < 32 for item in name) or name.startswith(("~", "-")) or "://" in name:
        return "it is not a plain path"
    if not folder.path.is_relative_to(folder.root):
        return "it is outside of the folder"
    parts = (*folder.path.relative_to(folder.root).parts, *Path(name).parts)
    if os.path.isabs(name) or ".." in parts:  # noqa: PTH117
        return "it may be outside of the folder"
    if any(part.startswith(".") for part in parts):
        return "it is hidden"
    if any(map(_SECRET.search, parts)) and not listing:
        return "its name looks private"
    try:
        real, root = folder.resolve(name), folder.real
    except (OSError, RuntimeError, ValueError):
        return "it cannot be found"
    if real is None:
        return "nothing is known of it"
    if not real.is_relative_to(root):
        return "it points out of the folder"
    if real != root / name and explain_unreadable(str(real.relative_to(root)), folder, listing=listing):
        return "it points to a private file"
    if folder.kind(name) not in ("", "file", *(("folder",) if listing else ())):
        return "it is not a regular file"
    return ""


def may_be_read(beginning: str, folder: Folder) -> bool:
    """Return whether a text that begins like this may be an address, or the name of a file that is there."""
    if beginning.startswith(("http", "/", ".")) or "http".startswith(beginning):
        return True
    first, separator, _ = beginning.partition("/")
    try:
        entries = folder.names()
        return entries is None or any(
            entry == first if separator else entry.startswith(first) for entry, _ in entries
        )
    except OSError:
        return False


def are_matches_readable(pattern: str, folder: Folder, *, names_only: bool) -> bool:
    """Return whether all that a file pattern finds may be read without a remark.

    Only its last part is a pattern.
    """
    place, _, last = pattern.rpartition("/")
    if place and (re.search(r"[*?]", place) or explain_unreadable(place, folder, listing=True)):
        return False
    if last.startswith("."):
        return False
    try:
        entries = folder.names(place)
        if entries is None:
            return False
        for count, (entry, kind) in enumerate(entries):
            if count >= _MOST_MATCHES:
                return False
            if entry.startswith(".") or not fnmatch.fnmatchcase(entry, last):
                continue
            name = f"{place}/{entry}" if place else entry
            if explain_unreadable(name, folder, listing=names_only or kind == "folder"):
                return False
    except OSError:
        return True
    return True
