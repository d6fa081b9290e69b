"""Finds the code in a call that could not be read as JSON.

Nothing is guessed while a reply arrives: this is tried once, at the end, on the whole of what a model put
into its call. Each way of writing is tried on its own, from the likeliest to the least likely.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from oi_tui.engine.reply.parts import clean_word, guess

Resolve = Callable[[str], str | None]

#: What is called code in a call, from the plainest word to those that only count when nothing else is there.
CODE = ("code", "source", "source_code", "script", "command", "cmd")
_PERHAPS_CODE = (
    "code_string", "code_block", "codestring", "python_code", "bash_code", "shell_code", "python", "content",
    "text", "body", "program", "snippet", "statement", "expression", "query", "input", "file", "value",
)  # fmt: skip
#: What a `command` of the tools that edit files is; no program is meant.
_EDITS = frozenset(("create", "insert", "str_replace", "undo_edit", "view"))
#: So end the names of others that hold code, such as `sql_script`.
_CODE_SUFFIXES = ("_code", "_command", "_script")
LANGUAGE = ("language", "lang", "programming_language")
#: More than this is not looked at again.
_LONGEST = 400_000
_UNSEEN = re.compile("[\ufeff\u200b-\u200f\u2060\0]")
_OPENING = re.compile(r"\s*(`{3,}|~{3,})[ \t]*([\w+#.-]{0,40})[^\n`]{0,200}\n")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
#: Where a string or a comment may begin.
_BEGIN = re.compile(r'"|/\*|(?<=[\s,{])//')
_SEPARATOR = re.compile(
    r"""([{,]\s{0,50}(?:(["'])[A-Za-z_]{1,30}\2|[A-Za-z_]{1,30}))\s{0,50}(?:=>|=|:=)?\s{0,50}(?=["'`])"""
)
_CURLY = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')
_FIRST_KEY = re.compile(r"""\A\s*["']?(?:language|lang|code|name|arguments)["']?\s*(?::|=>|=)\s*["'`]""")
_YAML = re.compile(
    r"^[ \t]{0,20}(?:code|command|script)[ \t]{0,5}:[ \t]{0,5}"
    r"(?:[|>][-+]?[ \t]{0,5}\n((?:[ \t]+[^\n]*(?:\n|\Z)|\n)+)|([^\n]+))",
    re.MULTILINE,
)
_YAML_LANGUAGE = re.compile(r"^[ \t]*(?:language|lang)[ \t]*:[ \t]*[\"']?([\w+#.-]{1,40})", re.MULTILINE)
_PARAMETERS = re.compile(
    r"""<(?:[a-z]{1,12}:)?parameter(?:=|\ name=["'])([\w-]{1,40})["']?[^>\n]{0,40}>\n?"""
    r"""(.*?)(?:\n?</(?:[a-z]{1,12}:)?parameter>(?=\s{0,50}(?:<(?:/|(?:[a-z]{1,12}:)?parameter)|\Z))|\Z)""",
    re.DOTALL,
)
#: A parameter that is not closed ends where the next one begins.
_OPEN_PARAMETERS = re.compile(
    r"<parameter=([\w-]{1,40})>\n?(.*?)(?:\n?</parameter>)?(?=\s{0,50}<parameter=[\w-]{1,40}>|\s{0,50}\Z)",
    re.DOTALL,
)
_CHILDREN = re.compile(
    r"<(language|lang|code|command|script|source)>\n?(.*?)(?:\n?</\1>(?=\s{0,50}(?:<|\Z))|\Z)", re.DOTALL
)
_CDATA = re.compile(r"\A\s*<!\[CDATA\[\n?(.*?)\n?\]\]>\s*\Z", re.DOTALL)
_PAIRS = re.compile(
    r"<arg_key>\s*([\w-]{1,40})\s*</arg_key>\s*<arg_value>\n?"
    r"(.*?)(?:\n?</arg_value>(?=\s{0,50}(?:<(?:/|arg_key)|\Z))|\Z)",
    re.DOTALL,
)
_WORDS = re.compile(r"[^a-z0-9+#]+")


class RecoveredCall(NamedTuple):
    """A piece of code, and the word for its language."""

    language: str
    code: str


def recover_calls(raw: str, name: str, resolve: Resolve) -> list[RecoveredCall]:
    """Return the pieces of code in the arguments of a call; none when that is unclear."""
    raw = _UNSEEN.sub("", raw[:_LONGEST]).strip() if len(raw) <= _LONGEST else ""
    if not raw:
        return []
    for way in (_as_value, recover_from_tags, _as_python_call, _as_yaml, _as_code):
        if calls := way(raw, name, resolve):
            return calls
    return []


def find_language(name: str, resolve: Resolve) -> str | None:
    """Return the language that the name of a function tells, as in `bash` or `execute_python`.

    None if none.
    """
    name = name.strip().lower()
    if resolve(name) is not None:
        return name
    words = [word for word in _WORDS.split(name) if word]
    return next((word for word in words if len(word) > 1 and resolve(word) is not None), None)


def recover_code(
    code: str, language: str | None, name: str, key: str, resolve: Resolve
) -> RecoveredCall | None:
    """Return the code with its language: given, guessed, or taken from a name; None if it is unknown."""
    if language is not None:
        return RecoveredCall(language, code)
    if resolve(name.strip().lower()) is not None:
        return RecoveredCall(name.strip().lower(), code)
    if guessed := guess(code):
        return RecoveredCall(*guessed)
    word = find_language(name, resolve)
    if word is None and key in ("command", "cmd") and code.strip() not in _EDITS:
        word = "shell"
    return RecoveredCall(word, code) if word is not None and code.strip() else None


def strip_fence(text: str) -> tuple[str, str] | None:
    """Return the first word of the info string and the inside of a text
    that is one fenced block; else None.
    """
    opening = _OPENING.match(text)
    body = text.rstrip()
    if opening is None:
        return None
    inner = body.rstrip(opening[1][0])
    if len(body) - len(inner) < len(opening[1]) or len(inner) < opening.end():
        return None
    return opening[2].lower(), inner[opening.end() :].rstrip(" \t").removesuffix("\n")


def join_command(words: list[str]) -> str:
    """Return the shell code that a list of strings stands for: lines of commands, or the words of one.

    `["bash", "-lc", "ls"]` is the `ls` that bash is asked to run.
    """
    import shlex

    if len(words) == 3 and words[0].rpartition("/")[2] in ("sh", "bash", "zsh") and words[1] in ("-c", "-lc"):
        return words[2]
    if len(words) <= 1 or re.search(r"\s", words[0]):
        return "\n".join(words)
    return shlex.join(words)


# -- JSON, and what was meant to be JSON ----------------------------------------------------------


def _as_value(raw: str, name: str, resolve: Resolve) -> list[RecoveredCall]:
    for text in _list_readings(raw):
        value = _parse_value(text)
        for _ in range(4):
            if not isinstance(value, str) or (again := _parse_value(value)) is None:
                break
            value = again
        if calls := _recover_from_value(value, name, resolve):
            return calls
    return []


def _list_readings(raw: str) -> Iterator[str]:
    """Return the text, and the readings that may have been meant."""
    yield raw
    if fenced := strip_fence(raw):
        raw = fenced[1]
        yield raw
    if _FIRST_KEY.match(raw):
        raw = f"{{{raw}}}"
        yield raw
    first, last = raw.find("{"), raw.rfind("}")
    if 0 <= first < last:
        inner = raw[first : last + 1]
        yield inner
        for _ in range(3):
            if not inner.startswith("{{"):
                break
            inner = inner[1:-1] if inner.endswith("}}") else inner[1:]
            yield inner
        if inner.startswith(('{\\"', "{\\n")):
            yield inner.replace('\\"', '"').replace("\\\\", "\\")
        if "\u201c" in inner:
            yield inner.translate(_CURLY)
        if "//" in inner or "/*" in inner:
            yield _remove_comments(inner)
        yield _SEPARATOR.sub(r"\1: ", inner)


def _remove_comments(text: str) -> str:
    """Return the text without comments outside of strings, in linear time.

    What is not closed is no string and no comment, and is looked for only once.
    """
    parts: list[str] = []
    kept = place = 0
    last_end = text.rfind("*/")
    has_string = True
    while begin := _BEGIN.search(text, place):
        start, place = begin.start(), begin.end()
        if begin[0] == '"':
            string = _STRING.match(text, start) if has_string else None
            # Quotes within a string that is not closed are escaped, so no other one is closed after it.
            has_string = string is not None
            place = string.end() if string else place
            continue
        if begin[0] == "//":
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
        elif place <= last_end:
            end = text.find("*/", place) + 2
        else:
            continue
        parts.append(text[kept:start])
        kept = place = end
    return "".join([*parts, text[kept:]])


def _parse_value(text: str) -> Any:
    """Parse a text as JSON or as a Python literal; None when it is neither."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    if len(text) > 200_000:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        pass
    try:
        return json.loads(re.sub(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)", r'\1"\2"\3', text), strict=False)
    except (ValueError, RecursionError):
        return None


def _recover_from_value(value: Any, name: str, resolve: Resolve, depth: int = 0) -> list[RecoveredCall]:
    if depth > 6:
        return []
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(entry, str) for entry in value):
            word, code = value
            return (
                [RecoveredCall(clean_word(word), code)] if resolve(clean_word(word)) and code.strip() else []
            )
        return [entry for item in value[:50] for entry in _recover_from_value(item, name, resolve, depth + 1)]
    if not isinstance(value, dict):
        return []
    keyed = {str(key).strip().lower(): one for key, one in value.items()}
    text = next((_unwrap_text(keyed[key]) for key in LANGUAGE if key in keyed), None)
    text = clean_word(text) if text and text.strip() else None
    for key in _list_code_keys(keyed, text):
        code = _find_code(keyed[key], key)
        if code is not None and (language := recover_code(code, text, name, key, resolve)):
            return [language]
    if text is not None:
        others = [one for key, one in keyed.items() if key not in LANGUAGE and isinstance(one, str)]
        if len(others) == 1 and others[0].strip() and resolve(text):
            return [RecoveredCall(text, others[0])]
    inner = next(
        (keyed[key] for key in ("name", "tool", "function") if isinstance(keyed.get(key), str)), name
    )
    return [
        language
        for entry in list(value.values())[:50]
        if isinstance(entry, dict | list)
        for language in _recover_from_value(entry, inner, resolve, depth + 1)
    ]


def _list_code_keys(keyed: Mapping[str, Any], language: str | None) -> Iterator[str]:
    """Return the keys that may hold the code, the likeliest first; without a language, fewer may."""
    for key in CODE if language is None else (*CODE, *_PERHAPS_CODE):
        if key in keyed:
            yield key
    yield from (key for key in keyed if key.endswith(_CODE_SUFFIXES))


def _unwrap_text(value: Any) -> str | None:
    """Return the string of a value that may lie in a list of one, or under `value`."""
    match value:
        case str():
            return value
        case [str(only)]:
            return only
        case {"value": str(only)}:
            return only
    return None


def _find_code(value: Any, key: str) -> str | None:
    match value:
        case str():
            return value if value.strip() else None
        case [*lines] if lines and all(isinstance(line, str) for line in lines):
            return join_command(lines) if key in ("command", "cmd") else "\n".join(lines)
        case {"text": str(only)} | {"value": str(only)} | {"code": str(only)} | {"content": str(only)}:
            return only
        case bool() | None:
            return None
        case int() | float():
            return str(value)
    return None


# -- other ways to write a call ---------------------------------------------------------------------


def recover_from_tags(raw: str, name: str, resolve: Resolve) -> list[RecoveredCall]:
    """Return the code of arguments that are elements of XML, or pairs of keys and values."""
    if "<" not in raw:
        return []
    values: dict[str, str] = {}
    for pattern in (_PAIRS, _PARAMETERS, _CHILDREN):
        for match in () if values else pattern.finditer(raw):
            values.setdefault(match[1].lower(), _CDATA.sub(r"\1", match[2]))
    return _read_values(values, name, resolve) or _read_values(
        {match[1].lower(): match[2] for match in _OPEN_PARAMETERS.finditer(raw)}, name, resolve
    )


def _read_values(values: dict[str, str], name: str, resolve: Resolve) -> list[RecoveredCall]:
    text = next((clean_word(values[key]) for key in LANGUAGE if values.get(key, "").strip()), None)
    for key in _list_code_keys(values, text):
        code = _find_code(_parse_words(values[key], key), key)
        if code is not None and (language := recover_code(code, text, name, key, resolve)):
            return [language]
    return []


def _parse_words(value: str, key: str) -> Any:
    """Return a command that is written as a list of its words as that list."""
    if key in ("command", "cmd") and value.lstrip()[:1] == "[":
        return _parse_value(value) or value
    return value


def _as_python_call(raw: str, name: str, resolve: Resolve) -> list[RecoveredCall]:
    """Read one or more calls in the syntax of Python, or only their arguments."""
    if "=" not in raw and "(" not in raw:
        return []
    body = fenced[1] if (fenced := strip_fence(raw)) else raw
    for text in (body.strip(), f"{name.strip() or 'execute'}({body.strip()})"):
        if calls := recover_from_python(text, resolve):
            return calls
    return []


def recover_from_python(text: str, resolve: Resolve) -> list[RecoveredCall]:
    """Return the code of calls like `execute(language="python", code="1")`, on their own, printed
    or in a list.
    """
    if len(text) > 200_000:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls: list[RecoveredCall] = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            return []
        node = statement.value
        nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        for item in nodes:
            call = _recover_from_call(item, resolve)
            if call is None:
                return []
            calls.append(call)
    return calls


def _recover_from_call(node: ast.expr, resolve: Resolve) -> RecoveredCall | None:
    if not isinstance(node, ast.Call):
        return None
    function = ast.unparse(node.func).rpartition(".")[2]
    if function == "print" and len(node.args) == 1 and not node.keywords:
        return _recover_from_call(node.args[0], resolve)
    values = {
        (keyword.arg or "").lower(): keyword.value.value
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }
    if len(values) != len(node.keywords):
        return None
    texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    if len(texts) != len(node.args):
        return None
    if len(texts) == 2 and not values and resolve(texts[0].strip().lower()):
        return RecoveredCall(clean_word(texts[0]), texts[1])
    language = next((clean_word(values[key]) for key in LANGUAGE if key in values), None)
    for key in CODE:
        if key in values:
            return recover_code(values[key], language, function, key, resolve)
    if len(texts) == 1 and language is not None:
        return RecoveredCall(language, texts[0])
    return None


def _as_yaml(raw: str, name: str, resolve: Resolve) -> list[RecoveredCall]:
    code = _YAML.search(raw)
    if code is None or raw.lstrip()[:1] in "{[<":
        return []
    match = _YAML_LANGUAGE.search(raw)
    if code[1] is not None:
        lines = code[1].rstrip("\n").split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        text = "\n".join(line[indent:] for line in lines)
    else:
        text = code[2].strip()
        text = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    language = recover_code(text, clean_word(match[1]) if match else None, name, "code", resolve)
    return [language] if language else []


def _as_code(raw: str, name: str, resolve: Resolve) -> list[RecoveredCall]:
    """Return the code itself, with nothing around it but perhaps a fence."""
    if raw[0] in "{[":
        return []
    if fenced := strip_fence(raw):
        word, code = fenced
        language = recover_code(code, word if resolve(word) else None, name, "", resolve)
    else:
        guessed = guess(raw)
        language = RecoveredCall(*guessed) if guessed else None
    return [language] if language else []
