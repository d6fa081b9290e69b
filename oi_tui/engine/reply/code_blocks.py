"""Classifies fenced blocks: prose, code in a language, or code to be judged."""

import re
from collections.abc import Callable
from typing import Protocol

from oi_tui.engine.reply.console_sessions import extract_commands
from oi_tui.engine.reply.cursor import Cursor
from oi_tui.engine.reply.fences import Fence, Strings
from oi_tui.engine.reply.markers import (
    CLOSING_LINE,
    CLOSING_LINE_PERHAPS,
    STRAY,
    THOUGHT_BEGIN,
    remove_last_tokens,
)
from oi_tui.engine.reply.parts import CodeEnded, CodeGrew, CodeStarted, Part, TextPart, guess, strip_prompts
from oi_tui.engine.reply.tool_call_recovery import recover_from_python

#: What at the end of a line may be the beginning of a fence or of a template token, and how long it can be.
_HELD = re.compile(
    r"(?:[`~]+|</?s?>?|<[|\uff5c][^|\uff5c>\n]{0,31}[|\uff5c]?>?[a-z]{0,9})[ \t\r]{0,20}\Z|\r\Z"
)
_LONGEST_HELD = 64
#: What may become a closing tag of a call, which is no code.
_CLOSING_TAG_PERHAPS = re.compile(r"[ \t]*</?[a-z_]{0,14}>?[ \t\r]*")


class FencedBlock(Protocol):
    """The inside of a fenced block."""

    #: The block has ended; the cursor stands behind it.
    over: bool

    def step(self, cursor: Cursor, parts: list[Part]) -> bool:
        """Read a little; False means that more text is needed."""


def find_line_break(line: str) -> str:
    """Return the characters that end the line."""
    return line[len(line.rstrip("\r\n")) :]


class ThoughtEnd:
    """Finds the end of a thought that left the fence of a block open: the block was part of the thought.

    A block that also has the beginning of a thought shows both, and is no thought itself.
    """

    def __init__(self) -> None:
        self._begun = False
        #: What there is of an unfinished line.
        self._part = ""

    def feed(self, text: str) -> None:
        """Add a part of a line whose end is still to come."""
        self._part += text

    def is_at(self, line: str) -> bool:
        """Return whether this whole line ends the thought; takes each line of the block,
        or its rest, in order.
        """
        line, self._part = self._part + line, ""
        self._begun = self._begun or THOUGHT_BEGIN.search(line) is not None
        return not self._begun and CLOSING_LINE.fullmatch(line) is not None

    def may_be_at(self, start: str) -> bool:
        """Return whether a line that begins like this may turn out to end the thought."""
        return not self._begun and CLOSING_LINE_PERHAPS.fullmatch(start) is not None


class LiteralBlock:
    """A block that is shown as it came, fences and all. One within it, as models write, belongs to it."""

    def __init__(self, fence: Fence) -> None:
        self.over = False
        self._fence = fence
        self._depth = 1
        self._line_begins = True
        self._thought_end = ThoughtEnd()

    def step(self, cursor: Cursor, parts: list[Part]) -> bool:
        """Read a line, or what there is of it."""
        if cursor.exhausted:
            self.over = cursor.final
            return False
        line = cursor.line()
        if line is None:
            rest = cursor.rest
            if not (
                self._line_begins and (self._fence.might_close(rest) or self._thought_end.may_be_at(rest))
            ):
                parts.append(TextPart(rest))
                self._thought_end.feed(rest)
                cursor.at = len(cursor.text)
                self._line_begins = False
            return False
        bare = line.rstrip("\r\n")
        if self._thought_end.is_at(line) and self._line_begins:
            self.over = True
            return True
        if self._line_begins and self._fence.closed_by(bare):
            self._depth -= 1
        elif self._line_begins and self._fence.reopened_by(bare):
            self._depth += 1
        parts.append(TextPart(line))
        cursor.at += len(line)
        self._line_begins = True
        self.over = not self._depth
        return True


