"""Says which files code may read without a finding: plain data files of the working directory."""

import fnmatch
import os
import re
from pathlib import Path

#: Names of files that may hold secrets.
_SECRET = re.compile(
    r"secret|credential|passw|token|private|htpasswd|keystore|wallet|cookie|id_(?:rsa|dsa|ecdsa|ed25519)"
    r"|\.(?:pem|key|p12|pfx|jks|ppk|gpg|asc|kdbx|keytab|env|ovpn)\b|(?:^|[._-])(?:api)?keys?(?:[._-]|$)",
    re.IGNORECASE,
)
#: No more files than these are looked at for one pattern.
_MOST_MATCHES = 2_000


def why_not_readable(name: str, cwd: Path, *, listing: bool = False) -> str:
    """Return why reading the file is a finding; "" for plain files in the working directory.

    With `listing`, the names within a folder are read and not what files hold.
    """
    if not name or any(ord(item) < 32 for item in name) or name.startswith(("~", "-")) or "://" in name:
        return "it is not a plain path"
    parts = Path(name).parts
    if os.path.isabs(name) or ".." in parts:  # noqa: PTH117
        return "it may be outside of the folder"
    if any(part.startswith(".") for part in parts):
        return "it is hidden"
    if any(map(_SECRET.search, parts)) and not listing:
        return "its name looks private"
    try:
        real, root = (cwd / name).resolve(), cwd.resolve()
    except (OSError, RuntimeError, ValueError):
        return "it cannot be found"
    if not real.is_relative_to(root):
        return "it points out of the folder"
    if real != root / name and why_not_readable(str(real.relative_to(root)), root, listing=listing):
        return "it points to a private file"
    if real.exists() and not (real.is_file() or (listing and real.is_dir())):
        return "it is not a regular file"
    return ""


def files_matching(pattern: str, cwd: Path, *, names_only: bool) -> bool:
    """Whether all that a file pattern finds may be read without a remark. Only its last part is a pattern."""
    folder, _, last = pattern.rpartition("/")
    if folder and (re.search(r"[*?]", folder) or why_not_readable(folder, cwd, listing=True)):
        return False
    if last.startswith("."):
        return False
    try:
        with os.scandir(cwd / folder) as entries:
            for count, entry in enumerate(entries):
                if count >= _MOST_MATCHES:
                    return False
                if entry.name.startswith(".") or not fnmatch.fnmatchcase(entry.name, last):
                    continue
                name = f"{folder}/{entry.name}" if folder else entry.name
                if why_not_readable(name, cwd, listing=names_only or entry.is_dir()):
                    return False
    except OSError:
        return True
    return True
