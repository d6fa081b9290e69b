"""Runs a cell of a host: asks, runs, and reports the end."""

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from oi_tui.messages import InputRequested, Message
from oi_tui.server.event_log import ApprovalQuestion, EventReader, GapError
from oi_tui.server.hosted_session import ConflictError, HostedSession

#: Seconds between two reports that a run continues.
_PULSE = 1.0
_Answer = TypeVar("_Answer")
Pulse = Callable[[float], Coroutine[Any, Any, None]]


class HostCell:
    """One piece of code. `token` names it to a host that comes back with an answer."""

    def __init__(self, session: HostedSession, language: str, code: str) -> None:
        self.language = language
        self.code = code
        self.token = secrets.token_urlsafe(32)
        #: Why the code was not run, as far as the host is concerned.
        self.refusal = ""
        #: The question that `next` returned last.
        self._asked: ApprovalQuestion | InputRequested | None = None
        self._session = session
        self._before = len(session.messages)
        self._began = time.monotonic()
        self._reader = EventReader(session.log)
        session.propose(language, code)

    async def next(self, pulse: Pulse) -> ApprovalQuestion | InputRequested | None:
        """Wait for the next question that needs an answer; None when the cell has ended.

        Calls `pulse` every second with the seconds so far.
        """
        session = self._session
        due = time.monotonic() + _PULSE
        with self._reader:
            while session.busy:
                if waiting := session.question or session.waits_for:
                    self._asked = waiting
                    return waiting
                try:
                    await self._reader.next(max(0.0, due - time.monotonic()))
                except GapError:
                    self._reader.skip()
                # Also while it prints: a host gives up a call that it hears nothing of.
                if (now := time.monotonic()) >= due:
                    due = now + _PULSE
                    await pulse(now - self._began)
        return None

    @property
    def is_asking(self) -> bool:
        """Whether the question that `next` returned last is still open.

        It was answered otherwise, or given up, where it is not. Another one may be open then, such as one for
        a password.
        """
        session, asked = self._session, self._asked
        return asked is not None and (session.question is asked or session.waits_for is asked)

    async def wait_for(self, answer: Coroutine[Any, Any, _Answer], pulse: Pulse) -> _Answer | None:
        """Wait for an answer of the host, and call `pulse` every second meanwhile.

        Returns None once the question is no longer open.
        """
        asking = asyncio.ensure_future(answer)
        try:
            while self.is_asking:
                if (await asyncio.wait([asking], timeout=_PULSE))[0]:
                    return asking.result()
                await pulse(time.monotonic() - self._began)
            return None
        finally:
            asking.cancel()

    def run(self, question: ApprovalQuestion) -> None:
        """Answer a question with yes."""
        self._answer(question, "run")

    def reject(self, question: ApprovalQuestion, reason: str = "") -> None:
        """Answer a question with no."""
        self._answer(question, "reject", reason=reason)

    def refuse(self, why: str) -> None:
        """Do not run the code, because nobody can be asked."""
        self.refusal = why
        self._session.reject_question()

    def type(self, line: str) -> None:
        """Type a line to the program that waits for it."""
        with suppress(ConflictError):
            self._session.send_input(f"{line}\n")

    async def stop(self) -> None:
        """End the question or the run, and wait for the end."""
        self._session.reject_question()
        self._session.end_turn()
        while not await asyncio.to_thread(self._session.wait, 1.0):
            pass

    @property
    def messages(self) -> Sequence[Message]:
        """The code, with what became of it, and what it printed and showed."""
        return self._session.messages[self._before :]

    def _answer(self, question: ApprovalQuestion, decision: str, reason: str = "") -> None:
        with suppress(ConflictError):
            self._session.answer(question.id, question.hash, decision, reason=reason)
