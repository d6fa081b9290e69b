"""Runs cells of other programs in this window: each waits its turn, is approved, runs, and is answered."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from oi_tui.engine.events import ApprovalRequested, Event, Noticed, Reject, TurnEnded, TurnStarted
from oi_tui.engine.session import Session
from oi_tui.messages import Message
from oi_tui.runtimes.variables import is_name
from oi_tui.text import clean_line
from oi_tui.window.listener import Host, Listener, WindowCallError
from oi_tui.window.report import find_outcome, list_changed_files, read_variables
from oi_tui.workspace import Workspace

_log = logging.getLogger(__name__)
#: How many pieces of code may wait.
_MOST_WAITING = 16
_UNTRUSTED = "The person has not run any code of yours in this window yet. Call run first."
_RESTART = (
    "The languages belong to the person's window and hold their variables too. Ask the person to use %reset."
)
_NEVER_RAN = "The conversation was closed before the code ran."


class HostCellsView(Protocol):
    """The chat view, as far as the code of other programs needs it."""

    workspace: Workspace

    @property
    def busy(self) -> bool:
        """Whether a turn is at work."""

    @property
    def session(self) -> Session:
        """The conversation at work."""

    def start(self, events: Iterator[Event], *, with_model: bool = False) -> None:
        """Run a turn with these events."""

    def show(self, event: Event) -> None:
        """Show an event in the conversation."""

    def notify(self, message: str, *, markup: bool = True) -> None:
        """Show a message for a moment."""


@dataclass(eq=False)
class _Cell:
    """One piece of code; `done` gets its messages, none where it never began."""

    host: Host
    language: str
    code: str
    done: "asyncio.Future[Sequence[Message]]"
    #: How many messages there were before it.
    before: int = 0
    question: ApprovalRequested | None = None


@dataclass
class HostCells:
    """Takes calls of other programs, and follows the turns of their code."""

    view: HostCellsView
    _waiting: deque[_Cell] = field(default_factory=deque)
    _current: _Cell | None = None
    _listener: Listener | None = None
    _is_open: bool = False
    _adapting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def listen(self) -> None:
        """Let other programs find this window from now on, while the profile allows it."""
        self._is_open = True
        await self.apply_profile()

    async def apply_profile(self) -> None:
        """Listen or not, as the profile says now. A failure to listen is logged."""
        async with self._adapting:
            is_wanted = self._is_open and self.view.workspace.profile.other_agents
            if is_wanted and self._listener is None:
                listener = Listener(self.call)
                try:
                    await listener.open(self.view.workspace.computer.cwd)
                except OSError as error:
                    _log.warning("Other agents cannot find this window: %s", error)
                    return
                self._listener = listener
            elif not is_wanted and self._listener is not None:
                listener, self._listener = self._listener, None
                await listener.close()

    async def close(self) -> None:
        """Refuse further calls, and cancel the waiting ones."""
        self.abandon()
        self._is_open = False
        await self.apply_profile()

    async def call(self, host: Host, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Carry out a call. Raises WindowCallError. Cancelled, it stops what it began."""
        handlers: dict[str, Callable[..., Any]] = {
            "run": self._run,
            "variables": self._read_variables,
            "inspect": self._inspect,
            "interrupt": self._interrupt,
            "restart": self._restart,
            "files_changed": self._list_changed_files,
        }
        if name not in handlers:
            raise WindowCallError(f"This window does not know the call {clean_line(name, 60)}.")
        for key, value in arguments.items():
            if not isinstance(value, str | None):
                raise WindowCallError(f"{clean_line(key, 60)} must be text.")
            with contextlib.suppress(UnicodeEncodeError):
                (value or "").encode()
                continue
            raise WindowCallError(f"{clean_line(key, 60)} is not valid Unicode.")
        return await handlers[name](host, arguments)  # type: ignore[no-any-return]

    # -- the turns of the view -----------------------------------------------------------------

    def follow(self, event: Event) -> None:
        """Note the question of the code at work, and its end."""
        cell = self._current
        match event:
            case TurnStarted() if self._listener:
                self._listener.touch()
            case ApprovalRequested() if cell:
                cell.question = event
            case TurnEnded() if cell:
                self._current = None
                self._finish(cell, self.view.session.messages[cell.before :])

    def begin_next(self) -> None:
        """Begin with the next piece of code, if nothing else goes on."""
        if self.view.busy or not self._waiting:
            return
        self._current = cell = self._waiting.popleft()
        cell.before = len(self.view.session.messages)
        self.view.start(self.view.session.propose(cell.language, cell.code, cell.host.name))

    def abandon(self) -> None:
        """Drop what runs or waits, because another conversation is shown."""
        cells, self._current = [*filter(None, [self._current]), *self._waiting], None
        self._waiting.clear()
        for cell in cells:
            self._finish(cell, ())

    # -- calls ---------------------------------------------------------------------------------

    async def _run(self, host: Host, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        if len(self._waiting) >= _MOST_WAITING:
            raise WindowCallError("Too much code is already waiting in this window.")
        cell = _Cell(
            host,
            arguments.get("language") or "",
            arguments.get("code") or "",
            asyncio.get_running_loop().create_future(),
        )
        self._waiting.append(cell)
        if self.view.busy:
            self.view.notify(f"{host.name} wants to run code. You are asked after this turn.", markup=False)
        self.begin_next()
        try:
            messages = await cell.done
        except asyncio.CancelledError:
            self._abandon(cell)
            raise
        workspace = self.view.workspace
        code = next((message for message in messages if message.type == "code"), None)
        if code and code.state in ("finished", "failed", "interrupted", "lost") and code.decision:
            host.runs.append(code.id)
        refusal = "" if messages else _NEVER_RAN
        report = await asyncio.to_thread(
            find_outcome, messages, workspace.snapshots, workspace.profile.max_output, refusal
        )
        return report.to_dict()

    def _abandon(self, cell: _Cell) -> None:
        """End the code of a host that has disconnected or cancelled it."""
        if cell in self._waiting:
            self._waiting.remove(cell)
        elif cell is self._current:
            self.view.show(Noticed(f"{cell.host.name} withdrew its code, or disconnected.", "warning"))
            rejection = Reject(f"{cell.host.name} is gone", stop=True, by_person=False)
            if cell.question is None or not cell.question.reply(rejection):
                self.view.session.interrupt()

    def _finish(self, cell: _Cell, messages: Sequence[Message]) -> None:
        if not cell.done.done():
            cell.done.set_result(messages)

    async def _read_variables(self, host: Host, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        self._check_trust(host)
        memories = await asyncio.to_thread(self.view.workspace.computer.inspector.read_memories)
        return read_variables(memories, arguments.get("language"))

    async def _inspect(self, host: Host, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        self._check_trust(host)
        language, name = arguments.get("language") or "", arguments.get("name") or ""
        details = None
        if is_name(name):
            details = await asyncio.to_thread(self.view.workspace.computer.inspector.inspect, language, name)
        return {"description": details.description, "preview": details.preview} if details else {}

    async def _interrupt(self, host: Host, _: Mapping[str, str]) -> Mapping[str, Any]:
        cell = self._current
        if cell is None or cell.host is not host:
            return {"stopped": False}
        self.view.session.interrupt()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(cell.done), 5.0)
        return {"stopped": True, "ended": cell.done.done()}

    async def _restart(self, _host: Host, _: Mapping[str, str]) -> Mapping[str, Any]:
        raise WindowCallError(_RESTART)

    async def _list_changed_files(self, host: Host, _: Mapping[str, str]) -> Mapping[str, Any]:
        return {"files": list_changed_files(self.view.workspace.snapshots, self._list_runs(host))}

    def _check_trust(self, host: Host) -> None:
        if not self._list_runs(host):
            raise WindowCallError(_UNTRUSTED)

    def _list_runs(self, host: Host) -> list[str]:
        """Return the ids of the code that ran for a host in this conversation."""
        here = {message.id for message in self.view.session.messages}
        return [run for run in host.runs if run in here]
