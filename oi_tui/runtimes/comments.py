"""Tells whether code that is being typed is in a comment, where nothing is completed."""

import contextlib
from functools import cache
from typing import TYPE_CHECKING

from oi_tui.runtimes.completions import cut_code_to_complete

if TYPE_CHECKING:
    from pygments.lexer import Lexer

#: How a comment of several lines begins and ends. A lexer knows one that is still open only by its end.
_C = ("/*", "*/")
_COMMENTS = {
    "ruby": ("=begin", "\n=end"),
    "perl": ("\n=", "\n\n=cut"),
    "lua": ("--[[", "]]"),
    "octave": ("%{", "\n%}\n"),
    "julia": ("#=", "=#"),
    "powershell": ("<#", "#>"),
    "r": None,
    "shell": None,
    "zsh": None,
    **dict.fromkeys(("javascript", "typescript", "deno", "bun", "php", "sql"), _C),
    **dict.fromkeys(("c", "cpp", "go", "rust", "java"), _C),
}
_FAULTS = (AssertionError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
#: Languages that the lexers know by other names.
_LEXERS = {"deno": "typescript", "bun": "typescript", "zsh": "bash", "shell": "bash"}


def is_in_comment(language: str, before: str) -> bool:
    """Return whether the code before the caret ends within a comment.

    False for languages whose drivers know it.
    """
    if language not in _COMMENTS:
        return False
    code = cut_code_to_complete(before)
    lexer = _load_lexer(language)
    line = code.rpartition("\n")[2]
    # An open text, as 'http://a, is known only by its end, too.
    if any(
        mark in line and _find_last_kind(lexer, code, mark).startswith("Token.Literal.String")
        for mark in "'\"`"
    ):
        return False
    ends = [""]
    if several := _COMMENTS[language]:
        begin, end = several
        if f"\n{code}".rfind(begin) > f"\n{code}".rfind(end.rstrip("\n")):
            ends.append(end)
    kinds = [_find_last_kind(lexer, code, end) for end in ends]
    return any(kind.startswith("Token.Comment") and "Preproc" not in kind for kind in kinds)


def _find_last_kind(lexer: "Lexer", code: str, end: str) -> str:
    """Return the kind of the last token of the code, when `end` follows it."""
    at = 0
    # Lexers are made for whole and sound code, and some fail on a piece of it.
    with contextlib.suppress(*_FAULTS):
        for _, kind, text in lexer.get_tokens_unprocessed(f"{code}{end}\n"):
            at += len(text)
            if at >= len(code):
                is_over = at == len(code) and text.endswith("\n")
                return "" if is_over else str(kind)
    return ""


@cache
def _load_lexer(language: str) -> "Lexer":
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(_LEXERS.get(language, language), startinline=True)
