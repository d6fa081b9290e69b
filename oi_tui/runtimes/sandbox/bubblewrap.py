"""The sandbox of Linux: bubblewrap, with namespaces and a filter of system calls."""

import contextlib
import functools
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes.installing import find_command
from oi_tui.runtimes.language import DRIVERS
from oi_tui.runtimes.sandbox import readable_paths, seccomp
from oi_tui.runtimes.sandbox.base import NoSandboxError, SandboxedCommand, SandboxRequest
from oi_tui.runtimes.sandbox.self_test import try_to_escape

#: Where bwrap is looked for; not on all of PATH, which code may have been able to write to.
FOLDERS = (
    "/usr/bin",
    "/usr/local/bin",
    "/bin",
    "/run/wrappers/bin",
    "/run/current-system/sw/bin",
)
PACKAGES = dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk"), "bubblewrap")
_NAMESPACES = (
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
)
#: The system's programs and libraries, and links to them at the top.
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_STORES = ("/nix/store", "/gnu/store", "/run/current-system", "/var/cache/fontconfig", "/var/lib/gems")
#: What programs need of /etc; nothing of it is anybody's secret.
_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-x86_64.path", "alternatives", "localtime"),
    *("timezone", "locale.alias", "locale.conf", "default/locale", "ssl/certs", "ssl/openssl.cnf"),
    *("pki/tls/certs", "pki/ca-trust/extracted", "ca-certificates.conf", "ca-certificates/extracted"),
    *("fonts", "terminfo", "inputrc", "mime.types", "magic", "protocols", "services", "os-release"),
    *("debian_version", "lsb-release", "redhat-release", "alpine-release", "R", "perl", "python3"),
    *("matplotlibrc", "java", "julia", "vim", "zsh", "bash.bashrc", "manpath.config", "papersize"),
    *("OpenCL", "ImageMagick-6", "ImageMagick-7", "gai.conf", "host.conf", "rpc", "shells"),
)
#: What of /etc is made again, because the system's own would tell of others.
_HOSTS = "127.0.0.1 localhost\n::1 localhost\n"
_SWITCH = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n"
_INSIDE = "import sys; sys.path.insert(0, sys.argv.pop(1)); import inside"
#: More checks from inside: no rights are left, the filter of calls works, no other process is seen.
_TRIAL = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
if int(status["CapEff"], 16) or status["NoNewPrivs"].strip() != "1" or status["Seccomp"].strip() != "2":
    sys.exit("it keeps rights that it should not have")
if os.getpid() > 100:
    sys.exit("it can see processes outside")
