"""TypeScript in Node.js, which strips the types."""

import os
import shutil
from pathlib import Path

from oi_tui.runtimes.language import Choices, Language, Start
from oi_tui.runtimes.languages import javascript
from oi_tui.runtimes.versions import find_version

#: The first Node.js that can take types away in the process: `module.stripTypeScriptTypes`.
_FIRST = (22, 13)


def find(_: Choices) -> str | None:
    """Return the first Node.js on PATH that is new enough."""
    for folder in os.get_exec_path():
        program = shutil.which("node", path=folder)
        version = find_version(program, "--version", r"v(\d+\.\d+)") if program else ""
        if version and tuple(map(int, version.split("."))) >= _FIRST:
            return program
    return None


def start(program: str, folder: Path) -> Start:
    """Return the driver of JavaScript, for cells with types."""
    plain = javascript.start(program, folder)
    return Start((*plain.argv, "typed"), plain.env, plain.requests)


LANGUAGE = Language(
    name="typescript",
    title="TypeScript",
    aliases=("ts", "mts", "cts", "ts-node"),
    hint="It needs Node.js 22.13 or later, from nodejs.org.",
    keeps=f"{javascript.LANGUAGE.keeps}; apart from javascript",
    find=find,
    describe=javascript.describe,
    start=start,
    active_line=javascript.LANGUAGE.active_line,
    interrupt_request=javascript.LANGUAGE.interrupt_request,
    variables_request=javascript.LANGUAGE.variables_request,
    variable_request=javascript.LANGUAGE.variable_request,
    table_request=javascript.LANGUAGE.table_request,
    completion_request=javascript.LANGUAGE.completion_request,
    note="TypeScript cells are run without a check of their types, as by ts-node --transpile-only.",
)
