"""`computer.sms`: text messages, through Messages on macOS."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from oi_tui.computer import applescript
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.tool import Tool, cannot

_NO_MAC = "text messages are sent and read through Messages, which only macOS has."
_SEND = """on run argv
tell application "Messages"
send (item 2 of argv) to participant (item 1 of argv) of (first account whose service type is iMessage)
end tell
end run"""
_GET = """select datetime(message.date / 1000000000 + 978307200, 'unixepoch', 'localtime'),
coalesce(handle.id, ''), message.text, message.is_from_me from message
left join handle on message.handle_id = handle.rowid
where message.text is not null and (:contact is null or handle.id = :contact)
and (:substring is null or instr(message.text, :substring) > 0)
order by message.date desc limit :limit"""


class SMS(Tool):
    """Send and read text messages; on macOS only."""

    def send(self, to: str, message: str) -> str:
        """Send a text message to a telephone number."""
        _check()
        applescript.run(_SEND, to, message)
        return f"Sent to {to}."

    def get(
        self, contact: str | None = None, limit: int = 10, substring: str | None = None
    ) -> list[dict[str, str]]:
        """Return the newest messages: with this number, with this text in them."""
        _check()
        file = Path.home() / "Library" / "Messages" / "chat.db"
        try:
            with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
                rows = database.execute(
                    _GET, {"contact": contact, "substring": substring, "limit": limit}
                ).fetchall()
        except sqlite3.Error:
            raise ComputerError(
                "The messages cannot be read: the terminal needs Full Disk Access in System Settings, "
                "Privacy & Security."
            ) from None
        names = ("date", "contact", "text")
        return [{**dict(zip(names, row)), "from_me": "yes" if row[3] else "no"} for row in rows]


def _check() -> None:
    if not applescript.is_available():
        raise cannot("computer.sms", _NO_MAC)
