"""The program that leads to a remote host, such as ssh: its start, its greeting and its last words."""

import contextlib
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from oi_tui.runtimes.remote.askpass import Ask, Wanted, answer_questions, compose_question
from oi_tui.runtimes.remote.registry import SignInNeededError, find_refusing_registry, sign_in
from oi_tui.runtimes.remote.target import Target, TargetError, has_image
from oi_tui.runtimes.remote.wire import MARK, widen_pipe
from oi_tui.system.ending_signals import note_ending_signals
from oi_tui.system.failures import describe_failure, describe_refusal

#: How long the worker may take to start, in seconds: a job may wait for its machine.
TIMEOUT = 120.0
#: The same where a person waits and can give up, in seconds.
ASKED = 600.0
#: The same with ssh, where no job waits for its machine, in seconds. The time of questions does not count.
SSH = 60.0
#: How long after an answer ssh may take, in seconds: it may have to be confirmed on a telephone.
ANSWERED = 120.0
#: After this time without a greeting the person is told, in seconds.
_LATE = 10.0
#: How long the program is given to say why it ended, in seconds.
LAST_WORDS = 0.5
#: How much of what was printed before the worker started is kept, in bytes, to say why it did not.
_GREETING = 64 * 1024
#: More than this is printed by something that does not end, and no greeting, in bytes.
_MOST_PRINTED = 16 * 1024 * 1024
#: How much of the standard error is kept, in bytes.
_ERRORS = 8 * 1024
_GLANCE = 0.1
#: How often it is looked whether anybody still wants what is printed, in seconds.
_LOOK = 1.0
#: So much of each line that it printed is shown, in characters.
_LONGEST_LINE = 150
_NO_PYTHON = (
    "There is no python3 there. Install Python 3.8 or later on that machine, or choose another target."
)
#: What ssh prints where a host has another key than the one that is known.
_CHANGED_KEY = "HOST IDENTIFICATION HAS CHANGED"
#: And where the key is marked as stolen.
_REVOKED_KEY = "REVOKED HOST KEY DETECTED"


class StopSignal(Protocol):
    """Says whether what is waited for is still wanted."""

    def is_set(self) -> bool:
        """Return whether it is not."""


def start_program(
    target: Target,
    environment: Mapping[str, str],
    cwd: Path,
    ask: Ask | None,
    stopped: StopSignal,
) -> "ConnectingProgram":
    """Start the program that leads to the target, after signing in where a registry wants that.

    Raises TargetError where it does not lead there, or `stopped` is set.
    """
    try:
        return ConnectingProgram(target, environment, cwd, ask, stopped)
    except SignInNeededError as refusal:
        if ask is None:
            raise
        sign_in(refusal, ask, environment, cwd)
    except (OSError, RuntimeError) as error:
        raise TargetError(f"{target.title} cannot be reached: {describe_failure(error)}.") from None
    return ConnectingProgram(target, environment, cwd, ask, stopped)


