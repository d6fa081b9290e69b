"""`computer.mail`: e-mail through IMAP and SMTP, or Mail on macOS."""

from __future__ import annotations

import base64
import codecs
import contextlib
import email
import email.policy
import imaplib
import mimetypes
import smtplib
import ssl
from collections.abc import Iterator
from email.errors import NonASCIILocalPartDefect
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from itertools import islice
from pathlib import Path
from typing import Any

from oi_tui.computer import applescript
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.files import find_existing
from oi_tui.computer.personal.accounts import Account, is_set_up, read_account
from oi_tui.computer.personal.html_text import read_html
from oi_tui.computer.tool import Tool

_TIMEOUT = 30
_LONGEST = 10_000
#: How many messages a search looks at: the library refuses longer answers.
_WINDOW = 20_000
#: The port of servers that encrypt after the connection was made.
_STARTTLS_PORT = 143
#: What SMTP answers to a login that is accepted.
_LOGGED_IN = 235
#: What programs mean by names of encodings: those with more letters, and those that Python calls otherwise.
_FULLER_CHARSETS = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "utf-8", "ascii": "utf-8",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "windows-31j": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8", "iso-8859-9": "cp1254", "windows-874": "cp874", "cp-850": "cp850",
}  # fmt: skip
#: They are for names, and slow for a long text.
_NO_TEXT_CODECS = ("punycode", "idna")
#: The most characters that are read of a header, and of one that describes a part: the library is slow.
_LONGEST_HEADER = 5_000
_LONGEST_PART_HEADER = 2_000
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
        with _open_mailbox() as (mailbox, count):
            numbers = _find_unread(mailbox, count) if unread else iter(range(count, 0, -1))
            return [_read(mailbox, item) for item in islice(numbers, number)]

    def unread_count(self) -> int:
        """Return how many messages in the inbox are unread."""
        if _on_mac():
            return int(applescript.run('tell application "Mail" to return unread count of inbox'))
        with _open_mailbox() as (mailbox, count):
            return sum(1 for _ in _find_unread(mailbox, count))

    def send(self, to: str | list[str], subject: str, body: str, attachments: list[str] | None = None) -> str:
        """Send an e-mail; `attachments` are paths of files. Return a sentence that says what was sent."""
        addresses = [to] if isinstance(to, str) else list(to or ())
        if not all(isinstance(text, str) for text in (*addresses, subject, body)):
            raise ComputerError("mail.send: addresses, subject and body must be texts.")
        addresses = [address.strip() for address in addresses if address.strip()]
        if not addresses:
            raise ComputerError("mail.send: give at least one address in `to`.")
        paths = [attachments] if isinstance(attachments, str) else attachments or ()
        files = [_find_attachment(path) for path in paths]
        refused: list[str] = []
        if _on_mac():
            applescript.run(
                _MAC_SEND, ", ".join(addresses), subject, body, *(str(file.resolve()) for file in files)
            )
        else:
            settings = read_account("mail", "mail")
            refused = _send(settings, _compose(settings, addresses, subject, body, files))
        attached = f" with {len(files)} attachment{'s' if len(files) > 1 else ''}" if files else ""
        without = f", but the server refused {', '.join(refused)}" if refused else ""
        return f"Sent “{subject}” to {', '.join(addresses)}{attached}{without}."


def _on_mac() -> bool:
    return applescript.is_available() and not is_set_up("mail")


def _find_attachment(path: str) -> Path:
    file = find_existing(path)
    if not file.is_file():
        raise ComputerError(f"{path} is not a file. Pack a folder first: shutil.make_archive.")
    return file


def _compose(
    found: Account, addresses: list[str], subject: str, body: str, files: list[Path]
) -> EmailMessage:
    message = EmailMessage()
    try:
        message["From"] = found.values.get("from") or found.user
        message["To"] = ", ".join(addresses)
        message["Subject"] = subject
        message.set_content(body)
        for file in files:
            _attach(message, file)
    except ValueError as error:
        raise ComputerError(f"The message cannot be sent: {error}.") from None
    except OSError as error:
        raise ComputerError(f"An attachment cannot be read: {error}") from None
    receivers: Any = message["To"]
    defects = [item for item in receivers.defects if not isinstance(item, NonASCIILocalPartDefect)]
    if defects or not all(item.username and item.domain for item in receivers.addresses):
        raise ComputerError(
            f"mail.send: {message['To']} cannot be read. Write name@example.com or "
            '"Last, First" <name@example.com>, with commas between several.'
        )
    return message


def _attach(message: EmailMessage, file: Path) -> None:
    kind, compression = mimetypes.guess_type(file.name)
    if kind is None or compression or kind.startswith(("message/", "multipart/")):
        # A compressed file is not what its name without .gz says, and a message must not be encoded.
        kind = "application/octet-stream"
    main, _, sub = kind.partition("/")
    name = file.name.encode("utf-8", "replace").decode()
    message.add_attachment(file.read_bytes(), maintype=main, subtype=sub, filename=name)


