"""JavaScript and TypeScript in Deno."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Choices, Language, Start, find_first_program
from oi_tui.runtimes.languages import javascript
from oi_tui.runtimes.versions import describe_version, find_version

#: The first Deno whose inspector keeps its address to itself.
_FIRST = (2, 7, 0)


def find(choices: Choices) -> str | None:
    """Deno on PATH, where it is new enough."""
    program = find_first_program("deno")(choices)
    version = find_version(program, "--version", r"deno (\d+\.\d+\.\d+)") if program else ""
    return program if version and tuple(map(int, version.split("."))) >= _FIRST else None


def start(program: str, folder: Path) -> Start:
    """Return the driver as a script with all rights, as any program that a person runs.

    Only the driver's own worker knows the address of the inspector: it is told to standard error, which is
    quiet, and is not listed.
    """
    inspector = ("--inspect=127.0.0.1:0", "--inspect-publish-uid=stderr")
    options = ("run", "--quiet", "--allow-all", "--no-check", "--no-lock", *inspector)
    return Start(
        (program, *options, str(DRIVERS / "deno_driver.mjs"), str(folder)), {"DENO_NO_UPDATE_CHECK": "1"}
    )


LANGUAGE = Language(
    name="deno",
    title="Deno",
    hint="It needs Deno 2.7 or later, from deno.com.",
    packages={"brew": "deno", "pacman": "deno", "apk": "deno"},
    keeps=f"{javascript.LANGUAGE.keeps}; apart from javascript",
    find=find,
    describe=describe_version("Deno", "--version", r"deno ([0-9.]+)"),
    start=start,
    active_line=javascript.LANGUAGE.active_line,
    interrupt_request="interrupt {nonce}",
    variables_request=javascript.LANGUAGE.variables_request,
    variable_request=javascript.LANGUAGE.variable_request,
    table_request=javascript.LANGUAGE.table_request,
    completion_request=javascript.LANGUAGE.completion_request,
)
