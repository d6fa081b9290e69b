"""Renders code line by line, highlighted, with invisible characters made visible."""

import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from pygments.lexer import ExtendedRegexLexer, Lexer, LexerContext, RegexLexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Error, Keyword, Name, Text, Whitespace, _TokenType
from pygments.util import ClassNotFound
from rich.segment import Segment
from rich.style import Style

from oi_tui.engine.tools import is_tool
from oi_tui.text import find_lookalikes, simplify_emoji, split_spelled
from oi_tui.widgets.conversation.rows import Row, Span, wrap_code
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.truncate import measure_width

#: A token of a line: its kind and its text.
Piece = tuple[_TokenType, str]
#: Where a lexer stands between two lines.
Stack = tuple[str, ...]

#: Our names for languages where Pygments has another.
_ALIASES = {"shell": "bash", "react": "jsx", "deno": "typescript", "bun": "typescript"}
#: Longer lines are shown without colours: expressions that look ahead make lexers slow on them.
_LONGEST_LINE = 4_000
#: Longer code is coloured line by line, which is right nearly everywhere, instead of as a whole.
_LONGEST_WHOLE = 40_000
#: What lexers, which are made for whole and sound files, may raise on a piece of one.
_FAULTS = (AssertionError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
#: How wide a tab is drawn.
TAB = 4


def find_lexer(language: str | None) -> Lexer | None:
    """Return the Pygments lexer of a language by any of its names; None for one that Pygments does not know.

    A name of ours stands for the language that would run it: "nodejs" is coloured as JavaScript.
    """
    # They are loaded in a thread. Imported here at the same time, each would get a half of the other.
    languages = getattr(sys.modules.get("oi_tui.runtimes.languages"), "LANGUAGES", ())
    name = (language or "").strip().lower()
    if is_tool(name):
        name = "json"
    elif name != "tsx":
        name = next((item.name for item in languages if name in item.aliases), name)
    return _load_lexer(name)


@lru_cache(maxsize=64)
def _load_lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_by_name(_ALIASES.get(name, name)) if name else None
    except ClassNotFound:
        return None


def lex_line(lexer: Lexer | None, line: str, stack: Stack) -> tuple[list[Piece], Stack]:
    """Return one line (without its newline) in tokens, and where the lexer then stands.

    The tokens are always the whole line; a lexer that drops something or fails gives a line without colours.
    """
    if lexer is None or not line or len(line) > _LONGEST_LINE:
        return [(Text, line)], stack
    try:
        pieces, after = _lex(lexer, line + "\n", stack)
    except _FAULTS:
        return [(Text, line)], stack
    whole = "".join(text for _, text in pieces) == line
    return (pieces if whole else [(Text, line)]), after


def _lex(lexer: Lexer, line: str, stack: Stack) -> tuple[list[Piece], Stack]:
    own = type(lexer).get_tokens_unprocessed
    if own is ExtendedRegexLexer.get_tokens_unprocessed:
        context = LexerContext(line, 0, stack=list(stack))
        tokens = lexer.get_tokens_unprocessed(context=context)  # type: ignore[call-arg]
        pieces = [(kind, text) for _, kind, text in tokens]
        return _cut_newline(pieces), tuple(context.stack) or ("root",)
    if isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer):
        return _lex_with_rules(lexer, line, list(stack))
    return _cut_newline([(kind, text) for _, kind, text in lexer.get_tokens_unprocessed(line)]), stack


def _lex_with_rules(lexer: RegexLexer, text: str, stack: list[str]) -> tuple[list[Piece], Stack]:
    """Lex as the lexer's own loop does, which does not tell in which state it stopped."""
    rules = lexer._tokens  # type: ignore[attr-defined]
    pieces: list[Piece] = []
    position = 0
    while position < len(text):
        for match_at, action, transition in rules[stack[-1]]:
            match = match_at(text, position)
            if match is None or (match.end() == position and transition is None):
                continue
            if action is not None:
                if isinstance(action, _TokenType):
                    pieces.append((action, match.group()))
                else:
                    pieces.extend((kind, part) for _, kind, part in action(lexer, match))
            position = match.end()
            _move(stack, transition)
            break
        else:
            if text[position] == "\n":
                stack[:] = ["root"]
            pieces.append((Whitespace if text[position] == "\n" else Error, text[position]))
            position += 1
    return _cut_newline(pieces), tuple(stack[:1] + stack[-30:] if len(stack) > 31 else stack)


def _move(stack: list[str], transition: object) -> None:
    match transition:
        case None:
            return
        case int():
            del stack[max(len(stack) + transition, 1) if transition < 0 else 1 :]
        case "#pop":
            if len(stack) > 1:
                stack.pop()
        case "#push":
            stack.append(stack[-1])
        case str():
            stack.append(transition)
        case tuple():
            for step in transition:
                _move(stack, step)


def _cut_newline(pieces: list[Piece]) -> list[Piece]:
    return [(kind, text.replace("\n", "")) for kind, text in pieces if text != "\n"]


