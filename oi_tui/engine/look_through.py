"""Looking through code for what a person should see before it runs."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from oi_tui.engine import findings_python, findings_shell
from oi_tui.engine.findings import Finding, Findings
from oi_tui.engine.findings_lines import PATTERNS, look_for_patterns

#: Longer code is not looked through.
_LONGEST = 400_000


def look_through(language: str, code: str, cwd: Path) -> Findings:
    """What is recognised in the code, which would run in the folder `cwd`. Never raises.

    Nothing found proves nothing: a program can hide what it does.
    """
    if len(code) > _LONGEST:
        return Findings(readable=False)
    match language.lower():
        case "python":
            seen = findings_python.look(code)
        case "shell" | "bash" | "zsh" | "sh" | "fish":
            seen = findings_shell.look(code)
        case name if name in PATTERNS:
            seen = look_for_patterns(name, code)
        case _:
            return Findings(readable=False)
    if seen is None:
        return Findings(tuple(_placed(look_for_patterns("python", code), cwd)), readable=False)
    return Findings(tuple(dict.fromkeys(_placed(seen, cwd))))


def _placed(found: Iterable[Finding], cwd: Path) -> Iterator[Finding]:
    """Files by how they lie to the folder: those outside of it are a finding of their own."""
    for each in found:
        if each.kind == "writes" and each.what:
            path = Path(os.path.normpath(cwd / os.path.expanduser(each.what)))  # noqa: PTH111 -- "~x" may be nobody
            if str(path).startswith(_NO_FILES):
                continue
            inside = path.is_relative_to(cwd) and cwd != Path("/")
            yield Finding("writes" if inside else "writes outside", each.what, each.line)
        else:
            yield each


_NO_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd")
