"""Follows a reply: whether anything came, and what the person should know of its end."""

from collections.abc import Iterator

from oi_tui.engine.events import Noticed
from oi_tui.engine.llm.base import ConnectionState, Delta, Finish, Gap, Signed, ToolCallPiece, Usage
from oi_tui.engine.llm.signed_reasoning import SignedReasoning

#: Reasons for the end of a reply that the person should know.
_ENDS = {
    "content_filter": "The provider withheld the rest of the reply (content filter).",
    "missing": "The server ended the reply without marking it complete; it may be cut off. "
    "%continue resumes.",
    "given_up": "The server gave up the reply before its end; part of it is missing. %continue resumes.",
    "malformed": "The provider could not read a tool call that the model wrote, and ended the reply. "
    "%continue lets the model try again.",
}


class ReplyProgress:
    """What has come of a reply, beside its text and code."""

    def __init__(self) -> None:
        #: Whether a part of the reply itself has come.
        self.has_begun = False
        self.has_tool_call = False
        self.usage: Usage | None = None
        self.signed = SignedReasoning()
        self._unreadable_lines = 0
        self._reached_limit = False
        self._end_reason = ""

    def add(self, delta: Delta) -> None:
        """Take in the next delta of the reply."""
        if isinstance(delta, Signed):
            self.signed.add(delta)
        elif isinstance(delta, Usage):
            self.usage = delta
        elif isinstance(delta, Finish):
            self._end_reason = delta.reason
            self._reached_limit = self._reached_limit or delta.reason == "length"
        elif not isinstance(delta, ConnectionState):
            self.has_begun = True
            self.has_tool_call = self.has_tool_call or isinstance(delta, ToolCallPiece)
        if isinstance(delta, Gap):
            self._unreadable_lines += delta.lines

    def report_gaps(self) -> Iterator[Noticed]:
        """Report lines of the reply that could not be read."""
        if count := self._unreadable_lines:
            lines = "A line" if count == 1 else f"{count} lines"
            yield Noticed(f"{lines} of the reply could not be read; part of it is missing.", "warning")

    def report_end(self) -> Iterator[Noticed]:
        """Report why a reply that ended without an error may be incomplete."""
        if self._end_reason in _ENDS:
            yield Noticed(_ENDS[self._end_reason], "warning")
        if self._reached_limit:
            yield Noticed("The reply reached the maximum length and was cut off; see max_tokens.", "warning")
