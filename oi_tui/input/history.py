"""The history of messages that the user typed, over all conversations."""

import json
import os
import re
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.storage.append_file import has_newline_at_end, open_for_adding

#: The newest entries that are offered; the file is cut down to them when it has twice as many.
KEPT = 1000
#: What looks like a key or a password is not kept.
_SECRET = (
    r"\b(sk|pk|gsk|xai|ghp|gho|hf|AIza)[-_]?[A-Za-z0-9_-]{16,}"
    r"|://[^/\s@]*:[^/\s@]+@"
    r"|\b(password|passwd|secret|token|api[-_ ]?key)\b\s*[:=]"
)


class PromptHistory:
    """A file with a JSON string a line, oldest first, for its owner only.

    A folder that cannot be written to costs the memory of later sessions and nothing else.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or paths.state() / "history.jsonl"

    def load(self) -> list[str]:
        """Return the newest entries, oldest first; damaged lines are passed over."""
        entries: list[str] = []
        try:
            entries, is_long = self._read()
            if is_long:
                # Read again: another program may have added to it, or cut it down.
                with paths.locked(self._path.parent):
                    entries, is_long = self._read()
                    if is_long:
                        paths.replace_file(self._path, "".join(f"{json.dumps(entry)}\n" for entry in entries))
        except OSError:
            pass
        return entries

    def add(self, text: str) -> None:
        """Remember what was sent, unless it looks like a secret."""
        if re.search(_SECRET, text, re.IGNORECASE):
            return
        line = json.dumps(text).encode() + b"\n"
        try:
            with paths.locked(paths.make_private(self._path.parent)):
                file = open_for_adding(self._path, os.O_RDWR | os.O_CREAT)
                try:
                    os.write(file, line if has_newline_at_end(file) else b"\n" + line)
                finally:
                    os.close(file)
        except OSError:
            return

    def _read(self) -> tuple[list[str], bool]:
        """Return the newest entries, and whether the file has far more."""
        lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        entries = [entry for line in lines if (entry := _read(line))]
        return entries[-KEPT:], len(lines) > 2 * KEPT


def _read(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    return entry if isinstance(entry, str) else ""
