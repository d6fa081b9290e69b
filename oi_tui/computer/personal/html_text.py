"""The text of a message that is HTML only."""

from __future__ import annotations

import html
import re

#: The most characters of a page that are read.
_MOST = 1_000_000
_HIDDEN = ("head", "script", "style", "template", "title")
#: In these, a tag is text.
_RAW = ("script", "style")
#: A line of its own begins with these and ends with them.
_BLOCKS = (
    *("address", "article", "blockquote", "center", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2"),
    *("h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul"),
)
_CELLS = ("td", "th")
_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(r"""[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]*))?""")
#: Too many digits for a character; Python reads no number of thousands of them.
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")


def read_html(page: str) -> str:
    """Return the text of a page: lines for paragraphs and rows, and each link's address behind its text."""
    reader = _Reader()
    reader.read(page[:_MOST])
    lines = (re.sub(r"[ \t\r\f\u00a0]+", " ", line).strip() for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader:
    """Collects the text between the tags.

    What is not closed goes on to the end of the page, as in a browser. So each character is read once or
    twice, whereas `html.parser` reads the rest of the page again for each tag that is not closed.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._hidden: set[str] = set()
        self._links: list[str] = []

    def read(self, page: str) -> None:
        """Read a page."""
        place = 0
        while (start := page.find("<", place)) >= 0:
            self._add(_unescape(page[place:start]))
            place = self._read_markup(page, start)
        self._add(_unescape(page[place:]))

    def _read_markup(self, page: str, start: int) -> int:
        """Read what begins with `<`; return the place behind it."""
        closes = page.startswith("</", start)
        if name := _NAME.match(page, start + 1 + closes):
            return self._read_tag(page, name, closes)
        if page.startswith("<!--", start):
            return _find_end(page, "-->", start + 2)
        if page.startswith(("<!", "<?", "</"), start):
            return _find_end(page, ">", start)
        self._add("<")
        return start + 1

    def _read_tag(self, page: str, name: re.Match[str], closes: bool) -> int:
        attributes: dict[str, str] = {}
        place = name.end()
        while attribute := _ATTRIBUTE.match(page, place):
            value = attribute[2] or ""
            quoted = value[:1] in ('"', "'") and value[:1] == value[-1:] and len(value) > 1
            attributes.setdefault(attribute[1].lower(), _unescape(value[1:-1] if quoted else value))
            place = attribute.end()
        end = page.find(">", place)
        if end < 0:
            return len(page)
        tag = name[0].lower()
        if closes:
            self._end_tag(tag)
        elif page[end - 1] != "/" or tag not in _HIDDEN:
            self._start_tag(tag, attributes)
            if tag in _RAW:
                closing = re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE).search(page, end)
                return closing.start() if closing else len(page)
        return end + 1

    def _start_tag(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _HIDDEN:
            self._hidden.add(tag)
        elif tag == "a":
            self._links.append(attributes.get("href", ""))
        elif tag == "img" and attributes.get("alt"):
            self._add(f"[{attributes['alt']}]")
        elif tag == "br" or tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append(" ")

    def _end_tag(self, tag: str) -> None:
        if tag in ("body", "html") or tag in self._hidden:
            # What is never closed hides no more than its part of the page.
            self._hidden.clear()
        elif tag == "a" and self._links:
            address = self._links.pop()
            if address and not address.startswith("#"):
                self._add(f" ({address})")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def _add(self, text: str) -> None:
        if text and not self._hidden:
            self.parts.append(text.replace("\n", " "))


def _find_end(page: str, mark: str, start: int) -> int:
    """Return the place behind the mark, or the end of the page."""
    place = page.find(mark, start)
    return place + len(mark) if place >= 0 else len(page)


def _unescape(text: str) -> str:
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text
