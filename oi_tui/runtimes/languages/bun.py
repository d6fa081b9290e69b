"""JavaScript and TypeScript in Bun."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Choices, Language, Start, find_first_program
from oi_tui.runtimes.languages import javascript
from oi_tui.runtimes.versions import describe_version, find_version

#: The first Bun that can make a cell into a script whose variables stay.
_FIRST = (1, 3, 10)


def find(choices: Choices) -> str | None:
    """Bun on PATH, where it is new enough."""
    program = find_first_program("bun")(choices)
    version = find_version(program, "--version", r"(\d+\.\d+\.\d+)") if program else ""
    return program if version and tuple(map(int, version.split("."))) >= _FIRST else None


def start(program: str, folder: Path) -> Start:
    """Return the driver as a script, which reports nothing to anybody."""
    return Start((program, "run", str(DRIVERS / "bun_driver.mjs"), str(folder)), {"DO_NOT_TRACK": "1"})


LANGUAGE = Language(
    name="bun",
    title="Bun",
    hint="It needs Bun 1.3.10 or later, from bun.sh.",
    packages={"brew": "oven-sh/bun/bun"},
    keeps=f"{javascript.LANGUAGE.keeps}; apart from javascript",
    find=find,
    describe=describe_version("Bun", "--version", r"([0-9.]+)"),
    start=start,
    interrupt_request="interrupt {nonce}",
    variables_request=javascript.LANGUAGE.variables_request,
    variable_request=javascript.LANGUAGE.variable_request,
    table_request=javascript.LANGUAGE.table_request,
    completion_request=javascript.LANGUAGE.completion_request,
)
