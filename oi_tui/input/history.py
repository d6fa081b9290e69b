"""The history of messages that the user typed, over all conversations."""

import json
import os
import re
from pathlib import Path

from oi_tui import paths

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
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        entries = [entry for line in lines[-2 * KEPT :] if (entry := _read(line))]
        if len(lines) > 2 * KEPT:
            self._replace(entries[-KEPT:])
        return entries[-KEPT:]

    def add(self, text: str) -> None:
        """Remember what was sent, unless it looks like a secret."""
        if re.search(_SECRET, text, re.IGNORECASE):
            return
        try:
            paths.make_private(self._path.parent)
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
            try:
                os.write(file, (json.dumps(text) + "\n").encode())
            finally:
                os.close(file)
        except OSError:
            return

    def _replace(self, entries: list[str]) -> None:
        new = self._path.with_suffix(".new")
        try:
            file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(file, "w", encoding="utf-8") as lines:
                lines.writelines(json.dumps(entry) + "\n" for entry in entries)
            new.replace(self._path)
        except OSError:
            return


def _read(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    return entry if isinstance(entry, str) else ""
