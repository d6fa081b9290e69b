"""Targets: where code runs, and the command that starts the worker there."""

import contextlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from oi_tui.runtimes.remote.bundle import start_script
from oi_tui.runtimes.remote.jupyter.server_address import parse_address

Kind = Literal["ssh", "container", "command", "kernel"]

#: The spelling of this machine.
LOCAL = "local"
_FORMS = (
    "local, ssh:HOST, ssh:HOST/FOLDER, container:NAME, container:IMAGE, command:PREFIX, "
    "kernel:FILE or kernel:ADDRESS"
)
#: A user, perhaps of a directory (CORP\\ana), or with the machine behind a gateway (ana@gpu1@gateway).
_USER = r"(?:[A-Za-z0-9_][\w.+%#=,~@\\-]*@)?"
_HOST = re.compile(_USER + r"(?:[A-Za-z0-9_][\w.+%=,-]*|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\])(?::\d{1,5})?")
_CONTAINER = re.compile(r"[A-Za-z0-9][\w./:@-]*")
CONTAINER_PROGRAMS = ("podman", "docker", "nerdctl")
_LONGEST_TITLE = 60
_LAST_PORT = 65535
#: How long the container program may take to say whether a container runs, in seconds.
_TIMEOUT = 15.0
#: And ssh, to say its version.
_VERSION_TIMEOUT = 2.0
#: How a program is asked for a few words.
_QUIETLY: dict[str, Any] = {"text": True, "errors": "replace", "stdin": subprocess.DEVNULL}


class TargetError(Exception):
    """The target cannot be used; the message says why in a sentence."""


class GoneError(TargetError):
    """What was left running on the target has ended."""


@dataclass(frozen=True)
class Target:
    """A place where code runs: its spelling, and how the worker is started there."""

    spelling: str
    kind: Kind
    #: The host, the container, or the command that leads there.
    place: str
    #: The folder in which languages start; "" for the one where the worker starts.
    folder: str = ""

    @property
    def is_address(self) -> bool:
        """Whether it is the address of a server with kernels, and no file."""
        return self.kind == "kernel" and self.place.startswith(("http://", "https://"))

    @property
    def title(self) -> str:
        """The place in a word or two, such as `gpu1`; of a long command its beginning and its end."""
        if self.kind == "ssh":
            return self.place
        if self.kind == "container":
            return f"container {self.place}"
        if self.kind == "kernel":
            return f"kernel {self.place}"
        program, *rest = shlex.split(self.place)
        words = shlex.join([program.rpartition("/")[2], *rest])
        if len(words) <= _LONGEST_TITLE:
            return words
        return f"{words[: _LONGEST_TITLE // 2]}…{words[-_LONGEST_TITLE // 2 :]}"

    def make_command(self, *, may_ask: bool = False) -> list[str]:
        """Make the command that starts the worker; it may ask the person, or fails where it would have to.

        Raises TargetError when its program is missing.
        """
        if self.kind == "ssh":
            return _make_ssh_command(self.place, may_ask=may_ask)
        if self.kind == "container":
            return _make_container_command(self.place)
        words = shlex.split(self.place)
        _require(words[0], self.spelling)
        script = ["sh", "-c", start_script()]
        # ssh hands its words to a shell there, which would divide them again.
        return [*words, shlex.join(script)] if words[0].rpartition("/")[2] == "ssh" else [*words, *script]


@dataclass(frozen=True, slots=True)
class DetachOptions:
    """What keeps running on targets, and for how long."""

    #: Whether it does when the connection is lost, and when the application is left.
    cut: bool = False
    at_end: bool = False
    #: How long without a connection, in seconds.
    seconds: float = 7 * 86400.0
    #: The id of the conversation that it belongs to.
    conversation: Callable[[], str] = str


USUAL = DetachOptions()


def parse(spelling: str) -> Target | None:
    """Return the target that the person typed; None for this machine.

    Raises TargetError for anything else.
    """
    spelling = spelling.strip()
    if spelling in ("", LOCAL):
        return None
    kind, colon, place = spelling.partition(":")
    place = place.strip()
    if kind == "ssh" and colon:
        host, slash, folder = place.partition("/")
        if not _HOST.fullmatch(host):
            raise TargetError(
                f"{spelling!r} has no host: "
                "write ssh:HOST, ssh:USER@HOST:PORT, ssh:[IPV6]:PORT or ssh:HOST/FOLDER."
            )
        port = re.search(r":(\d+)$", host)
        if port and not 0 < int(port[1]) <= _LAST_PORT:
            raise TargetError(f"{spelling!r}: {port[1]} is not a port; ports are 1 to {_LAST_PORT}.")
        home = folder[:1] == "~"
        return Target(spelling, "ssh", host, folder if home else slash + folder if folder else "")
    if kind == "container" and colon:
        if not _CONTAINER.fullmatch(place):
            raise TargetError(f"{spelling!r} has no container: write container:NAME or container:IMAGE.")
        return Target(spelling, "container", place)
    if kind == "command" and colon:
        try:
            words = shlex.split(place)
        except ValueError:
            words = []
        if not words:
            raise TargetError(
                f"{spelling!r} is not a command: write command:PREFIX, as command:sudo -u build."
            )
        return Target(spelling, "command", place)
    if kind == "kernel" and place:
        target = Target(spelling, "kernel", place)
        if target.is_address:
            try:
                parse_address(place)
            except ValueError as error:
                raise TargetError(str(error)) from None
        return target
    raise TargetError(f"Unknown target {spelling!r}. Targets: {_FORMS}.")