"""

#: The programs that were seen to work.
_trusted: set[tuple[str, int]] = set()


def find() -> str | None:
    """Return the path of bwrap; None where it is not installed."""
    return shutil.which("bwrap", path=os.pathsep.join(FOLDERS))


def find_problem() -> tuple[str, str] | None:
    """Return what is wrong and how to fix it; None when it works, found by trying."""
    if not seccomp.is_supported():
        return f"this processor architecture ({os.uname().machine}) is not supported", "Intel and ARM are."
    bwrap = find()
    if bwrap is None:
        return "bubblewrap (bwrap) is not installed", find_command(PACKAGES) or "Install bubblewrap."
    key = (bwrap, Path(bwrap).stat().st_mtime_ns)
    if key in _trusted:
        return None
    problem = try_to_escape(_enclose_directly, _TRIAL)
    if problem is None:
        _trusted.add(key)
        return None
    return f"bubblewrap does not work on this machine ({problem})", _fix(problem)


def explain_weakness() -> tuple[str, str] | None:
    """Return what this bwrap cannot prevent and how to fix it; None where there is nothing."""
    bwrap = find()
    if bwrap is None or _binds_descriptors(bwrap):
        return None
    fault = "this bubblewrap has no --bind-fd: code that runs while another language starts could make it"
    return f"{fault} show a folder outside", "Update bubblewrap to version 0.10 or later."


def find_temporary_folder(channel: Path) -> Path:  # noqa: ARG001
    """Return the folder for temporary files inside; each program has its own."""
    return Path("/tmp")


def enclose(wanted: SandboxRequest) -> SandboxedCommand:
    """Build the command that starts a program inside. Raises NoSandboxError or OSError."""
    bwrap = find()
    if bwrap is None:
        raise NoSandboxError("bubblewrap (bwrap) is not installed")
    descriptors: list[int] = []
    try:
        view = _View(wanted, descriptors, by_descriptor=_binds_descriptors(bwrap))
        number = str(_open_memory(seccomp.filter_program(), descriptors))
        start = (sys.executable, "-I", "-S", "-c", _INSIDE, str(DRIVERS), "REPORT", *_make_settings(wanted))
        options = (*_NAMESPACES, *view.options, "--seccomp", number, "--chdir", str(wanted.cwd))
        return SandboxedCommand((bwrap, *options, "--", *start, *wanted.argv), wanted.env, tuple(descriptors))
    except BaseException:
        for item in descriptors:
            os.close(item)
        raise


class _View:
    """The files that a program inside sees, as options of bwrap; what comes later lies on top."""

    def __init__(self, wanted: SandboxRequest, made: list[int], *, by_descriptor: bool) -> None:
        self.options: list[str] = []
        self._made = made
        self._by_descriptor = by_descriptor
        #: What is shown of the files outside: which, by its real name, as which, and whether to be changed.
        self._shown: list[tuple[Path, Path, bool]] = []
        cwd = wanted.cwd
        self._show_system()
        self._show_system_files(made)
        self._add("--proc", "/proc", "--dev", "/dev", "--dir", "/run")
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            self._add("--size", str(wanted.limits.temporary), "--tmpfs", folder)
        readable, links = _list_readable(wanted)
        self._add_empty_home(Path.home(), cwd)
        for item, real in readable:
            if cwd.is_relative_to(real):
                self._show_as(real, item)
        self._show(cwd, writable=True)
        for our in wanted.ours:
            if not our.exists() and self._is_shown(our):
                paths.make_private(our)
        self._pin(cwd, [*(real for _, real in readable), *map(Path.resolve, wanted.ours)], wanted.pinned)
        for item, real in readable:
            if not cwd.is_relative_to(real):
                self._show_as(real, item, cwd)
        for item in wanted.read_only:
            self._guard(item, cwd)
        project = cwd / paths.PROJECT
        if project.is_file() and not project.is_symlink():
            self._bind(project, cwd, "--ro-bind")
        self._hide(wanted.ours)
        self._hide(_list_sockets())
        self._show(wanted.channel, writable=True)
        for path, target in links:
            if not self._is_shown(path) and path.parts[1] not in (*_TOP, "etc"):
                self._add("--symlink", target, str(path))
        # The kernel's settings are read-only too: root could write them otherwise.
        self._add("--remount-ro", "/proc", "--remount-ro", "/")

    def _add(self, *options: str) -> None:
        self.options += options

    def _show(self, path: Path, writable: bool = False) -> None:
        """Show a folder or file under the name it is called by, and under its real one."""
        self._show_as(path.resolve(), path, writable=writable)

    def _show_as(self, real: Path, path: Path, cwd: Path | None = None, *, writable: bool = False) -> None:
        """Show what has this real name, also under the name `path`. In `cwd`, no link is followed."""
        for dest in dict.fromkeys((real, path)):
            covered = any(
                not changeable and dest.is_relative_to(at) and real == folder / dest.relative_to(at)
                for folder, at, changeable in self._shown
            )
            if not writable and covered:
                continue
            if cwd is not None and real.is_relative_to(cwd):
                self._bind(real, cwd, "--ro-bind", dest)
            else:
                self._add("--bind" if writable else "--ro-bind", str(real), str(dest))
            self._shown.append((real, dest, writable))

    def _is_shown(self, path: Path) -> bool:
        return any(path.is_relative_to(at) for _, at, _ in self._shown)

    def _guard(self, path: Path, cwd: Path) -> None:
        """Make something in the working directory read-only; for a link, what it leads to there."""
        # For a link in a circle, or to too long a name, methods of Path raise before Python 3.14.
        real = Path(os.path.realpath(path))
        if real.is_relative_to(cwd) and real != cwd and os.path.exists(real):  # noqa: PTH110
            self._bind(real, cwd, "--ro-bind")

    def _pin(self, cwd: Path, protected: Iterable[Path], pinned: Iterable[Path] = ()) -> None:
        """Keep the folders that lead to what is protected in the working directory from being renamed.

        Otherwise one could be moved away, and another put into its place. What is a mount stays where it is.
        """
        above = {
            folder
            for item in protected
            if item != cwd and item.is_relative_to(cwd)
            for folder in item.relative_to(cwd).parents
            if folder != Path()
        }
        above |= {item.relative_to(cwd) for item in pinned}
        for folder in sorted(above, key=lambda entry: len(entry.parts)):
            self._bind(cwd / folder, cwd, "--bind")

    def _bind(self, path: Path, cwd: Path, option: str, dest: Path | None = None) -> None:
        """Mount something of the working directory on itself, or at `dest`.

        What runs in the sandbox of another language may put a link in its place at any moment. By its name,
        bwrap would then mount what the link leads to, so it gets what we have opened.
        """
        if self._by_descriptor:
            self._made.append(_open_below(cwd, path))
            self._add(f"{option}-fd", str(self._made[-1]), str(dest or path))
        else:
            self._add(option, str(path), str(dest or path))

    def _show_system(self) -> None:
        self._show(Path("/usr"))
        for name in _TOP:
            path = Path("/", name)
            if path.is_symlink():
                self._add("--symlink", str(path.readlink()), str(path))
            elif path.is_dir():
                self._show(path)
        for name in _STORES:
            if Path(name).exists():
                self._show(Path(name))

    def _show_system_files(self, made: list[int]) -> None:
        java = (path.name for path in Path("/etc").glob("java-*"))
        for name in (*_ETC, *java):
            path = Path("/etc", name)
            if path.exists():
                self._add("--ro-bind", str(path), str(path))
        user, group = os.getuid(), os.getgid()
        name = "root" if user == 0 else "me"
        files = {
            "passwd": f"{name}:x:{user}:{group}::{Path.home()}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
            "group": f"{name}:x:{group}:\nnogroup:x:65534:\n",
            "hosts": _HOSTS,
            "nsswitch.conf": _SWITCH,
        }
        for file, text in files.items():
            self._add("--ro-bind-data", str(_open_memory(text.encode(), made)), f"/etc/{file}")

    def _add_empty_home(self, home: Path, cwd: Path) -> None:
        """Add an empty home that is read-only, so that nothing written there is lost silently."""
        real = home.resolve()
        if home.is_absolute() and not real.is_relative_to(cwd) and not self._is_shown(real):
            self._add("--dir", str(real))
            if real != home:
                self._add("--symlink", str(real), str(home))

    def _hide(self, hidden: Iterable[Path]) -> None:
        """Hide folders, files and sockets behind empty ones."""
        for path in hidden:
            for place in [at / path.relative_to(r) for r, at, _ in self._shown if path.is_relative_to(r)]:
                if path.is_dir():
                    self._add("--tmpfs", str(place))
                else:
                    self._add("--ro-bind", "/dev/null", str(place))


def _list_readable(wanted: SandboxRequest) -> tuple[list[tuple[Path, Path]], list[tuple[Path, str]]]:
    """Return what is readable but not writable, by its name and its real name, and the links that lead there.

    Code inside may change where a name in the working directory leads, so no name is resolved a second time.
    """
    home, cwd = Path.home(), wanted.cwd
    readable = [*readable_paths.list_programs_at_home(home)]
    readable += [(path, path.resolve()) for path in (DRIVERS, *list_own_paths())]
    links: list[tuple[Path, str]] = []
    for program in dict.fromkeys((wanted.program, wanted.argv[0], sys.executable)):
        folders, program_links = readable_paths.list_of_program(program, home, cwd)
        readable += folders
        links += program_links
    for program in wanted.programs:
        folders, _ = readable_paths.list_of_program(program, home, cwd)
        readable += [(item, real) for item, real in folders if real.is_relative_to(cwd)]
    for folder in on_path():
        if folder.is_relative_to(cwd):
            # One made by code inside would not be protected.
            folder.mkdir(parents=True, exist_ok=True)
            readable.append((folder, folder))
    return list(dict.fromkeys(readable)), list(dict.fromkeys(links))


def list_own_paths() -> list[Path]:
    """Return our own code and interpreter: code inside must not change what runs outside."""
    folders = [Path(paths.__file__).parent]
    return folders if sys.prefix == sys.base_prefix else [*folders, Path(sys.prefix)]


def on_path() -> list[Path]:
    """Return the folders on PATH, by their real names: from there programs are run outside."""
    entries = os.environ.get("PATH", "").split(os.pathsep)
    return [Path(item).resolve() for item in entries if item]


def _list_sockets() -> Iterator[Path]:
    try:
        lines = Path("/proc/net/unix").read_text(errors="replace").splitlines()[1:]
    except OSError:
        return
    for name in {words[7] for line in lines if len(words := line.split(maxsplit=7)) == 8}:
        path = Path(name)
        with contextlib.suppress(OSError):
            if path.is_absolute() and path.is_socket():
                yield path.resolve()


@functools.cache
def _binds_descriptors(bwrap: str) -> bool:
    """Return whether this bwrap mounts what it gets as a descriptor; 0.10 does, and patched older ones."""
    try:
        done = subprocess.run([bwrap, "--help"], capture_output=True, check=False, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"--ro-bind-fd" in done.stdout + done.stderr


def _open_below(folder: Path, path: Path) -> int:
    """Open a file or folder somewhere in a folder, without following a link. Raises NoSandboxError."""
    *parts, name = path.relative_to(folder).parts
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    at = os.open(folder, flags | os.O_DIRECTORY)
    try:
        for part in parts:
            above, at = at, os.open(part, flags | os.O_DIRECTORY, dir_fd=at)
            os.close(above)
        descriptor = os.open(name, flags, dir_fd=at)
    except OSError:
        raise _make_change_error(path) from None
    finally:
        os.close(at)
    if stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _make_change_error(path)
    return descriptor


def _make_change_error(path: Path) -> NoSandboxError:
    return NoSandboxError(f"{path} changed while the sandbox started, so nothing runs. Run the code again.")


def _open_memory(data: bytes, made: list[int]) -> int:
    """Return a descriptor from which the data can be read."""
    number = os.memfd_create("oi-tui", os.MFD_CLOEXEC)
    made.append(number)
    os.write(number, data)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def _make_settings(wanted: SandboxRequest) -> tuple[str, str]:
    """Return the settings of the first program inside: the kernel's limits, and the proxy's address."""
    limits = wanted.limits
    kernel = f"{limits.most_processes},{limits.memory},{limits.disk}"
    return kernel, str(wanted.gateway or "-")


def _enclose_directly(wanted: SandboxRequest) -> SandboxedCommand:
    """Enclose as `enclose` does, without the program that reports the process id."""
    enclosed = enclose(wanted)
    wrapper = enclosed.argv[: enclosed.argv.index("--") + 1]
    return SandboxedCommand((*wrapper, *wanted.argv), enclosed.env, enclosed.descriptors)


def _fix(problem: str) -> str:
    """Explain how to make bubblewrap work, from the kernel's own settings."""
    if _read_setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "Allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1"
    if _read_setting("/proc/sys/user/max_user_namespaces") == "0":
        return "Allow user namespaces: sudo sysctl user.max_user_namespaces=15000"
    if _read_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor blocks user namespaces: install apparmor-profiles, then "
            "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and "
            "sudo systemctl reload apparmor"
        )
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return (
            "This is a container: start it so that it allows user namespaces, or rely on the "
            "container's isolation."
        )
    if "namespace" in problem or "uid map" in problem or "ermission" in problem:
        return "Allow user namespaces in the kernel or the container."
    return "Try: bwrap --unshare-all --ro-bind / / true"


def _read_setting(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
