"""Mentions in a message: files and variables by `@name`, resources by `@server:uri`, and dropped files."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from oi_tui import paths
from oi_tui.runtimes.variables import Memory, VariableSource
from oi_tui.text import clean_line, escape_controls

#: An `@` that begins a word, and what it points at, in quotes where there are spaces.
MENTION = re.compile(r"(?<![^\s(\[{<,;:=\"'])@(?:\"([^\"\n]+)\"|([^\s\"]+))")
#: The same while it is being typed, at the end of what stands before the caret.
_TYPED = re.compile(r"(?<![^\s(\[{<,;:=\"'])@(?:\"([^\"\n]*)|([^\s\"]*))$")
#: What may follow a name in a sentence without being part of it.
_AFTER = ".,;:!?)]}>'\""
#: A longer paste is text, whatever it looks like, in characters.
_LONGEST_DROP = 8000


class FileLookup(Protocol):
    """The files of another machine."""

    def stat(self, path: str) -> object | None:
        """Return what is there; None for nothing."""


def find_typed_mention(before: str) -> str | None:
    """Return the mention that is being typed at the end of the text, without its `@`, or None."""
    match = _TYPED.search(before[-1000:])
    if match is None:
        return None
    return match[1] if match[1] is not None else match[2]


def write_mention(name: str) -> str:
    """Write a mention: `@name`, in quotes where needed."""
    plain = not re.search(r"[\s\"]", name) and name[-1:] not in _AFTER
    return f"@{name}" if plain else f'@"{name}"'


def parse_dropped(text: str, root: Path) -> list[str] | None:
    """Return the paths that a paste consists of, as files dropped into a terminal arrive; None if it is text.

    Quoted, escaped and `file://` forms are understood. Paths below `root` are given relative to it.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST_DROP or "\0" in text:
        return None
    if text[0] not in "/~'\"" and not text.startswith("file://"):
        return None
    paths = _split_path_lines(text) or _split_words(text)
    if not paths or not all(map(_exists, paths)):
        return None
    return [_shorten(path, root) for path in paths]


def _split_path_lines(text: str) -> list[str] | None:
    """Return one path a line, spaces and all, as some terminals drop them."""
    lines = [_unquote(line.strip()) for line in text.splitlines() if line.strip()]
    return lines if all(line.startswith(("/", "~/")) and _exists(line) for line in lines) else None


def _split_words(text: str) -> list[str] | None:
    try:
        words = [_unquote(word) for word in shlex.split(text)]
    except ValueError:
        return None
    return words if all(word.startswith(("/", "~/")) for word in words) else None


def _unquote(path: str) -> str:
    if not path.startswith("file://"):
        return path
    try:
        parts = urlsplit(path)
    except ValueError:
        return path
    return unquote(parts.path) if parts.netloc in ("", "localhost") else path


def _exists(path: str) -> bool:
    try:
        return escape_controls(path) == path and '"' not in path and paths.expand_typed(path).exists()
    except (OSError, ValueError):
        return False


def _shorten(path: str, root: Path) -> str:
    full = paths.expand_typed(path)
    return str(full.relative_to(root)) if full.is_relative_to(root) and full != root else path


#: Reads a resource of a server, for the end of a message; "" where there is no such server or resource.
ReadResource = Callable[[str, str], str]


def expand(
    text: str,
    root: Path,
    known: VariableSource,
    read: ReadResource = lambda _server, _uri: "",
    elsewhere: str = "",
    files: FileLookup | None = None,
) -> str:
    """Return the message that a prompt stands for.

    `@path` becomes the path, `@name` the variable's name; what a model should know of the variables (type,
    shape, columns; never what they hold) is added at the end, and what `@server:uri` holds. What points at
    nothing stays as it was typed. `elsewhere` are the words for another machine where code runs, `files` its
    files where they can be asked for: a path means one of them first. Files of this machine are marked.
    """
    meanings = _Meanings(root, known, read, elsewhere, files)
    content = MENTION.sub(meanings.replace, text)
    return "\n\n".join(part for part in (content, "\n".join(meanings.notes)) if part)


class _Meanings:
    """The meanings of the mentions in one message."""

    def __init__(
        self, root: Path, known: VariableSource, read: ReadResource, elsewhere: str, files: FileLookup | None
    ) -> None:
        self._read = read
        self._files = files
        self._elsewhere = elsewhere
        self.notes: dict[str, None] = {}
        self._root = root
        self._known = known
        self._memories: list[Memory] | None = None

    def replace(self, found: re.Match[str]) -> str:
        """Return the text that replaces a mention in the message."""
        if found[1] is not None:
            return self._find_meaning(found[1]) or found[0]
        name = found[2]
        for candidate in _list_candidates(name):
            if meaning := self._find_meaning(candidate):
                return meaning + name[len(candidate) :]
        return found[0]

    def _find_meaning(self, name: str) -> str | None:
        return self._find_variable(name) or self._find_file(name) or self._find_resource(name)

    def _find_variable(self, name: str) -> str | None:
        if self._memories is None:
            self._memories = list(self._known.read_memories())
        found_variable = None
        for language, variable in _find_variables(name, self._memories):
            if detail := self._known.inspect(language, variable):
                words = clean_line(detail.description, 1500)
                self.notes[f"(`{variable}` is a {language} variable: {words})"] = None
                found_variable = variable
        return found_variable

    def _find_resource(self, name: str) -> str | None:
        server, _, uri = name.partition(":")
        # A resource that cannot be read is one, too, so what may follow it is left out at once.
        content = self._read(server, uri.rstrip(_AFTER)) if uri else ""
        if not content:
            return None
        self.notes[content] = None
        return uri

    def _find_file(self, name: str) -> str | None:
        if self._files is not None and self._files.stat(name):
            return f'"{name}"' if re.search(r"\s", name) else name
        path = _find_path(name, self._root)
        if path is None:
            return None
        text = str(path) if name.startswith("~") else name
        if self._elsewhere:
            where = clean_line(self._elsewhere, 300)
            self.notes[f"(`{text}` is a file of the user's own machine; code runs {where}.)"] = None
        return f'"{text}"' if re.search(r"\s", text) else text


def _list_candidates(name: str) -> Iterator[str]:
    """Yield the name, and the name without what may follow it in a sentence."""
    yield name
    while name and name[-1] in _AFTER:
        name = name[:-1]
        if name:
            yield name


def _find_variables(name: str, memories: Iterable[Memory]) -> Iterator[tuple[str, str]]:
    """Yield the languages that remember the name, each with the name; `python:name` means that
    of one language.
    """
    language, colon, rest = name.partition(":")
    for memory in memories:
        variable_name = rest if colon and language == memory.language else name
        if any(variable.name == variable_name for variable in memory.variables):
            yield memory.language, variable_name


def _find_path(name: str, root: Path) -> Path | None:
    try:
        path = root / paths.expand_typed(name)
        return path if os.path.lexists(path) else None
    except (OSError, ValueError):
        return None
