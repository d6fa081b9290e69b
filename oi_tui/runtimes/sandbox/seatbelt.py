"""The sandbox of macOS: Seatbelt, through `sandbox-exec` and a profile of what is allowed.

Written after Apple's own profiles, and not yet tried on a Mac; what a trial inside cannot confirm is refused.
"""

import os
import shutil
import sys
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes.language import DRIVERS
from oi_tui.runtimes.sandbox import readable_paths
from oi_tui.runtimes.sandbox.base import NoSandboxError, SandboxedCommand, SandboxRequest
from oi_tui.runtimes.sandbox.self_test import try_to_escape

#: Of several rules the last one that fits counts.
_PROFILE = """(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read* file-test-existence
  (literal "/")
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom")
  (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/opt/homebrew")
  (subpath "/Library/Frameworks") (subpath "/Library/Developer") (subpath "/Library/Java")
  (subpath "/Library/Fonts") (subpath "/Applications/Xcode.app/Contents/Developer")
  (subpath "/private/etc/ssl") (literal "/private/etc/localtime") (literal "/private/etc/shells")
  (subpath "/private/var/db/timezone") (subpath "/private/var/db/dyld") (subpath "/dev/fd"))
(allow file-read* file-write* file-ioctl
  (literal "/dev/tty") (literal "/dev/null") (regex #"^/dev/ttys[0-9]+$"))
"""
_PLACE = "/usr/bin/sandbox-exec"

#: Whether it was seen to work.
_trusted: set[str] = set()


def find_problem() -> tuple[str, str] | None:
    """Return what is wrong and how to fix it; None when it works, found by trying."""
    if not shutil.which(_PLACE):
        return f"{_PLACE} is not there", "It is a part of macOS."
    if _PLACE in _trusted:
        return None
    problem = try_to_escape(enclose)
    if problem is None:
        _trusted.add(_PLACE)
        return None
    return f"sandbox-exec does not work here ({problem})", "It cannot be used inside of another sandbox."


def explain_weakness() -> tuple[str, str] | None:
    """Return what this version cannot prevent and how to fix it: nothing is known."""
    return None


def find_temporary_folder(channel: Path) -> Path:
    """Return the folder inside for what may be lost."""
    return channel / "tmp"


def enclose(wanted: SandboxRequest) -> SandboxedCommand:
    """Build the command that starts a program inside. Raises NoSandboxError or OSError."""
    if not shutil.which(_PLACE):
        raise NoSandboxError(f"{_PLACE} is not there")
    folder = find_temporary_folder(wanted.channel)
    folder.mkdir(mode=0o700, exist_ok=True)
    profile = _Profile()
    home, cwd = Path.home(), wanted.cwd
    pairs = [*readable_paths.list_programs_at_home(home)]
    pairs += [(path, path.resolve()) for path in (DRIVERS, Path(paths.__file__).parent, Path(sys.prefix))]
    for program in dict.fromkeys((wanted.program, wanted.argv[0], sys.executable)):
        pairs += readable_paths.list_of_program(program, home, cwd)[0]
    readable = list(dict.fromkeys(path for pair in pairs for path in pair))
    protected = [
        path
        for program in wanted.programs
        for pair in readable_paths.list_of_program(program, home, cwd)[0]
        if pair[1].is_relative_to(cwd)
        for path in pair
    ]
    # What is in the working directory is readable as a part of it, and may have become a link since.
    profile.say("allow file-read* file-test-existence", [p for p in readable if not p.is_relative_to(cwd)])
    profile.say("allow file-read* file-write* file-test-existence", [cwd, wanted.channel])
    reachable_paths = [cwd, wanted.channel, *readable]
    profile.say(
        "allow file-read-metadata", {above for item in reachable_paths for above in item.parents}, "literal"
    )
    guarded = (*readable, *protected, *wanted.read_only, cwd / paths.PROJECT)
    inside = [item for item in guarded if item.is_relative_to(cwd)]
    profile.say("deny file-write*", inside)
    profile.say("deny file-read* file-write*", wanted.ours)
    # A folder above what is protected cannot be moved away, to put another in its place.
    above = {
        folder for item in (*inside, *wanted.ours) for folder in item.parents if folder.is_relative_to(cwd)
    }
    profile.say("deny file-write-unlink", above, "literal")
    env = {**wanted.env, "TMPDIR": str(folder)}
    return SandboxedCommand((_PLACE, "-p", profile.text, *profile.parameters, *wanted.argv), env)


class _Profile:
    """A profile whose paths are parameters, so that no name of a folder can be read as a rule."""

    def __init__(self) -> None:
        self.text = _PROFILE
        self.parameters: list[str] = []

    def say(
        self, rule: str, places: "list[Path] | set[Path] | tuple[Path, ...]", how: str = "subpath"
    ) -> None:
        """Add a rule for these places, under all their names."""
        names = sorted({str(name) for place in places for name in (place, os.path.realpath(place))})
        words = []
        for name in names:
            key = f"P{len(self.parameters) // 2}"
            self.parameters += ["-D", f"{key}={name}"]
            words.append(f'({how} (param "{key}"))')
        if words:
            self.text += f"({rule} {' '.join(words)})\n"
