"""Starts and stops a llamafile: a model and its server in one file."""

import http.client
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.models import download
from oi_tui.engine.output.plain import clip, make_plain

#: Seconds that a large model on a slow disk may take until it answers.
TIMEOUT = 300.0
#: Seconds between an order to end and the use of force.
_GRACE = 3.0
#: Seconds between two words on how far a download is.
_PACE = 0.2
SUFFIX = ".llamafile"
#: Runs the server in a group of its own, and ends the group when we are gone: its input then ends.
_GUARD = """
import os, signal, subprocess, sys, threading
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
try:
    child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             start_new_session=True)
except OSError as error:
    if error.errno != 8:  # ENOEXEC: a file for several systems, which a shell can start
        os.write(log, f"{error.strerror}\\n".encode()); sys.exit(126)
    child = subprocess.Popen(["/bin/sh", *sys.argv[2:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             start_new_session=True)
def end(number):
    try: os.killpg(child.pid, number)
    except OSError: pass
def watch():
    while os.read(0, 1024): pass
    end(signal.SIGTERM)
    try: child.wait(3.0)
    except subprocess.TimeoutExpired: pass
    end(signal.SIGKILL)
for number in (signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
threading.Thread(target=watch, daemon=True).start()
status = child.wait()
end(signal.SIGKILL)
os._exit(status if 0 <= status < 126 else 125)
"""


class LlamafileError(Exception):
    """The llamafile does not run; the message says why."""


def find_folder() -> Path:
    """Return the folder of llamafiles."""
    return paths.data() / "models"


def list_files() -> list[Path]:
    """Return the llamafiles that are here, by name."""
    try:
        return sorted(
            path for path in find_folder().iterdir() if path.name.endswith(SUFFIX) and path.is_file()
        )
    except OSError:
        return []


def is_source(name: str) -> bool:
    """Return whether a name given for a model is the address or the file of a llamafile."""
    return name.startswith(("http://", "https://")) or name.endswith(SUFFIX)


def begin(
    source: str, stopped: threading.Event, *, hidden: tuple[str, ...] = ()
) -> Iterator["str | Llamafile"]:
    """Download and start the llamafile of an address or a path. Yields its progress, and itself at the end.

    Raises DownloadError or LlamafileError.
    """
    path = paths.expand_typed(source)
    if source.startswith(("http://", "https://")):
        name = download.make_file_name(source.partition("#")[0])
        if not name.endswith(SUFFIX):
            raise LlamafileError(f"{source} is not the address of a llamafile: its name ends in {SUFFIX}.")
        path = find_folder() / name
        last_report = 0.0
        for step in download.fetch(source, find_folder(), stopped=stopped):
            if time.monotonic() - last_report > _PACE or step.done == step.total:
                last_report = time.monotonic()
                yield f"Downloading {name}: {step}"
    yield f"Starting {path.name} ..."
    running = Llamafile(path, hidden=hidden)
    running.wait(stopped)
    yield running


class Llamafile:
    """One running llamafile. `api_base` is where it answers, in OpenAI's format."""

    def __init__(self, path: Path, *, hidden: tuple[str, ...] = ()) -> None:
        """Start it. `hidden` are variables that it does not get to see. Raises LlamafileError."""
        self.path = path
        self._log = paths.state() / "llamafile.log"
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise LlamafileError(f"{path} is not a file.")
            if not mode & stat.S_IXUSR:
                path.chmod(mode | stat.S_IXUSR)
            paths.make_private(self._log.parent)
            os.close(os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600))
            self._port = _find_free_port()
            self._guard = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", "-c", _GUARD, str(self._log), str(path.absolute())),
                    *("--server", "--nobrowser", "--host", "127.0.0.1", "--port", str(self._port)),
                    *("-ngl", "9999"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=path.absolute().parent,
                env=_remove(os.environ, hidden),
                start_new_session=True,
            )
        except OSError as error:
            raise LlamafileError(f"Could not start {path}: {error.strerror or error}.") from None

    @property
    def api_base(self) -> str:
        """The address to give to LiteLLM."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def model(self) -> str:
        """The name to give to LiteLLM."""
        return f"openai/{self.path.name.removesuffix(SUFFIX)}"

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self._guard.poll() is None

    def wait(self, stopped: threading.Event, timeout: float = TIMEOUT) -> None:
        """Wait until it answers. Raises LlamafileError, with its own last words, when it does not."""
        until = time.monotonic() + timeout
        while not self._is_answering():
            if not self.running:
                raise LlamafileError(f"{self.path.name} ended immediately. {self._read_last_line()}")
            if stopped.wait(0.1):
                self.stop()
                raise LlamafileError("Stopped.")
            if time.monotonic() > until:
                self.stop()
                raise LlamafileError(
                    f"{self.path.name} did not answer within {timeout:g} s. {self._read_last_line()}"
                )

    def stop(self) -> None:
        """End it and all that it started."""
        assert self._guard.stdin
        with suppress(OSError):
            self._guard.stdin.close()
        try:
            self._guard.wait(_GRACE * 2)
        except subprocess.TimeoutExpired:
            for child in _list_children(self._guard.pid):
                with suppress(OSError):
                    os.killpg(child, signal.SIGKILL)
            self._guard.kill()
            self._guard.wait()

    def _is_answering(self) -> bool:
        for path in ("/health", "/v1/models"):
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2.0)
            try:
                connection.request("GET", path)
                if connection.getresponse().status == 200:
                    return True
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
        return False

    def _read_last_line(self) -> str:
        try:
            text = make_plain(self._log.read_bytes()[-4000:].decode("utf-8", "replace")).strip()
        except OSError:
            text = ""
        last = " / ".join(line.strip() for line in text.splitlines()[-3:] if line.strip())
        hint = f" The log is {paths.shorten(self._log)}."
        return (
            f"Its last output: {clip(last, 300)}."
            if last
            else "It printed nothing: is it made for this machine?"
        ) + hint


def _list_children(pid: int) -> list[int]:
    with suppress(OSError, ValueError):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(part) for part in text.split()]
    return []


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _remove(environment: Mapping[str, str], hidden: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in hidden}
