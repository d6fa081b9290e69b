"""Imports what takes long to import once, and forks for every process of a test that needs it.

LiteLLM takes seconds of a processor to import, and the library of MCP nearly one, which would be most of what
the tests with model processes and MCP servers cost. The program under test is the real one, and starts a real
process; `sitecustomize.py` beside this file has that process hand its pipes and its environment to a fork of
this one, and wait for its end. A server of the tests is started by `mcp_server.py` in the same way. What the
start of a process itself promises is tested without this, in tests/unit/llm/test_client.py for instance.

Run as a program with the name of a kind and the path of a socket: serves until its standard input ends.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
#: The variables with the addresses, which `sitecustomize.py` knows too.
MODELS, MCP = "OI_TUI_TEST_MODELS", "OI_TUI_TEST_MCP"
#: What talks to MCP servers, what a server is made with, and what both import when they first need it.
_OF_MCP = (
    "oi_tui.mcp_client.child.main",
    "mcp.server.mcpserver",
    "anyio._backends._asyncio",
    "jsonschema",
    "rich.console",
    "rich.logging",
    "uvicorn",
)


@dataclass(frozen=True)
class Kind:
    """One kind of process: what all of them need, and what one does with the words of its command."""

    load: Callable[[], None]
    run: Callable[[Sequence[str]], None]


@contextmanager
def nursery(kind: str, socket_path: Path) -> Iterator[None]:
    """Have a nursery of a kind at this address, ready."""
    command = [sys.executable, str(Path(__file__)), kind, str(socket_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_own_environment()
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def variables(name: str, socket_path: Path) -> dict[str, str]:
    """What is to be in the environment of a program whose processes a nursery starts."""
    path = [str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {name: str(socket_path), "PYTHONPATH": os.pathsep.join(path)}


def _own_environment() -> dict[str, str]:
    kept = ("PATH", "LANG", "LC_ALL", "TZ")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "PYTHONPATH": str(ROOT)}


def _load_models() -> None:
    import asyncio

    from oi_tui.engine.llm.transport import process as _  # noqa: F401 -- what each model process needs
    from oi_tui.engine.llm.transport.provider import QUIET, Provider

    os.environ.update(QUIET)
    # What a process loads ahead, while the person types: a third of the time of most of them.
    asyncio.run(Provider().prepare("demo", None))
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(10)


def _run_model(_: Sequence[str]) -> None:
    from oi_tui.engine.credentials import child_environment
    from oi_tui.engine.llm.transport import process as model_process

    child_environment.receive()
    model_process.main()


def _load_mcp() -> None:
    for name in _OF_MCP:
        importlib.import_module(name)


def _run_mcp(words: Sequence[str]) -> None:
    if words:
        sys.argv[:] = words
        sys.path.insert(0, str(Path(words[0]).parent))
        runpy.run_path(words[0], run_name="__main__")
    else:
        from oi_tui.mcp_client.child.main import main

        main()


KINDS = {"models": Kind(_load_models, _run_model), "mcp": Kind(_load_mcp, _run_mcp)}


def _serve(kind: Kind, address: str) -> None:
    kind.load()
    assert threading.active_count() == 1, threading.enumerate()
    gc.freeze()
    #: Who waits for the end of which fork.
    waiting: dict[int, socket.socket] = {}
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(16)
        print("ready", flush=True)  # noqa: T201
        while sys.stdin not in (ready := select.select([listener, woken, sys.stdin], [], [])[0]):
            if woken in ready:
                woken.recv(4096)
                _tell_ends(waiting)
            if listener in ready:
                connection = listener.accept()[0]
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    for other in (listener, woken, wake, *waiting.values()):
                        other.close()
                    _become(kind, connection)
                waiting[pid] = connection


def _tell_ends(waiting: dict[int, socket.socket]) -> None:
    """Tell those who wait for forks that have ended their exit codes."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with waiting.pop(ended[0]) as connection, suppress(OSError):
                connection.sendall(bytes([os.waitstatus_to_exitcode(ended[1]) % 256]))


def _become(kind: Kind, connection: socket.socket) -> None:
    """Do the work of the process that asked, and end."""
    status: object = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        words = _take_over(connection)
        os.setsid()
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        kind.run(words)
        status = 0
    except SystemExit as end:
        status = end.code or 0
    finally:
        sys.stdout.flush()
        os._exit(status if isinstance(status, int) else 1)


def _take_over(connection: socket.socket) -> Sequence[str]:
    """Have the streams of the process that asked, its environment and its folder; return its words."""
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    length, content = int.from_bytes(head, "big"), b""
    while len(content) < length:
        content += connection.recv(length - len(content))
    order = json.loads(content)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    return list(order["words"])


def _end_with(connection: socket.socket) -> None:
    connection.recv(1)
    os._exit(0)


if __name__ == "__main__":
    _serve(KINDS[sys.argv[1]], sys.argv[2])
