"""Starts the process of a language, and waits until it takes code."""

import os
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from oi_tui.runtimes.language import Language
from oi_tui.runtimes.processes.channel import CellChannel, Event
from oi_tui.runtimes.processes.process import Item, LanguageProcess
from oi_tui.runtimes.sandbox.sandbox import Sandbox
from oi_tui.system import environment_names

#: How often a wait for a language checks whether it is still wanted, in seconds.
_GLANCE = 0.1


class StartStoppedError(Exception):
    """The run for which a language was started was stopped before the language took code."""


def start_process(
    language: Language,
    program: str,
    *,
    cwd: Path,
    hidden: Collection[str],
    size: tuple[int, int],
    saved: bytes,
    sandbox: Sandbox | None,
) -> tuple[LanguageProcess, tuple[str, ...]]:
    """Start the process of a language. Return it, with the lines that its driver expects first.

    `hidden` names the variables that it does not get. `size` is that of its terminal, in columns and rows.
    `saved` is what the process before it left for it. Raises OSError, and NoSandboxError where the sandbox
    is not available.
    """
    channel = CellChannel()
    try:
        channel.write_size(*size)
        start = language.start(program, channel.folder)
        if saved:
            channel.create_file("saved", saved)
        process = LanguageProcess(
            program,
            start.argv,
            env=make_environment(hidden, start.env),
            cwd=cwd,
            size=size,
            channel=channel,
            name=language.name,
            sandbox=sandbox,
        )
    except BaseException:
        channel.close()
        raise
    if start.typed:
        try:
            process.terminal.type_unseen(start.typed.encode())
        except BaseException:
            process.close()
            raise
    return process, start.requests


def make_environment(hidden: Collection[str], additions: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a language: ours without the `hidden` variables, and with `additions`."""
    # The size of a terminal changes, and programs would believe these variables instead.
    left_out = {*hidden, "COLUMNS", "LINES"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    if hidden:
        # For drivers, to say why something is missing: names only.
        environment[environment_names.HELD_BACK] = ",".join(sorted(os.environ.keys() & set(hidden)))
    environment.update(additions)
    environment["TERM"] = "xterm-256color"
    return environment


def wait_until_ready(
    process: LanguageProcess, requests: tuple[str, ...], timeout: float, stopped: threading.Event
) -> tuple[Event, list[Item]]:
    """Wait for the driver's first event. Return it, and what else came by then; the process stays attached.

    `timeout` is in seconds. Raises StartStoppedError once `stopped` is set, and RuntimeError with what the
    process printed last where it does not begin. Such a process is closed.
    """
    # Output of a process that does not start says nothing about the next one.
    arrived = process.attach()
    try:
        for line in requests:
            process.channel.request(line)
        ready = _wait_for_event(process, "ready", timeout, arrived, stopped)
        if ready is None and stopped.is_set():
            raise StartStoppedError
        if ready is None:
            printed = b"".join(item for item in arrived if isinstance(item, bytes))
            raise RuntimeError(_find_last_line(printed) or str(process.ended or "it does not answer"))
    except BaseException:
        process.detach()
        process.close()
        raise
    return ready, arrived


def _wait_for_event(
    process: LanguageProcess, kind: str, seconds: float, others: list[Item], stopped: threading.Event
) -> Event | None:
    """Return the next event of a kind, while nothing runs; None when it ended, was slow,
    or `stopped` was set.

    By then the number of the process is known. What else came until then is added to `others`.
    """
    event: Event | None = None
    until = time.monotonic() + seconds
    while not (process.ended or stopped.is_set()) and (remaining_seconds := until - time.monotonic()) > 0:
        for item in process.read(min(remaining_seconds, _GLANCE)):
            if isinstance(item, dict) and item["event"] == kind:
                event = item
            else:
                others.append(item)
        if event and process.pid:
            return event
    return None


def _find_last_line(printed: bytes) -> str:
    """Return the last line with a message; a Python that cannot begin prints another line after it."""
    lines = [line.strip() for line in printed.decode("utf-8", "replace").splitlines()]
    nothing = ("Current thread ", "<no Python frame>")
    return next((line for line in reversed(lines) if line and not line.startswith(nothing)), "")
