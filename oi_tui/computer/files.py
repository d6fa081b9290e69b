"""`computer.files`: find files and change them."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool

_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".cache"})
#: Larger files are searched by name only.
_LARGEST = 2_000_000
_LONGEST_SHOWN = 100


class Files(Tool):
    """Find files by name and content, and edit them."""

    def search(self, query: str, path: str = ".", limit: int = 20) -> list[str]:
        """Search below `path` for files whose name or text contains `query`, in any case.

        Return paths, and `path:line: text` for a match in the text; names come first.
        """
        needle = query.casefold()
        if not needle:
            raise ComputerError("files.search needs words to search for.")
        root = find_existing(path)
        files = list(_list_files(root))
        matches = [str(file) for file in files if needle in file.name.casefold()][:limit]
        for file in files:
            if len(matches) >= limit:
                break
            matches += _read_lines(file, needle)[: limit - len(matches)]
        return matches

    def edit(self, path: str, original_text: str, replacement_text: str) -> str:
        """Replace `original_text`, which must be in the file exactly once. Return what changed as a diff."""
        file = find_existing(path)
        before = _read(file)
        _check_once(path, before, original_text)
        after = before.replace(original_text, replacement_text)
        replace(file, after)
        return _diff(path, before, after)

    def diff(self, path: str, other: str) -> str:
        """Compare two text files. Return the differences as a unified diff, "" where they are equal."""
        return _diff(path, _read(find_existing(path)), _read(find_existing(other)), other)


def replace(file: Path, text: str) -> None:
    """Write the file, again with its old mode; on a full disk it keeps its old text. Raises OSError."""
    target = Path(os.path.realpath(file))
    coming = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with coming.open("x", encoding="utf-8", newline="") as stream:
            if target.exists():
                shutil.copymode(target, coming)
            stream.write(text)
        coming.replace(target)
    except BaseException:
        coming.unlink(missing_ok=True)
        raise


def find_existing(path: str) -> Path:
    """Return a path that is there. Raises ComputerError."""
    try:
        absolute = Path(os.path.expanduser(path))  # noqa: PTH111 -- Path.expanduser raises for nobody
        absolute.stat()
    except FileNotFoundError:
        raise ComputerError(f"There is no {path}; the working directory is {Path.cwd()}.") from None
    except OSError as error:
        raise ComputerError(f"The path {_shorten(path)} cannot be used: {error.strerror}.") from None
    except ValueError:
        raise ComputerError(f"{_shorten(path)} is not a path.") from None
    return absolute


def _shorten(path: str) -> str:
    return ascii(path) if len(path) <= _LONGEST_SHOWN else f"{path[:_LONGEST_SHOWN]!a}..."


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return stream.read()
    except (UnicodeDecodeError, IsADirectoryError):
        raise ComputerError(f"{file} is not a text file in UTF-8.") from None


def _check_once(path: str, text: str, original: str) -> None:
    count = text.count(original) if original else 0
    if count > 1:
        raise ComputerError(
            f"The text is in {path} {count} times; give more of what stands around it. Nothing was changed."
        )
    if count == 0:
        first = next(filter(None, map(str.strip, original.splitlines())), "")
        near = difflib.get_close_matches(first, [line.strip() for line in text.splitlines()], 3)
        hint = " Similar lines: " + "; ".join(near) if near else ""
        raise ComputerError(f"The text is not in {path}. Nothing was changed.{hint}")


def _diff(path: str, before: str, after: str, other: str | None = None) -> str:
    lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(*lines, path, other or path))


def _list_files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - _SKIPPED)
        yield from (Path(folder, name) for name in sorted(names))


def _read_lines(file: Path, wanted: str) -> list[str]:
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return []
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    lines = enumerate(text.splitlines(), 1)
    return [f"{file}:{number}: {line.strip()[:200]}" for number, line in lines if wanted in line.casefold()]