class Highlighter:
    """The tokens of a text's lines, found on demand and kept until an edit at or above them."""

    def __init__(self, language: str | None) -> None:
        self.lexer = find_lexer(language)
        #: Where the lexer stands before each line that was read.
        self._stacks: list[Stack] = [("root",)]
        self._pieces: list[list[Piece]] = []

    def pieces(self, index: int, line_at: Callable[[int], str]) -> list[Piece]:
        """Return the tokens of line `index`; lines above it
        that are not known yet are read through `line_at`.
        """
        while len(self._pieces) <= index:
            row = len(self._pieces)
            pieces, stack = lex_line(self.lexer, line_at(row), self._stacks[row])
            self._pieces.append(pieces)
            self._stacks.append(stack)
        return self._pieces[index]

    def forget_from(self, index: int) -> None:
        """Forget line `index` and what follows it, because it changed."""
        del self._pieces[max(index, 0) :]
        del self._stacks[max(index, 0) + 1 :]

    def read_whole(self, code: str) -> None:
        """Read finished code in one go, which is exact where a line alone does not tell enough."""
        if self.lexer is None or len(code) > _LONGEST_WHOLE:
            return
        lines: list[list[Piece]] = [[]]
        # Some lexers know a comment only by the newline at its end, which the last line may lack.
        for _, kind, text in self.lexer.get_tokens_unprocessed(code + "\n"):
            first, *others = text.split("\n")
            lines[-1].append((kind, first))
            lines.extend([(kind, other)] for other in others)
        del lines[-1:]
        if [len("".join(text for _, text in pieces)) for pieces in lines] == [
            len(s) for s in code.split("\n")
        ]:
            self._pieces = lines
            self._stacks = [("root",)] * (len(lines) + 1)


def paint_pieces(pieces: Sequence[Piece], look: Styles) -> list[Span]:
    """Return tokens as styled text: tabs as spaces, invisible characters spelled out and marked."""
    spans: list[Span] = []
    column = 0
    for kind, text in pieces:
        style = look.token(kind)
        if text.isascii() and text.isprintable():
            spans.append((text, style))
            column += len(text)
            continue
        if _is_name(kind) and (alike := find_lookalikes(text)):
            spans.extend((character, look.hidden if character in alike else style) for character in text)
            column += measure_width(text)
            continue
        for part, is_hidden in split_spelled(simplify_emoji(text)):
            if "\t" in part:
                for index, bit in enumerate(part.split("\t")):
                    if index:
                        spans.append((" " * (TAB - column % TAB), style))
                        column += TAB - column % TAB
                    spans.append((bit, style))
                    column += measure_width(bit)
            else:
                spans.append((part, look.hidden if is_hidden else style))
                column += measure_width(part)
    return [span for span in spans if span[0]]


def _is_name(kind: _TokenType) -> bool:
    return any(kind is base or kind[: len(base)] == base for base in (Name, Keyword, Error))


def find_mixed_identifiers(code: str, language: str | None) -> list[str]:
    """Return what of the code's identifiers passes for Latin letters, in words, each once."""
    if code.isascii():
        return []
    lexer = find_lexer(language)
    if lexer is None or len(code) > _LONGEST_WHOLE:
        words = re.findall(r"\w+", code)
    else:
        tokens = lexer.get_tokens_unprocessed(code)
        words = [text for _, kind, text in tokens if _is_name(kind)]
    described: dict[str, None] = {}
    for word in words:
        for character in sorted(find_lookalikes(word)):
            described[f"{unicodedata.name(character, f'U+{ord(character):04X}')} in {word}"] = None
    return list(described)


def measure_gutter(line_count: int) -> int:
    """Return the cells left of the code: a mark, the number, a change mark, a space."""
    return max(len(str(line_count)), 2) + 3


def draw_code_line(
    number: int, pieces: Sequence[Piece], look: Styles, width: int, gutter: int, *, changed: str = " "
) -> list[Row]:
    """Return one numbered line of code as rows of `width` cells; nothing is hidden to the right.

    `changed` is the mark of a line that the person changed. With a `gutter` of 0 there are no numbers.
    """
    rows: list[Row] = []
    inner = max(width - max(gutter, 2), 8)
    for index, line in enumerate(wrap_code(paint_pieces(pieces, look), inner)):
        if not gutter:
            gutter_segments = [Segment("  " if index == 0 else "↳ ", look.code_muted)]
        elif index:
            gutter_segments = [Segment("↳ ".rjust(gutter), look.code_muted)]
        else:
            mark = look.code_changed if changed != " " else look.code_muted
            gutter_segments = [
                Segment(f" {number:>{gutter - 3}}", look.code_muted),
                Segment(f"{changed} ", mark),
            ]
        rows.append(
            Row(gutter_segments + line.segments, line.text, max(gutter, 2), line.joint, fill=look.code)
        )
    return rows


def mark_active(row: Row, look: Styles) -> Row:
    """Mark the row of the active line: ">" at its start, and a background colour."""
    segments = [Segment(">" if row.joint else " ", look.code_active)]
    first = row.segments[0]
    rest = [Segment(first.text[1:], first.style), *row.segments[1:]]
    ground = look.code_active
    for text, style, _ in rest:
        keep = style is look.hidden
        segments.append(Segment(text, style if keep else ground))
    return Row(segments, row.text, row.indent, row.joint, fill=ground)


def append_at_end(rows: Sequence[Row], text: str, width: int, style: Style) -> None:
    """Add a text at the right end of the first row that has room for it within `width` cells."""
    for row in rows if text else ():
        # The text keeps two cells from the code, and one from the edge.
        space = width - measure_width(row.plain) - measure_width(text) - 1
        if space >= 2:
            row.segments.append(Segment(" " * space + text, style))
            return


def find_changed_lines(before: Sequence[str], after: Sequence[str]) -> set[int]:
    """Return the lines of `after`, counted from 0, that are not in `before`."""
    start = _count_alike(before, after)
    end = _count_alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) * len(new) > 40_000:
        old_lines = set(old)
        return {start + index for index, line in enumerate(new) if line not in old_lines}
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {start + i for tag, _, _, first, last in steps if tag != "equal" for i in range(first, last)}


def _count_alike(first: Sequence[str], second: Sequence[str]) -> int:
    """Count equal items at the beginning, by halves because comparing slices is fast."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
