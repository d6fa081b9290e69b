"""Marks the statements of Octave code, so that Octave reports which one runs, and which variable it shows."""

import re

#: Words that begin a block, and words that end one; `end_try_catch` and others begin like `end`.
_BEGINS = frozenset(("if", "for", "while", "do", "switch", "try", "unwind_protect", "parfor", "function"))
_ENDS = re.compile(r"end(?:if|for|while|switch|parfor|function|_try_catch|_unwind_protect)?|until")
_OPENING, _CLOSING = "([{", ")]}"
_TOKEN = re.compile(
    r"""
    (?P<comment>[%#].*)
    | (?P<more>\.\.\..*|\\\s*\Z)
    | (?P<double>"(?:[^"\\]|\\.|"")*"?)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<number>\d[\w.]*)
    | (?P<quote>')
    | (?P<other>.)
    """,
    re.VERBOSE,
)
_SINGLE = re.compile(r"'(?:[^']|'')*'")
#: Statements that print the value of a variable: its name alone, or an assignment to it.
_SHOWN = re.compile(r"\s*([A-Za-z]\w*)\s*(=(?!=).*)?")


class _Reader:
    """What is open at the end of a line: blocks, brackets, a comment of several lines, a continued line."""

    def __init__(self) -> None:
        self.blocks = 0
        self.brackets = ""
        self.comments = 0
        self.is_continued = False
        self.has_classes = False
        #: Whether the last line was one statement, without a semicolon or a comment.
        self.is_single = False

    @property
    def is_at_statement(self) -> bool:
        """Whether a statement of the top level may begin on the next line."""
        return not (self.blocks or self.brackets or self.comments or self.is_continued)

    def read(self, line: str) -> str:
        """Read a line, and return its first word or sign; "" where it has none."""
        if (alone := line.strip()) in ("%{", "#{"):
            self.comments += 1
        elif self.comments and alone in ("%}", "#}"):
            self.comments -= 1
        return "" if self.comments else self._read_tokens(line)

    def _read_tokens(self, line: str) -> str:
        self.is_continued, self.is_single = False, True
        first, before, at = "", "", 0
        while match := _TOKEN.match(line, at):
            kind, text, at = match.lastgroup, match.group(), match.end()
            if kind == "comment" or (text in ",;" and not self.brackets):
                self.is_single = False
            if kind == "comment":
                break
            if kind == "more":
                self.is_continued = True
                break
            if kind == "quote" and not self._is_transposed(before):
                end = _SINGLE.match(line, match.start())
                at = end.end() if end else at
            elif kind == "word" and not self.brackets and not before.endswith("."):
                self._count_block(text)
            elif text in _OPENING:
                self.brackets += text
            elif text in _CLOSING:
                self.brackets = self.brackets[:-1]
            if text.strip():
                first = first or text
            before = text
        return first

    def _is_transposed(self, before: str) -> bool:
        """Return whether a quotation mark after this text is an operator."""
        return bool(before) and (before[-1].isalnum() or before[-1] in "_.)]}'")

    def _count_block(self, word: str) -> None:
        if word in _BEGINS:
            self.blocks += 1
        elif _ENDS.fullmatch(word):
            self.blocks -= 1
        elif word == "classdef":
            self.has_classes = True


def mark_statements(code: str) -> str:
    """Return the code with a report of each line on which a statement of the top level begins.

    The report names the variable that the statement prints; an assignment is made first, and printed then. No
    line is added, and what runs is the same. From a line on that cannot be understood, nothing is marked.
    """
    reader = _Reader()
    lines = code.split("\n")
    for number, line in enumerate(lines, 1):
        begins = reader.is_at_statement
        first = reader.read(line)
        if reader.blocks < 0 or reader.has_classes:
            break
        if begins and first and first != "function":
            match = _SHOWN.fullmatch(line) if reader.is_single and reader.is_at_statement else None
            lines[number - 1] = _mark(number, line, match)
    return "\n".join(lines)


def _mark(number: int, line: str, shown: "re.Match[str] | None") -> str:
    if shown is None:
        return f"oi_tui_line({number});{line}"
    name, is_assigned = shown[1], shown[2]
    mark = f"oi_tui_line({number},'{name}');"
    return f"oi_tui_line({number});{line};{mark}{name}" if is_assigned else mark + line
