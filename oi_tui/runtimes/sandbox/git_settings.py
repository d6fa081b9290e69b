"""Reads which programs the settings of git make it run.

Code in the sandbox may have made the files: no link is followed, and no pipe waited for.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

#: Settings by which git runs a program.
_RUNS = re.compile(
    rb"(?im)^[^\S\n]*(\[\s*(include|includeif|alias|filter|credential|gpg)\b"
    rb"|(fsmonitor|hookspath|sshcommand|pager|editor|gitproxy|askpass|textconv|external|worktree)\s*=)"
)
#: Settings whose values name programs, more settings, or a folder of hooks; and aliases for the shell.
_VALUES = re.compile(
    rb"(?im)^[^\S\n]*(?:hookspath|fsmonitor|sshcommand|pager|editor|gitproxy|askpass|textconv|external|helper|program"
    rb"|clean|smudge|process|driver|cmd|command|path)\s*=\s*([^\n]*)|=\s*\"?(![^\n]*)"
)
_BETWEEN_WORDS = re.compile(rb"[\s\"'`\\;|&()<>=!]+")
_LONGEST = 100_000


def runs_something(path: Path) -> bool:
    """Return whether settings of git make it run a program; also where they cannot be read."""
    settings = read_file(path)
    return settings is None or bool(_RUNS.search(settings))


def find_named_files(path: Path, root: Path, cwd: Path) -> Iterator[Path]:
    """Yield what the settings may mean by the names of programs, within the folder `cwd`;
    it need not be there.

    `root` is the folder of the repository.
    """
    for match in _VALUES.finditer(read_file(path) or b""):
        for word in _BETWEEN_WORDS.split(match[1] or match[2] or b""):
            if not word or word.startswith(b"-") or b"%" in word or b"\0" in word:
                continue
            for base in (root, path.parent):
                candidate = Path(os.path.normpath(base / os.fsdecode(word)))
                if base.is_relative_to(candidate):
                    continue
                for file in (candidate, Path(os.path.realpath(candidate))):
                    if file.is_relative_to(cwd) and file != cwd:
                        yield file


def list_global_files() -> Iterator[Path]:
    """Yield the settings that hold in all repositories of the person."""
    home = Path.home()
    yield home / ".gitconfig"
    yield Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git" / "config"
    yield Path("/etc/gitconfig")


def read_file(path: Path) -> bytes | None:
    """Return the settings in a file, or None where it is no plain file that can be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_LONGEST) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None
