"""The settings of running code."""

import re
from dataclasses import dataclass

from oi_tui.engine.settings.setting import setting

_HOST = re.compile(
    r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?(?::\d{1,5})?"
    r"|\[[0-9a-f:.]+\](?::\d{1,5})?",
    re.IGNORECASE,
)


def host_pattern(text: str) -> str | None:
    """Say what the text must be unless it names a host, or all below one."""
    if _HOST.fullmatch(text):
        return None
    return "a host (www.example.com), a host with a port (127.0.0.1:8000), or all below one (*.example.com)"


def variable_pattern(text: str) -> str | None:
    """Say what the text must be unless it names a variable, or the beginning of some."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?", text):
        return None
    return "the name of a variable, or its beginning and a *, as AWS_*"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ExecutionSettings:
    """How code is approved and run."""

    # ---- Running code
    auto_run: bool = setting(
        False,
        "Run code without asking. Whatever the model writes then happens on this machine at once.",
        key="auto_run",
        limits=True,
        section="Running code",
        flags=("-y",),
    )
    safe_mode: str = setting(
        "off",
        "With ask or auto, code in which something risky was found is asked for even with auto_run. "
        "With off, what was found is only shown with the question. Code is looked through on this machine, "
        "always and at once, so that ask does not ask first whether to look, as it did in Open Interpreter: "
        "the two are the same here.",
        key="safe_mode",
        limits=True,
        section="Running code",
        flags=("-safe", "--safe"),
        choices=("off", "ask", "auto"),
    )
    sandbox: bool = setting(
        False,
        "Hold programs in the working directory: no other file of yours, no network, no other process, and "
        "nothing of oi-tui. Where that cannot be had, nothing runs. Switching it makes the languages forget.",
        key="sandbox",
        limits=True,
        section="Running code",
    )
    sandbox_writable: tuple[str, ...] = setting(
        (),
        "Files that the sandbox keeps read-only, because other programs run them by themselves, and that "
        "code may write all the same, by name or path: .envrc, .git/hooks.",
        key="sandbox_writable",
        section="Running code",
        later="with the next start",
        long=True,
    )
    sandbox_hosts: tuple[str, ...] = setting(
        (),
        "The only hosts that programs in the sandbox reach: www.example.com, *.example.com, 127.0.0.1:8000. "
        "%pip needs those of your package index. Private addresses are refused unless they are named.",
        later="with the next start",
        key="sandbox_hosts",
        section="Running code",
        must=host_pattern,
        long=True,
    )
    sandbox_memory: float | None = setting(
        None,
        "How much memory, in GB, the programs of a language in the sandbox may use together. Over it they "
        "end.",
        later="with the next start",
        key="sandbox_memory",
        limits=True,
        section="Running code",
        minimum=0.2,
        unset="three quarters of this machine's memory",
    )
    sandbox_processes: int | None = setting(
        None,
        "How many processes a language may have in the sandbox. Over it they end.",
        later="with the next start",
        key="sandbox_processes",
        limits=True,
        section="Running code",
        minimum=20,
        unset="1000",
    )
    sandbox_disk: float | None = setting(
        None,
        "How much, in GB, a language in the sandbox may write to the working directory. Over it it ends.",
        later="with the next start",
        key="sandbox_disk",
        limits=True,
        section="Running code",
        minimum=0.001,
        unset="20",
    )
    sandbox_time: float | None = setting(
        None,
        "After how many minutes a run in the sandbox is stopped.",
        later="with the next start",
        key="sandbox_time",
        limits=True,
        section="Running code",
        minimum=0.01,
        unset="no limit",
    )
    loop: bool = setting(
        False,
        "Keep the model going until it says that the task is done, or cannot be done.",
        key="loop",
        section="Running code",
    )
    python: str | None = setting(
        None,
        "The Python interpreter that runs Python code.",
        later="with the next start",
        key="python",
        section="Running code",
        unset="the active environment's",
    )
    shell: str | None = setting(
        None,
        "The shell that runs shell code.",
        later="with the next start",
        key="shell",
        section="Running code",
        unset="your login shell",
    )
    highlight_active_line: bool = setting(
        True,
        "Mark the line of code that runs just now.",
        later="with the next start",
        key="highlight_active_line",
        section="Running code",
        off_flags=("-nhl",),
    )
    languages: tuple[str, ...] = setting(
        (),
        "The only languages that code may be in, by name; all that are here if none is named.",
        key="computer.languages",
        unset="all that are here",
        limits=True,
        section="Running code",
        long=True,
    )
    custom_languages: tuple[str, ...] = setting(
        (),
        "Languages of your own, each a class in a file, as shout.py, shout.py:Shout or package.module:Shout.",
        later="with the next start",
        key="computer.custom_languages",
        section="Running code",
        long=True,
    )
    emit_images: bool = setting(
        True,
        "Let the model have the images that programs show.",
        key="computer.emit_images",
        section="Running code",
    )
    shrink_images: bool = setting(
        True,
        "Make images smaller that are too large for a provider; otherwise they are only described.",
        key="shrink_images",
        section="Running code",
    )
    share_keys: bool = setting(
        False,
        "Let programs see all keys and passwords in your environment. Whatever the model writes could then "
        "send them away. pass_environment lets single ones through.",
        key="share_keys",
        limits=True,
        section="Running code",
        later="with the next start",
    )
    pass_environment: tuple[str, ...] = setting(
        (),
        "Variables of your environment that programs get although they look like a key or a password, "
        "by name or by its beginning: DATABASE_URL, AWS_*. %info lists what is held back.",
        key="pass_environment",
        section="Running code",
        later="with the next start",
        must=variable_pattern,
        long=True,
    )
    import_computer_api: bool = setting(
        False,
        "Open Interpreter's Python module for mouse, screen and mail. It is not part of this program.",
        key="computer.import_computer_api",
        section="Running code",
        cannot=lambda: "there is no computer API here; the languages reach everything that programs reach",
    )
    os: bool = setting(
        False,
        "Open Interpreter's control of mouse and screen. It is not part of this program.",
        key="os",
        section="Running code",
        flags=("-os",),
        cannot=lambda: "mouse and screen are not controlled from here; code is run in languages instead",
    )
