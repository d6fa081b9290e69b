"""Tests a sandbox once: a program inside tries to get out."""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
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
            done = subprocess.run(
                enclosed.argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=dict(enclosed.env),
                cwd="/",
                pass_fds=enclosed.descriptors,
                timeout=_TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            for descriptor in enclosed.descriptors:
                os.close(descriptor)
    if done.returncode == 0 and done.stdout.decode(errors="replace").strip() == word:
        return None
    last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return last or f"exit status {done.returncode}"
