"""The driver of compiled languages: builds a program from each cell and runs it on the terminal.

The files are in a build folder of this process alone, which goes when the process does. A cell that was built
before is not built again, unless its compiler or a file that it includes has changed.
"""

# mypy: ignore-errors

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HERE)

import compilers
from plain_channel import Channel, Failed, find_working_directory

_PREFIX = "oi-tui-build-"
#: How many programs, and how many bytes of them, are kept for cells that run again.
_MOST = 20
_LARGEST = 200_000_000
#: Signals that a program begins with as if nobody had touched them.
_USUAL = [signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGUSR2, signal.SIGXFSZ]


class BuildFolder:
    """A private folder for sources and programs, held by a lock so that what nobody holds can be removed."""

    def __init__(self):
        _remove_abandoned()
        self.path = tempfile.mkdtemp(prefix=_PREFIX)
        self._hold()

    def _hold(self):
        self._lock = os.open(os.path.join(self.path, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def restore(self):
        """Make the folder again where somebody emptied or removed the place for temporary files.

        Raises Failed where its name was taken meanwhile: others could replace the programs in it.
        """
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            status = os.lstat(self.path)
            if status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode):
                return
            raise Failed("{} was replaced by another program: use %restart".format(self.path)) from None
        os.close(self._lock)
        self._hold()

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def list_programs(self):
        """Return the folders of built programs, the one that was used longest ago first."""
        entries = [entry for entry in os.scandir(self.path) if entry.name.startswith("program-")]
        return [entry.path for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime_ns)]

    def forget_old(self):
        """Remove programs until the others are few and small enough."""
        folders = self.list_programs()
        size = sum(_measure_folder(folder) for folder in folders)
        while folders and (len(folders) > _MOST or (size > _LARGEST and len(folders) > 1)):
            oldest = folders.pop(0)
            size -= _measure_folder(oldest)
            shutil.rmtree(oldest, ignore_errors=True)


class CompiledDriver:
    """Builds and runs cells with one compiler."""

    def __init__(self, compiler, folder):
        self._compiler = compiler
        self._folder = folder
        self._interrupted = False

    def run(self, code, name):
        if not compilers.has_code(code):
            return "finished", None
        self._interrupted = False
        signal.signal(signal.SIGINT, self._note_interrupt)
        try:
            here = find_working_directory()
            argv = self._compiler.start(self._build(code), name)
            status = self._wait(self._start(argv, here, dict(os.environ)))
        except Failed as error:
            return "failed", str(error)
        except OSError as error:
            return "failed", "{}: {}".format(error.filename or "the build folder", error.strerror)
        return ("failed", _describe(status)) if status else ("finished", None)

    def answer(self, question, words):
        """Return what is known of the last cell, as the fields of an answer to the application."""
        try:
            return self._compiler.answer(question, words, self._folder.path)
        except (OSError, ValueError, subprocess.SubprocessError):
            return {}

    def _note_interrupt(self, *_):
        # The program on the terminal was given it as well, and ends by it or has its own way.
        self._interrupted = True

    def _build(self, code):
        """Return the folder with the program of a cell, built now or before."""
        unit = self._compiler.make_unit(code)
        if unit.problem:
            raise Failed(unit.problem)
        key = hashlib.sha256(
            json.dumps([self._compiler.make_identity(), code]).encode("utf-8", "surrogatepass")
        )
        self._folder.restore()
        folder = os.path.join(self._folder.path, "program-" + key.hexdigest()[:32])
        if self._compiler.is_current(folder) and os.path.exists(os.path.join(folder, "cell")):
            os.utime(folder)
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder, 0o700)
        try:
            for name, text in unit.files.items():
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                    file.write(text)
            argv, place = self._compiler.make_command(folder)
            environment = self._compiler.make_environment(self._folder.path)
            status = self._wait(self._start(argv, place, environment)) if argv else 0
            if status:
                if unit.hint:
                    print(unit.hint)
                raise Failed("not compiled: {}".format(_describe(status, os.path.basename(argv[0]))))
            self._compiler.note_sources(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._folder.forget_old()
        return folder

    def _start(self, argv, place, environment):
        """Start a program on the terminal, in the foreground. Returns its process id."""
        here = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.chdir(place)
            child = os.posix_spawn(argv[0], argv, environment, setsigmask=[], setsigdef=_USUAL)
        except PermissionError:
            folder = tempfile.gettempdir()
            raise Failed(
                "{} does not allow programs to run (noexec): set TMPDIR to a folder that does".format(folder)
                if argv[0].startswith(self._folder.path)
                else "{} cannot be run: permission denied".format(argv[0])
            ) from None
        finally:
            os.fchdir(here)
            os.close(here)
        if self._interrupted:
            os.kill(child, signal.SIGINT)
        return child

    def _wait(self, child):
        """Wait for a program to end. Returns its status, negative for a signal."""
        status = os.waitpid(child, 0)[1]
        if self._interrupted:
            raise KeyboardInterrupt
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _describe(status, name=""):
    """Say how a program ended: `exit status 3`, or the signal that ended it."""
    if status >= 0:
        return "{} exit status {}".format(name and name + " ended with", status).strip()
    try:
        what = signal.strsignal(-status) or "signal {}".format(-status)
        word = signal.Signals(-status).name
    except ValueError:
        what = word = "signal {}".format(-status)
    return "{}: {} ({})".format(name or "the program was ended by a signal", what, word)


def _measure_folder(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())


def _remove_abandoned():
    """Remove build folders of processes that were killed: their locks are free."""
    try:
        entries = list(os.scandir(tempfile.gettempdir()))
    except OSError:
        # It may be used without being listed.
        return
    for entry in entries:
        try:
            if not entry.name.startswith(_PREFIX) or entry.stat(follow_symlinks=False).st_uid != os.getuid():
                continue
            number = os.open(os.path.join(entry.path, "lock"), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry.path, ignore_errors=True)
            finally:
                os.close(number)
        except OSError:
            # It is held, or is being made or removed by somebody else.
            continue


def main(channel_folder, language, program):
    sys.path.remove(_HERE)
    channel = Channel(channel_folder)
    folder = BuildFolder()
    driver = CompiledDriver(compilers.COMPILERS[language](program), folder)
    try:
        channel.serve(lambda code: driver.run(code, channel.cell), answer=driver.answer)
    finally:
        folder.remove()


main(*sys.argv[1:])
