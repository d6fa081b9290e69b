"""GNU Octave."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.runs.octave_line import mark_statements
from oi_tui.runtimes.versions import describe_version
from oi_tui.system import environment_names

_DRIVER = DRIVERS / "octave"
_END = "oi_tui_driver('end','{nonce}')"


def start(program: str, folder: Path) -> Start:
    """Octave as an interactive program whose commands come from the request pipe, not from its terminal.

    An error or an interrupt then brings it back to the next request. Its own prompt is never shown.
    """
    options = ("--interactive", "--no-line-editing", "--no-history", "--norc", "--quiet", "--persist")
    quietly = "warning('off','Octave:shadowed-function');"
    begin = f"{quietly}addpath({_spell(_DRIVER)});oi_tui_driver('start',{_spell(folder)});"
    redirect = 'exec "$0" "$@" <"$OI_TUI_FOLDER/requests"'
    argv = ("/bin/sh", "-c", redirect, program, *options, "--eval", begin)
    return Start(argv, {environment_names.FOLDER: str(folder)})


def _spell(path: Path) -> str:
    """Write a path as a text of Octave."""
    return "'" + str(path).replace("'", "''") + "'"


def request(nonce: str, path: Path) -> str:
    """Return the cell, and its end in a request of its own: an interrupt takes only what runs.

    Beside the cell is its code with a report of each line; errors are told of the code as it is. An interrupt
    that came too late for the run before takes the first line, which does nothing, not even to `ans`.
    """
    return f"if 0, end\noi_tui_driver('run','{nonce}',{_spell(path)});\n{_END.format(nonce=nonce)}"


LANGUAGE = Language(
    name="octave",
    title="Octave",
    aliases=("matlab", "gnu-octave", "octave-cli"),
    hint="Install GNU Octave 7 or later from octave.org.",
    packages={
        "apt": "octave",
        "dnf": "octave",
        "pacman": "octave",
        "zypper": "octave",
        "apk": "octave",
        "brew": "octave",
    },
    keeps="variables, functions, loaded packages",
    find=find_first_program("octave-cli", "octave"),
    describe=describe_version("GNU Octave", "--version", "version ([0-9.]+)"),
    start=start,
    request=request,
    annotate=mark_statements,
    active_line="cell",
    interrupt_request=_END,
    variables_request="oi_tui_driver('variables','{nonce}')",
    variable_request="oi_tui_driver('variable','{nonce}','{name}')",
    table_request="oi_tui_driver('table','{nonce}','{name}')",
    completion_request="oi_tui_driver('completions','{nonce}','{name}')",
    timeout=60.0,
    note="Figures are shown at the end of the cell that makes them, and closed. Outside of functions, "
    "`nargin` counts the options that Octave was started with.",
)
