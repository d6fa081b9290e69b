"""The sessions of a server."""

import asyncio
import re
import secrets
import time
from collections.abc import Callable

from oi_tui.server.backend import Backend
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.options import ServerLimits
from oi_tui.server.session_records import SessionRecords, Turnstile

#: The session of clients that name none, as in the original.
DEFAULT = "default"
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class NoRoomError(Exception):
    """There are as many sessions as the server allows."""


class UnknownSessionError(Exception):
    """There is no session with this id."""


class Sessions:
    """Makes sessions, finds them by id, and ends them. For one event loop."""

    def __init__(self, make: Callable[[], Backend], limits: ServerLimits) -> None:
        self._make = make
        self._limits = limits
        #: Called with each session that has been removed.
        self.on_removed: Callable[[HostedSession], None] = lambda _: None
        #: Whether clients of new sessions may approve later code too.
        self.may_grant = False
        self._sessions: dict[str, HostedSession] = {}
        self._records: dict[str, SessionRecords] = {}
        self._turnstile = Turnstile()
        self._disposable: set[str] = set()
        self._making = asyncio.Lock()
        self._opening = asyncio.Lock()
        self._unwatched: dict[str, float] = {}
        self._tidying: asyncio.Task[None] | None = None
        #: The sessions that are being ended.
        self._closing: list[HostedSession] = []

    @property
    def all(self) -> list[HostedSession]:
        """Every session, the oldest first."""
        return list(self._sessions.values())

    async def create(self, id: str = "", *, disposable: bool = False) -> HostedSession:
        """Make a session. Raises NoRoomError.

        One that is disposable gives way to another when there is no room, or when there are many of them; its
        conversation stays saved.
        """
        async with self._making:
            if id in self._sessions:
                return self._sessions[id]
            is_full = len(self._sessions) >= self._limits.sessions
            if is_full or (disposable and len(self._disposable) >= self._limits.disposable_sessions):
                await self._make_room()
            if len(self._sessions) >= self._limits.sessions:
                raise NoRoomError(f"There are {self._limits.sessions} sessions; delete one first.")
            backend = await asyncio.to_thread(self._make)
            session = HostedSession(id or secrets.token_urlsafe(9), backend, self._limits)
            session.may_grant = self.may_grant
            self._sessions[session.id] = session
            if disposable:
                self._disposable.add(session.id)
            if self._tidying is None:
                self._tidying = asyncio.create_task(self._tidy())
            return session

    async def open(self, conversation: str) -> HostedSession:
        """Return the session that has a saved conversation; it is made if there is none.

        Raises NoRoomError, and StoreError where the conversation cannot be opened.
        """
        async with self._opening:
            for session in self.all:
                if session.backend.conversation == conversation:
                    return session
            session = await self.create()
            try:
                await asyncio.to_thread(session.backend.resume, conversation)
            except BaseException:
                await self.remove(session.id)
                raise
            return session

    async def find(self, id: str = DEFAULT) -> HostedSession:
        """Return a session; the default one is made when it is first asked for.

        Raises UnknownSessionError for others.
        """
        session = self._sessions.get(id)
        if session is None and id == DEFAULT:
            session = await self.create(DEFAULT)
        if session is None:
            raise UnknownSessionError(f"There is no session {id if _ID.fullmatch(id) else 'of this name'}.")
        return session

    async def find_records(self, id: str) -> SessionRecords:
        """Return what the clients that watch a session are sent. Raises UnknownSessionError."""
        session = await self.find(id)
        return self._records.setdefault(id, SessionRecords(session, self._turnstile))

    async def _make_room(self) -> None:
        """End the disposable session that was not used for the longest time."""
        idle = [
            session
            for session in self.all
            if session.id in self._disposable and not session.busy and not session.log.readers
        ]
        if idle:
            oldest = min(idle, key=lambda session: session.used)
            await self.remove(oldest.id)

    async def remove(self, id: str) -> None:
        """End a session. Raises UnknownSessionError."""
        session = await self.find(id)
        del self._sessions[session.id]
        self._records.pop(session.id, None)
        self._disposable.discard(session.id)
        self._unwatched.pop(session.id, None)
        try:
            await asyncio.to_thread(session.close)
        finally:
            self.on_removed(session)

    async def close(self) -> None:
        """End all sessions."""
        if self._tidying:
            self._tidying.cancel()
            await asyncio.wait([self._tidying])
        self._closing, self._sessions = self.all, {}
        await asyncio.gather(*(asyncio.to_thread(session.close) for session in self._closing))

    def stop(self) -> None:
        """Stop each turn, also while the sessions are closed; a second stop ends the language of a run."""
        for session in (*self.all, *self._closing):
            session.stop()

    async def _tidy(self) -> None:
        """Reject questions that nobody is there to answer."""
        while True:
            await asyncio.sleep(min(5.0, self._limits.unwatched_seconds / 4))
            now = time.monotonic()
            for session in self.all:
                if session.question is None or session.log.readers:
                    self._unwatched.pop(session.id, None)
                elif now - self._unwatched.setdefault(session.id, now) >= self._limits.unwatched_seconds:
                    session.reject_question()
