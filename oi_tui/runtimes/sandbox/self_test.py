"""Tests a sandbox once: a program inside tries to get out."""

import atexit
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from oi_tui.runtimes.sandbox.base import NoSandboxError, SandboxedCommand, SandboxRequest

_TRIAL = """
import sys, _socket
file, port, word = sys.argv[1:]
try:
    open(file)
    sys.exit("it can see files outside")
except OSError:
    pass
try:
    _socket.socket().connect(("127.0.0.1", int(port)))
    sys.exit("it can reach the network outside")
except OSError:
    pass
{more}
print(word)
"""
_TIMEOUT = 10.0
#: Held while one is started; what runs; and whether this program ends, so that no other one begins.
_lock = threading.Lock()
_running: "set[subprocess.Popen[bytes]]" = set()
_owner = os.getpid()
_is_ending = False


def try_to_escape(enclose: Callable[[SandboxRequest], SandboxedCommand], more: str = "") -> str | None:
    """Start a program inside that tries to get out, and does `more`; None when it could not.

    Otherwise what went wrong, in words; or, as `sys.exit` in `more` says it, what it could do.
    """
    word = secrets.token_hex(8)
    with (
        tempfile.TemporaryDirectory(prefix="oi-tui-trial-") as folder,
        tempfile.NamedTemporaryFile(prefix="oi-tui-trial-") as outside,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        inside = Path(folder).resolve()
        for name in ("cwd", "channel"):
            (inside / name).mkdir()
        trial = _TRIAL.format(more=more)
        port = str(server.getsockname()[1])
        argv = (sys.executable, "-I", "-S", "-c", trial, outside.name, port, word)
        try:
            enclosed = enclose(
                SandboxRequest(sys.executable, argv, os.environ, inside / "cwd", inside / "channel")
            )
        except (NoSandboxError, OSError) as error:
            return str(error)
        try:
            status, output, errors = _run(enclosed)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            for descriptor in enclosed.descriptors:
                os.close(descriptor)
    if status == 0 and output.decode(errors="replace").strip() == word:
        return None
    last = errors.decode(errors="replace").strip().rpartition("\n")[2]
    return last or f"exit status {status}"


def _run(enclosed: SandboxedCommand) -> tuple[int, bytes, bytes]:
    """Run a command. Return its exit status, its output and its errors. Raises OSError and TimeoutExpired.

    While bubblewrap sets the sandbox up, its second process waits for the first, and would wait for ever if
    only that one were ended. So a key press does not reach them, and they are ended together.
    """
    with _lock:
        if _is_ending:
            raise InterruptedError("oi-tui is ending")
        process = subprocess.Popen(
            enclosed.argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(enclosed.env),
            cwd="/",
            pass_fds=enclosed.descriptors,
            start_new_session=True,
        )
        _running.add(process)
    with process:
        try:
            output, errors = process.communicate(timeout=_TIMEOUT)
        except BaseException:
            _kill(process)
            raise
        finally:
            _running.discard(process)
    return process.returncode, output, errors


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # Its group has its number until the last of them is gone.
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


@atexit.register
def _end_all() -> None:
    """End what runs in threads that nobody waits for."""
    global _is_ending
    if os.getpid() != _owner or not _lock.acquire(timeout=_TIMEOUT):
        return
    _is_ending = True
    _lock.release()
    for process in list(_running):
        _kill(process)
