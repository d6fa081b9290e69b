"""Markdown that streams in: finished parts are not parsed again."""

import re
import time
from dataclasses import dataclass, field

from oi_tui.widgets.conversation.code import Highlighter, draw_code_line
from oi_tui.widgets.conversation.markdown import draw_markdown
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import Styles

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")
_ITEM = re.compile(r"^( {0,3}(?:[-*+]|\d{1,9}[.)]))(?:( {1,4})|$)")
_RULE = re.compile(r"^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:\s|$)")
#: The end of a text in flight that may yet become a mark of something else; it is shown when that is known.
_UNDECIDED = re.compile(r"^\s*(?:[-=*_~`#>+|:]+|\d{1,9}[.)]?)\s*$")

#: A part that takes longer than this to draw, in seconds, then rests for this many times as long.
_CHEAP, _REST = 0.004, 9
#: Shorter parts, in characters, are drawn whenever they grow.
_LONG = 2_000


@dataclass(slots=True)
class _Part:
    """A top-level piece of the text that can be parsed alone: a paragraph, a list item, a fence…"""

    kind: str
    lines: list[str]
    #: Whether an empty row stands before it.
    gap: bool
    #: Of a list item: how far its own lines are indented, and the fence that is open inside.
    indent: int = 0
    fence: str = ""
    blanks: int = 0
    closed: bool = False
    #: Of a fence: its drawn lines, so that a line is coloured once.
    highlighter: Highlighter | None = None
    drawn: int = 0
    rows: list[Row] = field(default_factory=list)


