"""`computer.mail`: e-mail through IMAP and SMTP, or Mail on macOS."""

from __future__ import annotations

import base64
import contextlib
import email
import email.policy
import imaplib
import mimetypes
import smtplib
import ssl
from collections.abc import Iterable, Iterator
from email.message import EmailMessage
from typing import Any

from oi_tui.computer import applescript
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.files import find_existing
from oi_tui.computer.personal.accounts import Account, is_set_up, read_account
from oi_tui.computer.tool import Tool

_PATIENCE = 30
_LONGEST = 10_000
#: What SMTP answers to a login that is accepted.
_LOGGED_IN = 235
_MAC_GET = """on run argv
tell application "Mail"
set found to {}
repeat with m in (messages of inbox)
if (item 2 of argv is "no") or (read status of m is false) then
set head to (sender of m) & tab & (date received of m as string) & tab & (subject of m)
set end of found to head & tab & (content of m)
end if
if (count of found) is (item 1 of argv as integer) then exit repeat
end repeat
set AppleScript's text item delimiters to character id 30
return found as string
end tell
end run"""
_MAC_SEND = """on run argv
tell application "Mail"
set m to make new outgoing message
set subject of m to item 2 of argv
set content of m to item 3 of argv
tell m
make new to recipient at end of to recipients with properties {address:item 1 of argv}
repeat with i from 4 to count of argv
make new attachment with properties {file name:POSIX file (item i of argv)} at after the last paragraph
end repeat
end tell
send m
end tell
end run"""


class Mail(Tool):
    """Read and send e-mail."""

    def get(self, number: int = 5, unread: bool = False) -> list[dict[str, str]]:
        """Return the newest messages, the newest first: dictionaries with from, to, date, subject and body.

        Nothing is marked as read. With `unread`, only unread messages.
        """
        if not isinstance(number, int) or number < 1:
            raise ComputerError("mail.get: number must be 1 or more.")
        if _on_mac():
            lines = applescript.run(_MAC_GET, str(number), "yes" if unread else "no").split("\x1e")
            names = ("from", "date", "subject", "body")
            return [dict(zip(names, line.split("\t", 3))) for line in lines if line]
        with _open_mailbox() as mailbox:
            numbers = _search(mailbox, unread)[-number:]
            return [_read(mailbox, item) for item in reversed(numbers)]

    def unread_count(self) -> int:
        """Return how many messages in the inbox are unread."""
        if _on_mac():
            return int(applescript.run('tell application "Mail" to return unread count of inbox'))
        with _open_mailbox() as mailbox:
            return len(_search(mailbox, unread=True))

    def send(self, to: str | list[str], subject: str, body: str, attachments: list[str] | None = None) -> str:
        """Send an e-mail; `attachments` are paths of files. Return a sentence that says what was sent."""
        addresses = [to] if isinstance(to, str) else list(to)
        if not any(address.strip() for address in addresses):
            raise ComputerError("mail.send: give at least one address in `to`.")
        files = [find_existing(path) for path in attachments or ()]
        if _on_mac():
            applescript.run(
                _MAC_SEND, ", ".join(addresses), subject, body, *(str(file.resolve()) for file in files)
            )
        else:
            settings = read_account("mail", "mail")
            message = _compose(settings, addresses, subject, body)
            for file in files:
                kind = (mimetypes.guess_type(file.name)[0] or "application/octet-stream").split("/")
                message.add_attachment(
                    file.read_bytes(), maintype=kind[0], subtype=kind[1], filename=file.name
                )
            _send(settings, message)
        attached = f" with {len(files)} attachments" if files else ""
        return f"Sent “{subject}” to {', '.join(addresses)}{attached}."


def _on_mac() -> bool:
    return applescript.is_available() and not is_set_up("mail")


def _compose(found: Account, addresses: list[str], subject: str, body: str) -> EmailMessage:
    message = EmailMessage()
    try:
        message["From"] = found.values.get("from") or found.user
        message["To"] = ", ".join(addresses)
        message["Subject"] = subject
    except ValueError as error:
        raise ComputerError(f"The message cannot be sent: {error}.") from None
    message.set_content(body)
    return message


def _send(found: Account, message: EmailMessage) -> None:
    host, port = found.server("smtp", 465)
    plain = found.is_plain(host)
    try:
        if port == 465 and not plain:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                host, port, timeout=_PATIENCE, context=ssl.create_default_context()
            )
        else:
            server = smtplib.SMTP(host, port, timeout=_PATIENCE)
        with server:
            if port != 465 and not plain:
                server.starttls(context=ssl.create_default_context())
            server.ehlo_or_helo_if_needed()
            if not plain or (server.has_extn("auth") and found.has_password):
                _log_in(server, found.user, found.password)
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        raise ComputerError(f"The message was not sent, because {host} failed: {error}") from None


def _log_in(server: smtplib.SMTP, user: str, password: str) -> None:
    if user.isascii() and password.isascii():
        server.login(user, password)
        return
    # The library knows no other letters.
    code, answer = server.docmd(
        "AUTH", f"PLAIN {base64.b64encode(_make_plain_login(user, password)).decode()}"
    )
    if code != _LOGGED_IN:
        raise smtplib.SMTPAuthenticationError(code, answer)


def _make_plain_login(user: str, password: str) -> bytes:
    return f"\0{user}\0{password}".encode()


@contextlib.contextmanager
def _open_mailbox() -> Iterator[imaplib.IMAP4]:
    settings = read_account("mail", "mail")
    host, port = settings.server("imap", 993)
    try:
        if settings.is_plain(host):
            server = imaplib.IMAP4(host, port, timeout=_PATIENCE)
        else:
            context = ssl.create_default_context()
            server = imaplib.IMAP4_SSL(host, port, ssl_context=context, timeout=_PATIENCE)
        with server:
            user, password = settings.user, settings.password
            if user.isascii() and password.isascii():
                server.login(user, password)
            else:
                # The library knows no other letters in LOGIN.
                server.authenticate("PLAIN", lambda _: _make_plain_login(user, password))
            server.select("INBOX", readonly=True)
            yield server
    except (OSError, imaplib.IMAP4.error) as error:
        raise ComputerError(f"The mail on {host} cannot be read: {error}") from None


def _search(mailbox: imaplib.IMAP4, unread: bool) -> list[bytes]:
    _, data = mailbox.search(None, "UNSEEN" if unread else "ALL")
    return bytes(data[0] or b"").split()


def _read(mailbox: imaplib.IMAP4, number: bytes) -> dict[str, str]:
    _, data = mailbox.fetch(number.decode(), "(BODY.PEEK[])")
    raw = next((part[1] for part in data if isinstance(part, tuple)), b"")
    message: Any = email.message_from_bytes(raw, policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    text = _read_text(body) if body is not None else ""
    names = ("from", "to", "date", "subject")
    return {
        **{name: str(message[name] or "") for name in names},
        "body": text[:_LONGEST],
        "attachments": _list_names(message.iter_attachments()),
    }


def _read_text(body: Any) -> str:
    try:
        return str(body.get_content())
    except LookupError:
        # An encoding of letters that nobody knows.
        return bytes(body.get_payload(decode=True)).decode("utf-8", "replace")


def _list_names(parts: Iterable[Any]) -> str:
    return ", ".join(part.get_filename() or "unnamed" for part in parts)
