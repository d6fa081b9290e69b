"""The Markdown of a reply as text to be read aloud: its words, without its marks."""

import re

#: A line longer than this is passed on with its marks: it is no prose, and would take long to search.
_LONGEST = 2_000
#: What makes a line wait for its end: a mark anywhere, or one that begins it.
_MARK = re.compile(r"[*_`\[~]|\A\s*(?:[|#>+-]|\Z)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s*#{1,6}\s+(.*)")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_RULE = re.compile(r"\s*([*_-])(?:\s*\1){2,}\s*\Z")
_ROW = re.compile(r"\s*\|(.*)\|\s*\Z")
_BETWEEN_ROWS = re.compile(r"[\s|:-]*-[\s|:-]*\Z")
_BULLET = re.compile(r"\A(\s*)[*+](?=\s)")
#: Code, whose signs are no marks; a link or image; and stressed words. Two `_` may be a name of Python.
_CODE = re.compile(r"(`{1,3})(.+?)\1")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^()\s]+)(?: [^()]*)?\)")
_STRESS = re.compile(r"(?<![\w*_~])(\*{1,3}|_|~~)(?=[^\s*_~])(.+?)(?<=[^\s*_~])\1(?![\w*_~])")


class MarkdownReader:
    """Takes a reply in pieces, and returns what can be read of it.

    Words are returned as they come; in a line with a mark, its rest waits for the end of the line.
    """

    def __init__(self) -> None:
        self._held = ""
        #: Whether the beginning of the line was returned already.
        self._midway = False
        self._in_fence = False
        #: The names of the columns, inside a table.
        self._columns: list[str] = []

    def read(self, piece: str) -> str:
        """Return what of the reply, with this piece, can be written now."""
        *lines, self._held = (self._held + piece).split("\n")
        text = "".join(self._end_line(line) for line in lines)
        if len(self._held) > _LONGEST:
            text, self._held, self._midway = text + self._held, "", True
        end = self._held.rfind(" ") + 1
        if (
            end
            and not self._in_fence
            and not _MARK.search(self._held if not self._midway else f".{self._held}")
        ):
            text, self._held, self._midway = text + self._held[:end], self._held[end:], True
        return text

    def finish(self) -> str:
        """Return what is held back still: the reply is over, or was cut off."""
        rest = self._end_line(self._held).removesuffix("\n") if self._held else ""
        self._held, self._midway, self._in_fence, self._columns = "", False, False, []
        return rest

    def _end_line(self, line: str) -> str:
        midway, self._midway = self._midway, False
        if len(line) > _LONGEST:
            return f"{line}\n"
        if midway:
            return f"{_read_words(line)}\n"
        if _FENCE.match(line):
            self._in_fence = not self._in_fence
            return ""
        if self._in_fence:
            return f"{line}\n"
        if row := _ROW.match(line):
            return self._read_row(row[1])
        self._columns = []
        if _RULE.match(line):
            return "\n"
        if heading := _HEADING.match(line):
            line = heading[1]
        elif quote := _QUOTE.match(line):
            line = line[quote.end() :]
        return _read_words(_BULLET.sub(r"\1-", line)) + "\n"

    def _read_row(self, row: str) -> str:
        """Return `Table: Name, Size.` for the first row, and `Name: a; Size: 3` for the others."""
        if _BETWEEN_ROWS.match(row):
            return ""
        cells = [_read_words(cell.strip().replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", row)]
        if not self._columns:
            self._columns = cells
            return f"Table: {', '.join(cells)}.\n"
        names = [*self._columns, *[""] * len(cells)]
        return (
            "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False))
            + "\n"
        )


def _read_words(line: str) -> str:
    """Return a line without the marks of code, links and stress."""
    codes = [match[2].strip() for match in _CODE.finditer(line)]
    words = _LINK.sub(r"\1 (\2)", _CODE.sub("\0", line))
    for _ in range(3):
        words = _STRESS.sub(r"\2", words)
    first, *others = words.split("\0")
    return first + "".join(code + after for code, after in zip(codes, others, strict=True))