class CodeBlock:
    """A block of code. `strings` knows whether a fence in it is within a string of the language."""

    def __init__(
        self,
        word: str,
        fence: Fence,
        strings: Strings,
        parts: list[Part],
        resolve: Callable[[str], str | None],
    ) -> None:
        self.over = False
        self.resolve = resolve
        #: A fence was passed over for a string that never ended, so strings are not to be trusted.
        self.deceived = False
        self._fence = fence
        self._strings = strings
        self._thought_end = ThoughtEnd()
        self._line_begins = True
        self._line = ""
        self._pending = ""
        #: What follows a fence that seems to stand in a string, until the string is known to end.
        self._doubt: list[str] | None = None
        parts.append(CodeStarted(word, None))

    def step(self, cursor: Cursor, parts: list[Part]) -> bool:
        """Read a line, or what is certain of it."""
        if cursor.exhausted:
            if cursor.final:
                self._end(cursor, parts, complete=False)
            return cursor.final
        line = cursor.line()
        if line is None:
            self._read_partial_line(cursor, parts)
            return False
        cursor.at += len(line)
        bare = line.rstrip("\r\n") if line.endswith("\n") else line
        begins, self._line_begins = self._line_begins, True
        if self._thought_end.is_at(self._line + line) and begins:
            self._end_with_thought(line, cursor, parts)
        elif begins and self._fence.closed_by(bare):
            self._read_closing_line(line, parts)
        elif begins and not self._strings.inside and (rest := self._fence.goes_on(bare)) is not None:
            self._read_fence_with_words(rest + find_line_break(line), cursor, parts)
        elif begins and STRAY.fullmatch(bare) and not self._strings.inside:
            pass
        elif line.endswith("\n"):
            self._strings.line(self._line + bare)
            self._line = ""
            self._grow(line, begins, parts)
        else:
            self._read_last_line(line, begins, cursor, parts)
        return True

    def _end_with_thought(self, line: str, cursor: Cursor, parts: list[Part]) -> None:
        """End the block before the line that ends the thought, which is read again as prose."""
        self.over = True
        lines, self._doubt = self._doubt or (), None
        for text in lines:
            self._grow(text, True, parts)
        parts.append(CodeEnded(False))
        cursor.at -= len(line)

    def _read_fence_with_words(self, rest: str, cursor: Cursor, parts: list[Part]) -> None:
        """Read a fence that is followed by words, or by the language of the block that it opens."""
        self.over = True
        parts.append(CodeEnded(True))
        word = rest.strip()
        if word.isalnum() and self.resolve(word):
            rest = f"{self._fence.character * self._fence.length}{rest}"
            parts.append(TextPart("\n"))
        cursor.restart(rest + cursor.rest)

    def _read_partial_line(self, cursor: Cursor, parts: list[Part]) -> None:
        """Take the part of an unfinished line that cannot be a fence or a template token."""
        rest = cursor.rest
        if self._line_begins and (
            self._fence.might_close(rest)
            or len(rest) <= self._fence.indent
            or STRAY.fullmatch(rest)
            or _CLOSING_TAG_PERHAPS.fullmatch(rest)
            or self._thought_end.may_be_at(rest)
        ):
            return
        match = _HELD.search(rest, max(0, len(rest) - _LONGEST_HELD))
        give = rest[: match.start()] if match else rest
        if give and not (self._line_begins and len(give) <= self._fence.indent):
            self._grow(give, self._line_begins, parts)
            self._line += give
            self._line_begins = False
            cursor.at += len(give)

    def _read_last_line(self, line: str, begins: bool, cursor: Cursor, parts: list[Part]) -> None:
        """Read the last line of a reply that never closed its fence, or closed it on this line."""
        stripped = remove_last_tokens(line)
        bare = stripped.rstrip(" \t\r")
        run = len(bare) - len(bare.rstrip(self._fence.character))
        is_closed = run >= self._fence.length
        if not is_closed or run < len(bare):
            self._grow(bare[:-run] if is_closed else stripped, begins, parts)
        self._end(cursor, parts, complete=is_closed)

    def _grow(self, text: str, begins: bool, parts: list[Part]) -> None:
        """Give code out, except its last line break, which may be the fence's."""
        if self._doubt is not None:
            self._doubt.append(text)
            return
        if begins:
            text = self._fence.dedent(text)
        body = text.removesuffix("\n")
        out = self._pending + body
        self._pending = "\n" if body != text else ""
        if self._pending and out.endswith("\r"):
            out = out[:-1]
        if out:
            parts.append(CodeGrew(out))

    def _read_closing_line(self, line: str, parts: list[Part]) -> None:
        """Read a line that closes the block, unless it is in a string."""
        if self._strings.inside:
            self._doubt = self._doubt or []
            self._doubt.append(line)
            return
        lines, self._doubt = self._doubt or (), None
        for text in lines:
            self._grow(text, True, parts)
        parts += [CodeEnded(True), TextPart(find_line_break(line))]
        self.over = True

    def _end(self, cursor: Cursor, parts: list[Part], *, complete: bool) -> None:
        """End the block with the reply; if a fence in a string was passed over, that was its end."""
        self.over = True
        if self._doubt is None:
            parts.append(CodeEnded(complete))
            return
        first, *others = self._doubt
        parts.append(CodeEnded(True))
        cursor.restart(find_line_break(first) + "".join(others) + cursor.rest)
        self.deceived = True


