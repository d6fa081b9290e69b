"""The lines of a cell that are no Python but what people write in notebooks: `!command`, `%pip`, `%%bash`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import re

from python_quiet_import import import_quietly

_ASSIGNED = re.compile(r"^(\s*)([A-Za-z_][\w.\[\], ]*?)\s*=\s*([!%])(?!=)(.*)$", re.DOTALL)
_BARE = re.compile(r"^(\s*)([!%])(?!=)(.*)$", re.DOTALL)
_HELP = re.compile(r"^(\s*)(\?{0,2})(%{0,2}[A-Za-z_*][\w.*]*(?:\[[^\[\]]*\][\w.*]*)*|)(\?{0,2})\s*(?:#.*)?$")
#: The prompts of Python and of IPython before lines that were copied with them, and how the first begins.
_PROMPTS = (
    (re.compile(r">>>(?: |$)"), re.compile(r"(?:>>>|\.\.\.)(?: |$)")),
    (re.compile(r"In \[\d+\]:(?: |$)"), re.compile(r"(?:In \[\d+\]:| *\.{3,}:)(?: |$)")),
)
#: What notebooks take for a magic without its `%`, where it is no Python: only what hurts nobody.
_AUTOMATIC = re.compile(
    r"^(\s*)((?:pip3?|conda|mamba|cd|ls|ll|lf|cat|pycat|less|more|who|whos|matplotlib|pylab|load_ext|autoreload"
    r"|time|timeit|prun|run|env)\s+[^=(].*)$",
    re.DOTALL,
)


def parse(source, parse_python, trouble, driver):
    """Return the syntax tree of a cell with such lines, and its text. Raises `trouble` where it has none.

    Whether a line is one of them is asked of Python itself: only what it cannot read is replaced, line by
    line, so that strings and expressions which look alike stay as they are, and lines keep their numbers.
    """
    try:
        return _parse_lines(source, parse_python, trouble, driver)
    except SyntaxError:
        bare = remove_prompts(source)
        if bare == source:
            raise
    try:
        return parse_python(bare), bare
    except SyntaxError as error:
        return _parse_lines(bare, parse_python, error, driver)


def _parse_lines(source, parse_python, trouble, driver):
    if isinstance(trouble, IndentationError):
        flush = _flush(source)
        if flush != source:
            try:
                return parse_python(flush), flush
            except SyntaxError as error:
                source, trouble = flush, error
    lines = source.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip() and line.lstrip()[0] != "#"), 0)
    if lines[first].startswith("%%"):
        define(driver)
        # Its lines keep their numbers below the lines that stand for those above.
        rest = "\n" * (first + 1) + "\n".join(lines[first + 1 :])
        body = "__oi_cell__({!r}, {!r})".format(lines[first][2:].strip(), rest)
        return parse_python("\n" * first + body), source
    error, replaced = trouble, set()
    for _ in range(len(lines)):
        at = _find_candidate(lines, error)
        if at is None:
            break
        define(driver)
        end = at
        while lines[end].endswith("\\") and end + 1 < len(lines) and not _is_help(lines[at]):
            end += 1
        replaced.add(at + 1)
        lines[at] = _replace("\n".join(lines[at : end + 1]).replace("\\\n", " "))
        lines[at + 1 : end + 1] = [""] * (end - at)
        try:
            return parse_python("\n".join(lines)), source
        except SyntaxError as next_error:
            error = next_error
    # Where the first mistake was such a line, the one that is left is the mistake.
    is_left = trouble.lineno in replaced and error.lineno not in replaced
    raise (error if is_left else trouble) from None


def remove_prompts(source):
    """Return the text without the prompts before its lines, where the first or the second line of it has one.

    Lines without a prompt, such as the output that was copied too, stay as they are, as in IPython.
    """
    lines = _flush(source).split("\n")
    at = next((at for at, line in enumerate(lines) if line.strip()), 0)
    for first, each in _PROMPTS:
        if first.match(lines[at]) or (at + 1 < len(lines) and each.match(lines[at + 1])):
            return "\n".join(each.sub("", line, count=1) for line in lines)
    return source


def _flush(source):
    """Return the text without the indentation of its first line of code, where all of its lines have that."""
    lines = source.split("\n")
    indent = next((re.match(r"\s*", line).group() for line in lines if line.strip()), "")
    if indent and all(line.startswith(indent) or not line.strip() for line in lines):
        return "\n".join(line[len(indent) :] for line in lines)
    return source


def _find_candidate(lines, error):
    number = min(max((error.lineno or 1) - 1, 0), len(lines) - 1)
    nearest = sorted(range(len(lines)), key=lambda at: (abs(at - number), at > number))
    for at in nearest:
        line = lines[at]
        if _BARE.match(line) or _ASSIGNED.match(line):
            return at
        if at == number and (_is_help(line) or _AUTOMATIC.match(line)):
            return at
    return None


def _is_help(line):
    match = _HELP.match(line)
    return match is not None and bool(match.group(2) or match.group(4))


def _replace(line):
    if _is_help(line):
        indent, before, name, after = _HELP.match(line).groups()
        return "{}__oi_facts__({!r}, {})".format(indent, name, "??" in (before, after))
    assigned = _ASSIGNED.match(line)
    if assigned:
        indent, target, sign, rest = assigned.groups()
        name = "__oi_capture__" if sign == "!" else "__oi_magic__"
        return "{}{} = {}({!r})".format(indent, target, name, rest.strip())
    bare = _BARE.match(line)
    if bare:
        indent, sign, rest = bare.groups()
        if sign == "!" and rest.startswith("!"):
            return "{}__oi_capture__({!r})".format(indent, rest[1:])
        name = "__oi_shell__" if sign == "!" else "__oi_magic__"
        return "{}{}({!r})".format(indent, name, rest if sign == "!" else rest.strip())
    indent, rest = _AUTOMATIC.match(line).groups()
    return "{}__oi_magic__({!r})".format(indent, rest.strip())


def define(driver):
    """Have what such lines became do what it says."""
    if hasattr(builtins, "__oi_shell__"):
        return
    magics = get_magics(driver)
    builtins.__oi_shell__ = magics.shell
    builtins.__oi_capture__ = magics.capture
    builtins.__oi_magic__ = magics.line
    builtins.__oi_cell__ = magics.cell
    builtins.__oi_facts__ = magics.facts


def get_magics(driver):
    """Return the magics of the driver, which are made once."""
    if driver.magics is None:
        driver.magics = import_quietly("python_magic_runner").Magics(driver)
    return driver.magics