def _send(found: Account, message: EmailMessage) -> list[str]:
    """Send a message, and return the addresses that the server refused while it took others."""
    host, port = found.server("smtp", 465)
    plain = found.is_plain(host)
    try:
        if port == 465 and not plain:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                host, port, timeout=_TIMEOUT, context=ssl.create_default_context()
            )
        else:
            server = smtplib.SMTP(host, port, timeout=_TIMEOUT)
        with server:
            if port != 465 and not plain:
                server.starttls(context=ssl.create_default_context())
            server.ehlo_or_helo_if_needed()
            if not plain or (server.has_extn("auth") and found.has_password):
                _log_in(server, found.user, found.password)
            return list(server.send_message(message))
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
def _open_mailbox() -> Iterator[tuple[imaplib.IMAP4, int]]:
    """Yield the mailbox and how many messages it has."""
    settings = read_account("mail", "mail")
    host, port = settings.server("imap", 993)
    try:
        with _connect(host, port, settings.is_plain(host)) as server:
            user, password = settings.user, settings.password
            if user.isascii() and password.isascii():
                server.login(user, password)
            else:
                # The library knows no other letters in LOGIN.
                server.authenticate("PLAIN", lambda _: _make_plain_login(user, password))
            _, data = server.select("INBOX", readonly=True)
            yield server, int(data[0] or 0)
    except (OSError, ValueError, imaplib.IMAP4.error) as error:
        raise ComputerError(f"The mail on {host} cannot be read: {error}") from None


def _connect(host: str, port: int, plain: bool) -> imaplib.IMAP4:
    if not plain and port != _STARTTLS_PORT:
        context = ssl.create_default_context()
        return imaplib.IMAP4_SSL(host, port, ssl_context=context, timeout=_TIMEOUT)
    server = imaplib.IMAP4(host, port, timeout=_TIMEOUT)
    if not plain:
        try:
            server.starttls(ssl.create_default_context())
        except BaseException:
            server.shutdown()
            raise
    return server


def _find_unread(mailbox: imaplib.IMAP4, count: int) -> Iterator[int]:
    """Yield the numbers of the unread messages, the newest first."""
    for last in range(count, 0, -_WINDOW):
        _, data = mailbox.search(None, f"{max(1, last - _WINDOW + 1)}:{last}", "UNSEEN")
        yield from sorted(map(int, bytes(data[0] or b"").split()), reverse=True)


def _read(mailbox: imaplib.IMAP4, number: int) -> dict[str, str]:
    _, data = mailbox.fetch(str(number), "(BODY.PEEK[])")
    raw = next((part[1] for part in data if isinstance(part, tuple)), b"")
    try:
        message: Any = email.message_from_bytes(raw, policy=_Policy())
        text, attachments = _read_parts(message)
    except Exception:  # noqa: BLE001 -- the library raises anything for parts that are written wrongly
        message = BytesHeaderParser(policy=_Policy()).parsebytes(raw)
        text, attachments = raw.partition(b"\r\n\r\n")[2].decode("utf-8", "replace"), ""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\n[{len(text) - _LONGEST:,} more characters]"
    return {
        **{name: _read_header(message, name) for name in ("from", "to", "date", "subject")},
        "body": text,
        "attachments": attachments,
    }


class _Policy(email.policy.EmailPolicy):
    """Reads only the start of long headers, and takes one that is written wrongly for an empty one."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        try:
            return super().header_fetch_parse(name, value[:_LONGEST_PART_HEADER])
        except Exception:  # noqa: BLE001 -- the library raises anything for a header that is written wrongly
            return super().header_fetch_parse(name, "")


def _read_header(message: Any, name: str) -> str:
    values = [str(value) for key, value in message.raw_items() if key.lower() == name]
    if not values:
        return ""
    # The library keeps bytes that are not ASCII as surrogates.
    value = _decode(values[0][:_LONGEST_HEADER].encode("utf-8", "surrogateescape"))
    try:
        return str(email.policy.default.header_factory(name, "".join(value.splitlines())))
    except Exception:  # noqa: BLE001 -- the library raises anything for a header that is written wrongly
        return " ".join(value.split())


def _read_parts(message: Any) -> tuple[str, str]:
    """Return the text of a message and the names of its attachments."""
    body = message.get_body(("plain", "html"))
    text = _read_text(body) if body is not None else ""
    if not text.strip() and (html := message.get_body(("html",))) is not None:
        # Some programs send an empty plain part beside the page that has the text.
        body, text = html, _read_text(html)
    if body is not None and body.get_content_subtype() == "html":
        text = read_html(text)
    return text, ", ".join(part.get_filename() or "unnamed" for part in message.iter_attachments())


def _read_text(part: Any) -> str:
    return _decode(part.get_payload(decode=True) or b"", part.get_content_charset() or "")


def _decode(data: bytes, charset: str = "") -> str:
    """Return the text of bytes. Many programs name another encoding than they use, or none."""
    fuller_charset = _FULLER_CHARSETS.get(charset, charset)
    # What is no UTF-8 fails as such, so it may be tried for any encoding that does not fit.
    for encoding in (fuller_charset, charset, "utf-8", "cp1252"):
        try:
            if codecs.lookup(encoding).name not in _NO_TEXT_CODECS:
                return data.decode(encoding)
        except (LookupError, ValueError):
            continue
    return data.decode("utf-8", "replace")