class UntaggedBlock:
    """A block that must be read to the end to know whether it is code, or else prose.

    `opening` is its first line. Of `word`, if that is given, only what was typed at prompts is code.
    `output`: the words before it say that it is what a program prints. `resolve` knows the languages.
    """

    def __init__(
        self,
        fence: Fence,
        opening: str,
        resolve: Callable[[str], str | None],
        *,
        word: str = "",
        output: bool = False,
    ) -> None:
        self._resolve = resolve
        self._word = word
        self._output = output
        self.over = False
        self._fence = fence
        self._opening = opening
        self._pieces: list[str] = []
        self._line_begins = True
        self._thought_end = ThoughtEnd()

    def step(self, cursor: Cursor, parts: list[Part]) -> bool:
        """Read a line, or what there is of it."""
        line = cursor.line()
        if line is None:
            rest = cursor.rest
            if not (
                self._line_begins and (self._fence.might_close(rest) or self._thought_end.may_be_at(rest))
            ):
                self._pieces.append(rest)
                self._thought_end.feed(rest)
                cursor.at = len(cursor.text)
                self._line_begins = False
            return False
        cursor.at += len(line)
        begins, self._line_begins = self._line_begins, True
        if self._thought_end.is_at(line) and begins:
            self._judge("", parts, closed=False)
            cursor.at -= len(line)
        elif begins and self._fence.closed_by(line.rstrip("\r\n")):
            self._judge(line, parts, closed=True)
        elif line:
            self._pieces.append(line)
        else:
            self._judge("", parts, closed=False)
        return True

    def _judge(self, closing: str, parts: list[Part], *, closed: bool) -> None:
        self.over = True
        body = "".join(self._pieces)
        code = "\n".join(self._fence.dedent(line) for line in body.replace("\r\n", "\n").split("\n"))
        code = code.removesuffix("\n") if closed else remove_last_tokens(code).removesuffix("\n")
        snippets = self._split(code)
        if not snippets:
            parts.append(TextPart(self._opening + body + closing))
            return
        for word, text in snippets:
            parts += [CodeStarted(word, None), CodeGrew(text), CodeEnded(closed)]
        parts.append(TextPart(find_line_break(closing)))

    def _split(self, code: str) -> list[tuple[str, str]]:
        """Return the languages and the codes in a block."""
        if self._output:
            return []
        if self._word:
            # What a shell prints between its prompts is no part of it.
            is_shell = self._resolve(self._word) in ("shell", "zsh")
            commands = extract_commands("shell", code) if is_shell else None
            session = strip_prompts(code)
            commands = commands or (session[1] if session else None)
            return [(self._word, commands)] if commands else []
        if calls := recover_from_python(code, self._resolve):
            return [(call.language, call.code) for call in calls]
        first, _, others = code.partition("\n")
        if len(first) > 1 and first.strip().isalnum() and self._resolve(first) and others.strip():
            return [(first.strip().lower(), others)]
        guessed = guess(code)
        return [guessed] if guessed else []
