"""Gives Python cells the computer object, and answers its requests."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from oi_tui import paths
from oi_tui.computer import documentation
from oi_tui.computer.desktop import guard as guard_script
from oi_tui.engine.review.window_actions import ActedWindow, GrantedWindow
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.cell_socket import CellSocket
from oi_tui.runtimes.language import Language, Start
from oi_tui.system import environment_names
from oi_tui.system.environment import list_secret_variables

#: A question to the model: its text and images as data URLs. Raises RefusedError.
Ask = Callable[[str, Sequence[str]], str]
#: The longest question, in bytes.
_LONGEST = 64_000_000
#: The longest title of a window that can be granted.
_LONGEST_TITLE = 1_000
#: The variables that the guard of mouse and keyboard takes from code.
_FOR_GUARD = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", environment_names.COMPUTER)
_OS_MODE = (
    "You control the user's computer: its screen, mouse and keyboard. Work in small steps. Look before you "
    "act and look again afterwards, and say what you saw. Click by role and name where programs have them "
    "(computer.display.elements()), else by what you see. Stop and ask before you send, buy, delete or log "
    "in anywhere, and never type passwords. If the user moves the mouse, your code is stopped: look again "
    "then, or ask."
)


class QuestionRefusedError(Exception):
    """A question that cannot be answered; the text says why."""


class Takeover:
    """The person took mouse and keyboard back: holds code back while they are asked whether it may go on.

    `ask` asks them, from any thread, and has `answer` called; None where nobody can be asked.
    """

    def __init__(self) -> None:
        self.ask: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._decided = threading.Event()
        self._decided.set()
        self._count = 0

    @property
    def is_open(self) -> bool:
        """Whether the person has not decided yet."""
        return not self._decided.is_set()

    def begin(self) -> bool:
        """Ask the person, unless they are being asked already. False where nobody can be asked."""
        ask = self.ask
        if ask is None:
            return False
        with self._lock:
            if self.is_open:
                return True
            self._count += 1
            self._decided.clear()
        ask()
        return True

    def answer(self) -> None:
        """Hold code back no longer: the person decided, or the turn is over."""
        self._decided.set()

    def wait(self) -> int:
        """Wait while the person is asked; return how often they took over so far."""
        self._decided.wait()
        return self._count


class UnmaskedScreen:
    """Whether screenshots may be taken where it is not known where password fields are.

    `ask` asks the person, from any thread, with the reason, and has `answer` called; None where nobody can
    be asked. An answer holds until the languages forget.
    """

    def __init__(self) -> None:
        self.ask: Callable[[str], object] | None = None
        self._condition = threading.Condition()
        self._allowed: bool | None = None
        self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether the person is being asked."""
        return self._is_open

    def is_allowed(self, why: str) -> bool:
        """Wait while the person is asked, once; False where nobody can be asked.

        Without a reason, nobody is asked.
        """
        with self._condition:
            if why and self._allowed is None and not self._is_open and self.ask is not None:
                self._is_open = True
                self.ask(why)
            if why:
                self._condition.wait_for(lambda: not self._is_open)
            return self._allowed is True

    def answer(self, allowed: bool | None) -> None:
        """Take the answer of the person; None where the question went away without one."""
        with self._condition:
            if self._is_open and allowed is not None:
                self._allowed = allowed
            self._is_open = False
            self._condition.notify_all()

    def forget(self) -> None:
        """Ask the person again."""
        with self._condition:
            self._allowed = None


