"""`computer.contacts`: people of a CardDAV address book, or of Contacts on macOS."""

from __future__ import annotations

import unicodedata

from oi_tui.computer import applescript
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.personal.accounts import is_set_up, read_account
from oi_tui.computer.personal.dav import Collection, read_properties
from oi_tui.computer.tool import Tool

_DATA = "{urn:ietf:params:xml:ns:carddav}address-data"
_QUERY = (
    '<C:addressbook-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><D:prop><C:address-data/>'
    '</D:prop><C:filter><C:prop-filter name="FN"/></C:filter></C:addressbook-query>'
)
_MAC = """on run argv
set found to ""
tell application "Contacts"
repeat with p in people
set phone to ""
set mail to ""
if (count of phones of p) > 0 then set phone to value of first phone of p
if (count of emails of p) > 0 then set mail to value of first email of p
set found to found & (name of p) & tab & phone & tab & mail & linefeed
end repeat
end tell
return found
end run"""


class Contacts(Tool):
    """Look people up in the user's address book."""

    def get_phone_number(self, contact_name: str) -> str:
        """Return the telephone number of the one contact with this name."""
        return self._read_field(contact_name, "TEL", "telephone number")

    def get_email_address(self, contact_name: str) -> str:
        """Return the e-mail address of the one contact with this name."""
        return self._read_field(contact_name, "EMAIL", "e-mail address")

    def get_full_names_from_first_name(self, first_name: str) -> list[str]:
        """Return the full names of all contacts with this first name."""
        folded_name = _fold(first_name)
        return [card["FN"] for card in _parse_cards() if _fold(card["FN"]).split()[:1] == [folded_name]]

    def _read_field(self, name: str, field: str, words: str) -> str:
        cards = _parse_cards()
        folded_name = _fold(name)
        matches = [card for card in cards if _fold(card["FN"]) == folded_name]
        if not matches:
            matches = [card for card in cards if folded_name in _fold(card["FN"])]
        if len(matches) != 1:
            names = ", ".join(card["FN"] for card in matches[:10])
            raise ComputerError(
                f"Several contacts fit {name!r}: {names}." if matches else f"There is no contact {name!r}."
            )
        if not (value := matches[0].get(field, "").removeprefix("tel:")):
            raise ComputerError(f"{matches[0]['FN']} has no {words}.")
        return value


def _fold(name: str) -> str:
    """Return a name as it is compared: an accent may be written as a letter of its own."""
    return unicodedata.normalize("NFKC", name.casefold()).strip()


def _parse_cards() -> list[dict[str, str]]:
    if applescript.is_available() and not is_set_up("contacts"):
        rows = (line.split("\t") for line in applescript.run(_MAC).splitlines() if line.count("\t") == 2)
        return [dict(zip(("FN", "TEL", "EMAIL"), row)) for row in rows]
    collection = Collection(read_account("contacts", "contacts"))
    cards = [
        card for item in collection.report(_QUERY, _DATA) for card in read_properties(item.text, "VCARD")
    ]
    return [card for card in cards if card.get("FN")]
