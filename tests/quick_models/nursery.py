"""Imports LiteLLM once, and forks for every model process that a test's program starts.

LiteLLM takes seconds of a processor to import, which would be most of what the end-to-end tests cost. The
program under test is the real one, and starts a real process; `sitecustomize.py` beside this file has that
process hand its pipes and its environment to a fork of this one, and wait for its end. What the start of a
model process itself promises is tested without this, in tests/unit/llm/test_client.py.

Run as a program with the path of a socket: serves until its standard input ends.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
ADDRESS = "OI_TUI_TEST_NURSERY"


@contextmanager
def nursery(socket_path: Path) -> Iterator[None]:
    """Have a nursery at this address, ready."""
    command = [sys.executable, str(Path(__file__)), str(socket_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_own_environment()
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def _own_environment() -> dict[str, str]:
    kept = ("PATH", "LANG", "LC_ALL", "TZ")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "PYTHONPATH": str(ROOT)}


def _serve(address: str) -> None:
    from oi_tui.engine.llm.transport import process as _  # noqa: F401 -- what each model process needs
    from oi_tui.engine.llm.transport.provider import QUIET, Provider

    os.environ.update(QUIET)
    Provider()
    assert threading.active_count() == 1, threading.enumerate()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(16)
        print("ready", flush=True)  # noqa: T201
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection = listener.accept()[0]
            with connection:
                if os.fork() == 0:
                    listener.close()
                    _become_model_process(connection)


def _become_model_process(connection: socket.socket) -> None:
    from oi_tui.engine.credentials import child_environment
    from oi_tui.engine.llm.transport import process as model_process

    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        environment = _take_over(connection)
        os.environ.clear()
        os.environ.update(environment)
        os.setsid()
        os.chdir("/")
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        child_environment.receive()
        model_process.main()
        status = 0
    finally:
        os._exit(status)


def _take_over(connection: socket.socket) -> dict[str, str]:
    """Have the streams of the process that asked, and its environment."""
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    with connection.makefile("rb") as reading:
        order = json.loads(reading.read(int.from_bytes(head, "big")))
    return dict(order["environment"])


def _end_with(connection: socket.socket) -> None:
    connection.recv(1)
    os._exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1])