def _require(program: str, spelling: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise TargetError(f"The program {program} was not found; the target {spelling} needs it.")
    return path


def _make_ssh_command(place: str, *, may_ask: bool) -> list[str]:
    host, port = place, ""
    if match := re.fullmatch(r"(.*[^:]|.*\]):(\d{1,5})", place):
        host, port = match[1], match[2]
    program = _require("ssh", f"ssh:{place}")
    # Nothing is asked on the terminal, where the screen is.
    options = ["-T", "-o", f"BatchMode={'no' if may_ask else 'yes'}", "-o", "ConnectTimeout=20"]
    # What a person wants of a shell there, such as tmux, or a port that another ssh has already.
    options += ["-o", "RemoteCommand=none", "-o", "ExitOnForwardFailure=no"]
    # Code there could sign with the keys of this machine, or watch its screen and keyboard.
    options += ["-o", "ForwardAgent=no", "-o", "ForwardX11=no"]
    if _takes_session_options(program):
        # What a person wants for tunnels, which would leave us without input, command or process.
        for option in ("StdinNull=no", "SessionType=default", "ForkAfterAuthentication=no"):
            options += ["-o", option]
    host = host.replace("[", "").replace("]", "")
    words = [*(["-p", port] if port else []), "--", host]
    if not _keeps_shared_connection(program, words):
        # A shared connection is used, but ours is not shared: other sessions of ssh would end with us.
        options += ["-o", "ControlMaster=no"]
    return [program, *options, *words, shlex.join(["sh", "-c", start_script()])]


def _keeps_shared_connection(program: str, words: list[str]) -> bool:
    """Return whether the configuration lets a shared connection outlive the ssh
    that makes it (ControlPersist).
    """
    command = [program, "-G", *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT, check=False, **_QUIETLY)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return re.search(r"^controlpersist (?!no$)", done.stdout, re.MULTILINE) is not None


@cache
def _takes_session_options(program: str) -> bool:
    """Return whether this ssh knows the options of OpenSSH 8.7; an older one ends at an option
    that it does not.
    """
    try:
        done = subprocess.run(
            (program, "-V"), capture_output=True, timeout=_VERSION_TIMEOUT, check=False, **_QUIETLY
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    match = re.match(r"OpenSSH_(\d+)\.(\d+)", done.stderr)
    return match is not None and (int(match[1]), int(match[2])) >= (8, 7)


def _make_container_command(place: str) -> list[str]:
    program, runs = _find_container(place)
    if runs:
        return [program, "exec", "-i", place, "sh", "-c", start_script()]
    # The shell stays as the first process of the container, and takes up what ended there. The programs for
    # that which --init needs are not installed everywhere.
    script = f"({start_script()}); exit $?"
    return [
        _choose_program_with_image(place, program),
        "run",
        "--rm",
        "-i",
        "--entrypoint",
        "sh",
        place,
        "-c",
        script,
    ]


def find_container_programs() -> list[str]:
    """Return the programs of this machine that run containers."""
    return [path for name in CONTAINER_PROGRAMS if (path := shutil.which(name))]


def is_running_container(place: str) -> bool:
    """Return whether that is a container that runs, and no image. Raises TargetError where nobody can say."""
    return bool(find_container_programs()) and _find_container(place)[1]


def _find_container(place: str) -> tuple[str, bool]:
    """Return the program that runs the container, and True; or the first program, and False
    where none has it.

    Raises TargetError when there is no program, when none answers, and for a container that does not run.
    """
    programs = find_container_programs()
    if not programs:
        names = ", ".join(CONTAINER_PROGRAMS)
        raise TargetError(f"The target container:{place} needs one of these programs: {names}.")
    words, stopped, problem = ("container", "inspect", "--format", "{{.State.Running}}", place), "", ""
    for program in programs:
        try:
            answer = ask_program(program, *words)
        except TargetError as error:
            problem = problem or str(error)
            continue
        if answer == "true":
            return program, True
        if answer == "false":
            stopped = stopped or Path(program).name
    if stopped:
        raise TargetError(f"The container {place} is not running. Start it: {stopped} start {place}")
    if problem and len(programs) == 1:
        raise TargetError(problem)
    return programs[0], False


def _choose_program_with_image(place: str, usual: str) -> str:
    """Choose the program that has the image already; the usual one if none has it, or there is only one."""
    programs = find_container_programs()
    if len(programs) > 1:
        for program in programs:
            with contextlib.suppress(TargetError):
                if has_image(program, place):
                    return program
    return usual


def has_image(program: str, image: str) -> bool:
    """Return whether a container program has the image already. Raises TargetError if it does not answer."""
    return bool(ask_program(program, "image", "inspect", "--format", "{{.Id}}", image))


def ask_program(program: str, *words: str, timeout: float = _TIMEOUT) -> str:
    """Return what a container program prints; "" if it fails. Raises TargetError
    if it does not answer in time.

    `timeout` is in seconds.
    """
    try:
        done = subprocess.run(
            (program, *words),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            # Without a terminal it can ask nothing on the screen.
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"{program} does not answer: {error}") from None
    return "" if done.returncode else done.stdout.strip()
