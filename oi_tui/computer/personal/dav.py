"""CalDAV and CardDAV: collections of calendar entries and address cards on a server."""

from __future__ import annotations

import base64
import http.client
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from xml.etree import ElementTree

from oi_tui.computer.errors import ComputerError
from oi_tui.computer.personal.accounts import Account

_TIMEOUT = 30
_DAV = "{DAV:}"


class _KeepAddress(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the password would go to wherever it points."""

    def redirect_request(self, *_: object) -> None:
        """Treat the redirect as an error."""


_OPENER = urllib.request.build_opener(_KeepAddress)


@dataclass(frozen=True)
class Item:
    """One entry of a collection: its address and its text."""

    href: str
    text: str


class Collection:
    """A calendar or an address book on a server."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._url = account.value("url").rstrip("/") + "/"
        try:
            parts = urllib.parse.urlsplit(self._url)
        except ValueError as error:
            raise ComputerError(f"url of [{account.name}] in {account.file} is wrong: {error}.") from None
        if parts.scheme != "https" and not (
            parts.scheme == "http" and account.is_plain(parts.hostname or "")
        ):
            raise ComputerError(f"url of [{account.name}] in {account.file} must begin with https://.")

    def report(self, body: str, data: str) -> list[Item]:
        """Return the entries that a REPORT finds; `data` is the tag that holds their text."""
        answer = self._send("REPORT", self._url, body, {"Depth": "1"})
        try:
            tree = ElementTree.fromstring(answer)
        except ElementTree.ParseError:
            raise ComputerError(f"{self._url} is not a collection of this kind.") from None
        resources = []
        for response in tree.iter(f"{_DAV}response"):
            text = next((item.text for item in response.iter(data) if item.text), None)
            if text:
                resources.append(Item(response.findtext(f"{_DAV}href") or "", text))
        return resources

    def put(self, name: str, text: str, kind: str) -> None:
        """Create an entry; one that is there already is not replaced."""
        headers = {"Content-Type": f"{kind}; charset=utf-8", "If-None-Match": "*"}
        self._send("PUT", urllib.parse.urljoin(self._url, urllib.parse.quote(name)), text, headers)

    def read(self, item: Item) -> str:
        """Return the whole text of an entry, of which a report may have had a part."""
        return self._send("GET", self._address(item), "", {}).decode("utf-8", "replace")

    def delete(self, item: Item) -> None:
        """Delete an entry."""
        self._send("DELETE", self._address(item), "", {})

    def _address(self, item: Item) -> str:
        url = urllib.parse.urljoin(self._url, item.href)
        if urllib.parse.urlsplit(url)[:2] != urllib.parse.urlsplit(self._url)[:2]:
            raise ComputerError(f"The server named an entry on another server: {url}.")
        return url

    def _send(self, method: str, url: str, body: str, headers: dict[str, str]) -> bytes:
        login = f"{self._account.user}:{self._account.password}".encode()
        request = urllib.request.Request(
            url,
            body.encode() or None,
            {
                "Content-Type": "application/xml; charset=utf-8",
                "Authorization": "Basic " + base64.b64encode(login).decode(),
                **headers,
            },
            method=method,
        )
        try:
            with _OPENER.open(request, timeout=_TIMEOUT) as answer:
                data: bytes = answer.read()
                return data
        except urllib.error.HTTPError as error:
            error.close()
            place = error.headers.get("Location")
            moved = f"; it names another address: {place}" if place else ""
            raise ComputerError(f"{self._url} refused {method}: {error.code} {error.reason}{moved}") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise ComputerError(f"{self._url} cannot be reached: {error}") from None


def read_properties(text: str, component: str = "") -> list[dict[str, str]]:
    """Read iCalendar or vCard text: for each component, its properties by name without parameters.

    Those of a component within it, such as the alarm of an event, are left out. The parameters of a
    property stand under its name with a semicolon, as in `DTSTART;`.
    """
    lines = re.split(r"\r?\n", re.sub(r"\r?\n[ \t]", "", text))
    responses: list[dict[str, str]] = []
    inside: dict[str, str] | None = None
    #: How many components within it are open.
    depth = 0
    for line in lines:
        # A quoted parameter may have a colon: DTSTART;TZID="(UTC+01:00) Berlin":20260304T100000
        colon = re.match(r"((?:[^:\"]|\"[^\"]*\")*):", line)
        head, value = (colon[1], line[colon.end() :]) if colon else (line, "")
        name, _, parameters = head.partition(";")
        name = name.upper().rpartition(".")[2]
        if inside is not None and (depth or name == "BEGIN"):
            depth += (name == "BEGIN") - (name == "END")
        elif name == "BEGIN" and value.upper() == component:
            inside = {}
        elif name == "END" and value.upper() == component and inside is not None:
            responses.append(inside)
            inside = None
        elif inside is not None and name not in inside:
            inside[name] = _unescape(value)
            inside[name + ";"] = parameters
    return responses


def escape(text: str) -> str:
    """Write a text as a value of iCalendar."""
    text = re.sub(r"\r\n?", "\n", text).replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace(";", "\\;").replace(",", "\\,")


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] in "nN" else match[1], value)
