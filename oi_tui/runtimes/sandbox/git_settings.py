"""Reads which programs the settings of git make it run.

Code in the sandbox may have made the files: no link is followed, and no pipe waited for.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
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
#: No path is longer, in bytes.
_LONGEST_WORD = 4096


def runs_something(path: Path) -> bool:
    """Return whether settings of git make it run a program; also where they cannot be read."""
    settings = read_file(path)
    return settings is None or bool(_RUNS.search(settings))


def find_words(settings: bytes) -> list[bytes]:
    """Return what may be the names of programs in the settings, each once."""
    words = {}
    for match in _VALUES.finditer(settings):
        words.update(dict.fromkeys(_BETWEEN_WORDS.split(match[1] or match[2] or b"")))
    return [
        word
        for word in words
        if word
        and len(word) <= _LONGEST_WORD
        and not (word.startswith(b"-") or b"%" in word or b"\0" in word)
    ]


def list_links(cwd: Path) -> list[tuple[Path, Path]]:
    """Return links outside of `cwd` by which people name it, each with the folder that it leads to.

    Code in the sandbox can make none of them.
    """
    links: list[tuple[Path, Path]] = []
    here, home = Path(os.environ.get("PWD") or cwd), Path.home()
    with contextlib.suppress(OSError):
        if not here.is_relative_to(cwd) and here.samefile(cwd):
            links.append((here, cwd))
    if not home.is_relative_to(cwd):
        links.append((home, Path(os.path.realpath(home))))
    with contextlib.suppress(OSError):
        for entry in os.scandir("/"):
            if entry.is_symlink() and not Path(entry.path).is_relative_to(cwd):
                real = Path("/") / Path(entry.path).readlink()
                links.append((Path(entry.path), Path(os.path.normpath(real))))
    return links


def find_files(
    words: Iterable[bytes],
    base: Path,
    cwd: Path,
    links: Sequence[tuple[Path, Path]] = (),
    *,
    is_trusted: bool = False,
) -> Iterator[Path]:
    """Yield what the words may mean in the folder `base`, within the folder `cwd`.

    They may name it by one of the `links`, as `list_links` returns them.
    Code in the sandbox may have written the words, unless `is_trusted`: nothing outside is looked up then,
    where even a look may have an effect, as in a folder that is mounted when it is entered.
    """
    for word in words:
        candidate = Path(os.path.normpath(base / os.fsdecode(word)))
        for name, real in links:
            if candidate.is_relative_to(name):
                candidate = real / candidate.relative_to(name)
        if base.is_relative_to(candidate):
            continue
        is_within = candidate.is_relative_to(cwd)
        if is_within and candidate != cwd:
            yield candidate
        if is_within or is_trusted:
            real = Path(os.path.realpath(candidate))
            if real != candidate and real.is_relative_to(cwd) and real != cwd:
                yield real


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
