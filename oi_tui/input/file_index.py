"""Lists the files of a folder in the background, and finds them by a few letters of their names."""

import contextlib
import os
import subprocess
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from oi_tui import paths
from oi_tui.system import programs
from oi_tui.text import escape_controls

#: How many files are listed, and how many seconds that may take.
MOST = 200_000
TIMEOUT = 30.0
#: A list older than this is made again when it is next needed, in seconds.
FRESH = 5.0
#: How many that match are compared with each other; they are looked at from the top of the tree down.
_COMPARED = 3000
#: How many entries of a single folder are looked at, where the folder was named.
_MOST_BESIDE = 5000
#: Folders that are never meant; git's own list is used where there is one.
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "target", "vendor"})
#: Settings of a repository can name programs; this is a listing, and none of them is started.
_GIT = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "ls-files", "-z")


class FileIndex:
    """The files and folders below `root`, as far as they are known by now. Any thread may ask.

    Where `root` is in a git repository, what git ignores is left out; elsewhere hidden folders and those of
    package managers are. Names that could not be typed, because they hold control characters, are left out.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._listed_at = float("-inf")
        self._thread: threading.Thread | None = None
        self._closed = False
        self._paths: list[str] = []
        self._hidden: list[str] = []

    @property
    def listing(self) -> bool:
        """Whether the list is still being made."""
        return self._thread is not None

    def refresh(self) -> None:
        """Start to list the files, unless that is under way or was just done."""
        with self._lock:
            if self._thread or self._closed or time.monotonic() - self._listed_at < FRESH:
                return
            self._thread = threading.Thread(target=self._list, name="files", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop listing."""
        self._closed = True

    def find(self, fragment: str, most: int = 50) -> list[str]:
        """Return paths that a person may mean by what they have typed, the likeliest first;
        folders end with "/".

        A path that begins at the root, at home, or with a dot is looked up where it leads to; hidden files
        are found when a dot was typed.
        """
        if fragment.startswith(("/", "~", "./", "../")) or fragment in (".", ".."):
            return _list_beside(self.root, fragment, most)
        lowered = _fold(fragment)
        candidates = self._hidden if lowered.startswith(".") or "/." in lowered else self._paths
        matches = _match_paths(candidates, lowered)
        best = sorted(matches, key=lambda path: _rank(path, lowered))
        # What git still lists may be gone by now.
        return [path for path in best[: most * 2] if os.path.lexists(self.root / path)][:most]

    # -- the listing

    def _list(self) -> None:
        paths: list[str] = []
        hidden_paths: list[str] = []
        by_depth: dict[int, list[str]] = {}
        first = not self._paths and not self._hidden
        if first:
            self._paths, self._hidden = paths, hidden_paths
        try:
            for path in _limit_paths(self._list_below()):
                if self._closed:
                    return
                if path.startswith(".") or "/." in path:
                    hidden_paths.append(path)
                else:
                    by_depth.setdefault(path.rstrip("/").count("/"), []).append(path)
                    if first:
                        paths.append(path)
            self._paths = [path for depth in sorted(by_depth) for path in by_depth[depth]]
            self._hidden = hidden_paths
        finally:
            with self._lock:
                self._listed_at = time.monotonic()
                self._thread = None

    def _list_below(self) -> Iterator[str]:
        """Yield every path below the root: from git where it knows them, else from the folders themselves."""
        has_paths = False
        for path in _list_from_git(self.root):
            has_paths = True
            yield path
        if not has_paths:
            yield from _list_from_folders(self.root)


def _limit_paths(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that can be typed, up to the number that is kept and within the time limit."""
    until = time.monotonic() + TIMEOUT
    for number, path in enumerate(paths):
        if number >= MOST or (number % 1000 == 0 and time.monotonic() > until):
            return
        if (path.isascii() and path.isprintable()) or escape_controls(path) == path.replace("\n", ""):
            yield path


def _list_from_git(root: Path) -> Iterator[str]:
    """List the files and folders that git tracks or would track below the folder; nothing outside of git."""
    program = programs.find("git")
    if program is None:
        return
    try:
        git = subprocess.Popen(
            [program, *_GIT, "--cached", "--others", "--exclude-standard"],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except OSError:
        return
    folders: set[str] = set()
    rest = b""
    try:
        with git:
            assert git.stdout is not None
            while piece := os.read(git.stdout.fileno(), 65536):
                *names, rest = (rest + piece).split(b"\0")
                for name in names:
                    path = os.fsdecode(name)
                    folder = path
                    above = []
                    while (folder := folder.rpartition("/")[0]) and folder not in folders:
                        folders.add(folder)
                        above.append(folder + "/")
                    yield from reversed(above)
                    yield path
    finally:
        if git.poll() is None:
            git.kill()
            git.wait()


def _list_from_folders(root: Path) -> Iterator[str]:
    """List the files in the folder and below, from the top down."""
    waiting = deque([""])
    while waiting:
        folder = waiting.popleft()
        with contextlib.suppress(OSError), os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                path = folder + entry.name
                is_folder = _is_folder(entry)
                yield path + "/" if is_folder else path
                if is_folder and not entry.name.startswith(".") and entry.name not in _SKIPPED:
                    waiting.append(path + "/")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


# -- finding

# No library: for 50,000 paths this takes 11 ms where a name matches, 181 ms where none does. rapidfuzz takes
# 83 to 123 ms and also returns paths without the letters; Textual's Matcher takes 602 to 1,131 ms.


def _fold(text: str) -> str:
    """Fold a text for comparisons: lower case, and each accent in one character with its letter.

    Names of files that come from macOS have accents as characters of their own; keyboards type them in one.
    """
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.lower())


def _match_paths(paths: list[str], fragment: str) -> list[str]:
    """Return paths with the fragment in them; where there is none, those with its letters in their order."""
    matches: list[str] = []
    for path in paths:
        if fragment in (path.lower() if path.isascii() else _fold(path)):
            matches.append(path)
            if len(matches) == _COMPARED:
                return matches
    if matches or len(fragment) < 2:
        return matches
    for path in paths:
        letters = iter(path.lower() if path.isascii() else _fold(path))
        if all(letter in letters for letter in fragment):
            matches.append(path)
            if len(matches) == _COMPARED:
                break
    return matches


def _rank(path: str, fragment: str) -> tuple[bool, bool, int, int, str]:
    lowered = _fold(path)
    name = lowered.rstrip("/").rpartition("/")[2]
    begins = name.startswith(fragment) or lowered.startswith(fragment)
    return not begins, fragment not in name, lowered.rstrip("/").count("/"), len(path), path


def _list_beside(root: Path, fragment: str, most: int) -> list[str]:
    """Return the entries of the folder that a path leads to which begin as its last part does."""
    folder, slash, prefix = fragment.rpartition("/")
    if not slash:
        return ["./", "../"] if fragment == "." else ["../"] if fragment == ".." else ["~/"]
    prefix = _fold(prefix)
    matches = []
    with (
        contextlib.suppress(OSError, RuntimeError),
        os.scandir(root / paths.expand_typed(folder + "/")) as entries,
    ):
        for number, entry in enumerate(entries):
            if number >= _MOST_BESIDE:
                break
            name = entry.name
            if (
                _fold(name).startswith(prefix)
                and (prefix or not name.startswith("."))
                and escape_controls(name) == name
            ):
                matches.append(f"{folder}/{name}" + ("/" if paths.is_folder(entry) else ""))
    return sorted(matches, key=lambda path: (len(path.rstrip("/")) > 200, path.lower()))[:most]