class StreamingMarkdown:
    """A Markdown text that grows; `rows` draws it at the cost of what has changed since the last call.

    The text is cut at its top-level parts as its lines come in, so a text that streamed looks exactly as the
    same text given at once. Reference definitions are not resolved: a link's target always stands beside it.
    """

    def __init__(self, text: str = "") -> None:
        self._pieces: list[str] = []
        self._line = ""
        self._parts: list[_Part] = []
        self._blank = False
        self._finished = False
        self._drawn_for: tuple[int, Styles] | None = None
        self._rows: list[Row] = []
        #: How many parts, and rows of `_rows`, are settled.
        self._settled = 0
        self._settled_rows = 0
        #: Whether the rows show less than the text, until they are requested again a little later.
        self.behind = False
        self._rest_until = 0.0
        self.feed(text)

    @property
    def text(self) -> str:
        """The source."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def feed(self, text: str) -> None:
        """Add more of the text."""
        if not text:
            return
        self._pieces.append(text)
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._add_line(line.rstrip("\r"))

    def finish(self) -> None:
        """Take the complete text."""
        self._finished = True
        if self._line:
            self._add_line(self._line)
            self._line = ""

    def _add_line(self, line: str) -> None:
        part = self._parts[-1] if self._parts and not self._parts[-1].closed else None
        if part and part.kind == "fence":
            if _closes(line, part.fence):
                part.closed = True
            else:
                part.lines.append(line)
            return
        if part and part.kind == "item" and part.fence:
            part.lines.append(line)
            if _closes(line.strip(), part.fence):
                part.fence = ""
            return
        if not line.strip():
            self._blank = True
            if part and part.kind == "item":
                part.blanks += 1
            elif part:
                part.closed = True
            return
        if part and self._continues(part, line):
            part.lines.extend([""] * part.blanks)
            part.lines.append(line)
            part.blanks = 0
            self._blank = False
            if part.kind == "item" and (fence := _FENCE.match(line.strip())):
                part.fence = fence[1]
            elif part.kind == "heading":
                part.closed = True
            return
        if part:
            part.closed = True
        self._begin(line)

    def _continues(self, part: _Part, line: str) -> bool:
        indent = len(line) - len(line.lstrip())
        if part.kind == "item":
            if indent >= part.indent:
                return True
            return not part.blanks and not _starts_something(line)
        if part.kind == "text":
            if part.lines[0].startswith("    "):
                return indent >= 4
            return (bool(_RULE.match(line)) and "-" in line) or not _starts_something(line)
        return False

    def _begin(self, line: str) -> None:
        self._parts.append(self._begin_part(line))
        self._blank = False

    def _begin_part(self, line: str) -> _Part:
        """Return the part that begins with this line."""
        before = self._parts[-1].kind if self._parts else ""
        gap = bool(self._parts) and self._blank
        if fence := _FENCE.match(line):
            part = _Part("fence", [], gap or before != "", fence=fence[1])
            part.highlighter = Highlighter((fence[2].split() or [""])[0].strip("{}.").lower())
        elif _HEADING.match(line):
            part = _Part("heading", [line], before != "", closed=True)
        elif _RULE.match(line):
            part = _Part("rule", [line], gap, closed=True)
        elif item := _ITEM.match(line):
            indent = len(item[1]) + min(len(item[2] or " "), 4)
            part = _Part("item", [line], gap, indent=max(min(indent, len(item[1]) + 1), 2))
            if fence := _FENCE.match(line[item.end() :]):
                part.fence = fence[1]
        else:
            part = _Part("text", [line], gap or before == "fence")
        return part

    def rows(self, width: int, look: Styles) -> list[Row]:
        """Return the drawn text. The list is the object's own: it changes with the next call."""
        now = time.monotonic()
        self.behind = self._drawn_for == (width, look) and now < self._rest_until and not self._finished
        if self.behind:
            return self._rows
        if self._drawn_for != (width, look):
            self._drawn_for = (width, look)
            self._rows, self._settled, self._settled_rows = [], 0, 0
            for part in self._parts:
                part.rows, part.drawn = [], 0
        del self._rows[self._settled_rows :]
        while self._settled < len(self._parts) and (self._finished or self._parts[self._settled].closed):
            self._draw(self._parts[self._settled], "", width, look)
            self._settled += 1
            self._settled_rows = len(self._rows)
        open_part = self._parts[-1] if self._settled < len(self._parts) else None
        line = "" if _UNDECIDED.match(self._line) or self._line.isspace() else self._line
        if open_part is not None:
            goes_on = open_part.kind == "fence" or bool(open_part.fence) or self._continues(open_part, line)
            self._draw(open_part, line if goes_on else "", width, look)
            if goes_on:
                line = ""
        if line:
            self._draw(self._begin_part(line), "", width, look)
        took = time.monotonic() - now
        long = len(self._line) + sum(map(len, open_part.lines if open_part else ())) > _LONG
        self._rest_until = now + took * (1 + _REST) if long and took > _CHEAP else 0.0
        return self._rows

    def _draw(self, part: _Part, line: str, width: int, look: Styles) -> None:
        if part.gap:
            self._rows.append(_EMPTY)
        if part.kind == "fence":
            self._rows.extend(_draw_fence(part, line, width, look))
            return
        source = "\n".join([*part.lines, *([""] * part.blanks), line] if line else part.lines)
        if not part.closed and not self._finished:
            source = _close_emphasis(source)
        self._rows.extend(draw_markdown(source, width, look))


#: Shared by all gaps; it has nothing that could differ.
_EMPTY = Row([], "")


def _draw_fence(part: _Part, line: str, width: int, look: Styles) -> list[Row]:
    assert part.highlighter is not None
    while part.drawn < len(part.lines):
        pieces = part.highlighter.pieces(part.drawn, part.lines.__getitem__)
        part.rows.extend(draw_code_line(part.drawn + 1, pieces, look, width, 0))
        part.drawn += 1
    if not line or _FENCE.match(line):
        return part.rows
    lines = [*part.lines, line]
    rows = draw_code_line(0, Highlighter(None).pieces(0, lambda _: lines[-1]), look, width, 0)
    return part.rows + rows


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return mark.startswith(fence) and not mark.strip(fence[0])


def _starts_something(line: str) -> bool:
    return bool(_FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line) or _RULE.match(line))


def _close_emphasis(source: str) -> str:
    """Return the text with emphasis closed that is still being written, so
    that its look does not change later.
    """
    ending = source.rstrip("*_`~")
    if len(source) - len(ending) < 3:
        source = ending
    last = source[source.rfind("\n\n") + 1 :]
    if last.count("`") % 2:
        return source + "`"
    if last.count("**") % 2 and not source.endswith((" ", "\n")):
        return source + "**"
    return source
