"""Rules for the lines of a Python cell that are no Python: `!command`, `%name`, and the cells of `%%name`."""

import ast
import re
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import replace

from oi_tui.engine.review import sql_rules
from oi_tui.engine.review.findings import Finding, Kind, find_hosts, find_private
from oi_tui.engine.review.line_rules import PATTERNS, find_patterns
from oi_tui.engine.review.python.call_table import LOADING_VARIABLES
from oi_tui.engine.review.shell import rules as shell_rules

#: Words that run a program of that name, or stand for one.
_PROGRAMS = (
    *("pip", "pip3", "conda", "mamba", "uv", "cd", "ls", "ll", "lf", "mkdir", "rmdir", "cp", "mv", "rm"),
    *("cat", "more", "less", "pycat", "touch", "man", "which", "ldir", "lk", "lx", "micromamba"),
)
_IS_PROGRAM = re.compile(rf"(?:{'|'.join(_PROGRAMS)})(?!\w)")
#: Those that need no `%` where the line is no Python.
_AUTOMATIC = re.compile(
    r"^\s*((?:pip3?|conda|mamba|cd|ls|ll|lf|cat|pycat|less|more|load_ext|time|timeit|prun|run|env)\s+[^=(].*)$"
)
_COMMAND = re.compile(r"^\s*(?:[\w.\[\],][\w.\[\], ]*=\s*)?(!!?|%)(?!=)(.*)$")
#: What a line fills in; in braces of the shell's own there is rarely Python.
_BRACES = re.compile(r"\{([^{}\n]+)\}")
#: Magics that run the Python behind their options.
_MEASURED = re.compile(r"\s*(?:time|timeit|prun|debug|memit)\s+(?:-\w+(?:\s+\d+)?\s+)*(.+)$")
#: Lines of their own that only choose how plots are shown.
_SHOWING = re.compile(
    r"%[ \t]*(?:matplotlib(?:[ \t]+(?:inline|agg))?[ \t]*"
    r"|config[ \t]+InlineBackend\.figure_formats?[ \t]*=[\w'\"{}, \t]+)"
)
#: The same as _MEASURED, for what is known to run nothing but the Python behind it. Options: `timeit` only.
#: A line that ends with a backslash takes in the next one, even where Python sees a comment there.
_TIMED = re.compile(r"%time(?:it(?: +-[nr] *[0-9]+)*)? +(?=[^-\s])(.*[^\\])")
_TIMED_CELL = re.compile(r"%%time(?:it(?: +-[nr] *[0-9]+)*)? *")
#: Ends of lines that Python or a magic counts in another way.
_ODD_SPACE = re.compile(r"[\r\v\f]")
#: Magics that write the file they name, after the letter of an option where one is here.
_WRITING = {
    "save": "",
    "logstart": "",
    "notebook": "",
    "history": "-f",
    "hist": "-f",
    "edit": "",
    "store": ">",
}
_SHELLS = frozenset(("bash", "sh", "zsh", "shell", "!", "system", "sx"))
#: Cells whose text is only shown.
_SHOWN = frozenset(("html", "svg", "markdown", "latex", "javascript", "js"))
_OTHERS = {"python2": "python", "python3": "python", "pypy": "python", "node": "javascript"}
#: The prompts that Python and IPython show before lines, which the driver takes away.
_PROMPT = re.compile(r"^[ \t]*(?:(?:>>>|\.\.\.)(?= |$)|(?:In \[\d+\]|\.{3,}):(?= |$)) ?", re.MULTILINE)
_NOTEBOOK_PROMPT = re.compile(r"\s*In \[\d+\]:(?: |$)", re.MULTILINE)


def has_notebook_prompt(code: str) -> bool:
    """Return whether the code begins with `In [1]:`, which Python could read as an annotation."""
    return _NOTEBOOK_PROMPT.match(code) is not None


def strip_prompts(code: str) -> str:
    """Return the code without the prompts that were copied with it."""
    return _PROMPT.sub("", code)


def replace_magics(code: str) -> tuple[str, list[Finding]]:
    """Return the code with the Python of its braces in place of each line that is no Python, and what these
    lines do.
    """
    lines, findings = code.split("\n"), list[Finding]()
    for index, line in enumerate(lines):
        words = _AUTOMATIC.match(line)
        if words and not _is_python(words[1]):
            if (inner := _MEASURED.match(words[1])) and _is_python(inner[1]):
                lines[index] = line[: len(line) - len(line.lstrip())] + inner[1]
                continue
            findings_here = list(_check_magic(words[1]))
        elif command := _COMMAND.match(line):
            sign, rest = command.groups()
            if sign == "%" and (inner := _MEASURED.match(rest)) and _is_python(inner[1]):
                lines[index] = line[: len(line) - len(line.lstrip())] + inner[1]
                continue
            findings_here = list(_check_magic(rest) if sign == "%" else _check_program(rest))
        else:
            continue
        indent = line[: len(line) - len(line.lstrip())]
        lines[index] = indent + (_extract_expressions(line) or "pass")
        findings += (replace(item, line=index + 1) for item in findings_here)
    return "\n".join(lines), findings


