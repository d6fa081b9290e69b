"""The application's end of the process that talks to MCP servers."""

import itertools
import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from oi_tui.system.environment import list_secret_variables
from oi_tui.system.extras import make_install_command
from oi_tui.system.failures import describe_failure
from oi_tui.system.threads import start_threads

_log = logging.getLogger(__name__)
#: Imports nothing from the current folder: our own package is found last, and by its full path.
_BOOT = "import sys; sys.path.append(sys.argv.pop()); from oi_tui.mcp_client.child.main import main; main()"
_ROOT = str(Path(__file__).resolve().parents[2])
#: Seconds that the process has to end its servers.
_ENDING = 6.0
_GONE = "the process that talks to MCP servers ended"


#: Takes what a server says during a call: its progress, or a question for the person.
OnReport = Callable[[Mapping[str, Any]], None]


class McpCallError(Exception):
    """A call failed; the message says why, in a sentence."""


class SessionOverError(McpCallError):
    """A server no longer knows the session, such as after a restart, and has done nothing."""


class McpConnection:
    """Sends requests to the process, which the first one starts. Methods may be called from any thread.

    `report` gets what servers send by themselves.
    """

    def __init__(self, report: Callable[[Mapping[str, Any]], None]) -> None:
        self._report = report
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._answers: dict[int, queue.SimpleQueue[Mapping[str, Any]]] = {}
        self._closed = False

    def ask(
        self,
        order: Mapping[str, Any],
        stopped: threading.Event | None = None,
        on_report: OnReport | None = None,
    ) -> Any:
        """Send a request and return its result. Raises McpCallError, also once `stopped` is set.

        `on_report` gets what the server reports meanwhile.
        """
        number = next(self._numbers)
        answers: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        try:
            with self._lock:
                self._answers[number] = answers
                self._send({**order, "id": number})
            answer = self._wait(number, answers, stopped, on_report)
        finally:
            with self._lock:
                self._answers.pop(number, None)
        if "error" in answer:
            kind = SessionOverError if answer.get("session_over") else McpCallError
            raise kind(answer["error"])
        return answer["result"]

    def answer(self, order: Mapping[str, Any]) -> None:
        """Send the answer to a question of a server; a late answer is dropped."""
        with self._lock, suppress(McpCallError):
            if self._process is not None and self._process.poll() is None:
                self._send({"do": "answer", **order})

    def let_renew(self, server: str, kept: Mapping[str, Any] | None) -> None:
        """Let a server's sign-in be renewed, or used as it is `kept` if that is newer."""
        with self._lock, suppress(McpCallError):
            if self._process is not None and self._process.poll() is None:
                self._send({"do": "renew", "id": 0, "server": server, "kept": kept})

    def close(self) -> None:
        """End the process and all servers."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
            reader = self._reader
        if process is None:
            return
        assert process.stdin
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        # What it said last may be a sign-in that is to be kept.
        if reader and reader is not threading.current_thread():
            reader.join(_ENDING)

    def _wait(
        self,
        number: int,
        answers: "queue.SimpleQueue[Mapping[str, Any]]",
        stopped: threading.Event | None,
        on_report: OnReport | None,
    ) -> Mapping[str, Any]:
        while True:
            try:
                record = answers.get(timeout=0.05 if stopped else None)
            except queue.Empty:
                if stopped and stopped.is_set():
                    with self._lock, suppress(McpCallError):
                        self._send({"do": "cancel", "id": number})
                    raise McpCallError("it was stopped") from None
                continue
            if "error" in record or "result" in record:
                return record
            if on_report:
                on_report(record)

    def _send(self, order: Mapping[str, Any]) -> None:
        """Send a request; the lock is held. Raises McpCallError."""
        process = self._start()
        assert process.stdin
        try:
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            raise McpCallError(_GONE) from None

    def _start(self) -> "subprocess.Popen[bytes]":
        if self._closed:
            raise McpCallError("oi-tui is ending")
        if self._process is None or self._process.poll() is not None:
            if find_spec("mcp") is None:
                raise McpCallError(
                    f"MCP servers need one more package: {make_install_command('oi-tui[mcp]')}"
                )
            secret_names = frozenset(list_secret_variables())
            try:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _BOOT, _ROOT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={name: value for name, value in os.environ.items() if name not in secret_names},
                    start_new_session=True,
                )
                self._reader = start_threads(process, {"mcp": lambda: self._read(process)})[0]
            except (OSError, RuntimeError) as error:
                raise McpCallError(
                    f"the process that talks to MCP servers could not be started: {describe_failure(error)}"
                ) from None
            self._process = process
        return self._process

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout
        with process.stdout:
            for line in process.stdout:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    # The rest of a line that the process was writing when it was killed. One that is still
                    # there cannot be understood any more.
                    process.kill()
                    break
                self._hand_over(record)
        process.wait()
        with self._lock:
            if process.stdin:
                with suppress(OSError):
                    process.stdin.close()
            waiting = list(self._answers.values())
        for answers in waiting:
            answers.put({"error": _GONE})
        if not self._closed:
            _log.warning("The process that talks to MCP servers ended (exit code %s)", process.returncode)
            self._report_notification({"gone": True})

    def _hand_over(self, record: Mapping[str, Any]) -> None:
        """Give a record to the request that it belongs to, or report it."""
        if "id" not in record:
            self._report_notification(record)
            return
        with self._lock:
            answers = self._answers.get(record["id"])
        if answers:
            answers.put(record)

    def _report_notification(self, record: Mapping[str, Any]) -> None:
        """Report what belongs to no request; a failure there does not keep answers from those who wait."""
        try:
            self._report(record)
        except Exception:  # noqa: BLE001 -- the thread has to go on
            _log.exception("A notification of the process that talks to MCP servers failed")