class ConnectingProgram:
    """The program at work, once Python on the remote host has answered.

    `rest` is what came after its first line. Where ssh has a question, `ask` is asked.
    """

    def __init__(
        self,
        target: Target,
        environment: Mapping[str, str],
        cwd: Path,
        ask: Ask | None,
        stopped: StopSignal,
    ) -> None:
        """Start it, and wait for the greeting, unless `stopped` is set. Raises TargetError."""
        self._target = target
        #: How long the worker may take to start, in seconds; the fetching of an image takes long.
        self.timeout = ASKED if ask or target.kind == "container" else TIMEOUT
        if target.kind == "ssh":
            self.timeout = SSH
        self._ask = ask
        #: Since when the remote host could have answered; with a question open, it could not.
        self._waits_since = time.monotonic()
        self._is_asking = False
        self._errors = b""
        #: What was printed to the standard error since the last question.
        self._said = b""
        self._reading_errors = threading.Lock()
        self._asked: set[str] = set()
        self._is_over = threading.Event()
        command = target.make_command(may_ask=ask is not None)
        self._command = command
        with (
            note_ending_signals() as self._signals,
            answer_questions(self._ask_person if ask else None) as variables,
        ):
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={**environment, **variables},
                    cwd=cwd,
                    # A key press meant for us does not end it, and it asks nothing on our terminal.
                    start_new_session=True,
                    bufsize=0,
                )
            except OSError as error:
                refusal = describe_refusal(f"{type(error).__name__}: {error}")
                raise TargetError(
                    f"{command[0]} could not be started: {refusal or error.strerror or error}."
                ) from None
            assert process.stdin is not None
            assert process.stdout is not None
            self._process, self.input, self.output = process, process.stdin, process.stdout
            widen_pipe(self.output.fileno())
            self._error_reader = threading.Thread(target=self._read_errors, name="link", daemon=True)
            try:
                self._error_reader.start()
                self.rest = self._wait_for_python(stopped)
            except BaseException as error:
                # It is ended first: a closed input would let it go on.
                self.end()
                self.input.close()
                self.output.close()
                if not self._error_reader.ident and process.stderr:
                    process.stderr.close()
                    raise TargetError(
                        f"{command[0]} could not be started: {describe_failure(error)}."
                    ) from None
                raise

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    # -- the beginning

    def _wait_for_python(self, stopped: StopSignal) -> bytes:
        """Wait for the first line of Python on the remote host; return what came after it."""
        received, count = b"", 0
        is_told = False
        while (elapsed_seconds := self._waited()) < self.timeout and not stopped.is_set():
            if self._signals:
                raise TargetError("Connecting was stopped.")
            if not select.select([self.output], [], [], _GLANCE)[0]:
                if elapsed_seconds > _LATE and not is_told and self._ask:
                    is_told = True
                    self._ask(self._describe_wait(received), "nothing")
                continue
            piece = os.read(self.output.fileno(), 65536)
            if not piece:
                # Without an answer, the program may end before we look at the event again.
                if stopped.is_set():
                    raise TargetError("Connecting was stopped.")
                raise self._explain_failure(received)
            received += piece
            count += len(piece)
            at = received.find(MARK + b" ")
            if at >= 0 and b"\n" in received[at:]:
                line, _, rest = received[at:].partition(b"\n")
                self._check(line.decode("ascii", "replace").split(maxsplit=2)[1:])
                return rest
            if count > _MOST_PRINTED:
                # The line that was cut off says less than the one before it.
                whole_lines = received.rpartition(b"\n")[0] or received
                raise TargetError(
                    f"{self._target.title} printed more than {_MOST_PRINTED >> 20} MB, and Python did not "
                    f"start there.{_quote_last_line(whole_lines)} Check the start files of its login shell."
                )
            if at < 0 or len(received) - at > _GREETING:
                received = received[-_GREETING:]
        if stopped.is_set():
            raise TargetError("Connecting was stopped.")
        raise TargetError(self.explain_silence() + _quote_last_line(received or self._errors))

    def _ask_person(self, question: str, wanted: Wanted) -> str | None:
        """Ask, and begin to wait for the remote host again when there is an answer."""
        assert self._ask
        self._is_asking = wanted != "nothing"
        if self._is_asking:
            # Where a code comes from, ssh does not say in its question but before it.
            self._take_errors()
            reasons, self._said = _list_reasons(self._said.decode("utf-8", "replace")), b""
            is_repeated = question in self._asked
            self._asked.add(question)
            question = compose_question(question, said=reasons, is_repeated=is_repeated)
        try:
            return self._ask(question, wanted)
        finally:
            if self._is_asking and self._target.kind == "ssh":
                self.timeout = ANSWERED
            self._waits_since, self._is_asking = time.monotonic(), False

    def _waited(self) -> float:
        """Return how long the remote host could have answered, in seconds."""
        return 0.0 if self._is_asking else time.monotonic() - self._waits_since

    def _describe_wait(self, received: bytes) -> str:
        """Tell the person that the remote host is late, and what it printed last."""
        return (
            f"{self._target.title} has not answered yet; it may take {self.timeout:.0f} seconds."
            f"{_quote_last_line(received or self._errors)}"
        )

    def _check(self, words: list[str]) -> None:
        match words:
            case ["ready", *_]:
                return
            case ["missing", *_]:
                raise TargetError(_NO_PYTHON)
            case ["partial", module]:
                raise TargetError(
                    f"Python on {self._target.title} lacks a part of its standard library "
                    f"({module.strip()}). Install all of it: on Debian and Ubuntu the package python3, "
                    "not only python3-minimal."
                )
            case ["old", version]:
                raise TargetError(
                    f"Python {version.strip()} on {self._target.title} is too old; it needs 3.8 or later."
                )
        raise TargetError(f"{self._target.title} sent an invalid answer.")

    def _explain_failure(self, received: bytes) -> TargetError:
        """Say why the connection ended before it began, in the words of the program."""
        self.has_ended(2)
        self._error_reader.join(LAST_WORDS)
        printed = (self._errors or received).decode("utf-8", "replace")
        if _CHANGED_KEY in printed:
            return TargetError(_explain_changed_key(self._target.title, printed))
        if _REVOKED_KEY in printed:
            return TargetError(_explain_revoked_key(self._target.title, printed))
        status = self._process.returncode
        how = f"exit status {status}" if status is not None else "it still runs, but closed its output"
        unknown = f"the program that connects gave no reason ({how})"
        reasons = [_shorten(reason).rstrip(".") for reason in _list_reasons(printed)[-3:]]
        words = "; ".join(reasons) or unknown
        end = "" if words.endswith((".", "?", "!")) else "."
        message = f"No connection to {self._target.title}: {words}{end}"
        registry = self._find_refusing_registry(printed)
        if registry is None:
            return TargetError(message)
        return SignInNeededError(message, self._command[0], registry)

    def _find_refusing_registry(self, printed: str) -> str | None:
        """Return the registry that gives the image only to people with an account; None if it is not that."""
        program, verb = self._command[:2]
        if self._target.kind != "container" or verb != "run":
            return None
        registry = find_refusing_registry(printed, self._target.place)
        if registry is None:
            return None
        try:
            # What a container that was started prints can be anything.
            return None if has_image(program, self._target.place) else registry
        except TargetError:
            return None

    def explain_silence(self) -> str:
        """Say that the worker does not start, and what may be the cause."""
        words = f"{self._target.title} did not answer within {self.timeout:.0f} seconds."
        if self._target.kind == "ssh":
            # A start file may run another shell, which never sees our words. A shared connection outlives its
            # network, and ssh waits in it without a limit of its own.
            words += (
                " Try the command “ssh HOST true”, which must end by itself. If it does not, a start file "
                "there, such as .bashrc, starts another program; or ssh shares a connection (ControlMaster) "
                "that has lost its network: end it with “ssh -O exit HOST”."
            )
        return words

    # -- what it prints

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as errors:
            # What the program started may print for longer than it is there.
            while not self._is_over.is_set():
                if select.select([errors], [], [], _LOOK)[0] and not self._take_errors():
                    return

    def _take_errors(self) -> bool:
        """Take what was printed to the standard error; False at its end. Any thread may do so."""
        errors = self._process.stderr
        with self._reading_errors:
            if errors is None or errors.closed or not select.select([errors], [], [], 0)[0]:
                return True
            piece = os.read(errors.fileno(), 65536)
            self._errors = (self._errors + piece)[-_ERRORS:]
            self._said = (self._said + piece)[-_ERRORS:]
        return bool(piece)

    def forget_words(self) -> None:
        """Drop what was printed so far: a greeting says nothing of the end."""
        self._errors = b""

    def find_last_words(self) -> str:
        """Return the last line that it printed, without a full stop; "" where it printed none."""
        # The end of its output is seen before its last words.
        self._error_reader.join(LAST_WORDS)
        lines = _list_reasons(self._errors.decode("utf-8", "replace"))
        return lines[-1][:200].rstrip(".") if lines else ""

    # -- the end

    def has_ended(self, seconds: float) -> bool:
        """Return whether it ends within `seconds`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def end(self, timeout: float = 0.0) -> None:
        """End it, and what it started, after waiting `timeout` seconds for it to end."""
        self._is_over.set()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.has_ended(timeout):
                return
            # With what it started, such as the program that ssh connects through.
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, number)
            timeout = 1.0
        self._process.wait()

    def join(self, seconds: float) -> None:
        """Wait until nothing reads what it prints."""
        self._error_reader.join(seconds)


def _quote_last_line(printed: bytes) -> str:
    """Return a sentence with the last line that was printed; "" where none was."""
    lines = _list_reasons(printed[-_ERRORS:].decode("utf-8", "replace"))
    return f' It printed last: "{_shorten(lines[-1])}".' if lines else ""


def _shorten(line: str) -> str:
    """Return the line with its beginning and its end, where the reason of a long one stands."""
    half = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:half]}…{line[-half:]}"


def _list_reasons(printed: str) -> list[str]:
    """Return the lines that the program printed, without the warnings of ssh and podman before an error."""
    lines = [line.strip() for line in printed.splitlines()]
    lines = [line for line in lines if line and not line.startswith("** ") and "level=warning" not in line]
    # What is said for each attempt, such as that of a password, is said once.
    return [*reversed(dict.fromkeys(reversed(lines)))]


def _explain_changed_key(title: str, printed: str) -> str:
    """Say what it means that a host has another key than before, and where the known one is."""
    where = re.search(r"Offending .*key in (\S+:\d+)", printed)
    place = f" ({where[1][:200]})" if where else ""
    return (
        f"The host key of {_find_host(title, printed)} has changed{place}, so nothing was sent. Another "
        "machine may be in its place. If you know that the new key is right, remove the old one with "
        "ssh-keygen -R, and connect again."
    )


def _explain_revoked_key(title: str, printed: str) -> str:
    """Say what it means that the key of a host is marked as revoked."""
    return (
        f"The host key of {_find_host(title, printed)} is marked as revoked in your list of known hosts, so "
        "nothing was sent. Somebody with a stolen key may be in its place."
    )


def _find_host(title: str, printed: str) -> str:
    """Return the host whose key ssh refused: the target, or a jump host on the way to it."""
    host = re.search(r"[Hh]ost key for (\S+) (?:has changed|was revoked)", printed)
    return host[1][:200] if host else title
