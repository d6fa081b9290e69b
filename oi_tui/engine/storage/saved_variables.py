"""Where variables are kept that `%snapshot` saved: a file for each conversation and language."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from oi_tui import paths

#: The languages whose variables can be kept, with the ends of the files' names.
_SUFFIXES = {"python": ".pickle", "r": ".rdata"}
LANGUAGES = tuple(_SUFFIXES)


class SavedVariables:
    """The files in a folder, which is made with the first of them. Only the person can look into it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make_path(self, id: str, language: str) -> Path:
        """The file for a conversation's variables of a language, in a folder that exists. Raises OSError."""
        paths.make_private(self._folder)
        return self._path(id, language)

    def find(self, id: str) -> dict[str, Path]:
        """The files of a conversation, by language."""
        found = {language: self._path(id, language) for language in LANGUAGES}
        return {language: path for language, path in found.items() if path.is_file()}

    def _path(self, id: str, language: str) -> Path:
        return self._folder / f"{id}{_SUFFIXES[language]}"

    def tidy(self, knows: Callable[[str], bool]) -> None:
        """Delete the files of conversations that are not known any more."""
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                if path.suffix in _SUFFIXES.values() and not knows(path.stem):
                    path.unlink()
