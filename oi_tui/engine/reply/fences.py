"""Recognises fenced code blocks of Markdown: opening and closing lines, and what only looks like one."""

import re
from dataclasses import dataclass

from oi_tui.engine.reply.parts import clean_word

#: What may stand before an opening fence: indentation, or the mark of a list item.
_LEAD = re.compile(r"[ \t\ufeff\u200b\u00a0]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")
_NESTING = ("markdown", "md", "mdx", "rst", "text", "txt", "plaintext", "")
#: Longest info string.
LONGEST_INFO = 200


@dataclass(frozen=True, slots=True)
class Fence:
    """An open fence: its character, its length, how far its lines are indented, and its info string."""

    character: str
    length: int
    indent: int
    info: str

    def closed_by(self, line: str) -> bool:
        """Return whether a line, given without its line break, closes this block."""
        bare = line.strip(" \t\r")
        return len(bare) >= self.length and not bare.strip(self.character)

    def goes_on(self, line: str) -> str | None:
        """Return the text after a closing fence on the same line, or None."""
        bare = line.lstrip(" \t")
        rest = bare.lstrip(self.character)
        indent = len(line) - len(bare)
        return (
            rest
            if len(bare) - len(rest) >= self.length and indent <= self.indent + 3 and rest.strip()
            else None
        )

    def reopened_by(self, line: str) -> bool:
        """Return whether a line within a block of prose opens one in it: the same fence,
        with an info string.
        """
        bare = line.strip(" \t\r")
        run = len(bare) - len(bare.lstrip(self.character))
        return (
            run >= self.length
            and run < len(bare)
            and self.character not in bare[run:]
            and self.info.split(" ")[0].lower() in _NESTING
        )

    def might_close(self, start: str) -> bool:
        """Return whether a line that begins like this may turn out to close the block, or
        to open another in it.
        """
        bare = start.lstrip(" \t")
        return len(start) <= LONGEST_INFO and (not bare or bare[0] == self.character)

    def dedent(self, line: str) -> str:
        """Return a line of the block without the indentation of its fence."""
        at = 0
        while at < self.indent and line[at : at + 1] in (" ", "\t"):
            at += 1
        return line[at:]


def begins_line(lead: str | None, in_list: bool) -> bool:
    """Return whether what stands before a fence on its line lets it open a block.

    Four blanks and more make it a quotation of code, except within a list.
    """
    if lead is None or not _LEAD.fullmatch(lead):
        return False
    return in_list or is_item(lead) or len(lead.expandtabs(4)) < 4


def is_item(line: str) -> bool:
    """Return whether the line begins an item of a list."""
    return _ITEM.match(line) is not None


def split_info_string(info: str) -> list[str]:
    """Return the words of an info string that may name the language: `{.python .x}`, `python:a.py`,
    `py title=x`, ...
    """
    info = _UNSEEN.sub("", info)
    info_words = _CELL.sub("", info.strip()).strip().strip("{}").strip().split()
    if not info_words:
        return []
    word = info_words[0].lstrip(".").rstrip(",;").lower()
    shorter = clean_word(_NAMING.sub("", re.split("[:,{(]", word)[0]).strip("\"'"))
    return list(dict.fromkeys(item for item in (word, shorter) if item))


def is_only_shown(info: str) -> bool:
    """Return whether an info string says that its block is not to be run: `python output`, `r,
    eval=FALSE`, ...
    """
    return _ONLY_SHOWN.search(info) is not None


def is_output(line: str) -> bool:
    """Return whether the line before a block announces what a program prints."""
    return _OUTPUT.search(line) is not None


_UNSEEN = re.compile("[\ufeff\u200b-\u200d\u2060]")
#: The directive of notebooks in Markdown, before the language.
_CELL = re.compile(r"\A\{code(?:-cell|-block)?\}")
_NAMING = re.compile(r"\A(?:language-|lang(?:uage)?=)")
_ONLY_SHOWN = re.compile(
    r"[\s,{](?:outputs?|results?|stdout|no[-_]?(?:run|exec|execute)|eval\s*=\s*(?:F|FALSE|false|False))(?=[\s,}]|\Z)"
)
_OUTPUT = re.compile(
    r"^\W*(?:(?:the|its|an?|your|my|expected|sample|example|typical|console|program|command|terminal|possible)\s+){0,3}"
    r"(?:output|results?|stdout|stderr|response|log|traceback|error(?: message)?)\b[^.!?:]{0,40}:\W*$"
    r"|\b(?:prints?|outputs|returns|displays|shows|produces)(?: (?:this|the following))?\s*:\W*$"
    r"|\b(?:will|should|would|might) (?:see|look|get|print|output|be)\b[^.!?:]{0,40}:\W*$",
    re.IGNORECASE,
)


class Strings:
    """Follows whether code is, at the end of a line, within a string or document that spans lines."""

    def __init__(self, language: str | None) -> None:
        self._language = language
        self._until = ""

    @property
    def inside(self) -> bool:
        """True when the next line still belongs to a string or document."""
        return bool(self._until)

    def line(self, text: str) -> None:
        """Take the next whole line."""
        if self._language == "python":
            self._read_python(text)
        elif self._language in ("shell", "zsh"):
            self._read_shell(text)
        elif self._language in ("javascript", "typescript", "deno", "bun", "react"):
            self._read_javascript(text)

    def _read_python(self, text: str) -> None:
        at = 0
        while True:
            if self._until:
                match = _PYTHON_END[self._until].search(text, at)
                if not match:
                    return
                self._until = ""
                at = match.end()
            start = _PYTHON_START.search(text, at)
            if not start or start[0] == "#":
                return
            at = start.end()
            if len(start[0]) == 3:
                self._until = start[0]
                continue
            end = _PYTHON_END[start[0]].search(text, at)
            if not end:
                return
            at = end.end()

    def _read_javascript(self, text: str) -> None:
        for match in _JAVASCRIPT.finditer(text):
            mark = match[0]
            if mark == "//" and not self._until:
                return
            if mark in (self._until, "/*", "`") and (mark == self._until or not self._until):
                self._until = "" if self._until else {"/*": "*/"}.get(mark, mark)

    def _read_shell(self, text: str) -> None:
        if self._until:
            if text.strip() == self._until:
                self._until = ""
        elif match := _HEREDOC.search(text):
            self._until = match[1] or match[2] or match[3]


_PYTHON_START = re.compile("\"\"\"|'''|\"|'|#")
_PYTHON_END = {quote: re.compile(rf"(?:[^\\]|\\.)*?{quote}", re.DOTALL) for quote in ('"""', "'''", '"', "'")}
#: What opens or closes a template or a comment, and what only holds such a mark: an escape, a short string
#: and a regular expression.
_JAVASCRIPT = re.compile(
    r"""\\.|//|/\*|\*/|`|"(?:[^"\\\n`]|\\.)*"|'(?:[^'\\\n`]|\\.)*'"""
    r"""|(?<=[(,=:] )/[^/\n*]+/|(?<=[(,=:])/[^/\n*]+/"""
)
_HEREDOC = re.compile(r"""(?<!<)<<-?\s*(?:'([\w.-]+)'|"([\w.-]+)"|\\?([A-Za-z_]\w*))""")
