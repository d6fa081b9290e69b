"""The settings of running code."""

import re
from dataclasses import dataclass

from oi_tui.engine.settings import mcp_servers as servers
from oi_tui.engine.settings.setting import setting

_HOST = (
    r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?(?::\d{1,5})?"
    r"|\[[0-9a-f:.]+\](?::\d{1,5})?"
)


def check_host_pattern(text: str) -> str | None:
    """Say what the text must be unless it names a host, or all below one."""
    if re.fullmatch(_HOST, text, re.IGNORECASE):
        return None
    return (
        "a host (www.example.com), a host with a port (127.0.0.1:8000), or all subdomains of one "
        "(*.example.com)"
    )


def check_target(text: str) -> str | None:
    """Say what the text must be unless it names a place where code can run."""
    if re.fullmatch(r"local|(?:ssh|container|command|kernel):\s*\S.*", text):
        return None
    return "local, ssh:HOST, ssh:HOST/FOLDER, container:NAME, container:IMAGE, command:PREFIX or kernel:FILE"


def check_variable_pattern(text: str) -> str | None:
    """Say what the text must be unless it names a variable, or the beginning of some."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?", text):
        return None
    return "the name of a variable, or a prefix with *, such as AWS_*"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ExecutionSettings:
    """Settings for approving and running code."""

    # ---- Running code
    auto_run: bool = setting(
        False,
        "Run code without asking. Whatever the model writes then runs on this machine immediately.",
        key="auto_run",
        title="Run without asking",
        limits=True,
        section="Running code",
        flags=("-y",),
    )
    safe_mode: str = setting(
        "off",
        "Ask before code with known risks, even when auto_run is on. Code is always scanned on this machine. "
        "off only shows what was found; ask and auto also ask, and do the same.",
        key="safe_mode",
        title="Ask before risky code",
        limits=True,
        section="Running code",
        flags=("-safe", "--safe"),
        choices=("off", "ask", "auto"),
        true_means="ask",
    )
    target: str = setting(
        "local",
        "Where code runs. local is this machine. ssh:HOST/FOLDER uses your own ssh configuration. "
        "container:NAME is a running container, container:IMAGE a new one. command:PREFIX is where a command "
        "leads, such as command:sudo -u build. These need Python 3.8 or later there; nothing is installed. "
        "kernel:FILE or kernel:ADDRESS is a Jupyter kernel.",
        key="target",
        title="Where code runs",
        limits=True,
        section="Running code",
        must=check_target,
    )
    keep_running: str = setting(
        "off",
        "What runs on a target when the connection is lost: off ends it, cut leaves it running, always also "
        "leaves it running when you quit. %attach reconnects to it. %detach leaves it running at any time.",
        key="keep_running",
        title="Keep running on targets",
        section="Running code",
        choices=("off", "cut", "always"),
        later="at the next start",
    )
    keep_running_days: float = setting(
        7.0,
        "End what was left running on a target after this many days without a connection.",
        key="keep_running_days",
        title="Days to keep running",
        section="Running code",
        minimum=0.01,
        later="at the next start",
    )
    sandbox: bool = setting(
        False,
        "Limit programs to the working directory: no other personal files, no network, no other processes, "
        "and no access to oi-tui. Where the sandbox cannot work, nothing runs. Changing it restarts the "
        "interpreters.",
        key="sandbox",
        limits=True,
        section="Running code",
    )
    sandbox_writable: tuple[str, ...] = setting(
        (),
        "Files that code in the sandbox may write although other programs run them automatically, by name or "
        "path: .envrc, .git/hooks. Without this they are read-only.",
        key="sandbox_writable",
        title="Sandbox: writable files",
        section="Running code",
        later="at the next start",
        long=True,
    )
    sandbox_hosts: tuple[str, ...] = setting(
        (),
        "The only hosts that programs in the sandbox can reach: www.example.com, *.example.com, "
        "127.0.0.1:8000. "
        "%pip needs the hosts of your package index. Private addresses are refused unless they are listed.",
        later="at the next start",
        key="sandbox_hosts",
        title="Sandbox: allowed hosts",
        commas=True,
        section="Running code",
        must=check_host_pattern,
        long=True,
    )
    sandbox_memory: float | None = setting(
        None,
        "Memory limit in GB for a language in the sandbox. Programs that exceed it are ended.",
        later="at the next start",
        key="sandbox_memory",
        title="Sandbox: memory limit",
        limits=True,
        section="Running code",
        minimum=0.2,
        unset="three quarters of this machine's memory",
    )
    sandbox_processes: int | None = setting(
        None,
        "Process limit for a language in the sandbox. Programs that exceed it are ended.",
        later="at the next start",
        key="sandbox_processes",
        title="Sandbox: process limit",
        limits=True,
        section="Running code",
        minimum=20,
        unset="1000",
    )
    sandbox_disk: float | None = setting(
        None,
        "Limit in GB for what a language in the sandbox writes to the working directory. A language "
        "that exceeds it is ended.",
        later="at the next start",
        key="sandbox_disk",
        title="Sandbox: disk limit",
        limits=True,
        section="Running code",
        minimum=0.001,
        unset="20",
    )
    sandbox_time: float | None = setting(
        None,
        "Time limit for a run in the sandbox, in minutes.",
        later="at the next start",
        key="sandbox_time",
        title="Sandbox: time limit",
        limits=True,
        section="Running code",
        minimum=0.01,
        unset="no limit",
    )
    loop: bool = setting(
        False,
        "Keep the model working until it says that the task is done, or is impossible.",
        key="loop",
        title="Work until done",
        section="Running code",
    )
    python: str | None = setting(
        None,
        "The Python interpreter that runs Python code.",
        later="at the next start",
        key="python",
        title="Python interpreter",
        section="Running code",
        unset="the active environment's",
    )
    shell: str | None = setting(
        None,
        "The shell that runs shell code.",
        later="at the next start",
        key="shell",
        section="Running code",
        unset="your login shell",
    )
    highlight_active_line: bool = setting(
        True,
        "Highlight the line of code that is running.",
        later="at the next start",
        key="highlight_active_line",
        title="Highlight the running line",
        section="Running code",
        off_flags=("-nhl",),
    )
    languages: tuple[str, ...] = setting(
        (),
        "The only languages that may be used, by name; all available ones if empty.",
        key="computer.languages",
        title="Allowed languages",
        commas=True,
        unset="all available",
        limits=True,
        section="Running code",
        long=True,
    )
    custom_languages: tuple[str, ...] = setting(
        (),
        "Custom languages, each a class in a file: shout.py, shout.py:Shout or package.module:Shout.",
        later="at the next start",
        key="computer.custom_languages",
        section="Running code",
        long=True,
    )
    mcp_servers: tuple[str, ...] = setting(
        (),
        "MCP servers whose tools the model can use, each as NAME = COMMAND or NAME = URL. Variables stand "
        "before the command, headers behind the URL; ${NAME} is an environment variable. Every call needs "
        "approval, like code. %mcp lists and tests them.",
        key=servers.KEY,
        title="MCP servers",
        section="Running code",
        must=servers.check_line,
        long=True,
    )
    emit_images: bool = setting(
        True,
        "Send the images that programs show to the model.",
        key="computer.emit_images",
        title="Send images to the model",
        section="Running code",
    )
    shrink_images: bool = setting(
        True,
        "Shrink images that are too large for the provider; otherwise they are only described.",
        key="shrink_images",
        title="Shrink large images",
        section="Running code",
    )
    share_keys: bool = setting(
        False,
        "Pass all keys and passwords in your environment to programs. Code from the model could then "
        "send them elsewhere. pass_environment passes only the ones you list.",
        key="share_keys",
        title="Pass keys to programs",
        limits=True,
        section="Running code",
        later="at the next start",
    )
    pass_environment: tuple[str, ...] = setting(
        (),
        "Environment variables that programs get although they look like a key or a password, "
        "by name or prefix: DATABASE_URL, AWS_*. %info lists the hidden ones.",
        key="pass_environment",
        title="Environment variables to pass",
        commas=True,
        section="Running code",
        later="at the next start",
        must=check_variable_pattern,
        long=True,
    )
    import_computer_api: bool = setting(
        False,
        "Give Python code the object computer, for screen, mouse, keyboard, files, browser, mail and "
        "calendar, and describe it to the model.",
        key="computer.import_computer_api",
        title="Computer API",
        section="Running code",
        later="at the next start",
    )
    os: bool = setting(
        False,
        "OS mode: the model works with your screen, mouse and keyboard, through Python code that uses the "
        "object computer. It includes import_computer_api.",
        key="os",
        title="OS mode",
        section="Running code",
        flags=("-os",),
        later="at the next start",
    )
    unmasked_screen: bool = setting(
        False,
        "Let code take screenshots of programs that do not report where their password fields are, "
        "without asking you. Otherwise you are asked; where nobody can be asked, there is no screenshot.",
        key="unmasked_screen",
        title="Unmasked screen",
        section="Running code",
    )
