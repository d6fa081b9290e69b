"""One language process: everything that is read from it and written to it."""

import contextlib
import os
import secrets
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Union

from oi_tui.runtimes.processes import process_table
from oi_tui.runtimes.processes.channel import LONGEST_EVENT, CellChannel, Event
from oi_tui.runtimes.processes.marks import MarkReader, encode_mark
from oi_tui.runtimes.processes.pty import Pty
from oi_tui.runtimes.processes.readiness import Readiness
from oi_tui.runtimes.sandbox.base import SandboxedCommand
from oi_tui.runtimes.sandbox.limits import LimitWatch
from oi_tui.runtimes.sandbox.proxy import HostProxy
from oi_tui.runtimes.sandbox.sandbox import Sandbox
from oi_tui.system import environment_names

#: The most output that waits while no run reads it, in bytes; the oldest is dropped first.
_MOST_WAITING = 256 * 1024
#: The most events that wait for their marks, in bytes; a correct driver has one at a time.
_MOST_MARKED = 2 * LONGEST_EVENT
#: How much is read at once, in bytes, before it is handled.
_READ_SIZE = 256 * 1024
#: What may be typed, in bytes, before its echo has come: Linux keeps up to 4,096 of it, and drops the rest.
_UNECHOED = 1024
#: How long an echo is waited for, in seconds; a program may not show what is typed.
_ECHO_TIMEOUT = 0.05
#: How long nothing must have run before the terminal is read at rest, in seconds: runs that follow each
#: other at once are spared handing the reading over.
_SETTLED = 0.05
#: How long the processes that an interrupted run leaves may take to end, in seconds.
_LEFTOVERS = 0.2
#: Marks the environment of everything that a language process starts.
_TOKEN = environment_names.RUNTIME


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """The language process is no more; `status` is that of waitpid, None when even its guard was killed.

    `out_of_memory`: meanwhile the system killed something because memory ran out.
    """

    status: int | None
    out_of_memory: bool = False
    #: The limit for which it was ended, in words.
    limit: str = ""

    def __str__(self) -> str:
        if self.limit:
            return self.limit
        if self.status is None:
            return "the process and its guard were killed"
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            if number == signal.SIGKILL and self.out_of_memory:
                return "killed by SIGKILL, probably out of memory"
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(number).name}"
            return f"killed by signal {number}"
        return f"exit status {os.WEXITSTATUS(self.status)}"


#: What a process sends: bytes for its terminal, events at their place among them, and its end.
Item = Union[bytes, Event, ProcessEnd]  # noqa: UP007 -- evaluated on other machines too, by Python 3.8


