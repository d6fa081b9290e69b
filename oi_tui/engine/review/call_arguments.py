"""Reads the arguments of calls as far as their text says what they are: texts, variables and joined paths."""

import re
from itertools import product

#: Languages in which a call needs no parentheses.
WITH_BARE_CALLS = frozenset(("ruby", "perl"))
#: How much of a call is read, and how many values an expression may have.
LONGEST_CALL = 2_000
_MOST_VALUES = 20
#: A text in quotes: the mark, and what it holds.
QUOTED = re.compile(r"""(['"`])((?:\\.|(?!\1)[^\\])*)\1""", re.DOTALL)
#: What neither begins a text nor ends an argument.
_PLAIN = re.compile(r"[^'\"`()\[\]{},\n;|]+")
#: A variable that holds a text.
_ASSIGNED = re.compile(
    r"""(?<![\w.])[$@]?([A-Za-z_][\w.]{0,60})\s{0,8}(?::\s*\w+\s*)?(?:<<?-|:?=(?![=~>]))\s{0,8}([^\n;]{1,300})"""
)
#: Functions that put paths together, and what stands between the parts.
_JOINS = re.compile(
    r"(?:(?:file\.path|File\.join|path\.(?:join|resolve)|filepath\.Join|join|joinpath|fullfile|Paths?\.(?:of|get))"
    r"|paste0(?P<bare>)"
    r"|(?:Pathname(?:\.new)?|Bun\.file|Path::new|new File|file|normalizePath)(?P<one>))\s*\("
)
_HOLE = re.compile(r"[#$]\{\s*(\w+)\s*\}|\$\((\w+)\)|\$(\w+)")
#: What may follow the last argument of a call without parentheses.
_BEHIND = re.compile(r"\s+(?:or|and|if|unless|do)\b")


def split_arguments(code: str, start: int, *, bare: bool = False) -> list[str]:
    """Return the arguments of a call, from behind its parenthesis; of a bare one, the rest of the line."""
    return read_arguments(code, start, bare=bare)[0]


def read_arguments(
    code: str, start: int, *, bare: bool = False, longest: int = LONGEST_CALL
) -> tuple[list[str], bool]:
    """Return the arguments of a call as `split_arguments`, and whether `longest` characters hold them all."""
    parts, depth, at = [], 0, start
    end = min(len(code), start + longest)
    while at < end:
        if skipped := _PLAIN.match(code, at, end) or QUOTED.match(code, at, end):
            at = skipped.end()
            continue
        char = code[at]
        if char in "([{":
            depth += 1
        elif (char in ")]}" and not depth) or (bare and not depth and char in "\n;|"):
            break
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(code[start:at])
            start = at + 1
        at += 1
    parts.append(code[start:at])
    return [part.strip() for part in parts if part.strip()], at < end or end == len(code)


def read_variables(code: str) -> dict[str, list[str]]:
    """Return the texts that each variable may hold."""
    variables: dict[str, list[str]] = {}
    for match in _ASSIGNED.finditer(code):
        texts = variables.setdefault(match[1], [])
        texts += [text for text in evaluate(match[2].strip(), variables) if text not in texts]
        del texts[_MOST_VALUES:]
    return variables


def evaluate(expression: str, variables: dict[str, list[str]]) -> list[str]:
    """Return the texts that an expression may stand for; none where they are not known."""
    expression = expression.strip().removeprefix("await ").strip()
    quoted = QUOTED.match(expression)
    if quoted and (quoted.end() == len(expression) or _BEHIND.match(expression, quoted.end())):
        return _fill_holes(quoted[1], quoted[2], variables)
    if re.fullmatch(r"[$@]?[A-Za-z_][\w.]*", expression):
        return variables.get(expression.lstrip("$@"), [])
    if (join := _JOINS.match(expression)) is not None and expression.endswith(")"):
        parts = split_arguments(expression, join.end())
        between = "" if join["bare"] is not None else "/"
        return _combine(parts[:1] if join["one"] is not None else parts, between, variables)
    for sign in ("+", "..", "."):
        pieces = _split_at(expression, sign)
        if len(pieces) > 1:
            return _combine(pieces, "", variables)
    return []


def _combine(parts: list[str], between: str, variables: dict[str, list[str]]) -> list[str]:
    values = [evaluate(part, variables) for part in parts]
    if not all(values):
        return []
    return [between.join(items) for items, _ in zip(product(*values), range(_MOST_VALUES), strict=False)]


def _split_at(expression: str, sign: str) -> list[str]:
    """Split an expression of texts and names at a sign between them."""
    item = r"""(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|[$@]?[A-Za-z_]\w*)"""
    if not re.fullmatch(rf"{item}(?:\s*{re.escape(sign)}\s*{item})+", expression):
        return []
    return re.findall(item, expression)


def _fill_holes(mark: str, text: str, variables: dict[str, list[str]]) -> list[str]:
    """Return a quoted text with the variables in it replaced."""
    text = re.sub(r"\\(.)", r"\1", text)
    if mark == "'" or not _HOLE.search(text):
        return [text]
    texts = [""]
    at = 0
    for hole in _HOLE.finditer(text):
        values = variables.get(hole[1] or hole[2] or hole[3], [])
        texts = [f"{before}{text[at : hole.start()]}{value}" for before in texts for value in values]
        at = hole.end()
        del texts[_MOST_VALUES:]
    return [f"{before}{text[at:]}" for before in texts]
