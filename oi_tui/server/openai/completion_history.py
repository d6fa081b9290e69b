"""Finds the session that has the conversation which a client of chat completions sends again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from oi_tui.messages import InputRequested
from oi_tui.server.hosted_session import HostedSession
from oi_tui.server.openai.completion_request import ChatMessage

#: So much is remembered of each session: messages, and characters of each.
_MOST_MESSAGES = 1_000
_MOST_CHARACTERS = 20_000


@dataclass(slots=True)
class _Entry:
    """A message as it is compared with others."""

    role: str
    text: str
    _essence: str | None = None

    @property
    def essence(self) -> str:
        """The text without what clients change, computed when it is first compared."""
        if self._essence is None:
            self._essence = _reduce(self.text)
        return self._essence


@dataclass(slots=True)
class ChatHistory:
    """The messages of a session as its clients know them."""

    entries: list[_Entry] = field(default_factory=list)
    #: The instructions that the session got last.
    instructions: str = ""
    #: What its clients were asked last: the id of a question about code, or a request for input of a program.
    asked: str | InputRequested = ""
    #: Tells the client that follows the turn now that another one stops it.
    supersede: Callable[[], None] = lambda: None

    def add(self, role: str, text: str) -> None:
        """Add a message, or add to the last one if the assistant continues it."""
        if role == "assistant" and self.entries and self.entries[-1].role == "assistant":
            text = self.entries.pop().text + text
        self.entries.append(_Entry(role, text[: _MOST_CHARACTERS * 2]))
        del self.entries[:-_MOST_MESSAGES]

    def count(self, spoken: Sequence[ChatMessage]) -> int:
        """Return how many messages at the start of a client's list are the end of this history."""
        return self.count_entries(_make_entries(spoken))

    def count_entries(self, spoken: Sequence[_Entry]) -> int:
        """Do the same for a list that is compared with several histories."""
        for count in range(min(len(spoken) - 1, len(self.entries)), 0, -1):
            if all(map(_is_same, spoken[:count], self.entries[-count:])):
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
        entries = _make_entries(spoken)
        matches = [
            (count, session.used, session)
            for session, before in list(self._sessions.items())
            if not session.closed and (count := before.count_entries(entries))
        ]
        matches = [item for item in matches if _is_answered(spoken[: item[0]])]
        if not matches:
            return None
        count, _, session = max(matches, key=lambda item: item[:2])
        return session, count


def _is_answered(spoken: Sequence[ChatMessage]) -> bool:
    return any(item.role == "assistant" for item in spoken)


def _make_entries(spoken: Sequence[ChatMessage]) -> list[_Entry]:
    return [_Entry(item.role, item.text) for item in spoken]


def _is_same(spoken: _Entry, known: _Entry) -> bool:
    """Return whether a client's message is one that is known; of a reply it may have got only the start."""
    if spoken.role != known.role:
        return False
    theirs, ours = spoken.essence, known.essence
    return theirs == ours or (known.role == "assistant" and bool(theirs) and ours.startswith(theirs))


def _reduce(text: str) -> str:
    """Return text without what clients change: space and line ends."""
    return "".join(text[: _MOST_CHARACTERS * 2].split())[:_MOST_CHARACTERS]
