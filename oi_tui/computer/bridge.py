"""Sends questions to the conversation's model, through the socket of the oi-tui that runs this language."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
from typing import IO, Any

from oi_tui.computer.errors import ComputerError

#: The environment variable with the path of the socket.
VARIABLE = "OI_TUI_COMPUTER"
#: The environment variable of every language of oi-tui.
_IN_OI_TUI = "OI_TUI_RUNTIME"
#: Where oi-tui does not answer, code may have been let through by a grant that is not known here.
_NOTHING_GRANTED = "[]"
_NOBODY = (
    "There is no conversation to ask: computer.ai works in code that oi-tui runs with the setting "
    "import_computer_api, outside of the sandbox."
)


def ask(text: str, images: list[str] | None = None) -> str:
    """Send one request to the model of the conversation and return its reply.

    `images` are data URLs. Raises ComputerError with the reason where there is no reply.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        raise ComputerError(_NOBODY)
    reply = _exchange(path, {"text": text, "images": images or []})
    if "error" in reply:
        raise ComputerError(str(reply["error"]))
    return str(reply["text"])


def stop() -> bool:
    """Stop the turn of the conversation, because the person took over. False if there is none."""
    try:
        _exchange(os.environ[VARIABLE], {"stop": True})
    except (KeyError, ComputerError):
        return False
    return True


def pause() -> bool:
    """Ask the person whether code may go on with mouse and keyboard. False if nobody can be asked."""
    try:
        return bool(_exchange(os.environ[VARIABLE], {"pause": True})["text"])
    except (KeyError, ComputerError):
        return False


def proceed() -> tuple[int, str | None]:
    """Wait while the person is asked whether code may go on.

    Return how often they were asked so far, and what the running code is confined to; see `read_confinement`.
    """
    try:
        reply = _exchange(os.environ[VARIABLE], {"proceed": True})
        return int(reply["text"]), reply.get("limits")
    except KeyError:
        return 0, None
    except ComputerError:
        return 0, _NOTHING_GRANTED


def read_confinement() -> str | None:
    """Return what the running code is confined to, as JSON; None where it is not confined."""
    try:
        limits: str | None = _exchange(os.environ[VARIABLE], {"limits": True}).get("limits")
        return limits
    except KeyError:
        return None
    except ComputerError:
        return _NOTHING_GRANTED


def note_window(number: int, title: str, process: int) -> None:
    """Tell oi-tui in which window code acts, so that it can offer a grant for it."""
    with contextlib.suppress(KeyError, ComputerError):
        _exchange(os.environ[VARIABLE], {"acted": [number, title, process]})


def takes_images() -> bool:
    """Return whether the model of the conversation takes images; True where that is not known."""
    try:
        return str(_exchange(os.environ[VARIABLE], {"takes_images": True})["text"]) != "no"
    except (KeyError, ComputerError):
        return True


def allows_unmasked(why: str) -> bool:
    """Return whether screenshots may show what may be passwords; waits while the person is asked
    for this reason.

    Without a reason, nobody is asked. Without an oi-tui around this code, nobody gets screenshots.
    """
    if not os.environ.get(VARIABLE):
        return not os.environ.get(_IN_OI_TUI)
    try:
        return bool(_exchange(os.environ[VARIABLE], {"unmasked": why})["text"])
    except (KeyError, ComputerError):
        return False


def say_control(taken: bool) -> None:
    """Have oi-tui show whether code uses mouse and keyboard now."""
    with contextlib.suppress(KeyError, ComputerError):
        _exchange(os.environ[VARIABLE], {"control": taken})


class GuardPipes:
    """Both ways to the guard of mouse and keyboard."""

    def __init__(self, to_guard: IO[bytes], from_guard: IO[bytes] | socket.SocketIO) -> None:
        self._to_guard = to_guard
        self._from_guard = from_guard

    def send(self, line: str) -> None:
        """Send the guard which keys and buttons are down. Raises OSError."""
        self._to_guard.write(f"{line}\n".encode())
        self._to_guard.flush()

    def close(self) -> None:
        """Have the guard let go of everything and end."""
        for pipe in (self._to_guard, self._from_guard):
            with contextlib.suppress(OSError):
                pipe.close()

    def read_news(self) -> bytes:
        """Return what the guard has said since the last time; never waits. A guard that died says nothing."""
        news = b""
        while select.select([self._from_guard], [], [], 0)[0]:
            try:
                data = os.read(self._from_guard.fileno(), 4096)
            except OSError:
                break
            if not data:
                break
            news += data
        return news


def guard() -> GuardPipes | None:
    """Have oi-tui start the guard of mouse and keyboard for this process; None where there is no oi-tui.

    It lives as long as this process does, also where everything that the process started is ended.
    """
    if not (path := os.environ.get(VARIABLE)):
        return None
    connection = socket.socket(socket.AF_UNIX)
    names = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", VARIABLE)
    variables = {name: os.environ[name] for name in names if name in os.environ}
    try:
        connection.connect(path)
        connection.sendall(json.dumps({"guard": os.getpid(), "variables": variables}).encode() + b"\n")
        to_guard, from_guard = connection.makefile("wb"), connection.makefile("rb", buffering=0)
    except OSError:
        return None
    finally:
        # The files keep the connection open.
        connection.close()
    if from_guard.readline() != b"ready\n":
        raise ComputerError("The guard of mouse and keyboard could not be started.")
    return GuardPipes(to_guard, from_guard)


def _exchange(path: str, request: dict[str, Any]) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as file:
                line = file.readline()
        except OSError as error:
            raise ComputerError(f"oi-tui cannot be reached ({error.strerror or error}).") from None
    if not line:
        raise ComputerError("oi-tui ended before the model answered.")
    answer: dict[str, Any] = json.loads(line)
    return answer
