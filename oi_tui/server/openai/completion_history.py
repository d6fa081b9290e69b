"""Finds the session that has the conversation which a client of chat completions sends again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.openai.completion_request import ChatMessage

#: So much is remembered of each session: messages, and characters of each.
_MOST_MESSAGES = 1_000
_MOST_CHARACTERS = 20_000


@dataclass(slots=True)
class ChatHistory:
    """The messages of a session as its clients know them."""

    items: list[tuple[str, str]] = field(default_factory=list)
    #: The instructions that the session got last.
    instructions: str = ""
    #: Tells the client that follows the turn now that another one stops it.
    supersede: Callable[[], None] = lambda: None

    def add(self, role: str, text: str) -> None:
        """Add a message, or add to the last one if the assistant continues it."""
        if role == "assistant" and self.items and self.items[-1][0] == "assistant":
            text = self.items.pop()[1] + text
        self.items.append((role, text[: _MOST_CHARACTERS * 2]))
        del self.items[:-_MOST_MESSAGES]

    def count(self, spoken: Sequence[ChatMessage]) -> int:
        """Return how many messages at the start of a client's list are the end of this history."""
        for count in range(min(len(spoken) - 1, len(self.items)), 0, -1):
            if all(map(_is_same, spoken[:count], self.items[-count:])):
                return count
        return 0


class CompletionHistory:
    """The chat histories of all sessions. A history is dropped with its session."""

    def __init__(self) -> None:
        self._sessions: WeakKeyDictionary[HostedSession, ChatHistory] = WeakKeyDictionary()

    def recall(self, session: HostedSession) -> ChatHistory:
        """Return the history of this session."""
        return self._sessions.setdefault(session, ChatHistory())

    def forget(self, session: HostedSession) -> None:
        """Drop the history of a session, because its messages were replaced."""
        self._sessions.pop(session, None)

    def find(self, spoken: Sequence[ChatMessage]) -> tuple[HostedSession, int] | None:
        """Return the session that a client's list continues, and how many of its messages are known.

        None for none.
        """
        matches = [
            (count, session.used, session)
            for session, before in list(self._sessions.items())
            if not session.closed and (count := before.count(spoken))
        ]
        matches = [item for item in matches if _is_answered(spoken[: item[0]])]
        if not matches:
            return None
        count, _, session = max(matches, key=lambda item: item[:2])
        return session, count


def _is_answered(spoken: Sequence[ChatMessage]) -> bool:
    return any(item.role == "assistant" for item in spoken)


def _is_same(spoken: ChatMessage, known: tuple[str, str]) -> bool:
    """Return whether a client's message is one that is known; of a reply it may have got only the start."""
    role, text = known
    theirs, ours = _reduce(spoken.text), _reduce(text)
    if spoken.role != role:
        return False
    return theirs == ours or (role == "assistant" and bool(theirs) and ours.startswith(theirs))


def _reduce(text: str) -> str:
    """Return text without what clients change: space and line ends."""
    return "".join(text[: _MOST_CHARACTERS * 2].split())[:_MOST_CHARACTERS]
