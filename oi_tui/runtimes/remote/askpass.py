"""Forwards the questions of ssh and sudo (passwords, host keys, one-time codes) to the person."""

import contextlib
import getpass
import json
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from oi_tui.runtimes.cell_socket import CellSocket

#: Answers a question; the second argument says whether the answer must not be seen. None gives up.
Ask = Callable[[str, bool], str | None]

#: What ssh starts in place of asking on the terminal: it asks us, and prints the answer.
_PROGRAM = """\
import json, socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({path!r})
    connection.sendall(json.dumps(" ".join(sys.argv[1:])).encode() + b"\\n")
    answer = json.loads(connection.makefile().readline() or "null")
if answer is None:
    sys.exit(1)
print(answer)
"""
_LONGEST = 10_000


@contextlib.contextmanager
def answer_questions(ask: Ask | None) -> Iterator[dict[str, str]]:
    """The variables with which ssh and sudo bring their questions to `ask`; none where nobody is asked."""
    if ask is None:
        yield {}
        return
    asks = _stop_when_given_up(ask)
    answering = CellSocket("ask", lambda connection: _answer(connection, asks))
    with tempfile.TemporaryDirectory(prefix="oi-tui-") as name:
        program, script = Path(name, "ask.py"), Path(name, "ask")
        program.write_text(_PROGRAM.format(path=answering.path()), encoding="utf-8")
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{program}" "$@"\n', encoding="utf-8")
        script.chmod(0o700)
        try:
            yield {
                "SSH_ASKPASS": str(script),
                "SSH_ASKPASS_REQUIRE": "force",
                "SUDO_ASKPASS": str(script),
                # Before OpenSSH 8.4 it asks so only where there seems to be a display.
                "DISPLAY": os.environ.get("DISPLAY") or ":",
            }
        finally:
            answering.close()


def _stop_when_given_up(ask: Ask) -> Ask:
    """The same, but who gave one question up is asked no other: ssh asks for a password three times."""
    given_up = threading.Event()

    def ask_once(question: str, masked: bool) -> str | None:
        answer = None if given_up.is_set() else ask(question, masked)
        if answer is None:
            given_up.set()
        return answer

    return ask_once


def _answer(connection: socket.socket, ask: Ask) -> None:
    with contextlib.suppress(OSError, ValueError), connection, connection.makefile("rwb") as file:
        question = str(json.loads(file.readline(_LONGEST)))
        answer = ask(question, "(yes/no" not in question)
        file.write(json.dumps(answer).encode() + b"\n")


def ask_on_terminal(question: str, masked: bool) -> str | None:
    """Ask on the terminal; None where the person gives up."""
    try:
        if masked:
            return getpass.getpass(question if question.endswith(" ") else f"{question} ")
        with open("/dev/tty", "r+") as terminal:  # noqa: PTH123 -- a device
            terminal.write(question)
            terminal.flush()
            return terminal.readline().rstrip("\n")
    except (EOFError, KeyboardInterrupt, OSError):
        return None
