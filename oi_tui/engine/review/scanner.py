"""Scans code for what a person should see before it runs."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from oi_tui.engine import cell_target
from oi_tui.engine.review import sql_rules
from oi_tui.engine.review.call_search import look_for_calls
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Finding, Findings
from oi_tui.engine.review.line_rules import PATTERNS, look_for_patterns
from oi_tui.engine.review.python import checker as python_checker
from oi_tui.engine.review.python import rules as python_rules
from oi_tui.engine.review.shell import checker as shell_checker
from oi_tui.engine.review.shell import rules as shell_rules
from oi_tui.engine.tools import CALLING_LANGUAGES, find_named_of

#: Longer code is not looked through.
_LONGEST = 400_000


def look_through(language: str, code: str, cwd: Path, earlier: EarlierCode | None = None) -> Findings:
    """List what a person should see of code that would run in the folder `cwd`, after `earlier` code.

    Dangerous things are recognised, and what is not known to be harmless is listed as not checked.
    Never raises.
    """
    if len(code) > _LONGEST or (earlier is not None and language in earlier.replaced):
        return Findings(readable=False)
    _, code = cell_target.split(code)
    unchecked: list[Finding] = []
    parsed = True
    folder, elsewhere = cwd, earlier.elsewhere if earlier is not None else ""
    if earlier is not None and elsewhere:
        # Files of this machine say nothing about those of another one, also where they have the same names.
        cwd, folder = _NOT_HERE, Path(earlier.folder) if earlier.folder else _NOT_HERE
    match language.lower():
        case "python":
            result = python_rules.look(code)
            unchecked = [*python_checker.look(code, cwd, earlier), *_tools("python", code, earlier)]
        case "shell" | "bash" | "zsh" | "sh":
            result = shell_rules.look(code)
            unchecked = list(shell_checker.look(code, cwd))
            if earlier is not None and earlier.is_unclear("shell"):
                unchecked.append(Finding("not understood", "what earlier code left behind", 0))
        case "sql":
            result, unchecked = sql_rules.look(code)
            commands = sql_rules.shell_lines(code)
            result += shell_rules.look(commands)
            unchecked += shell_checker.look(commands, cwd)
        case "fish":
            result, unchecked, parsed = shell_rules.look(code), look_for_calls("fish", code), False
            unchecked += [item for item in shell_checker.look(code, cwd) if item.kind == "reads"]
        case "deno" | "bun":
            # They have libraries of their own, so nothing in their code is known to be harmless.
            return Findings(
                tuple(_locate(look_for_patterns(language.lower(), code), folder, elsewhere)), readable=False
            )
        case name if name in PATTERNS:
            result, parsed = [*look_for_patterns(name, code), *_tools(name, code, earlier)], False
            unchecked = look_for_calls(name, code)
        case _:
            return Findings(readable=False)
    if result is None:
        findings = [*look_for_patterns("python", code), *_tools("python", code, earlier)]
        return Findings(tuple(_locate(findings, folder, elsewhere)), readable=False)
    if elsewhere:
        place = elsewhere.rpartition("\n")[2]
        unchecked.append(Finding("not understood", f"the files {place}", 0))
    known = [item for item in unchecked if item.kind != "not understood"]
    return Findings(
        tuple(dict.fromkeys(_locate([*result, *known], folder, elsewhere))),
        unchecked=tuple(item for item in unchecked if item.kind == "not understood"),
        parsed=parsed,
    )


def _tools(language: str, code: str, earlier: EarlierCode | None) -> list[Finding]:
    """The tools of MCP servers that code names, in a language that can call them."""
    servers = earlier.servers if earlier is not None and language in CALLING_LANGUAGES else ()
    return [Finding("tools", path, line) for path, line in find_named_of(code, servers)] if servers else []


def _locate(found: Iterable[Finding], folder: Path, elsewhere: str) -> Iterator[Finding]:
    """Files by how they lie to the folder: those outside of it are a finding of their own."""
    for item in found:
        if item.kind == "writes" and item.what:
            # The home folder of another machine is not known.
            name = item.what if elsewhere else os.path.expanduser(item.what)  # noqa: PTH111 -- "~x" may be nobody
            path = Path(os.path.normpath("/" / Path(name) if name.startswith("~") else folder / name))
            if str(path) in _NO_FILES or str(path.parent) == "/dev/fd":
                continue
            inside = path.is_relative_to(folder) and folder != Path("/")
            yield Finding("writes" if inside else "writes outside", item.what, item.line)
        else:
            yield item


#: Stands for the working directory where code runs on another machine: a folder that is not on this one.
_NOT_HERE = Path("/folder of another machine")
_NO_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
