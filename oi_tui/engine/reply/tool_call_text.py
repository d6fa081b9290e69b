"""Parses a tool call that arrives as text, from its opening mark to its closing one."""

import re
from collections.abc import Callable

from oi_tui.engine.reply.cursor import Cursor
from oi_tui.engine.reply.fences import Fence
from oi_tui.engine.reply.parts import Part, TextPart, UnreadableCall
from oi_tui.engine.reply.tool_call_formats import FORMS, Brackets, find_closing, find_closing_with_fence
from oi_tui.engine.reply.tool_call_wrappers import read_wrapped

#: How much of the end of a text may be the beginning of a closing mark.
_LONGEST_CLOSER = 60
_LONGEST_FENCED_CLOSER = 400


class TextToolCall:
    """Collects what the form holds; only when it is closed, or the reply is over, can it be read."""

    def __init__(
        self,
        kind: str,
        match: re.Match[str],
        resolve: Callable[[str], str | None],
        fence: Fence | None = None,
        opening_fence: str = "",
    ) -> None:
        """With a fence around it, of which `opening_fence` is the text, what cannot be read is prose."""
        self._kind = kind
        self._form = FORMS[kind]
        self._opening = "" if kind == "written" else opening_fence + match[0]
        self._groups = match.groupdict()
        self._mark = self._closes = find_closing(self._form, match)
        self._ahead = self._form.ahead
        self._fenced = fence is not None
        if fence is not None:
            self._closes = find_closing_with_fence(self._form, match, fence.character, fence.length)
            self._ahead = 1
        self._longest_closer = _LONGEST_FENCED_CLOSER if self._fenced else _LONGEST_CLOSER
        self._brackets = Brackets()
        self._resolve = resolve
        self._pieces: list[str] = []
        self._size = 0
        #: The last character of these that is no space.
        self._last = ""
        #: The first closing mark within a value, such as a text of code: where it begins and ends.
        self._mark_within: tuple[int, int] | None = None

    def step(self, cursor: Cursor, parts: list[Part], *, whole: bool) -> bool:
        """Take what there is; True once the form has ended, and the cursor stands behind it.

        `whole`: the reply came to its end, as far as the provider can be trusted.
        """
        closing, ended = self._collect_to_end(cursor)
        if not ended and not cursor.final:
            return False
        body, rest = "".join(self._pieces), ""
        if not ended and self._mark_within:
            # There was no other, so that this one is it.
            begin, end = self._mark_within
            body, closing, rest, ended = body[:begin], body[begin:end], body[end:], True
        # A fence that has more than calls in it shows them.
        is_example = self._fenced and not ended and self._mark.search(body) is not None
        read = None
        if not is_example:
            read = read_wrapped(
                self._kind, self._groups, body, self._resolve, whole=ended or (whole and self._form.open)
            )
        if read:
            parts += read
        elif self._fenced or self._form.soft or not (ended or re.search(r"[{\[<=]", body)):
            # A tag that only is talked about is never closed, and nothing like a call follows it.
            parts.append(TextPart(self._opening + body + closing))
        else:
            parts.append(UnreadableCall(self._opening + body + closing))
        if rest:
            parts.append(TextPart(rest))
        return True

    def _collect_to_end(self, cursor: Cursor) -> tuple[str, bool]:
        """Collect up to the closing mark. Returns the mark, and whether the end was reached."""
        if self._kind == "written":
            size, ended = self._brackets.end(cursor.rest, cursor.final)
            self._collect(cursor, cursor.at + size)
            return "", ended
        match = self._find_end(cursor)
        if match and (cursor.final or match.end() + self._ahead <= len(cursor.text)):
            self._collect(cursor, match.start())
            cursor.at = match.end()
            return match[0], True
        # An end that is not certain yet stays in sight.
        stop = match.start() if match else len(cursor.text) - (0 if cursor.final else self._longest_closer)
        self._collect(cursor, max(cursor.at, stop))
        return "", False

    def _find_end(self, cursor: Cursor) -> re.Match[str] | None:
        """Find the closing mark, and pass over one that stands within a value."""
        match = self._closes.search(cursor.text, cursor.at)
        while match and self._kind == "tags" and not self._fenced and self._is_within_value(cursor, match):
            if self._mark_within is None:
                before = self._size - cursor.at
                self._mark_within = before + match.start(), before + match.end()
            match = self._closes.search(cursor.text, match.end())
        return match

    def _is_within_value(self, cursor: Cursor, match: re.Match[str]) -> bool:
        """Return whether no value ends in front of a closing mark, and text goes on right behind it."""
        before = cursor.text[cursor.at : match.start()].rstrip()[-1:] or self._last
        after = cursor.text[match.end() : match.end() + 1]
        return bool(before and after) and before not in "}])>`" and not after.isspace() and after != "<"

    def _collect(self, cursor: Cursor, stop: int) -> None:
        self._size += stop - cursor.at
        piece = cursor.text[cursor.at : stop]
        self._pieces.append(piece)
        self._last = piece.rstrip()[-1:] or self._last
        cursor.at = stop
