"""Where variables are kept that `%snapshot` saved: a file for each conversation and language."""

import contextlib
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.storage.end_notes import name_folder
from oi_tui.text import clean_line

#: The languages whose variables can be kept, with the ends of the files' names.
_SUFFIXES = {"python": ".pickle", "r": ".rdata"}
LANGUAGES = tuple(_SUFFIXES)
#: The end of the name of the file beside R's, which says what was left out.
LEFT_OUT = ".left_out"
#: The most bytes that are read of a file to find out what was left out, and the most characters of a reason.
_HEADER, _REASON = 1 << 20, 120
#: Age after which an unfinished file is deleted, in seconds.
_UNFINISHED = 3600


class SavedVariables:
    """The files for the conversations of a folder. Only the person can read them.

    They are not beside the conversations: what is in them runs code when it is restored, and a folder that a
    profile chose may be one where code of another profile's sandbox can write.
    """

    def __init__(self, conversations: Path) -> None:
        self._folder = paths.data() / "variables" / name_folder(conversations)

    def make_path(self, id: str, language: str) -> Path:
        """Return the file for a conversation's variables of a language; make its folder. Raises OSError."""
        paths.make_private(self._folder)
        return self._make_path(id, language)

    def find(self, id: str) -> dict[str, Path]:
        """Return the files of a conversation, by language."""
        files = {language: self._make_path(id, language) for language in LANGUAGES}
        return {language: path for language, path in files.items() if path.is_file()}

    def left_out(self, id: str) -> dict[str, dict[str, str]]:
        """Return which variables could not be kept and why, by language."""
        reasons = {}
        for language, path in self.find(id).items():
            # The file of R is R's own, which has no room for it.
            header = path if language == "python" else path.with_suffix(f"{path.suffix}{LEFT_OUT}")
            if left_out := _read_left_out(header):
                reasons[language] = left_out
        return reasons

    def _make_path(self, id: str, language: str) -> Path:
        return self._folder / f"{id}{_SUFFIXES[language]}"

    def delete_unknown(self, list_known: Callable[[], Iterable[str]]) -> None:
        """Delete the files of conversations that no longer exist; none where those cannot be listed."""
        with contextlib.suppress(OSError):
            # In this order: a conversation is there before its variables.
            files = list(self._folder.iterdir())
            known = set(list_known()) if files else set()
            for path in files:
                name = path.name.partition(".")[0]
                is_known = path.suffix not in {*_SUFFIXES.values(), LEFT_OUT} or name in known
                if not is_known or (
                    path.suffix == ".tmp" and time.time() - path.stat().st_mtime > _UNFINISHED
                ):
                    path.unlink()


def _read_left_out(path: Path) -> dict[str, str]:
    """Return what the first line of a file says was left out; nothing where it is no such file."""
    try:
        with path.open("rb") as file:
            left_out = json.loads(file.readline(_HEADER))["left_out"]
        return {clean_line(str(name), 80): clean_line(str(why), _REASON) for name, why in left_out.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
