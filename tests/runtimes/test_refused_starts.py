"""What is left when the system refuses a step of a start: nothing, and a sentence that names the limit."""

import errno
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from oi_tui.engine.llm.transport.child import ModelChild
from oi_tui.mcp_client import connection
from oi_tui.mcp_client.connection import McpCallError, McpConnection
from oi_tui.messages import RunEnded
from oi_tui.runtimes import Computer, cell_socket
from oi_tui.runtimes.cell_socket import CellSocket
from oi_tui.runtimes.processes import channel, process_table
from oi_tui.system.failures import describe_failure
from tests.runtimes.playing import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are listed in /proc")

#: What may be refused, and the error of that.
STEPS: tuple[tuple[object, str, Callable[[], Exception]], ...] = (
    (threading.Thread, "start", lambda: RuntimeError("can't start new thread")),
    (subprocess.Popen, "_execute_child", lambda: BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))),
    *(
        (owner, name, lambda: OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
        for owner, name in (
            (os, "openpty"),
            (os, "pipe"),
            (os, "open"),
            (os, "memfd_create"),
            (socket.socket, "__init__"),
        )
    ),
)


class Steps:
    """Counts the steps that a thread takes, and refuses one of them."""

    def __init__(self, refused: int) -> None:
        self.count = 0
        self._refused = refused
        self._thread = threading.get_ident()

    def wrap(self, function: Callable[..., Any], make_error: Callable[[], Exception]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            if threading.get_ident() == self._thread:
                self.count += 1
                if self.count == self._refused:
                    raise make_error()
            return function(*arguments, **options)

        return step


@contextmanager
def refusing(number: int) -> Iterator[Steps]:
    """Refuse the step with this number."""
    steps = Steps(number)
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, make_error in STEPS:
            if hasattr(owner, name):
                patch.setattr(owner, name, steps.wrap(getattr(owner, name), make_error))
        yield steps


def count_kept() -> tuple[int, int, int]:
    """Return how many descriptors, threads and child processes there are."""
    children = process_table.list_descendants(os.getpid())
    return len(os.listdir("/proc/self/fd")), threading.active_count(), len(list(children))


class Start(Protocol):
    """A way to start something: `begin` returns why it failed, "" where it did not; `end` ends it again."""

    def begin(self) -> str: ...
    def end(self) -> None: ...


class LanguageStart:
    def __init__(self, folder: Path, **options: Any) -> None:
        self._computer = Computer(cwd=folder, **options)

    def begin(self) -> str:
        end = list(self._computer.run("shell", ":"))[-1]
        assert isinstance(end, RunEnded)
        return "" if end.state == "finished" else str(end.reason)

    def end(self) -> None:
        self._computer.reset()


class ModelStart:
    child: ModelChild | None = None

    def begin(self) -> str:
        try:
            self.child = ModelChild({}, [sys.executable, "-S", "-c", "input()"])
        except OSError as error:
            return describe_failure(error)
        return ""

    def end(self) -> None:
        if self.child:
            self.child.end()


class McpStart:
    def __init__(self) -> None:
        self._connection = McpConnection(lambda _: None)

    def begin(self) -> str:
        with pytest.raises(McpCallError) as error:
            self._connection.ask({"do": "list"})
        return "" if "ended" in str(error.value) else str(error.value)

    def end(self) -> None:
        self._connection.close()
        self._connection = McpConnection(lambda _: None)


class SocketStart:
    def __init__(self) -> None:
        self._socket = CellSocket("refused", lambda _: None)

    def begin(self) -> str:
        try:
            self._socket.make_path()
        except (OSError, RuntimeError) as error:
            return describe_failure(error)
        return ""

    def end(self) -> None:
        self._socket.close()


STARTS: dict[str, Callable[[Path], Start]] = {
    "a language": LanguageStart,
    "a language in the sandbox": lambda folder: LanguageStart(folder, sandbox=True),
    "the model process": lambda _: ModelStart(),
    "the process for MCP servers": lambda _: McpStart(),
    "the socket for cells": lambda _: SocketStart(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STARTS)
def test_a_start_that_the_system_refuses_at_any_step_leaves_nothing_and_names_the_limit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sandbox" in name and (why := Computer(cwd=tmp_path).explain_no_sandbox()):
        pytest.skip(why)
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setattr(channel, "_find_folder_for_pipes", lambda: str(temporary))
    monkeypatch.setattr(cell_socket, "_find_temporary_folder", lambda: str(temporary))
    monkeypatch.setattr(connection, "_BOOT", "pass")
    (tmp_path / "work").mkdir()
    start = STARTS[name](tmp_path / "work")
    # What is imported and found once is no part of a start.
    assert start.begin() == ""
    start.end()
    before = count_kept()
    for number in range(1, 200):
        with refusing(number) as steps:
            reason = start.begin()
        assert not reason or "A limit is too low: look at ulimit" in reason, number
        start.end()
        # What other tests had begun before may end meanwhile.
        until(lambda: all(now <= then for now, then in zip(count_kept(), before, strict=True)))
        assert not list(temporary.iterdir())
        if steps.count < number:
            break
    assert number > 1
    assert not reason
    temporary.rmdir()
