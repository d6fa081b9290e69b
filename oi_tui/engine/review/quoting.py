"""Takes comments and texts out of code, and keeps the code that stands within texts.

Only the usual forms of quoting are read. After any other one it is not known where the text ends, so each
`doubtful` form is listed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_HASH = r"(?<![$\\{])#[^\n]*"
_QUOTED = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
_QUOTED_LINES = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
#: Perl's `s/a/b/` without `e`, which would run the second part, and patterns.
_SUBSTITUTION = (
    r"\b(?:s|tr|y)/(?:\\.|[^/\\\n@$\"'])*/(?:\\.|[^/\\\n@$\"'])*/[a-df-z]*(?![a-z])"
    r"|(?:(?<=[~(])|(?<=\bsplit)|(?<=\bif)|(?<=\bunless)|(?<=\band))\s*/(?!\(\?\{)(?:\\.|[^/\\\n])*/"
)
#: A text in any quotes, as it is left behind in the code.
_TEXT = r"\"\""
#: A pattern between slashes with a text in it: one of the two was read wrongly.
_SLASH_AND_TEXT = rf"(?:^|[=(,~!|&;{{}}\[>?:)]|\w[ \t])[ \t]*/(?![\s=])[^\n]*{_TEXT}"


@dataclass(frozen=True, slots=True)
class Quoting:
    """How a language writes comments and texts."""

    comment: str
    text: str
    #: By the mark that begins a text: what begins code within it.
    holes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    #: Other forms of quoting, in code without comments and texts, in code as it is, and within texts.
    doubtful: str = r"(?!)"
    doubtful_raw: str = r"(?!)"
    doubtful_text: str = r"(?!)"


_QUOTING: dict[str, Quoting] = {
    "javascript": Quoting(
        _SLASHES,
        # A sign before the slash says that it begins a pattern; `x!` and `x?` of TypeScript do not.
        rf"{_QUOTED}|`(?:\\.|[^`\\])*`"
        r"|(?:(?<=[=(,:;&|{\[])|(?<=[^\w)\]][!?]))\s*/(?![*/])(?:\\.|\[(?:[^\]\\\n]++|\\.)*+\]|[^/\\\n\[])++/[a-z]*",
        (("`", ("${",)),),
        doubtful=(
            r"<!--|^[ \t]*-->|\A#!|\\u"
            r"|(?:^|[}>]|\b(?:return|typeof|void|delete|case|do|else|in|of|new|throw|yield|await)\b"
            rf"|\b(?:if|while|for|with)\b[^\n]*\))[ \t]*/[^/\n]*(?:{_TEXT}|`)"
        ),
    ),
    "ruby": Quoting(
        rf"{_HASH}|^=begin.*?^=end",
        rf"{_QUOTED_LINES}|(?<=[=(,~!|&;{{\[])[ \t]*/(?![=\s])(?:\\.|[^/\\\n#])+/[a-z]*"
        r"|%[qwWiI]?[(\[{{<][^()\[\]{{}}<>#'\"\\]*[)\]}}>]",
        (('"', ("#{",)),),
        doubtful=(
            rf"%[qQwWiIrsx]?[(\[{{<|!/]|<<[~-]?(?:{_TEXT}|[A-Z_`])|\?{_TEXT}|[$?]['\"]|`"
            rf"|{_SLASH_AND_TEXT}"
        ),
        doubtful_raw=r"/[^/\n]*#\{[^\n]*/",
    ),
    "perl": Quoting(
        rf"{_HASH}|^=\w+.*?^=cut",
        rf"{_QUOTED_LINES}|\bqw\s*[(\[{{/][^()\[\]{{}}/'\"\\#]*[)\]}}/]|{_SUBSTITUTION}",
        (('"', ("@{", "${\\")),),
        doubtful=(
            rf"(?<![$@%&>{{\w-])(?:q|qq|qw|qr|qx|m|s|y|tr)\b\s*(?![\s\w=,;)}}]|-?>)[^\s]|<<~?(?:{_TEXT}|[A-Z_])|[$?]{_TEXT}"
            rf"|`|{_SLASH_AND_TEXT}"
        ),
        doubtful_text=r"[$@]\w+(?:->)?[\[{][^\]}\n]*\(|[$@]\{?(?:main)?(?:::)?ENV\b",
    ),
    "lua": Quoting(
        r"--\[\[.*?(?:\]\]|\Z)|--[^\n]*",
        rf"{_QUOTED}|\[\[.*?(?:\]\]|\Z)",
        doubtful=r"\[=+\[|\\\n",
    ),
    "r": Quoting(
        r"#[^\n]*",
        _QUOTED_LINES,
        doubtful=rf"\b[rR]{_TEXT}|^(?:[^`\n]*`[^`\n\"\\]*`)*+[^`\n]*`(?:[^`\n]*(?:{_TEXT}|\\|$))",
    ),
    "c": Quoting(_SLASHES, _QUOTED, doubtful=rf"(?:(?<!u)\d|\b0[xX]\w+|R){_TEXT}"),
    "rust": Quoting(_SLASHES, r"b?r(?P<marks>#*)\".*?\"(?P=marks)|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'"),
    "go": Quoting(_SLASHES, rf"{_QUOTED}|`[^`]*`"),
    "php": Quoting(
        rf"{_SLASHES}|(?<![$\\{{])#(?!\[)[^\n]*",
        _QUOTED_LINES,
        (('"', ("{$", "${")),),
        doubtful=r"<<<|`",
        doubtful_raw=r"\?>",
    ),
    "octave": Quoting(
        r"[%#][^\n]*",
        r"\"(?:\\.|[^\"\\\n])*\"|(?<![\w)\]}'.])'(?:''|[^'\n])*'",
        doubtful=rf"^[^\n=]*=[^\n]*[\w)\]}}][ \t]+{_TEXT}",
    ),
    "java": Quoting(_SLASHES, rf"\"\"\".*?\"\"\"|{_QUOTED}", doubtful_raw=r"\\u+00[0-7][0-9a-fA-F]"),
    "julia": Quoting(
        r"#=.*?(?:=#|\Z)|#[^\n]*",
        r"\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'",
        (('"""', ("$(",)), ('"', ("$(",))),
        doubtful=rf"\b(?!(?:raw|r|b|v|s|L|big|html|md|dateformat)\b)[A-Za-z_]\w*{_TEXT}",
    ),
    "powershell": Quoting(
        r"<#.*?(?:#>|\Z)|(?<!`)#[^\n]*",
        r"'(?:''|[^'])*'|\"(?:`.|[^\"`])*\"",
        (('"', ("$(",)),),
        doubtful=rf"@{_TEXT}|[\u2018-\u201e]",
    ),
    "fish": Quoting(_HASH, _QUOTED_LINES, (('"', ("$(",)),)),
}
_QUOTING["cpp"] = _QUOTING["c"]
for _name in ("typescript", "react", "deno", "bun"):
    _QUOTING[_name] = _QUOTING["javascript"]
