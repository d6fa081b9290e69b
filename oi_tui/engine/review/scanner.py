"""Scans code for what a person should see before it runs."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from oi_tui.engine import cell_target
from oi_tui.engine.review import sql_rules
from oi_tui.engine.review.call_search import find_unknown_calls
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Finding, Findings
from oi_tui.engine.review.folder import Folder, LocalFolder, make_unknown
from oi_tui.engine.review.folder_changes import find_folder_changes
from oi_tui.engine.review.line_rules import PATTERNS, find_patterns
from oi_tui.engine.review.local_modules import find_script, find_startup_files
from oi_tui.engine.review.python import checker as python_checker
from oi_tui.engine.review.python import rules as python_rules
from oi_tui.engine.review.shell import checker as shell_checker
from oi_tui.engine.review.shell import rules as shell_rules
from oi_tui.engine.tools import CALLING_LANGUAGES, find_named_of
from oi_tui.paths import expand_typed

#: Longer code is not scanned.
_LONGEST = 400_000
#: In no more folders than these is code judged that changes the folder.
_MOST_PLACES = 8
#: No more files of the folder than these are listed that run by themselves.
_MOST_FILES = 4


@dataclass(frozen=True, slots=True)
class _Scan:
    """What code of one language does, as far as it shows."""

    findings: Sequence[Finding]
    #: What is not known to be harmless.
    unchecked: Sequence[Finding] = ()
    #: Whether the code was parsed; else it was searched for patterns, line by line.
    parsed: bool = True
    #: Whether enough is known of the language to say that nothing was found.
    readable: bool = True


def scan_code(language: str, code: str, cwd: Path, earlier: EarlierCode | None = None) -> Findings:
    """List what a person should see of code that would run in the folder `cwd`, after `earlier` code.

    Dangerous things are recognised, and what is not known to be harmless is listed as not checked.
    Never raises.
    """
    if len(code) > _LONGEST or (earlier is not None and language in earlier.replaced):
        return Findings(readable=False)
    _, code = cell_target.split(code)
    elsewhere = earlier.elsewhere if earlier is not None else ""
    known_folder = find_folder(language, cwd, earlier)
    folder = known_folder or make_unknown(cwd)
    changes = list(find_folder_changes(language, code))
    places = _list_places(changes)
    scan = _scan_language(language.lower(), code, folder, earlier)
    if not scan.readable:
        findings = tuple(_locate(scan.findings, folder, elsewhere, places))
        return Findings(findings, readable=False, unchecked=tuple(scan.unchecked))
    unchecked = list(scan.unchecked)
    if elsewhere and earlier is not None and earlier.listing is None:
        place = elsewhere.rpartition("\n")[2]
        unchecked.append(Finding("not understood", f"the files {place}", 0))
    elif known_folder is None:
        unchecked.append(Finding("not understood", f"the folder in which {language} is now", 0))
    if any(not name or not _is_inside(_find_path(name, folder, elsewhere), folder) for name in changes):
        unchecked.append(Finding("not understood", "files in the folder to which it changes", 0))
    risks = [item for item in unchecked if item.kind != "not understood"]
    return Findings(
        tuple(dict.fromkeys(_locate([*scan.findings, *risks], folder, elsewhere, places))),
        unchecked=tuple(item for item in unchecked if item.kind == "not understood"),
        parsed=scan.parsed,
    )


def _scan_language(language: str, code: str, folder: Folder, earlier: EarlierCode | None) -> _Scan:
    match language:
        case "python":
            return _scan_python(code, folder, earlier)
        case "shell" | "bash" | "zsh" | "sh":
            unchecked = [*shell_checker.check(code, folder), *_list_unclear("shell", earlier)]
            return _Scan(shell_rules.scan(code), unchecked)
        case "sql":
            return _scan_sql(code, folder, earlier)
        case "fish":
            reads = (item for item in shell_checker.check(code, folder) if item.kind == "reads")
            unchecked = [*find_unknown_calls("fish", code), *reads]
            return _Scan(shell_rules.scan(code), unchecked, parsed=False)
        case "deno" | "bun":
            # They have libraries of their own, so nothing in their code is known to be harmless.
            unchecked = _list_startup_files(language, folder, code)
            return _Scan(find_patterns(language, code), unchecked, readable=False)
        case name if name in PATTERNS:
            findings = [*find_patterns(name, code), *_list_tools(name, code, earlier)]
            unchecked = [*find_unknown_calls(name, code), *_list_startup_files(name, folder, code)]
            if name == "octave" and (file := find_script(folder, code)) is not None:
                unchecked.append(Finding("not understood", f"{file} in this folder", 0))
            return _Scan(findings, unchecked, parsed=False)
        case _:
            return _Scan((), readable=False)


def _scan_python(code: str, folder: Folder, earlier: EarlierCode | None) -> _Scan:
    findings = python_rules.scan(code)
    tools = _list_tools("python", code, earlier)
    if findings is None:
        return _Scan([*find_patterns("python", code), *tools], readable=False)
    return _Scan(findings, [*python_checker.check(code, folder, earlier), *tools])


def _scan_sql(code: str, folder: Folder, earlier: EarlierCode | None) -> _Scan:
    findings, unchecked = sql_rules.scan(code)
    commands = sql_rules.list_shell_lines(code)
    return _Scan(
        [*findings, *shell_rules.scan(commands)],
        [*unchecked, *shell_checker.check(commands, folder), *_list_unclear("sql", earlier)],
    )


def _list_unclear(language: str, earlier: EarlierCode | None) -> list[Finding]:
    """Return a finding if earlier code of this language could not be followed."""
    if earlier is None or not earlier.is_unclear(language):
        return []
    return [Finding("not understood", "effects of earlier code", 0)]


def find_folder(language: str, cwd: Path, earlier: EarlierCode | None) -> Folder | None:
    """Return the folder by which code is judged: the one where the language is now, here or on its target.

    None where that is not known.
    """
    return earlier.find_folder(language, cwd) if earlier is not None else LocalFolder(cwd)


def _list_places(changes: list[str]) -> tuple[str, ...]:
    """Return the folders in which the code may be, relative to the one in which it begins."""
    places = [""]
    for change in filter(None, changes):
        places += [os.path.normpath(os.path.join(place, change)) for place in places]  # noqa: PTH118
        places = list(dict.fromkeys(places))[:_MOST_PLACES]
    return tuple(places)


def _list_startup_files(language: str, folder: Folder, code: str) -> list[Finding]:
    """Return the files of the folder that the language runs although no code says so."""
    return [
        Finding("not understood", f"{file} in this folder", 0)
        for file in islice(find_startup_files(language, folder, code), _MOST_FILES)
    ]


def _list_tools(language: str, code: str, earlier: EarlierCode | None) -> list[Finding]:
    """Return the tools of MCP servers that code names, in a language that can call them."""
    servers = earlier.servers if earlier is not None and language in CALLING_LANGUAGES else ()
    return [Finding("tools", path, line) for path, line in find_named_of(code, servers)] if servers else []


def _locate(
    found: Iterable[Finding], folder: Folder, elsewhere: str, places: tuple[str, ...]
) -> Iterator[Finding]:
    """Judge files by the folder: those outside of it, and those that are there and would be overwritten.

    Code that changes the folder may be in any of the `places` when it writes.
    """
    found = list(dict.fromkeys(found))
    replaced: dict[int, list[Finding]] = {}
    for item in found:
        if item.kind == "overwrites" and any(
            _is_there(name, folder, elsewhere) for name in _find_names(item.what, places)
        ):
            replaced.setdefault(item.line, []).append(item)
    for item in found:
        if item.kind == "writes" and item.what:
            paths = [_find_path(name, folder, elsewhere) for name in _find_names(item.what, places)]
            if str(paths[0]) in _NO_FILES or str(paths[0].parent) == "/dev/fd":
                continue
            if not all(_is_inside(path, folder) for path in paths):
                yield Finding("writes outside", item.what, item.line)
            elif not any(_is_about(other, item) for other in replaced.get(item.line, ())):
                yield item
        elif item.kind != "overwrites":
            yield item
    for items in replaced.values():
        yield from items


def _find_names(name: str, places: tuple[str, ...]) -> Iterator[str]:
    """Yield the file that a name means in each place; none for no name."""
    if name.startswith(("/", "~")):
        yield name
    elif name:
        yield from (f"{place}/{name}" if place else name for place in places)


def _is_about(replaced: Finding, written: Finding) -> bool:
    """Return whether the file that is overwritten is the one that is written, or in that folder."""
    return replaced.what == written.what or replaced.what.startswith(f"{written.what.rstrip('/')}/")


def _is_there(name: str, folder: Folder, elsewhere: str) -> bool:
    """Return whether there is a file of that name, as far as that is known."""
    path = _find_path(name, folder, elsewhere)
    try:
        inside = path.is_relative_to(folder.path)
        return folder.kind(str(path.relative_to(folder.path) if inside else path)) == "file"
    except (OSError, RuntimeError, ValueError):
        return False


def _find_path(name: str, folder: Folder, elsewhere: str) -> Path:
    """Return the whole path of a name in code, with its links."""
    if not elsewhere:
        name = str(expand_typed(name))
    elif folder.home and (name == "~" or name.startswith("~/")):
        name = f"{folder.home}{name[1:]}"
    if name.startswith("~"):
        name = f"/{name}"
    return Path(os.path.normpath(folder.path / name))


def _is_inside(path: Path, folder: Folder) -> bool:
    """Return whether a path is within the folder, and no link leads out of it as far as that is known."""
    if not path.is_relative_to(folder.root) or folder.root == Path("/"):
        return False
    try:
        within = path.is_relative_to(folder.path)
        real = folder.resolve(str(path.relative_to(folder.path) if within else path))
        return real is None or real.is_relative_to(folder.real_root)
    except (OSError, RuntimeError, ValueError):
        return True


_NO_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
