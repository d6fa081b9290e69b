"""Finds the files that PowerShell code writes. Its commands name them by parameters, in any order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import PurePosixPath

from oi_tui.engine.review.call_arguments import split_arguments
from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.quoting import remove_comments


@dataclass(frozen=True, slots=True)
class _Command:
    """A command that writes a file."""

    #: The parameter that names the file, and its place where it is not named, from 0; -1 where it always is.
    parameter: str
    place: int = 0
    #: A pattern of a parameter without which a file that is there stays as it is.
    needs: str = ""
    #: Whether the first argument is copied or moved, under its own name where the file is a folder.
    copies: bool = False


_WRITE = _Command("path|literalpath|filepath|pspath|lp")
_ADD = _Command(_WRITE.parameter, needs="^$")
_FORCED = r"-fo(?:r(?:ce?)?)?$"
_NEW = _Command("path|name", needs=_FORCED)
_COPY = _Command("destination", 1, copies=True)
_MOVE = _Command("destination", 1, _FORCED, copies=True)
_DOWNLOAD = _Command("outfile|o", -1)
_COMMANDS = {
    **dict.fromkeys(("set-content", "sc", "out-file", "tee-object", "tee"), _WRITE),
    **dict.fromkeys(("export-csv", "epcsv", "export-clixml"), _WRITE),
    **dict.fromkeys(("add-content", "ac", "start-transcript"), _ADD),
    **dict.fromkeys(("new-item", "ni"), _NEW),
    **dict.fromkeys(("copy-item", "cpi", "copy", "cp", "mv"), _COPY),
    **dict.fromkeys(("move-item", "mi", "move"), _MOVE),
    **dict.fromkeys(("invoke-webrequest", "iwr", "invoke-restmethod", "irm", "wget", "curl"), _DOWNLOAD),
    "compress-archive": _Command("destinationpath", 1, rf"{_FORCED}|-u(?:pdate)?$"),
}
#: Parameters after which the next word is an argument of its own, as far as commands above have them.
_SWITCHES = (
    *("append", "force", "noclobber", "nonewline", "notypeinformation", "includetypeinformation", "passthru"),
    *("recurse", "asbytestream", "whatif", "confirm", "update", "useculture", "verbose", "container"),
)
_KEEPS = re.compile(r"-(?:app?e?n?d?|nocl?o?b?b?e?r?|whatif|wi)$", re.IGNORECASE)

_TEXT = r"'(?:''|[^'])*'|\"(?:`.|\"\"|[^\"`])*\""
#: A word of a command: texts, parts in brackets, and all other characters but those that end a word.
_WORD = re.compile(rf"(?:{_TEXT}|\$?[({{\[](?:{_TEXT}|[^'\"()\[\]{{}}\n])*[)}}\]]|`.|[^\s'\"(){{}};|<>,`])+")
#: A mark behind "`" begins no text.
_NAME = re.compile(
    rf"(?P<text>{_TEXT}|`.)|(?<![\w.$:\\/-])(?P<name>{'|'.join(map(re.escape, _COMMANDS))})(?=[ \t])",
    re.IGNORECASE,
)
#: A redirection to a file; one of two signs adds to it.
_REDIRECTION = re.compile(
    rf"(?P<text>{_TEXT}|`.)|(?<![-=<])[\d*]?>(?P<adds>>?)(?![>&=])[ \t]*", re.IGNORECASE
)
_METHOD = re.compile(
    r"\[(?:System\.)?IO\.(?:File\]::(?P<method>WriteAll\w+|Create(?:Text)?|OpenWrite|Append\w+|Copy|Move|Replace)"
    r"|StreamWriter\]::new)\(",
    re.IGNORECASE,
)
_MADE = re.compile(r"\bNew-Object\s+(?:-TypeName\s+)?(?:System\.)?IO\.StreamWriter\b[ \t(]*", re.IGNORECASE)
_TRUE = re.compile(r"^\$true$", re.IGNORECASE)
_ASSIGNED = re.compile(r"(?<![\w`])\$(\w+)\s*=(?!=)[ \t]*([^\n;|]{1,300})")
_HOLE = re.compile(r"\$(?:\{(\w+)\}|\(\$(\w+)\)|(\w+)(?![\w:]))|\$")
#: The part of a word that is not known before it runs; a part of a variable is one, too.
_UNKNOWN = re.compile(r"['\"(){}\[\]*?]|\$\w+\.")
_JOIN = re.compile(r"^\(\s*Join-Path\s+(.+)\)$", re.IGNORECASE)
#: How many values a word may have, and how much of a command is read.
_MOST_VALUES = 20
_LONGEST = 2_000
_Values = dict[str, list[str]]


def find_written(code: str) -> Iterator[Finding]:
    """Yield the files that code writes, and those that it replaces if they are there.

    A file whose name is not known is called "".
    """
    code = remove_comments("powershell", code)
    values = _read_variables(code)
    for match in _NAME.finditer(code):
        if match["name"]:
            line = code.count("\n", 0, match.start()) + 1
            yield from _read_command(_COMMANDS[match["name"].lower()], code, match.end(), line, values)
    for match in _REDIRECTION.finditer(code):
        word = None if match["text"] else _WORD.match(code, match.end())
        if word and word[0].lower() != "$null":
            line = code.count("\n", 0, match.start()) + 1
            yield from _name_files(_evaluate(word[0], values), line, adds=bool(match["adds"]))
    yield from _find_method_calls(code, values)


def _find_method_calls(code: str, values: _Values) -> Iterator[Finding]:
    """Yield the files that methods of .NET write."""
    for match in [*_METHOD.finditer(code), *_MADE.finditer(code)]:
        arguments = split_arguments(code, match.end(), bare=not match[0].endswith("("))
        method = (match.groupdict().get("method") or "").lower()
        place = 1 if method in ("copy", "move", "replace") else 0
        # The third argument of a copy lets it replace; the second one of a writer has it add.
        flag = bool(_TRUE.match(arguments[place + 1])) if len(arguments) > place + 1 else False
        adds = (
            method.startswith("append") or (not method and flag) or (method in ("copy", "move") and not flag)
        )
        names = _evaluate(arguments[place], values) if len(arguments) > place else []
        yield from _name_files(names, code.count("\n", 0, match.start()) + 1, adds=adds)


def _read_command(command: _Command, code: str, at: int, line: int, values: _Values) -> Iterator[Finding]:
    plain, named_arguments, switches = _read_arguments(code, at)
    file = next((words for name, words in named_arguments if _is_short_for(name, command.parameter)), None)
    if file is None and command.place < 0:
        return
    if file is None:
        # Another argument may be named, so that the file moves forward.
        file = plain[min(command.place, len(plain) - 1)] if plain else []
    adds = any(_KEEPS.match(switch) for switch in switches) or (
        bool(command.needs) and not any(re.match(command.needs, switch, re.IGNORECASE) for switch in switches)
    )
    names = [name for word in file for name in _evaluate(word, values)]
    yield from _name_files(names, line, adds=adds)
    if command.copies and not adds:
        source = next(
            (words for name, words in named_arguments if _is_short_for(name, "path|literalpath")), None
        )
        copied = source or (plain[0] if plain else [])
        for name, item in product(names, [item for word in copied for item in _evaluate(word, values)]):
            yield Finding("overwrites", f"{name.rstrip('/')}/{PurePosixPath(item).name}", line)


def _name_files(names: list[str], line: int, *, adds: bool) -> Iterator[Finding]:
    for name in names or [""]:
        yield Finding("writes", name, line)
        if name and not adds:
            yield Finding("overwrites", name, line)


def _is_short_for(name: str, parameters: str) -> bool:
    """Return whether a name is the beginning of a parameter, which PowerShell takes for the whole."""
    return any(parameter.startswith(name[1:].lower()) for parameter in parameters.split("|"))


def _read_arguments(code: str, at: int) -> tuple[list[list[str]], list[tuple[str, list[str]]], list[str]]:
    """Return the arguments without a name, those with one, and all names; each argument may be a list."""
    plain: list[list[str]] = []
    named_arguments: list[tuple[str, list[str]]] = []
    switches: list[str] = []
    end = min(len(code), at + _LONGEST)
    waiting = ""
    in_list = False
    while at < end:
        if space := re.compile(r"(?:[ \t]|`\n)+").match(code, at, end):
            at = space.end()
        if at < end and code[at] == "," and (plain or named_arguments):
            at, in_list = at + 1, True
            continue
        word = _WORD.match(code, at, end)
        if word is None:
            break
        at = word.end()
        text = word[0]
        if in_list:
            (named_arguments[-1][1] if waiting == "list" else plain[-1]).append(text)
            in_list = False
        elif re.match(r"-[A-Za-z]", text):
            name, _, value = text.partition(":")
            switches.append(name)
            waiting = ""
            if value and not value.startswith("$false"):
                named_arguments.append((name, [value]))
            elif not any(switch.startswith(name[1:].lower()) for switch in _SWITCHES):
                waiting = name
        elif waiting and waiting != "list":
            named_arguments.append((waiting, [text]))
            waiting = "list"
        else:
            plain.append([text])
            waiting = ""
    return plain, named_arguments, switches


def _read_variables(code: str) -> _Values:
    """Return the texts that each variable may hold, by its name in small letters."""
    values: _Values = {}
    for match in _ASSIGNED.finditer(code):
        texts = values.setdefault(match[1].lower(), [])
        text = match[2].strip()
        if text[:1] in "'\"$" or _JOIN.match(f"({text})"):
            text = f"({text})" if text[:1] not in "'\"$(" else text
            texts += [item for item in _evaluate(text, values) if item not in texts]
        del texts[_MOST_VALUES:]
    return values


def _evaluate(word: str, values: _Values) -> list[str]:
    """Return the texts that a word may stand for; none where they are not known."""
    word = word.strip()
    if join := _JOIN.match(word):
        parts = [part for part in _WORD.findall(join[1]) if not re.match(r"-[A-Za-z]", part)]
        texts = [_evaluate(part, values) for part in parts]
        return ["/".join(items) for items in product(*texts)][:_MOST_VALUES] if len(parts) > 1 else []
    if re.fullmatch(r"'(?:''|[^'])*'", word):
        return [_write_path(word[1:-1].replace("''", "'"))]
    if re.fullmatch(r'"(?:`.|""|[^"`])*"', word):
        return _fill_holes(word[1:-1].replace('""', '"'), values)
    if _UNKNOWN.search(word):
        return []
    return _fill_holes(word, values)


def _fill_holes(text: str, values: _Values) -> list[str]:
    """Return a text with the values of its variables."""
    texts = [""]
    at = 0
    for hole in _HOLE.finditer(text):
        name = (hole[1] or hole[2] or hole[3] or "").lower()
        hole_values = {"home": ["~"], "pwd": ["."]}.get(name) or values.get(name, [])
        texts = [f"{before}{text[at : hole.start()]}{value}" for before in texts for value in hole_values]
        at = hole.end()
        del texts[_MOST_VALUES:]
    return [_write_path(re.sub(r"`(.)", r"\1", f"{before}{text[at:]}")) for before in texts]


def _write_path(text: str) -> str:
    """Return a path with the slashes that both systems understand."""
    return text.replace("\\", "/")