class LanguageProcess:
    """A program on a terminal of its own, with a channel to its driver; in the sandbox, where there is one.

    No language begins anywhere else, so none can begin outside of the sandbox. One thread at a time reads:
    whoever is between `attach` and `detach`, else a thread that keeps the terminal from filling up while
    nothing runs. All else may be called from any thread. Raises OSError, and NoSandboxError where the
    sandbox cannot be had.
    """

    def __init__(
        self,
        program: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        size: tuple[int, int],
        channel: CellChannel,
        name: str,
        sandbox: Sandbox | None,
    ) -> None:
        self._token = secrets.token_hex(16)
        self.channel = channel
        self.is_sandboxed = sandbox is not None
        self._gateway: HostProxy | None = None
        self.terminal = self._start(program, argv, {**env, _TOKEN: self._token}, cwd, size, sandbox)
        self.pid = 0
        self._pidfd = -1
        self._oom_kills = process_table.count_oom_kills()
        #: Called, from the thread that reads at rest, when the process ends while nothing runs.
        self.on_end_at_rest: Callable[[ProcessEnd], None] = lambda _: None
        self.ended: ProcessEnd | None = None
        #: The process in which code runs: not `pid` where a wrapper started it; 0 where the driver does not
        #: say.
        self.driver_pid = 0
        #: The facts about its interpreter that the driver sent when it was ready.
        self.interpreter: object = None
        self._marks = MarkReader()
        self._marked: dict[str, Event] = {}
        self._marked_size = 0
        #: Marks that were seen lately; to see one again means nothing.
        self._spent: deque[str] = deque(maxlen=64)
        self._status = b""
        self._limit = ""
        self._typed: deque[bytes] = deque()
        self._typing = threading.Lock()
        #: Bytes that were typed and whose echo has not come yet.
        self._unechoed = 0
        self._later: deque[Item] = deque()
        self._later_size = 0
        self._reading = threading.Lock()
        self._idle = threading.Event()
        #: How many threads wait to become the reader; the one that reads takes the byte that wakes it.
        self._wanted = 0
        self._wanting = threading.Lock()
        self._closed = threading.Event()
        #: Held while the process is closed, and whether that is done.
        self._closing = threading.Lock()
        self._is_released = False
        self._awake = self._wake = -1
        self._limits: LimitWatch | None = None
        self._thread = threading.Thread(target=self._keep_reading, name=f"{name} at rest", daemon=True)
        try:
            self._begin_reading(cwd, sandbox)
        except BaseException:
            self._release()
            raise

    def _begin_reading(self, cwd: Path, sandbox: Sandbox | None) -> None:
        """Open what reading needs, and start the threads. Raises OSError and RuntimeError."""
        terminal = self.terminal
        self._awake, self._wake = os.pipe()
        os.set_blocking(self._awake, False)
        os.set_blocking(self._wake, False)
        os.set_blocking(terminal.guard_output, False)
        self._ready = Readiness((terminal.child_fd, self.channel.events, terminal.guard_output, self._awake))
        if sandbox:
            folder = self.channel.folder
            self._limits = LimitWatch(terminal.ptyproc.pid, cwd, folder, sandbox.limits, self._end_over_limit)
        self._thread.start()

    def _start(
        self,
        program: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        size: tuple[int, int],
        sandbox: Sandbox | None,
    ) -> Pty:
        """Start the program on a terminal, with the gateway of its sandbox."""
        folder = self.channel.folder
        command = SandboxedCommand(tuple(argv), env)
        if sandbox:
            command = sandbox.enclose(program, argv, env, folder)
        try:
            self._gateway = sandbox.open_gateway(folder) if sandbox else None
            return Pty(
                command.argv,
                folder=folder,
                env=command.env,
                cwd=cwd,
                size=size,
                descriptors=command.descriptors,
            )
        except BaseException:
            if self._gateway:
                self._gateway.close()
            raise
        finally:
            for number in command.descriptors:
                os.close(number)

    # -- reading

    def attach(self) -> list[Item]:
        """Become the reader, and return what came since the last one."""
        later = self.attach_soon(-1)
        assert later is not None
        return later

    def attach_soon(self, seconds: float) -> list[Item] | None:
        """Attach, or return None if another thread reads for longer than that."""
        if not self._reading.acquire(blocking=False):
            with self._wanting:
                self._wanted += 1
            self.wake()
            is_free = self._reading.acquire(timeout=seconds)
            with self._wanting:
                self._wanted -= 1
            if not is_free:
                return None
        self._idle.clear()
        later = list(self._later)
        self._later.clear()
        self._later_size = 0
        return later

    def detach(self) -> None:
        """Leave the reading to the thread, unless another one waits for it."""
        self._reading.release()
        self._idle.set()

    def wake(self) -> None:
        """Make `read` return at once."""
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self._wake, b"\0")

    def read(self, seconds: float) -> list[Item]:
        """Wait at most `seconds` for something, and take what is there. `ProcessEnd` comes once, and last."""
        if self.ended:
            return []
        ready = self._wait(seconds)
        items: list[Item] = []
        if self._awake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._awake, 4096)
        if self.channel.events in ready:
            self._read_events(items)
        if self.terminal.child_fd in ready:
            size = self._read_output(items, _READ_SIZE)
            with self._typing:
                self._unechoed = max(0, self._unechoed - size)
        self._type()
        if self.terminal.guard_output in ready and self._has_ended():
            # The guard reports when no process is left that could print: what is readable now is all.
            while self._read_output(items, _READ_SIZE):
                pass
            items += [rest] if (rest := self._marks.rest()) else []
            assert self.ended
            items.append(self.ended)
        return items

    def _wait(self, seconds: float) -> set[int]:
        """Wait until something can be read, or typed; not forever for an echo."""
        if not self._typed:
            return self._ready.wait(seconds)
        if self._unechoed < _UNECHOED:
            return self._ready.wait(seconds, writable=self.terminal.child_fd)
        ready = self._ready.wait(min(seconds, _ECHO_TIMEOUT))
        if self.terminal.child_fd not in ready:
            with self._typing:
                self._unechoed = 0
        return ready

    def _read_output(self, found: list[Item], limit: int) -> int:
        pieces = []
        size = 0
        while size < limit:
            try:
                piece = os.read(self.terminal.child_fd, 65536)
            except (BlockingIOError, OSError):
                break
            if not piece:
                break
            pieces.append(piece)
            size += len(piece)
        if pieces:
            # The event of a mark is sent before the mark, so every event that a mark here names has arrived.
            self._read_events(found)
            for part in self._marks.read(b"".join(pieces)):
                if isinstance(part, bytes):
                    found.append(part)
                elif event := self._marked.pop(part, None):
                    self._marked_size -= event["size"]
                    self._spent.append(part)
                    found.append(event)
                elif part not in self._spent:
                    found.append(encode_mark(part))
        return size

    def _read_events(self, found: list[Item]) -> None:
        for event in self.channel.read_events():
            mark = event.get("mark")
            if isinstance(mark, str) and self._marked_size + event["size"] <= _MOST_MARKED:
                self._marked_size += event["size"]
                self._marked.setdefault(mark, event)
            elif not isinstance(mark, str):
                found.append(event)

    @property
    def is_dying(self) -> bool:
        """Whether the program has gone and its guard has yet to say so."""
        if self.ended or self._pidfd < 0:
            return False
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(0))

    def find_unplaced(self, kind: str) -> Event | None:
        """Return an event whose mark has not been seen."""
        return next((event for event in self._marked.values() if event["event"] == kind), None)

    def _has_ended(self) -> bool:
        try:
            piece = os.read(self.terminal.guard_output, 4096)
        except BlockingIOError:
            return False
        self._status += piece
        *lines, self._status = self._status.split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            if word == b"pid":
                self.pid = int(number)
                if hasattr(os, "pidfd_open"):
                    with contextlib.suppress(OSError):
                        self._pidfd = os.pidfd_open(self.pid)
            elif word == b"exit":
                out_of_memory = process_table.count_oom_kills() > self._oom_kills
                self.ended = ProcessEnd(int(number), out_of_memory, self._limit)
        if not piece and not self.ended:
            # The guard itself was killed; what it guarded is found by the mark in its environment.
            process_table.kill_marked(f"{_TOKEN}={self._token}", self.pid)
            self.ended = ProcessEnd(None, limit=self._limit)
        return self.ended is not None

    def _keep_reading(self) -> None:
        while True:
            self._idle.wait()
            if self._closed.wait(_SETTLED):
                return
            with self._reading:
                if self.ended:
                    self._idle.clear()
                if self._closed.is_set():
                    return
                if self._wanted or not self._idle.is_set():
                    continue
                for item in self.read(3600):
                    if isinstance(item, ProcessEnd):
                        self.on_end_at_rest(item)
                    self._later.append(item)
                    self._later_size += len(item) if isinstance(item, bytes) else 1000
                while self._later_size > _MOST_WAITING and len(self._later) > 1:
                    item = self._later.popleft()
                    self._later_size -= len(item) if isinstance(item, bytes) else 1000

    # -- writing

    def type(self, data: bytes) -> None:
        """Type on the terminal; what it does not take yet follows while somebody reads."""
        with self._typing:
            self._typed.append(data)
        self._type()
        self.wake()

    def _type(self) -> None:
        """Write what the terminal takes, and never more than it can echo before what the program prints next.

        Of a longer echo the terminal loses a part, and shows the rest after later output.
        """
        with self._typing:
            while self._typed:
                if not self.terminal.echoes:
                    self._unechoed = 0
                room = _UNECHOED - self._unechoed
                if room <= 0:
                    return
                try:
                    byte_count = os.write(self.terminal.child_fd, self._typed[0][:room])
                except OSError:
                    return
                self._unechoed += byte_count
                self._typed[0] = self._typed[0][byte_count:]
                if not self._typed[0]:
                    self._typed.popleft()

    @property
    def is_typing(self) -> bool:
        """Whether the terminal has yet to take a part of what was typed."""
        with self._typing:
            return bool(self._typed)

    def forget_typed(self) -> None:
        """Drop what was typed and not taken."""
        with self._typing:
            self._typed.clear()
            self._unechoed = 0

    def send_signal(self, number: int) -> None:
        """Send a signal to the foreground process group."""
        group = self.terminal.foreground
        if group > 1 and group != os.getpgrp():
            with contextlib.suppress(OSError):
                os.killpg(group, number)

    def interrupt(self) -> None:
        """Interrupt the foreground process group, also if it was stopped and would not get the signal."""
        self.send_signal(signal.SIGINT)
        self.send_signal(signal.SIGCONT)
        self.send_signal_to_language(signal.SIGCONT)

    def send_signal_to_language(self, number: int) -> None:
        """Send a signal to the language's own process."""
        if self.pid > 1:
            with contextlib.suppress(OSError):
                os.kill(self.pid, number)

    def list_foreground_children(self, since: float = float("-inf")) -> list[int]:
        """Return the processes that the language runs in the foreground, itself not included.

        With `since`, only those that began after that, on the monotonic clock.
        """
        group = self.terminal.foreground
        children = []
        for pid in process_table.list_descendants(self.pid) if self.pid else ():
            with contextlib.suppress(OSError):
                if os.getpgid(pid) == group and process_table.find_start(pid) > since:
                    children.append(pid)
        return children

    def send_signal_to_children(self, number: int, since: float = float("-inf")) -> None:
        """Send a signal to the `list_foreground_children`, but not to the language itself."""
        for pid in self.list_foreground_children(since):
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def end_leftovers(self, groups: set[int], since: float, young_since: float) -> None:
        """End what an interrupted run leaves in its process groups; both times are on the monotonic clock.

        What began after `young_since` was being started when the interrupt came, and is interrupted now. It
        may start child processes meanwhile, and until each becomes its program it has the signal handlers of
        its parent and loses the signal: so these are looked at for a while, and what has become another
        program is interrupted again. What began after `since` and ignores the interrupt is ended: a shell
        lets all that its scripts put into the background ignore it; that is no wish to stay.
        """
        until = time.monotonic() + _LEFTOVERS
        interrupted: set[tuple[int, bytes]] = set()
        while self.pid:
            has_leftovers = False
            for pid, group in process_table.list_session(self.pid):
                if pid == self.pid or (start := process_table.find_start(pid)) <= since:
                    continue
                has_leftovers |= group in groups
                with contextlib.suppress(OSError):
                    if process_table.ignores(pid, signal.SIGINT):
                        has_leftovers = True
                        deaf = process_table.ignores(pid, signal.SIGTERM)
                        os.kill(pid, signal.SIGKILL if deaf else signal.SIGTERM)
                    elif group in groups and start > young_since:
                        program = (pid, process_table.read_command_line(pid))
                        if program not in interrupted:
                            interrupted.add(program)
                            os.kill(pid, signal.SIGINT)
            if not has_leftovers or time.monotonic() > until:
                return
            time.sleep(0.005)

    # -- the end

    def _end_over_limit(self, limit: str) -> None:
        self._limit = limit
        self.terminal.end_program()

    def close(self) -> None:
        """End the program and all that it started; waits until nothing is left. Called again, do nothing."""
        with self._closing:
            if self._is_released:
                return
            self._release()
            self.channel.close()

    def _release(self) -> None:
        """End the program, the threads and the gateway, and close all but the channel."""
        self._closed.set()
        if self._limits:
            self._limits.close()
        if self._gateway:
            self._gateway.close()
        self._idle.set()
        self.wake()
        # It has no number where the system allowed no more threads.
        if self._thread.ident:
            self._thread.join(10)
        self.channel.end_requests()
        self.terminal.close()
        if not self.ended:
            self.ended = ProcessEnd(signal.SIGKILL)
        # From here on, the numbers of descriptors may belong to other files.
        self._is_released = True
        numbers = self._awake, self._wake, self._pidfd
        self._awake = self._wake = self._pidfd = -1
        for number in numbers:
            if number >= 0:
                os.close(number)
