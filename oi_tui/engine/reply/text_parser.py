"""Finds reasoning and code in the text of a reply, while it arrives."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from oi_tui.engine.reply.code_blocks import CodeBlock, FencedBlock, LiteralBlock, UntaggedBlock
from oi_tui.engine.reply.cursor import Cursor
from oi_tui.engine.reply.fences import (
    LONGEST_INFO,
    Fence,
    Strings,
    is_only_shown,
    is_output,
    split_info_string,
)
from oi_tui.engine.reply.markers import (
    CALLS_PERHAPS,
    CHANNEL_END,
    LONGEST,
    LONGEST_END,
    MARK,
    PERHAPS,
    ROLE_PERHAPS,
    THOUGHT_END,
    THOUGHT_END_PERHAPS,
)
from oi_tui.engine.reply.parts import Part, ReasoningEnded, ReasoningPart, TextPart
from oi_tui.engine.reply.prose_line import ProseLine
from oi_tui.engine.reply.tool_call_formats import FENCED_FORMS, FORMS, HEADERS, LONGEST_HEADER
from oi_tui.engine.reply.tool_call_parser import ToolCallParser
from oi_tui.engine.reply.tool_call_text import TextToolCall

#: Info strings of blocks that may show a session, and the languages of those.
_SESSIONS = dict.fromkeys(
    ("console", "shell-session", "shellsession", "sh-session", "bash-session", "terminal"), "shell"
) | dict.fromkeys(("pycon", "python-repl", "pyrepl"), "python")
#: Info strings of blocks that hold code or a call without saying in which language.
_UNTAGGED = ("", "tool_code", "tool_call", "code", "execute", "run", "run_code")
#: How a session begins in a block that only names its language, and what may become that.
_PROMPT = re.compile(r"\$ \S|>>> |PS [A-Z]:")
_PROMPT_PERHAPS = re.compile(r"\$ ?|>>?>?|P|PS|PS |PS [A-Z]")
#: The longest run of characters that is a fence.
_LONGEST_RUN = 100
#: Characters that are tried at a time, so that what is no call costs little.
_BITE = 1024
_AHEAD = re.compile(r"\s{0,200}")
#: What some templates put after a token of theirs; anywhere else it is a tag of HTML.
_END_MARKS = re.compile(r"(?:\s{0,20}(?:</s>|<eos>))+")
_PARENTHESIS = re.compile(r"\s{0,20}\)[ \t;]{0,20}")

Resolve = Callable[[str], str | None]


class State(Enum):
    """What the text from the cursor on is read as."""

    PROSE = auto()
    THOUGHT = auto()
    #: Within a fence, whatever turns out to stand there.
    BLOCK = auto()
    #: JSON that may turn out to be a call.
    CALL = auto()
    #: A form in which the templates of models write calls.
    FORM = auto()


@dataclass
class _PossibleCall:
    """What began like a call; the text from the cursor on is kept until that is decided."""

    parser: ToolCallParser
    #: Characters from the cursor on that the parser has already been given.
    given: int
    #: The fence around it.
    fence: Fence | None
    #: Whether a name and a parenthesis stand before it.
    prefixed: bool


class TextParser:
    """Reads the text of a reply: prose, thoughts between tags, fenced blocks, calls printed as text.

        PROSE --- <think>, a channel ------------> THOUGHT --- its end mark ----------------> PROSE
        PROSE --- ``` or ~~~ --------------------> BLOCK ----- the fence that closes it ----> PROSE
        PROSE --- {, [, ``` before {, a name( ---> CALL ------ it is decided and complete --> PROSE
                                                   CALL ------ it is none: read it again ---> PROSE
        PROSE --- <tool_call>, [TOOL_CALLS] -----> FORM ------ its end mark ----------------> PROSE
        PROSE --- ``` before <tool_call> --------> FORM ------ its end mark and the fence ---> PROSE

    In each state a method reads on; it returns False when more text is needed.
    """

    def __init__(self, resolve: Resolve, *, fences: bool) -> None:
        self._resolve = resolve
        self._fences = fences
        self._cursor = Cursor()
        self._parts: list[Part] = []
        #: Thoughts that came in the middle of code; they follow after it.
        self._thoughts: list[Part] = []
        self._whole = False
        self._steps: dict[State, Callable[[], bool]] = {
            State.PROSE: self._read_prose,
            State.THOUGHT: self._read_thought,
            State.BLOCK: self._read_block,
            State.CALL: self._read_call,
            State.FORM: self._read_form,
        }
        self._reset()

    def _reset(self) -> None:
        self._state = State.PROSE
        self._line = ProseLine()
        #: What the states other than PROSE read.
        self._thought_end = THOUGHT_END
        self._block: FencedBlock | None = None
        self._call: _PossibleCall | None = None
        self._form: TextToolCall | None = None
        #: Whether strings of a language are believed, after a fence within one turned out to be real.
        self._trusting = True
        #: What begins here has turned out to be no call.
        self._no_call_at = -1
        #: What only closes a call that was printed as text, and the characters it consists of.
        self._closing: tuple[re.Pattern[str], str] | None = None

    @property
    def code_open(self) -> bool:
        """True between the start and the end of a piece of code."""
        return isinstance(self._block, CodeBlock) or (self._call is not None and self._call.parser.open)

    def hold_thought(self, text: str) -> list[Part]:
        """Keep a thought that came in the middle of code until the code ends."""
        self._thoughts.append(ReasoningPart(text))
        return []

    def feed(self, text: str) -> list[Part]:
        """Read on; returns what is certain."""
        self._no_call_at -= self._cursor.feed(text)
        while self._steps[self._state]():
            pass
        parts, self._parts = self._parts, []
        return parts

    def flush(self, *, whole: bool = False) -> list[Part]:
        """Decide what was undecided and end what is open: the text is over, at least for now.

        `whole`: the reply came to its end, as far as the provider can be trusted.
        """
        self._cursor.final, self._whole = True, whole
        parts = self.feed("")
        self._cursor = Cursor()
        self._reset()
        return parts

    # -- prose ------------------------------------------------------------------------------------

    def _add_text(self, text: str) -> None:
        if not text:
            return
        self._parts.append(TextPart(text))
        self._line.feed(text)

    def _return_to_prose(self) -> None:
        self._state = State.PROSE
        self._line.restart()
        self._parts += self._thoughts
        self._thoughts.clear()

    def _read_prose(self) -> bool:
        if self._closing is not None and not self._drop_closing(*self._closing):
            return False
        cursor = self._cursor
        if cursor.exhausted:
            return False
        match = MARK.search(cursor.text, cursor.at)
        if match is None:
            return self._read_plain()
        self._add_text(cursor.text[cursor.at : match.start()])
        cursor.at = match.start()
        kind = match.lastgroup or ""
        if kind in ("ticks", "tildes"):
            return self._read_run(match[0])
        if kind == "token" and not cursor.final and self._is_undecided(match):
            return False
        quoted = self._line.ticks or (cursor.at and cursor.text[cursor.at - 1] in "`\"'")
        if kind in ("brace", "bracket", "call"):
            self._try_call(match, kind)
        elif quoted or (kind in FORMS and FORMS[kind].line and not self._line.is_blank):
            self._add_text(match[0])
            cursor.at = match.end()
        elif kind in FORMS:
            self._begin_form(kind, match)
        else:
            cursor.at = match.end()
            if kind == "token":
                self._closing = _END_MARKS, " \t\r\n</seo>"
            elif kind == "think":
                self._state, self._thought_end = State.THOUGHT, THOUGHT_END
            elif kind == "close":
                self._parts.append(ReasoningEnded())
        return True

    def _is_undecided(self, match: re.Match[str]) -> bool:
        """Return whether what follows may yet make something else of a token."""
        text, start = self._cursor.text, match.start()
        if match[0].startswith(HEADERS) and len(text) - start < LONGEST_HEADER:
            return "<|message|>" not in text[start:]
        if match[0] == "[TOOL_CALLS]":
            return CALLS_PERHAPS.match(text, start) is not None
        return ROLE_PERHAPS.match(text, match.end()) is not None

    def _begin_form(self, kind: str, match: re.Match[str]) -> None:
        """Begin what a form holds."""
        cursor = self._cursor
        if kind == "channel" and not (match["to"] or match["recipient"]):
            cursor.at = match.end()
            if match["way"] == "analysis":
                self._state, self._thought_end = State.THOUGHT, CHANNEL_END
            return
        self._form = TextToolCall(kind, match, self._resolve)
        cursor.at = match.start() if kind == "written" else match.end()
        self._state = State.FORM

    def _read_plain(self) -> bool:
        """Take text without a mark, except for what may be the beginning of one."""
        cursor = self._cursor
        end = len(cursor.text)
        if not cursor.final:
            match = PERHAPS.search(cursor.text, max(cursor.at, end - LONGEST))
            end = match.start() if match else end
        self._add_text(cursor.text[cursor.at : end])
        cursor.at = end
        return False

    def _drop_closing(self, pattern: re.Pattern[str], characters: str) -> bool:
        """Drop what only closes a call. False while more is needed to know."""
        cursor = self._cursor
        if not cursor.final and len(cursor.rest) < 250 and not cursor.rest.strip(characters):
            return False
        if match := pattern.match(cursor.rest):
            cursor.at += match.end()
        self._closing = None
        return True

    def _read_thought(self) -> bool:
        cursor = self._cursor
        match = self._thought_end.search(cursor.text, cursor.at)
        if match:
            self._parts.append(ReasoningPart(cursor.text[cursor.at : match.start()]))
            cursor.at = match.end()
            self._return_to_prose()
            return True
        end = len(cursor.text)
        if not cursor.final:
            tail = THOUGHT_END_PERHAPS.search(cursor.text, max(cursor.at, end - LONGEST_END))
            end = tail.start() if tail else end
        if end > cursor.at:
            self._parts.append(ReasoningPart(cursor.text[cursor.at : end]))
        cursor.at = end
        return False

    # -- fences ---------------------------------------------------------------------------------------

    def _read_run(self, run: str) -> bool:
        """Read a run of backticks or tildes: a fence, or inline code."""
        cursor = self._cursor
        text, end = cursor.text, cursor.at + len(run)
        if end == len(text) and not cursor.final and len(run) < _LONGEST_RUN:
            return False
        if 3 <= len(run) < _LONGEST_RUN and not self._line.ticks:
            newline = text.find("\n", end)
            info = text[end : newline if newline >= 0 else len(text)]
            if len(info) <= LONGEST_INFO and not (run[0] == "`" and "`" in info):
                if newline < 0 and not cursor.final:
                    return False
                if newline >= 0 and (self._line.may_open_fence or self._begins_late(info)):
                    return self._open_fence(run, info.strip(), newline + 1)
        if run[0] == "`":
            self._line.toggle(len(run))
        self._add_text(run)
        cursor.at = end
        return True

    def _begins_late(self, info: str) -> bool:
        """Return whether a fence after words on its line is one all the same: it ends the line
        with a language.
        """
        before = self._cursor.text[self._cursor.at - 1 : self._cursor.at]
        if not self._fences or before not in (" ", ":", "\t") or self._line.is_quote or self._line.is_blank:
            return False
        return len(info.split()) == 1 and self._find_language(info) is not None

    def _find_language(self, info: str) -> str | None:
        return next((word for word in split_info_string(info) if self._resolve(word) is not None), None)

    def _open_fence(self, run: str, info: str, content: int) -> bool:
        """Enter a fenced block, after a look at how its content begins."""
        cursor = self._cursor
        ahead = _AHEAD.match(cursor.text, content)
        assert ahead
        begins = ahead.end()
        if begins == len(cursor.text) and not cursor.final and begins - content < 200:
            return False
        fence = Fence(run[0], len(run), self._line.indent, info)
        first = cursor.text[begins : begins + 30]
        if not cursor.final and _PROMPT_PERHAPS.fullmatch(first):
            return False
        if first[:1] == "[" and len(first) < 30 and not first[1:].strip() and not cursor.final:
            return False
        if cursor.at != self._no_call_at and re.compile(r"\{|\[\s*\{").match(cursor.text, begins):
            self._begin_call(begins, fenced=fence)
            return True
        if first[:1] == "<" and not is_only_shown(info) and not is_output(self._line.last_words):
            match = MARK.match(cursor.text, begins)
            if match and match.lastgroup in FENCED_FORMS:
                self._form = TextToolCall(
                    match.lastgroup, match, self._resolve, fence, cursor.text[cursor.at : begins]
                )
                cursor.at = match.end()
                self._state = State.FORM
                return True
            if not (match or cursor.final) and PERHAPS.match(cursor.text, begins):
                return False
        self._no_call_at = -1
        opening = cursor.text[cursor.at : content]
        cursor.at = content
        self._block = self._make_block(info, fence, opening, prompt=_PROMPT.match(first) is not None)
        self._state = State.BLOCK
        return True

    def _make_block(self, info: str, fence: Fence, opening: str, *, prompt: bool) -> FencedBlock:
        """Classify a block; `prompt`: it begins like a console session."""
        word = self._find_language(info) if self._fences else None
        kind = (split_info_string(info) or [""])[-1]
        if not self._fences or is_only_shown(info) or not (word or kind in _UNTAGGED or kind in _SESSIONS):
            self._parts.append(TextPart(opening))
            return LiteralBlock(fence)
        if kind in _SESSIONS or prompt:
            return UntaggedBlock(fence, opening, self._resolve, word=_SESSIONS.get(kind) or word or "")
        if word is None:
            return UntaggedBlock(fence, opening, self._resolve, output=is_output(self._line.last_words))
        strings = Strings(self._resolve(word) if self._trusting else None)
        return CodeBlock(word, fence, strings, self._parts, self._resolve)

    def _read_block(self) -> bool:
        block = self._block
        assert block
        more = block.step(self._cursor, self._parts)
        if not block.over:
            return more
        if isinstance(block, CodeBlock) and block.deceived:
            self._trusting = False
            self._no_call_at = -1
        self._block = None
        self._return_to_prose()
        return True

    # -- calls printed as text -------------------------------------------------------------------------

    def _try_call(self, match: re.Match[str], kind: str) -> None:
        cursor = self._cursor
        if self._line.ticks or cursor.at == self._no_call_at:
            self._add_text(cursor.text[cursor.at])
            cursor.at += 1
        elif kind == "call":
            name = match[0].removeprefix("[TOOL_CALLS]").strip()
            self._begin_call(match.end(), re.split(r"[(\[]", name)[0])
        else:
            self._begin_call(cursor.at)

    def _begin_call(self, start: int, name: str = "", *, fenced: Fence | None = None) -> None:
        """Try what begins at `start` as a call."""
        parser = ToolCallParser(self._resolve, name=name, native=False)
        self._call = _PossibleCall(parser, start - self._cursor.at, fenced, prefixed=bool(name))
        self._state = State.CALL

    def _read_call(self) -> bool:
        possible, cursor = self._call, self._cursor
        assert possible
        call = possible.parser
        start = cursor.at + possible.given
        text = cursor.text[start : start + _BITE]
        possible.given += len(text)
        parts = call.feed(text)
        last = cursor.at + possible.given == len(cursor.text)
        if last and cursor.final and not call.done and not call.refused:
            parts += call.finish(whole=self._whole)
        if not call.decided:
            if not (call.refused or call.done or (last and cursor.final)):
                return not last
            self._call = None
            self._no_call_at = cursor.at
            self._state = State.PROSE
            return True
        self._parts += parts
        unread = len(call.rest)
        cursor.at, possible.given = cursor.at + possible.given - unread, unread
        if not (call.done or (last and cursor.final)):
            return not last
        if not call.done:
            cursor.at = len(cursor.text)
        self._call = None
        self._return_to_prose()
        if possible.fence:
            run = f"{possible.fence.character}{{{possible.fence.length},{_LONGEST_RUN}}}"
            pattern = re.compile(rf"\s{{0,100}}{run}[ \t]*(?=\n|\Z)")
            self._closing = pattern, f" \t\r\n{possible.fence.character}"
        elif possible.prefixed:
            self._closing = _PARENTHESIS, " \t\n);"
        return True

    def _read_form(self) -> bool:
        form = self._form
        assert form
        if not form.step(self._cursor, self._parts, whole=self._whole):
            return False
        self._form = None
        self._return_to_prose()
        return True
