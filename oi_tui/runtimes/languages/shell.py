"""The shell: bash, or the person's choice among bash, zsh and sh."""

import shutil
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes import shell_completion
from oi_tui.runtimes.language import DRIVERS, Choices, Language, Start
from oi_tui.runtimes.versions import find_version
from oi_tui.system import environment_names

# The space before them keeps requests out of the history of a shell that heeds it. A shell that was made to
# forget our functions could report no end any more: it leaves, and its own end is reported.
_HUSH = ' {{ __oi_last=$?; eval "$__oi_hush"; }} >/dev/null 2>&1; '
_END = _HUSH + "{{ __oi_end $__oi_last {nonce} || [ $? != 127 ] || exit 127; }} 2>/dev/null"
_OPTIONS = {
    "bash": ("--noprofile", "--norc", "--noediting", "-i"),
    "zsh": ("-f", "-i", "-o", "no_zle", "-o", "no_prompt_cr", "-o", "no_prompt_sp"),
}


def find(choices: Choices) -> str | None:
    """Return the chosen shell, else bash, else any other."""
    if choices.shell:
        return shutil.which(str(paths.expand_typed(choices.shell)))
    return next((path for name in ("bash", "zsh", "sh") if (path := shutil.which(name))), None)


def describe(program: str) -> str:
    """`bash 5.2.15`."""
    name = Path(program).name
    pattern = r"(?:version |zsh )(\d+(?:\.\d+)*)"
    return f"{name} {find_version(program, '--version', pattern) if name in ('bash', 'zsh') else ''}".strip()


def start(program: str, folder: Path) -> Start:
    """Return the shell as an interactive one whose commands come from the request pipe, not
    from its terminal.

    So they run at its top level, no prompt or line editor ever touches the terminal, and a `break`, an
    error or an interrupt brings it back to the next request.
    """
    options = _OPTIONS.get(Path(program).name)
    load = f". {quote(DRIVERS / 'shell_driver.sh')}"
    # Where PROMPT_COMMAND is exported, bash would run it before our file is read.
    redirect = 'unset PROMPT_COMMAND; exec "$0" "$@" <"$OI_TUI_FOLDER/requests"'
    if options is None:
        # The shell of busybox greets, and has no option that keeps it from that.
        options, load, redirect = ("-i",), f"exec >&2; {load}", f"{redirect} >/dev/null"
    return Start(
        ("/bin/sh", "-c", redirect, program, *options),
        {environment_names.FOLDER: str(folder), "PS1": "", "PS2": ""},
        (load,),
    )


def quote(path: Path) -> str:
    """Return a path as one word of a shell."""
    return "'" + str(path).replace("'", "'\\''") + "'"


def request(nonce: str, path: Path, run: str = "\\.") -> str:
    """Have the shell source the cell; a command of its own reports the end, which no failure can skip.

    What it made of the prompt is forgotten before that command is read. What it is given first is an output
    for errors, where the one before it closed that: within a command of our own that has another one. `run`
    is the command that runs the cell.
    """
    errors = " { :; } 3>&2 2>/dev/null || exec 2>/dev/tty"
    file = quote(path)
    cell = f' {run} {file} </dev/tty; {{ __oi_status=$?; eval "$__oi_hush"; __oi_quiet; }} >/dev/null 2>&1'
    return f"{errors}\n {{ __oi_begin {nonce} {file}; }} 2>/dev/null\n{cell}\n{_END.format(nonce=nonce)}"


def write_request(what: str) -> str:
    """Return a request that a subshell answers, so that nothing of the shell changes
    and no run waits for it.
    """
    driver = quote(DRIVERS / "shell_variables.sh").replace("{", "{{").replace("}", "}}")
    return f"( (__oi_asked='{what}'; \\. {driver}) </dev/null & ) 2>/dev/null"


LANGUAGE = Language(
    name="shell",
    title="Shell",
    setting="shell",
    aliases=(
        "bash",
        "sh",
        "dash",
        "ksh",
        "console",
        "terminal",
        "shell-session",
        "shellsession",
        "shell-script",
        "shellscript",
        "sh-session",
        "bash-session",
        "batch",
        "bat",
        "cmd",
        "command",
        "unix",
    ),
    hint="Install bash from your distribution.",
    packages=dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk", "brew"), "bash"),
    keeps="variables, functions, aliases, options, working directory; also after exit",
    find=find,
    describe=describe,
    start=start,
    active_line="memory",
    request=request,
    opens_pipes=True,
    interrupt_request=_END,
    variables_request=write_request("{nonce}"),
    variable_request=write_request("{nonce} {name}"),
    complete=shell_completion.complete,
)
