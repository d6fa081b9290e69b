"""The text of a message that is HTML only."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = ("head", "script", "style", "template", "title")
#: A line of its own begins with these and ends with them.
_BLOCKS = (
    *("address", "article", "blockquote", "center", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2"),
    *("h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul"),
)
_CELLS = ("td", "th")


def read_html(html: str) -> str:
    """Return the text of a page: lines for paragraphs and rows, and each link's address behind its text."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (re.sub(r"[ \t\r\f\u00a0]+", " ", line).strip() for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    """Collects the text between the tags."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden: list[str] = []
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag == "a":
            self._links.append(values.get("href") or "")
        elif tag == "img" and values.get("alt"):
            self.handle_data(f"[{values['alt']}]")
        elif tag == "br" or tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("body", "html", *self._hidden):
            # What is never closed hides no more than its part of the page.
            self._hidden = []
        elif tag == "a" and self._links:
            address = self._links.pop()
            if address and not address.startswith("#"):
                self.handle_data(f" ({address})")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data.replace("\n", " "))