class ComputerApi:
    """Gives Python the object `computer`. Its questions go to `ask`; the socket exists once Python starts.

    `stop` ends the turn, because the person took mouse and keyboard back. `takes_images` says whether the
    model of the conversation can look at images; without it the screen is described in words. With
    `takeover` the person is asked before the turn is stopped. `allows_unmasked` says whether screenshots may
    show the screen where it is not known where password fields are; it gets the reason, and may wait; without
    a reason nobody is asked. `granted_windows` are those that the running code is confined to; None where it
    is not confined.
    """

    def __init__(
        self,
        ask: Ask,
        stop: Callable[[], None],
        *,
        takes_images: Callable[[], bool] = lambda: True,
        os_mode: bool = False,
        takeover: Takeover | None = None,
        allows_unmasked: Callable[[str], bool] | None = None,
        granted_windows: Callable[[], Sequence[GrantedWindow] | None] = lambda: None,
    ) -> None:
        self._ask = ask
        self._stop = stop
        self._takes_images = takes_images
        self._takeover = takeover or Takeover()
        self._allows_unmasked = allows_unmasked or UnmaskedScreen().is_allowed
        self._os_mode = os_mode
        self._granted_windows = granted_windows
        self._in_control = False
        #: The window in which code acted last.
        self.acted_window: ActedWindow | None = None
        self._socket = CellSocket("computer", self._answer)

    @property
    def in_control(self) -> bool:
        """Whether running code may use mouse and keyboard at this moment, and does."""
        return self._in_control and not self._takeover.is_open

    def add_to(self, languages: Sequence[Language]) -> tuple[Language, ...]:
        """Return the languages, of which Python has the object and describes it to the model."""
        return tuple(
            self._add_object(language) if language.name == "python" else language for language in languages
        )

    def close(self) -> None:
        """Stop answering requests."""
        self._takeover.answer()
        self._socket.close()

    def _add_object(self, python: Language) -> Language:
        start = python.start
        note = "\n\n".join(filter(None, (python.note, documentation.document_computer())))

        def start_with_object(program: str, folder: Path) -> Start:
            launch = start(program, folder)
            return Start(launch.argv, {**launch.env, **self._build_environment()})

        if self._os_mode:
            note = f"{_OS_MODE}\n\n{note}"
        return replace(python, start=start_with_object, note=note, extended=True)

    def _build_environment(self) -> dict[str, str]:
        return {
            environment_names.COMPUTER_API: "1",
            environment_names.COMPUTER: self._socket.make_path(),
            environment_names.SKILLS: str(paths.config() / "skills"),
            environment_names.ACCOUNTS: str(paths.config() / "accounts.ini"),
        }

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rwb") as file:
            line = file.readline(_LONGEST)
            if guarded := _parse_guard_request(line):
                _start_guard(connection, *guarded)
                # The language ended, and cannot say itself that it has the pointer no more.
                self._in_control = False
                return
            file.write(json.dumps(self._reply(line)).encode() + b"\n")

    def _reply(self, line: bytes) -> dict[str, str]:
        try:
            request = json.loads(line)
            if "stop" in request:
                self._stop()
                return {"text": ""}
            if "pause" in request:
                return {"text": "paused" if self._takeover.begin() else ""}
            if "proceed" in request:
                return {"text": str(self._takeover.wait()), **self._describe_limits()}
            if "acted" in request:
                number, title, process = request["acted"]
                self.acted_window = ActedWindow(int(number), str(title)[:_LONGEST_TITLE], int(process))
                return {"text": ""}
            if "limits" in request:
                return {"text": "", **self._describe_limits()}
            if "control" in request:
                self._in_control = bool(request["control"])
                return {"text": ""}
            if "unmasked" in request:
                return {"text": "yes" if self._allows_unmasked(str(request["unmasked"])) else ""}
            if "takes_images" in request:
                return {"text": "yes" if self._takes_images() else "no"}
            text, images = str(request["text"]), [str(image) for image in request["images"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return {"error": "The question is not understood, or longer than 64 MB."}
        try:
            return {"text": self._ask(text, images)}
        except QuestionRefusedError as refused:
            return {"error": str(refused)}

    def _describe_limits(self) -> dict[str, str]:
        """Return what the running code is confined to, for a reply; nothing where it is not confined."""
        granted = self._granted_windows()
        if granted is None:
            return {}
        rows = [
            (item.window.id, item.window.title, item.window.process, sorted(item.kinds)) for item in granted
        ]
        return {"limits": json.dumps(rows)}


def _parse_guard_request(line: bytes) -> tuple[int, dict[str, str]] | None:
    """Return the process that wants a guard, and its variables; None for another request."""
    try:
        request = json.loads(line)
        return int(request["guard"]), {str(name): str(value) for name, value in request["variables"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _start_guard(connection: socket.socket, process: int, variables: dict[str, str]) -> None:
    """Start the guard of mouse and keyboard, and wait until it ends with the connection.

    It is a child of this process: one of the language would be ended with the language, before it could
    let go of anything.
    """
    guard = subprocess.Popen(
        [sys.executable, guard_script.__file__, str(process)],
        stdin=connection.fileno(),
        stdout=connection.fileno(),
        # It fails where the screen or the code goes away meanwhile. Its words would be all over our screen.
        stderr=subprocess.DEVNULL,
        env=guard_environment(variables),
        start_new_session=True,
    )
    connection.close()
    guard.wait()


def guard_environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the guard; `given` is the environment of the code in the cell.

    The guard is not held back from anything as code is. So it gets no keys, and nothing of the code but how
    to reach the screen and oi-tui: another variable could make it run other code.
    """
    secret_names = frozenset(list_secret_variables())
    own = {name: value for name, value in os.environ.items() if name not in secret_names}
    return {**own, **{name: given[name] for name in _FOR_GUARD if name in given}}


def is_wanted(profile: Profile) -> bool:
    """Return whether Python cells get the object."""
    return profile.import_computer_api or profile.os