def read_notebook_cell(code: str) -> tuple[str, ast.Module] | None:
    """Return the code without magics that only measure it or choose how plots are shown, and its tree.

    The lines stay. None where that cannot be read as the language's driver does: it takes a line for a magic
    only where Python cannot read the cell, so a line in a text or in parentheses stays what it is.
    """
    first, _, rest = code.partition("\n")
    if _TIMED_CELL.fullmatch(first):
        return None if _ODD_SPACE.search(code) else read_notebook_cell(f"\n{rest}")
    if _loses_prompts(code):
        return None
    if (tree := parse_python(code)) is not None:
        return code, tree
    lines, replaced = code.split("\n"), set[int]()
    for index, line in enumerate(lines):
        if _SHOWING.fullmatch(line):
            lines[index] = "pass"
        elif (timed := _TIMED.fullmatch(line)) and _is_python(timed[1]) and not _loses_prompts(timed[1]):
            lines[index] = timed[1]
        else:
            continue
        replaced.add(index + 1)
    stripped = "\n".join(lines)
    tree = parse_python(stripped) if replaced and not _ODD_SPACE.search(code) else None
    if tree is None:
        return None
    # No statement begins with `%`. So where all of them stand at such a place, the driver replaces them all.
    begun = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and not node.col_offset}
    return (stripped, tree) if replaced <= begun else None


def _loses_prompts(code: str) -> bool:
    """Return whether the driver takes prompts from the code although Python may read it."""
    return code.lstrip().startswith("In [") and (not code.startswith("In [") or strip_prompts(code) != code)


def parse_python(code: str) -> ast.Module | None:
    """Return the tree of Python code; None for what is no Python."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def open_cell(code: str) -> tuple[str, list[Finding]]:
    """Return the Python of a cell that may begin with `%%name`, its lines in their places, and what its
    other text does.
    """
    first, _, body = code.partition("\n")
    if not first.startswith("%%"):
        return code, []
    name, _, rest = first[2:].strip().partition(" ")
    rest = rest.strip()
    filled_in = _extract_expressions(rest)
    if name == "script":
        name, _, rest = rest.partition(" ")
        if name not in _SHELLS and name not in _OTHERS and name not in PATTERNS:
            return filled_in, [replace(item, line=1) for item in _check_program(f"{name} {rest}")]
    findings: list[Finding] = []
    if name in _SHELLS:
        findings = shell_rules.scan(body)
    elif name in ("writefile", "file"):
        file, adds = _find_file(rest), rest.startswith(("-a", "--append"))
        return filled_in, [Finding("writes", file, 1), *([] if adds else [Finding("overwrites", file, 1)])]
    elif name == "sql":
        findings = sql_rules.scan(body)[0]
    elif (language := _OTHERS.get(name, name)) in PATTERNS and name not in _SHOWN:
        findings = [Finding("programs", name, 0), *find_patterns(language, body)]
    elif name in _SHOWN:
        findings = [Finding("network", host, 0) for host in find_hosts(body)]
    else:
        # `%%time` and its like; and a name that is not known may be one that code gave to what runs Python.
        return f"{filled_in}\n{body}", []
    return filled_in, [replace(item, line=item.line + 1) for item in findings]


def _extract_expressions(text: str) -> str:
    """Return the Python in the braces of a line, which is evaluated before a shell gets the line."""
    expressions = []
    for inner in _BRACES.findall(text):
        for expression in (inner, inner.rpartition("!")[0], inner.partition(":")[0]):
            if expression.strip() and _is_python(f"({expression})"):
                expressions.append(f"({expression})")
                break
    return "; ".join(expressions)


def _is_python(line: str) -> bool:
    """Return whether the line can be read as Python, which `less -x` can."""
    return parse_python(line) is not None


def _check_program(words: str) -> Iterator[Finding]:
    """Review a shell command."""
    name = words.split(maxsplit=1)[0] if words.split() else ""
    yield Finding("programs", name, 0)
    yield from shell_rules.scan(words)


def _check_magic(text: str) -> Iterator[Finding]:
    """Review what follows `%`."""
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    kind: Kind
    if _IS_PROGRAM.match(text.strip()):
        yield from _check_program(text.strip())
    elif name in ("sx", "system"):
        yield from _check_program(rest)
    elif name in ("sc", "alias"):
        yield from _check_program(rest.partition("=" if name == "sc" else " ")[2])
    elif name == "sql":
        yield from sql_rules.scan(rest)[0]
    elif name in ("run", "load_ext", "reload_ext", "macro", "rerun"):
        yield Finding("runs text", rest, 0)
    elif name == "store" and rest:
        if rest.startswith("-r"):
            yield Finding("runs text", rest, 0)
        elif rest.startswith(("-d", "-z")):
            yield Finding("deletes", rest, 0)
        else:
            file = rest.rpartition(">")[2].strip()
            yield Finding("writes", file, 0)
            if ">" in rest and ">>" not in rest:
                yield Finding("overwrites", file, 0)
    elif name in _WRITING:
        _, mark, after = rest.partition(_WRITING[name]) if _WRITING[name] else ("", "", rest)
        if mark or not _WRITING[name]:
            yield Finding("writes", _find_file(after), 0)
    elif name in ("env", "set_env") and re.split(r"[=\s]", rest)[0] in LOADING_VARIABLES:
        yield Finding("system", re.split(r"[=\s]", rest)[0], 0)
    elif name in ("load", "loadpy"):
        for host in find_hosts(rest):
            yield Finding("network", host, 0)
        if private := find_private(rest):
            yield Finding("secrets", private, 0)
    elif name == "pastebin":
        yield Finding("network", "", 0)
    elif name == "snapshot":
        kind = "writes" if rest.startswith(("save ", "leave ")) else "runs text"
        yield Finding(kind, _find_file(rest.partition(" ")[2]), 0)


def _find_file(rest: str) -> str:
    """Return the first word that is no option."""
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    return next((word for word in words if not word.startswith("-")), "")
