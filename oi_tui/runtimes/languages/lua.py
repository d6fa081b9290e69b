"""Lua."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.versions import describe_version

#: How often a process can be interrupted: one chunk of its command line for each time.
_INTERRUPTS = 1000
#: What serves: a global of these chunks alone, but in Lua 5.1.
_SERVE = "(oi_tui or debug.getregistry().oi_tui)"


def start(program: str, folder: Path) -> Start:
    """Return the driver as a chunk of the command line, and chunks that have it serve, each
    for one interrupt.
    """
    prepare = f"assert(loadfile({_spell(DRIVERS / 'lua_driver.lua')}))({_spell(folder)})"
    serve = ("-e", f"{_SERVE}()") * _INTERRUPTS
    return Start((program, "-e", prepare, *serve, "-e", f"{_SERVE}(true)"))


def _spell(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


LANGUAGE = Language(
    name="lua",
    title="Lua",
    aliases=("lua5.4", "lua54", "luajit"),
    hint="Install Lua 5.3 or later: see lua.org.",
    packages={
        "apt": "lua5.4",
        "dnf": "lua",
        "pacman": "lua",
        "zypper": "lua54",
        "apk": "lua5.4",
        "brew": "lua",
    },
    keeps="variables (also local ones), functions",
    find=find_first_program("lua5.4", "lua5.3", "lua"),
    describe=describe_version("Lua", "-v", "Lua ([0-9.]+)"),
    start=start,
    interrupt_request="end {nonce}",
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    completion_request="completions {nonce} {name}",
    note="A `local` outside of functions is kept between cells. Loops that use it take twice as long as in a "
    "function.",
)