#: What ends a line in some languages, and with it a comment.
_LINE_END = re.compile("\r(?!\n)|[\u2028\u2029]")
#: A comment between lines, and what follows the sign that begins it.
_BLOCK = re.compile(r"\^=(begin|\\w\+)")
_CLOSING = {"{": "}", "(": ")"}
#: Code in texts in code is read to this depth.
_DEEPEST = 20
#: Comments stay in longer code.
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class StrippedCode:
    """Code without its comments and texts.

    A space stands for each comment and `""` for each text; lines stay where they are. A text that holds code
    is replaced by that code, in parentheses.
    """

    code: str
    #: Where it is not known which part of the code is text: the line, from 1, and what stands there.
    doubts: tuple[tuple[int, str], ...]


def strip(language: str, code: str) -> StrippedCode:
    """Return the code without comments and texts."""
    quoting = _QUOTING[language]
    reader = _Reader(code, quoting, escape="`" if language == "powershell" else "\\")
    reader.read(0, "", 0)
    bare, doubts = "".join(reader.parts), reader.doubts
    doubts += [(_find_line(code, match.start()), "an unusual line end") for match in _LINE_END.finditer(code)]
    doubts += [(_find_line(bare, match.end()), match[0].strip()) for match in _find(quoting.doubtful, bare)]
    doubts += [
        (_find_line(code, match.start()), match[0].strip()) for match in _find(quoting.doubtful_raw, code)
    ]
    return StrippedCode(bare, tuple(doubts))


def remove_comments(language: str, code: str) -> str:
    """Return the code with a space for each comment; all of it where it is not known what is one."""
    if len(code) > _LONGEST or strip(language, code).doubts:
        return code
    finder, parts, at = _Finder(code, _QUOTING[language]), list[str](), 0
    while match := finder.find(at):
        is_comment = match["comment"] is not None
        parts += code[at : match.start()], " " + "\n" * match[0].count("\n") if is_comment else match[0]
        at = match.end()
    return "".join(parts) + code[at:]


