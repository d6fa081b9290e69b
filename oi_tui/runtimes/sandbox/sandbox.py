"""The sandbox: what a language process can reach, and whether it works on this machine.

In it a program reaches the working directory, and nothing else of the person's: no other file, no network,
no other process, and nothing of ours, there or not yet there. It can read the programs and libraries that
are installed (the system's, and those of the usual places in the home folder), and has temporary files of its
own. Asked for and not to be had, nothing runs: `Sandbox.enclose` raises NoSandboxError, and there is no other
way for a language process to begin.

Files that tools run by themselves, as git's hooks, are read-only (see `protected`).

What it does not hold back: what else is in the working directory, so that a Makefile or a script that
code leaves there acts when somebody runs it later, which is reported; what a program prints, which goes
to the model;
the use of processor, memory and disk; a fault in the kernel; and sockets that somebody outside puts into the
working directory after the language began.
"""

import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes.sandbox import protected_files
from oi_tui.runtimes.sandbox.base import Mechanism, NoSandboxError, SandboxedCommand, SandboxRequest
from oi_tui.runtimes.sandbox.limits import USUAL, SandboxLimits
from oi_tui.runtimes.sandbox.proxy import HostProxy
from oi_tui.system import environment_names
from oi_tui.system.environment import list_withheld

#: Variables that lead to something outside, or to a folder that is not there.
_OUTWARD = frozenset(
    {
        "DBUS_SESSION_BUS_ADDRESS",
        "DBUS_SYSTEM_BUS_ADDRESS",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "WAYLAND_SOCKET",
        "XAUTHORITY",
        "XDG_RUNTIME_DIR",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "GPG_AGENT_INFO",
        "GNOME_KEYRING_CONTROL",
        "DOCKER_HOST",
        "CONTAINER_HOST",
        "KRB5CCNAME",
        "PULSE_SERVER",
        "PIPEWIRE_REMOTE",
        "NOTIFY_SOCKET",
        "LISTEN_FDS",
        "TMUX",
        "TMUX_PANE",
        "STY",
        environment_names.HOME,
        "TMPDIR",
        "TMP",
        "TEMP",
    }
)
#: Places that are no folders of files, or that hold the way to every service of the system.
_NO_FOLDERS = ("/proc", "/sys", "/dev", "/run")
#: Where `drivers/forwarder.py` listens.
_PROXY = "http://127.0.0.1:3128"
_PROXIES = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _PROXY),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost,::1"),
}
_FILES = (".yaml", ".yml", ".py", ".json")
_BUT = ("/dev/shm", "/run/media")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Holds programs in the folder `cwd`.

    `private` names what is ours beside the folders of `paths`, as a profile that lies elsewhere; `programs`
    are those of all languages, which code in the sandbox may run but not change.
    """

    cwd: Path
    private: tuple[Path, ...] = ()
    programs: tuple[str, ...] = ()
    #: The secrets of the environment that go inside all the same, by name or by its beginning, as `AWS_*`.
    passed: tuple[str, ...] = ()
    #: Files that would be read-only, by name or path, and may be written all the same.
    writable: tuple[str, ...] = ()
    limits: SandboxLimits = USUAL
    #: The only hosts that programs reach, as `www.example.com` and `*.example.com`; may grow meanwhile.
    hosts: Sequence[str] = ()
    #: Called with the other hosts that code asked for.
    refused: Callable[[str], object] = lambda _: None
    #: Called with the connections that were closed because of what they were used for, in sentences.
    ended: Callable[[str], object] = lambda _: None
    #: Called with what could not be protected, in sentences.
    unprotected: Callable[[str], object] = lambda _: None

    def find_problem(self) -> str | None:
        """Find the problem as `explain_unavailable` does, but what is wrong and what to do apart.

        None when nothing is.
        """
        finding = self.find_problem_parts()
        return str(_make_refusal(*finding)) if finding else None

    def find_problem_parts(self) -> tuple[str, str] | None:
        """Find the problem as `find_problem` does, but what is wrong, as a part of a sentence, and what
        to do apart.
        """
        if unkept := self.limits.find_problem():
            return unkept, "Remove them from the profile."
        if self.hosts and not has_proxy():
            return "sandbox_hosts cannot be enforced on this system", "Remove them from the profile."
        try:
            self.resolve_folder()
        except NoSandboxError as error:
            return error.finding
        return find_problem()

    def enclose(
        self, program: str, argv: Sequence[str], env: Mapping[str, str], channel: Path
    ) -> SandboxedCommand:
        """Build the command that starts `argv`, which runs `program`, inside. Raises NoSandboxError."""
        if problem := self.find_problem():
            raise NoSandboxError(problem)
        inside = {name: value for name, value in env.items() if name not in _OUTWARD}
        for name in list_withheld(self.passed, inside):
            del inside[name]
        # So that drivers and other programs can say why something fails.
        inside[environment_names.IN_SANDBOX] = "on"
        if has_proxy():
            # Also where no host is allowed yet: a program that runs can then reach one as soon as it is.
            inside |= _PROXIES
        mechanism = _find_mechanism()
        guarded = protected_files.find(self.resolve_folder(), self.writable)
        for remark in guarded.remarks:
            self.unprotected(remark)
        for name in ("CACHE", "CONFIG", "DATA", "STATE"):
            inside[f"XDG_{name}_HOME"] = str(mechanism.find_temporary_folder(channel) / f".{name.lower()}")
        return mechanism.enclose(
            SandboxRequest(
                program,
                tuple(argv),
                inside,
                self.resolve_folder(),
                channel.resolve(),
                tuple(self.find_own_files()),
                self.programs,
                guarded.read_only,
                guarded.pinned,
                self.limits,
                find_gateway(channel).resolve() if has_proxy() else None,
            )
        )

    def open_gateway(self, channel: Path) -> HostProxy | None:
        """Let programs inside reach the hosts that are allowed; None without a proxy. Raises OSError."""
        if not has_proxy():
            return None
        return HostProxy(find_gateway(channel), self.hosts, self.refused, ended=self.ended)

    def resolve_folder(self) -> Path:
        """Return the working directory by its real name.

        Raises NoSandboxError if the sandbox cannot use it.
        """
        try:
            folder = self.cwd.resolve(strict=True)
            if not stat.S_ISDIR(folder.stat().st_mode):
                raise NotADirectoryError
        except OSError:
            raise _make_refusal(
                f"the working directory, {self.cwd}, no longer exists", "Start in another folder."
            ) from None
        home = Path.home().resolve()
        if folder == Path("/") or folder == home or folder in home.parents:
            what = "is your home folder" if folder == home else "holds everything"
            raise _make_refusal(
                f"the working directory, {folder}, {what}, so a sandbox there would protect nothing",
                "Start in a folder for this work: mkdir -p ~/oi-tui-work && cd ~/oi-tui-work && oi-tui "
                "--sandbox.",
            )
        if any(folder.is_relative_to(item) for item in _NO_FOLDERS) and not any(
            folder.parent.is_relative_to(item) for item in _BUT
        ):
            raise _make_refusal(
                f"the working directory, {folder}, is not a normal folder", "Start in another one."
            )
        for ours in self.find_own_files():
            if folder.is_relative_to(ours):
                raise _make_refusal(
                    f"the working directory, {folder}, belongs to oi-tui", "Start in another folder."
                )
            if ours.is_relative_to(folder) and (ours.is_file() or ours.suffix in _FILES):
                raise _make_refusal(
                    f"{paths.shorten(ours)} is in the working directory, where code could change it",
                    "Move it to another folder.",
                )
        for item in (paths.config(), paths.data(), paths.state(), *self.private, *_run_outside()):
            if link := _find_link(item, folder):
                raise _make_refusal(
                    f"{paths.shorten(link)} points to a file that is run or read outside, and code could "
                    "change it",
                    "Start in another folder, or replace the link with the file.",
                )
        for item in _on_path():
            if item.resolve() == folder:
                raise _make_refusal(
                    f"the working directory, {folder}, is on PATH: programs that code puts there would run "
                    "outside",
                    "Start in another folder, or remove it from PATH.",
                )
        return folder

    def find_own_files(self) -> list[Path]:
        """Return the real path of oi-tui's own files, which are hidden inside."""
        own_paths = [paths.config(), paths.data(), paths.state(), *self.private]
        if (config := paths.config()).is_dir():
            # A file that is kept elsewhere and linked here is ours as well.
            own_paths += [path for path in (*config.glob("*"), *config.glob("*/*")) if path.is_symlink()]
        return list(dict.fromkeys(item.resolve() for item in own_paths))


