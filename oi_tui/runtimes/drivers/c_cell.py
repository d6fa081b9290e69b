"""Separates what belongs outside of `main` in a C or C++ cell from the statements that go into it.

Outside stay lines of the preprocessor, functions, types, namespaces, templates and `using`; all else is a
statement. Both halves keep the cell's lines, so that a compiler counts them as they were written.
"""

# mypy: ignore-errors

from __future__ import annotations

import re

#: Comments, texts and letters, which hold no structure; a digit before a quote makes it a separator.
_OPAQUE = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)"""
    r"""|\b(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1\""""
    r"""|"(?:\\.|[^"\\\n])*"?|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'?""",
    re.S,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
#: What asks which lines count, and counts for both halves; what belongs to the statement behind it.
_CONDITION = re.compile(r"\s*#\s*(?:if|ifdef|ifndef|elif|else|endif)\b")
_OF_STATEMENT = re.compile(r"\s*#\s*pragma\s+(?:omp|acc)\b")
_MAIN = re.compile(r"\bmain\s*\([^;{}]*\)\s*(?:noexcept\s*)?(?:->\s*int\s*)?(?:try\s*)?\{")
_CONTROLS = "if|else|for|while|do|switch|case|default|return|try|catch|goto|throw|co_return|co_await"
_STATEMENT = re.compile(r"(?:{})\b".format(_CONTROLS))
#: Types and modifiers, and the name with what it is given.
_FUNCTION = re.compile(r"(?:\[\[[^\]]*\]\]\s*)?[\w:][\w:<>,*&\s\[\].]*[\s*&>](?:[\w:~]+|operator\W+)\s*\(")
_OUTSIDE = re.compile(r"(?:template|(?:inline\s+)?namespace|using|typedef|static_assert|extern|concept)\b")
_SCOPE = re.compile(r"(?:inline\s+)?(?:namespace\b|extern\b)[^=;(]*\{")
_TYPE = re.compile(
    r"(?:struct|class|union|enum)\b[^=(]*\{"
    r"|(?:struct|class|union|enum(?:\s+class)?)\s+\w+\s*(?::[^{;]*)?;"
)
_TYPE_BEGINS = re.compile(r"(?:typedef|(?:static\s+|const\s+)*(?:struct|class|union|enum))\b[^=(]*\{")


def has_main(code):
    """Return whether the cell defines `main`."""
    return bool(_MAIN.search(_blank_out_details(code)))


def split(code):
    """Return what stands outside of `main`, and what becomes it; each has all lines of the cell."""
    plain = _blank_out_details(code)
    outside, inside = list(_replace_with_spaces(code)), list(code)

    def move_outside(begin, end):
        outside[begin:end] = code[begin:end]
        inside[begin:end] = _replace_with_spaces(code[begin:end])

    for directive in _DIRECTIVE.finditer(_blank_out_details(code, keep_directives=True)):
        begin, end = directive.span()
        if not _OF_STATEMENT.match(directive.group()):
            move_outside(begin, end)
        if _CONDITION.match(directive.group()):
            inside[begin:end] = code[begin:end]
    for begin, end in _find_chunks(plain):
        if _is_definition(plain[begin:end]):
            move_outside(begin, end)
    return "".join(outside), "".join(inside)


def _replace_with_spaces(text):
    return re.sub(r"[^\n]", " ", text)


def _blank_out_details(code, keep_directives=False):
    """Return the code, as long as before, with spaces for what holds no structure."""
    text = _OPAQUE.sub(lambda match: _replace_with_spaces(match.group()), code)
    return (
        text if keep_directives else _DIRECTIVE.sub(lambda match: _replace_with_spaces(match.group()), text)
    )


def _find_chunks(plain):
    """Yield where each definition or statement at the top begins and ends."""
    begin, depth = None, 0
    for place, letter in enumerate(plain):
        if begin is None:
            if letter.isspace():
                continue
            begin = place
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth = max(0, depth - 1)
        if depth:
            continue
        if letter == ";" or (letter == "}" and _ends_at_brace(plain, begin, place)):
            yield begin, place + 1
            begin = None
    if begin is not None:
        yield begin, len(plain)


def _ends_at_brace(plain, begin, place):
    """Return whether a brace that closes at the top ends what it belongs to, rather
    than a value or a type.
    """
    following = plain[place + 1 :].lstrip()[:1]
    head = plain[begin:place]
    if _is_function(plain[begin : place + 1]) or _SCOPE.match(head):
        return True
    if _TYPE_BEGINS.match(head) or following in tuple(";,)].(*?&|<>=+-/"):
        return False
    return "=" not in head.partition("{")[0] or bool(_STATEMENT.match(head)) or "operator" in head


def _is_definition(chunk):
    return bool(_OUTSIDE.match(chunk) or _TYPE.match(chunk)) or _is_function(chunk)


def _is_function(chunk):
    head = chunk.partition("{")[0]
    if not chunk.endswith("}") or _STATEMENT.match(chunk):
        return False
    return bool(_FUNCTION.match(head)) and "=" not in head.partition("(")[0].replace("operator==", "")