def _find(pattern: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(pattern, text, re.MULTILINE)


def _find_line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _list_bodies(quoting: Quoting) -> dict[str, re.Pattern[str]]:
    """Return by the mark that begins a text or comment what follows it, where that can end without its
    closing mark.
    """
    bodies = {"=": re.compile(".*", re.DOTALL)} if _BLOCK.search(quoting.comment) else {}
    for quote in ("'", '\\"', "`"):
        for body in (rf"(?:\\.|[^{quote}\\\n])*", rf"(?:\\.|[^{quote}\\])*", rf"(?:`.|[^{quote}`])*"):
            if f"{quote}{body}{quote}" in quoting.text:
                bodies[quote[-1]] = re.compile(f"{body}+", re.DOTALL)
    return bodies


@cache
def _compile(quoting: Quoting, marks: str, unclosed: str, brackets: str) -> re.Pattern[str]:
    """Return the pattern of comments, texts, brackets, and marks that begin none of them.

    `marks` are those that may be unclosed; those in `unclosed` begin no text or comment here.
    """
    block = _BLOCK.search(quoting.comment)
    alone = [re.escape(mark) for mark in marks if mark != "="] + ([f"^=(?={block[1]})"] if block else [])
    begins = f"(?![{re.escape(unclosed)}])" if unclosed else ""
    pattern = f"{begins}(?:(?P<comment>{quoting.comment})|(?P<text>{quoting.text}))"
    pattern += f"|(?P<alone>{'|'.join(alone) or '(?!)'}){brackets}"
    return re.compile(pattern, re.DOTALL | re.MULTILINE)


class _Finder:
    """Finds comments and texts, one after the other, in time that grows as the code does.

    Behind a mark that is not closed, the same marks up to the end of what was tried are not closed either:
    they are not tried again.
    """

    def __init__(self, code: str, quoting: Quoting) -> None:
        self._code, self._quoting = code, quoting
        self._bodies = _list_bodies(quoting)
        self._marks = "".join(self._bodies)
        #: By its mark, the place before which it begins no text or comment.
        self._unclosed: dict[str, int] = {}

    def find(self, at: int, brackets: str = "") -> re.Match[str] | None:
        """Return the next comment or text from this place, or a bracket that the pattern `brackets` adds."""
        while True:
            unclosed = "".join(mark for mark in self._marks if self._unclosed.get(mark, 0) > at)
            match = _compile(self._quoting, self._marks, unclosed, brackets).search(self._code, at)
            if match is None or match["alone"] is None:
                return match
            mark, at = match["alone"], match.start()
            if self._unclosed.get(mark, 0) <= at:
                if mark in unclosed:
                    continue
                body = self._bodies[mark].match(self._code, at + 1)
                self._unclosed[mark] = body.end() if body else at + 1
            at += 1


class _Reader:
    """Reads through code once."""

    def __init__(self, code: str, quoting: Quoting, escape: str) -> None:
        self._code, self._quoting, self._escape = code, quoting, escape
        self._finder = _Finder(code, quoting)
        self.parts: list[str] = []
        self.doubts: list[tuple[int, str]] = []

    def read(self, at: int, closing: str, depth: int) -> int:
        """Read from a place to the end, or to the bracket that closes; return where the rest begins."""
        opening = {"}": "{", ")": "("}.get(closing, "")
        still_open, brackets = 0, "|[{}()]" if closing else ""
        while match := self._finder.find(at, brackets):
            self.parts.append(self._code[at : match.start()])
            at = match.end()
            if match["comment"] is not None or match["text"] is not None:
                at = self._read_hidden(match, depth)
                continue
            if match[0] == closing and not still_open:
                return at
            still_open += (match[0] == opening) - (match[0] == closing)
            self.parts.append(match[0])
        self.parts.append(self._code[at:])
        return len(self._code)

    def _read_hidden(self, found: re.Match[str], depth: int) -> int:
        """Read a comment or a text; return where the rest begins."""
        replacement, text = " ", found["text"]
        if text is not None:
            replacement = '""'
            for mark, holes in self._quoting.holes:
                if text.startswith(mark) and any(hole in text for hole in holes):
                    return self._read_holes(found.start() + len(mark), mark, holes, depth + 1)
            if doubtful := re.search(self._quoting.doubtful_text, text):
                self.doubts.append((_find_line(self._code, found.start()), doubtful[0]))
        self.parts.append(replacement + "\n" * found[0].count("\n"))
        return found.end()

    def _read_holes(self, at: int, mark: str, holes: tuple[str, ...], depth: int) -> int:
        """Keep only the code of a text that begins before this place; return where the rest begins."""
        self.parts.append("(")
        if depth > _DEEPEST:
            self.doubts.append((_find_line(self._code, at), "texts within texts"))
            return at
        while at < len(self._code) and not self._code.startswith(mark, at):
            hole = next((hole for hole in holes if self._code.startswith(hole, at)), "")
            if hole:
                self.parts.append(" ; ")
                at = self.read(at + len(hole), _CLOSING[hole.strip("$#@\\")], depth)
                self.parts.append(" ; ")
                continue
            step = 2 if self._code.startswith(self._escape, at) else 1
            self.parts.append("\n" * self._code.count("\n", at, at + step))
            at += step
        self.parts.append(")")
        return at + len(mark)
