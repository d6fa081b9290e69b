"""Scans code for what a person should see before it runs."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from oi_tui.engine import cell_target
from oi_tui.engine.review import sql_rules
from oi_tui.engine.review.call_search import look_for_calls
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Finding, Findings
from oi_tui.engine.review.folder import Folder, LocalFolder
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
    folder, elsewhere = find_folder(cwd, earlier), earlier.elsewhere if earlier is not None else ""
    match language.lower():
        case "python":
            result = python_rules.look(code)
            unchecked = [*python_checker.look(code, folder, earlier), *_tools("python", code, earlier)]
        case "shell" | "bash" | "zsh" | "sh":
            result = shell_rules.look(code)
            unchecked = list(shell_checker.look(code, folder))
            if earlier is not None and earlier.is_unclear("shell"):
                unchecked.append(Finding("not understood", "what earlier code left behind", 0))
        case "sql":
            result, unchecked = sql_rules.look(code)
            commands = sql_rules.shell_lines(code)
            result += shell_rules.look(commands)
            unchecked += shell_checker.look(commands, folder)
        case "fish":
            result, unchecked, parsed = shell_rules.look(code), look_for_calls("fish", code), False
            unchecked += [item for item in shell_checker.look(code, folder) if item.kind == "reads"]
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
    if elsewhere and earlier is not None and earlier.listing is None:
        place = elsewhere.rpartition("\n")[2]
        unchecked.append(Finding("not understood", f"the files {place}", 0))
    known = [item for item in unchecked if item.kind != "not understood"]
    return Findings(
        tuple(dict.fromkeys(_locate([*result, *known], folder, elsewhere))),
        unchecked=tuple(item for item in unchecked if item.kind == "not understood"),
        parsed=parsed,
    )


def find_folder(cwd: Path, earlier: EarlierCode | None) -> Folder:
    """Return the folder by which code is judged: `cwd`, or that of the target where code runs."""
    return earlier.find_folder(cwd) if earlier is not None else LocalFolder(cwd)


def _tools(language: str, code: str, earlier: EarlierCode | None) -> list[Finding]:
    """The tools of MCP servers that code names, in a language that can call them."""
    servers = earlier.servers if earlier is not None and language in CALLING_LANGUAGES else ()
    return [Finding("tools", path, line) for path, line in find_named_of(code, servers)] if servers else []


def _locate(found: Iterable[Finding], folder: Folder, elsewhere: str) -> Iterator[Finding]:
    """Judge files by the folder: those outside of it, and those that are there and would be overwritten."""
    found = list(dict.fromkeys(found))
    replaced: dict[int, list[Finding]] = {}
    for item in found:
        if item.kind == "overwrites" and _is_there(item.what, folder, elsewhere):
            replaced.setdefault(item.line, []).append(item)
    for item in found:
        if item.kind == "writes" and item.what:
            path = _find_path(item.what, folder, elsewhere)
            if str(path) in _NO_FILES or str(path.parent) == "/dev/fd":
                continue
            if not _is_inside(path, folder):
                yield Finding("writes outside", item.what, item.line)
            elif not any(_is_about(other, item) for other in replaced.get(item.line, ())):
                yield item
        elif item.kind != "overwrites":
            yield item
    for items in replaced.values():
        yield from items


def _is_about(replaced: Finding, written: Finding) -> bool:
    """Return whether the file that is overwritten is the one that is written, or in that folder."""
    return replaced.what == written.what or replaced.what.startswith(f"{written.what.rstrip('/')}/")


def _is_there(name: str, folder: Folder, elsewhere: str) -> bool:
    """Return whether there is a file of that name, as far as that is known."""
    if not name:
        return False
    path = _find_path(name, folder, elsewhere)
    try:
        inside = path.is_relative_to(folder.path)
        return folder.kind(str(path.relative_to(folder.path) if inside else path)) == "file"
    except (OSError, RuntimeError, ValueError):
        return False


def _find_path(name: str, folder: Folder, elsewhere: str) -> Path:
    """Return the whole path of a name in code, with its links."""
    if not elsewhere:
        name = os.path.expanduser(name)  # noqa: PTH111 -- "~x" may be nobody
    elif folder.home and (name == "~" or name.startswith("~/")):
        name = f"{folder.home}{name[1:]}"
    if name.startswith("~"):
        name = f"/{name}"
    return Path(os.path.normpath(folder.path / name))


def _is_inside(path: Path, folder: Folder) -> bool:
    """Return whether a path is within the folder, and no link leads out of it as far as that is known."""
    if not path.is_relative_to(folder.path) or folder.path == Path("/"):
        return False
    try:
        real = folder.resolve(str(path.relative_to(folder.path)))
        return real is None or real.is_relative_to(folder.real)
    except (OSError, RuntimeError, ValueError):
        return True


_NO_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
