"""Imports what takes long to import once, and forks for every process of a test that needs it.

LiteLLM takes seconds of a processor to import, and the library of MCP and the application nearly one each,
which would be most of what tests with such processes cost. The program under test starts real ones;
`sitecustomize.py` beside this file has them hand their pipes and their environment to a fork of this one,
and wait for its end. A server of the tests is started by `mcp_server.py` in the same way. The program itself
is started by `program.py` in a terminal, and by `sitecustomize.py` where it has pipes. What the start of a
process promises is tested without this: see tests/unit/llm/test_client.py, the first test of
tests/e2e/test_first_minute.py, and the tests in tests/e2e/interfaces with `real_command`.

Run as a program with the name of a kind and the path of a socket: serves until its standard input ends.
"""

import fcntl
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
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tests.quick_starts.asking import NUMBER

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
#: The variables with the addresses, which `sitecustomize.py` knows too.
MODELS, MCP, COMMANDS = "OI_TUI_TEST_MODELS", "OI_TUI_TEST_MCP", "OI_TUI_TEST_COMMANDS"
#: What the first request of the demo model imports beside it.
_OF_MODELS = (
    "oi_tui.demo.server",
    "litellm.responses.mcp.chat_completions_handler",
    "litellm._service_logger",
)
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
#: The application up to its first code: what it imports before and after its first frame, and as plain lines.
_OF_PROGRAMS = (
    "oi_tui.app",
    "oi_tui.screens.chat.body",
    "oi_tui.workspace",
    "oi_tui.plain.run",
    "oi_tui.attach.run",
)
#: What an editor, an MCP host, clients and pipes talk to, and what that imports when it is first needed.
_OF_COMMANDS = (
    "oi_tui.acp.run",
    "oi_tui.mcp_server.run",
    "oi_tui.server.serve",
    "oi_tui.plain.run",
    "oi_tui.doctor.report",
    "oi_tui.workspace",
    "anyio._backends._asyncio",
)


@dataclass(frozen=True)
class Kind:
    """One kind of process: what all of them need, and what one does with the words of its command."""

    load: Callable[[], None]
    run: Callable[[Sequence[str]], None]
    #: Whether it is a program of its own, with streams and an end as Python makes them.
    is_whole: bool = False


@contextmanager
def run(kind: str, socket_path: Path, environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """Have a fork server of a kind at this address, ready; the environment is what its imports read."""
    command = [sys.executable, str(Path(__file__)), kind, str(socket_path)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**_own_environment(), **(environment or {})},
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def variables(name: str, socket_path: Path) -> dict[str, str]:
    """What is to be in the environment of a program whose processes a fork server starts."""
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
    for name in _OF_MODELS:
        importlib.import_module(name)
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


def _load_programs() -> None:
    from oi_tui.cli import main

    main._tune_textual()
    for name in _OF_PROGRAMS:
        # The tests of a package that is not here are skipped.
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)
    # It builds its table when it is first made, and most conversations have code.
    importlib.import_module("pygments.lexers.python").PythonLexer()


def _load_commands() -> None:
    for name in _OF_COMMANDS:
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)


def _run_program(words: Sequence[str]) -> NoReturn:
    from oi_tui.start import start

    sys.argv[:] = [str(ROOT / "oi_tui" / "__main__.py"), *words]
    sys.path.remove(str(FOLDER))
    start()


KINDS = {
    "models": Kind(_load_models, _run_model),
    "mcp": Kind(_load_mcp, _run_mcp),
    "programs": Kind(_load_programs, _run_program, is_whole=True),
    "commands": Kind(_load_commands, _run_program, is_whole=True),
}


def _serve(kind: Kind, address: str) -> socket.socket | None:
    """Fork for each connection until the standard input ends; returns it in the fork."""
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
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for other in (woken, wake, *waiting.values()):
                        other.close()
                    return connection
                waiting[pid] = connection
                with suppress(OSError):
                    connection.sendall(pid.to_bytes(NUMBER, "big"))
    return None


def _tell_ends(waiting: dict[int, socket.socket]) -> None:
    """Tell those who wait for forks that have ended their wait statuses."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with waiting.pop(ended[0]) as connection, suppress(OSError):
                connection.sendall(ended[1].to_bytes(NUMBER, "big"))


def _become(kind: Kind, connection: socket.socket) -> None:
    """Do the work of the process that asked, and end."""
    words = _take_over(connection)
    os.setsid()
    if os.isatty(0):
        # The terminal is the fork's own, and what ends it comes from there or from a signal.
        connection.close()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    else:
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    if kind.is_whole:
        _open_streams()
        kind.run(words)
        return
    status: object = 1
    try:
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


def _open_streams() -> None:
    """Have what Python makes of the first three streams when it starts."""
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        errors = "backslashreplace" if name == "stderr" else "surrogateescape"
        buffering = 1 if number == 2 or os.isatty(number) else -1
        stream = open(number, mode, buffering, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _end_with(connection: socket.socket) -> None:
    connection.recv(1)
    os._exit(0)


if __name__ == "__main__":
    chosen = KINDS[sys.argv[1]]
    if asked := _serve(chosen, sys.argv[2]):
        _become(chosen, asked)