def has_proxy() -> bool:
    """Return whether single hosts can be allowed on this system."""
    return sys.platform.startswith("linux")


def find_gateway(channel: Path) -> Path:
    """Return the path of the proxy's socket."""
    return channel / "gateway"


def explain_unavailable() -> str | None:
    """Return why this machine cannot have a sandbox, and what to do; None when it can."""
    problem = find_problem()
    return str(_make_refusal(*problem)) if problem else None


def find_problem() -> tuple[str, str] | None:
    """Find the problem as `explain_unavailable` does, but what is wrong and what to do apart.

    None when nothing is.
    """
    if not sys.platform.startswith(("linux", "darwin")):
        return "the sandbox does not support this system yet", "It supports Linux and macOS."
    return _find_mechanism().find_problem()


def explain_weakness() -> tuple[str, str] | None:
    """Return what this machine's sandbox cannot prevent although it works, and how to fix it."""
    return _find_mechanism().explain_weakness()


def _on_path() -> list[Path]:
    return [Path(part or os.curdir).absolute() for part in os.environ.get("PATH", "").split(os.pathsep)]


def _run_outside() -> list[Path]:
    return [*_on_path(), Path(paths.__file__).parent, Path(sys.prefix)]


def _find_link(path: Path, folder: Path) -> Path | None:
    """Return the link in the folder by which the path goes, if there is one:
    who may write there may turn it.
    """
    return next(
        (
            item
            for item in (path, *path.parents)
            if item.is_symlink() and item.parent.resolve().is_relative_to(folder)
        ),
        None,
    )


def _find_mechanism() -> Mechanism:
    if sys.platform == "darwin":
        from oi_tui.runtimes.sandbox import seatbelt

        return seatbelt
    from oi_tui.runtimes.sandbox import bubblewrap

    return bubblewrap


def _make_refusal(reason: str, fix: str) -> NoSandboxError:
    return NoSandboxError(
        f"The sandbox is on but cannot work, so nothing runs: {reason}. {fix} Or turn the sandbox off.",
        (reason, fix),
    )
