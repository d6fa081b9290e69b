"""Where variables are kept that `%snapshot` saved: a file for each conversation and language."""

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from oi_tui import paths

#: The languages whose variables can be kept, with the ends of the files' names.
_SUFFIXES = {"python": ".pickle", "r": ".rdata"}
LANGUAGES = tuple(_SUFFIXES)


class SavedVariables:
    """The files for the conversations of a folder. Only the person can read them.

    They are not beside the conversations: what is in them runs code when it is restored, and a folder that a
    profile chose may be one where code of another profile's sandbox can write.
    """

    def __init__(self, conversations: Path) -> None:
        name = hashlib.sha256(os.fsencode(conversations.absolute())).hexdigest()[:16]
        self._folder = paths.data() / "variables" / name

    def make_path(self, id: str, language: str) -> Path:
        """Return the file for a conversation's variables of a language; make its folder. Raises OSError."""
        paths.make_private(self._folder)
        return self._path(id, language)

    def find(self, id: str) -> dict[str, Path]:
        """Return the files of a conversation, by language."""
        found = {language: self._path(id, language) for language in LANGUAGES}
        return {language: path for language, path in found.items() if path.is_file()}

    def _path(self, id: str, language: str) -> Path:
        return self._folder / f"{id}{_SUFFIXES[language]}"

    def delete_unknown(self, knows: Callable[[str], bool]) -> None:
        """Delete the files of conversations that are not known any more."""
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                if path.suffix in _SUFFIXES.values() and not knows(path.stem):
                    path.unlink()
