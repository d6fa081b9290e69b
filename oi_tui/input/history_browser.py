"""Browses the message history with `up` and `down`, and searches it."""

from collections.abc import Iterable


class HistoryBrowser:
    """Entries, oldest first, and the place among them; its end is the text that is not sent yet."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._entries = list(entries)
        self._place = len(self._entries)
        self._draft = ""
        self._beginning = ""
        self._shown = ""

    def add(self, text: str) -> bool:
        """Remember what was sent, and leave the walk; False when it repeats the newest entry."""
        is_new = not self._entries or self._entries[-1] != text
        if is_new:
            self._entries.append(text)
        self._place = len(self._entries)
        return is_new

    def go_back(self, text: str) -> str | None:
        """Return the entry before, given what the prompt holds now, or None.

        Only entries that begin with what was typed count.
        """
        if not self.is_walking(text):
            self._place, self._draft, self._beginning = len(self._entries), text, text
        for place in range(self._place - 1, -1, -1):
            entry = self._entries[place]
            if entry.startswith(self._beginning) and entry != text:
                self._place, self._shown = place, entry
                return entry
        return None

    def go_forward(self, text: str) -> str | None:
        """Return the entry after, and what was typed after the last one; None when nobody walks."""
        if not self.is_walking(text):
            return None
        for place in range(self._place + 1, len(self._entries)):
            entry = self._entries[place]
            if entry.startswith(self._beginning) and entry != text:
                self._place, self._shown = place, entry
                return entry
        self._place = len(self._entries)
        return self._draft

    def is_walking(self, text: str) -> bool:
        """Return whether what the prompt holds is an entry that was walked to, unchanged."""
        return self._place < len(self._entries) and text == self._shown

    def find_containing(self, text: str, most: int) -> list[str]:
        """Entries with all the words of the text in them, the newest first, each once."""
        words = text.lower().split()
        entries: dict[str, None] = {}
        for entry in reversed(self._entries):
            lowered = entry.lower()
            if all(word in lowered for word in words):
                entries[entry] = None
                if len(entries) == most:
                    break
        return list(entries)
