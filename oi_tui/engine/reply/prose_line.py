"""The state of the current line of prose, which decides what a fence or a backtick on it means."""

from oi_tui.engine.reply.fences import begins_line, is_item

#: As much of a line is remembered as decides what a fence on it means.
_LEAD = 80


class ProseLine:
    """Follows the prose of a reply, as far as its current line depends on it."""

    def __init__(self) -> None:
        #: How the line begins; None when it is too long to matter.
        self._lead: str | None = ""
        self._in_list = False
        #: The last words of prose before where we are.
        self._before = ""
        #: The length of the mark of inline code that is open on this line.
        self.ticks = 0

    def restart(self) -> None:
        """Begin a line after something that was no prose."""
        self._lead, self._before, self.ticks = "", "", 0

    def feed(self, text: str) -> None:
        """Add prose that was read."""
        *lines, last = text.split("\n")
        for line in lines:
            lead = (self._lead or "") + line[:_LEAD]
            if is_item(lead):
                self._in_list = True
            elif lead.strip() and not lead[0].isspace():
                self._in_list = False
            self._lead, self.ticks = "", 0
        self._before = (self._before + text)[-2 * _LEAD :]
        if self._lead is not None:
            self._lead = self._lead + last if len(self._lead) + len(last) <= _LEAD else None

    def toggle(self, length: int) -> None:
        """Read a run of `length` backticks: it begins inline code, ends it, or is part of it."""
        if not self.ticks:
            self.ticks = length
        elif self.ticks == length:
            self.ticks = 0

    @property
    def is_blank(self) -> bool:
        """Whether the line has nothing but space yet."""
        return self._lead is not None and not self._lead.strip()

    @property
    def is_quote(self) -> bool:
        """Whether the line begins as a quotation."""
        return (self._lead or "").lstrip().startswith(">")

    @property
    def may_open_fence(self) -> bool:
        """Whether a fence may stand where we are."""
        return begins_line(self._lead, self._in_list)

    @property
    def indent(self) -> int:
        """How far a fence is indented that stands where we are; 0 for one behind words."""
        lead = self._lead or ""
        return len(lead) if begins_line(lead, self._in_list) else 0

    @property
    def last_words(self) -> str:
        """The last remembered line with words before this position."""
        return self._before.rstrip().rsplit("\n", 1)[-1]
