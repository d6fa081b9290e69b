"""Forwards the questions of ssh and sudo (passwords, host keys, one-time codes) to the person."""

import contextlib
import getpass
import json
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from oi_tui.runtimes.cell_socket import CellSocket
from oi_tui.text import escape_controls

#: What is wanted of a person: an answer that must not be seen, one that may be, or only to be told.
Wanted = Literal["secret", "answer", "nothing"]
#: Answers a question; None gives up. Where nothing is wanted, it shows the words and does not wait.
Ask = Callable[[str, Wanted], str | None]

#: What ssh starts in place of asking on the terminal: it asks us, and prints the answer.
_PROGRAM = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({path!r})
    question = [" ".join(sys.argv[1:]), os.environ.get("SSH_ASKPASS_PROMPT", "")]
    connection.sendall(json.dumps(question).encode() + b"\\n")
    answer = json.loads(connection.makefile().readline() or "null")
if answer is None:
    sys.exit(1)
print(answer)
"""
_LONGEST = 10_000
#: So many of the last lines that were printed before a question are shown above it.
_MOST_LINES = 6
_NOT_ACCEPTED = "The last answer was not accepted. Try again."


@contextlib.contextmanager
def answer_questions(ask: Ask | None) -> Iterator[dict[str, str]]:
    """Yield the variables with which ssh and sudo bring their questions to `ask`; none
    where nobody is asked.
    """
    if ask is None:
        yield {}
        return
    asks = _stop_when_given_up(ask)
    answering = CellSocket("ask", lambda connection: _answer(connection, asks))
    with tempfile.TemporaryDirectory(prefix="oi-tui-") as name:
        program, script = Path(name, "ask.py"), Path(name, "ask")
        program.write_text(_PROGRAM.format(path=answering.make_path()), encoding="utf-8")
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
    """Return the same, but who gave one question up is asked no other: ssh asks
    for a password three times.
    """
    given_up = threading.Event()

    def ask_once(question: str, wanted: Wanted) -> str | None:
        answer = None if given_up.is_set() else ask(question, wanted)
        if answer is None and wanted != "nothing":
            given_up.set()
        return answer

    return ask_once


def _answer(connection: socket.socket, ask: Ask) -> None:
    with contextlib.suppress(OSError, ValueError), connection, connection.makefile("rwb") as file:
        question, kind = map(str, json.loads(file.readline(_LONGEST)))
        answer = _pass_to_person(question, kind, ask)
        file.write(json.dumps(answer).encode() + b"\n")


def _pass_to_person(question: str, kind: str, ask: Ask) -> str | None:
    """Ask what ssh asks. `kind` is "none" where a key is to be touched, "confirm" for yes or no, else ""."""
    if kind == "none":
        ask(question, "nothing")
        return ""
    if kind == "confirm":
        answer = ask(f"{question.rstrip()} (yes/no) ", "answer")
        return "yes" if (answer or "").strip().lower() in ("y", "yes") else None
    return ask(question, "answer" if "(yes/no" in question else "secret")


def compose_question(question: str, *, said: Sequence[str] = (), is_repeated: bool = False) -> str:
    """Return the question below what was said before it, such as where the code to type comes from."""
    lines = [*said[-_MOST_LINES:], _NOT_ACCEPTED] if is_repeated else said[-_MOST_LINES:]
    return "\n".join([*lines, question])


def ask_on_terminal(question: str, wanted: Wanted) -> str | None:
    """Ask on the terminal; None where the person gives up."""
    # The other machine may choose the words.
    question = escape_controls(question[:_LONGEST])
    if wanted == "nothing":
        print(question, file=sys.stderr)  # noqa: T201 -- the screen is not there yet
        return None
    question = question if question.endswith(" ") else f"{question} "
    try:
        if wanted == "secret":
            return getpass.getpass(question)
        with open("/dev/tty", "r+") as terminal:  # noqa: PTH123 -- a device
            terminal.write(question)
            terminal.flush()
            return terminal.readline().rstrip("\n")
    except (EOFError, KeyboardInterrupt, OSError):
        return None
