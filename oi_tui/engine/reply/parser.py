"""Parses a model's reply while it arrives: text, reasoning, and code to run.

The rules, the same however the reply is cut into pieces:

- A tool call is code, whatever the function is called, as long as there is code in its arguments.
- A call printed as JSON, in a fence or not, is code when it names the tool and has arguments, or gives both a
  known language and code. Other JSON is prose.
- With `fences`, a fenced block whose info string names a known language is code, and one without an info
  string if it is evidently Python or shell (see `parts.guess`). Other blocks are prose with all that is in
  them.
- A fence closes where Markdown says, except within a Python string or a shell document that spans lines.
- What stands between think tags is a thought, and so is all text before a closing tag that stands alone.
  Template tokens outside of code are dropped.
- Nothing else is: every other character of the reply comes out in one of the parts.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from oi_tui.engine.llm.base import Delta, Finish, Reasoning, Text, ToolCallPiece
from oi_tui.engine.reply.console_sessions import ConsoleSession
from oi_tui.engine.reply.foreign_call import ForeignCallReader
from oi_tui.engine.reply.markers import remove_last_tokens
from oi_tui.engine.reply.parts import (
    CodeEnded,
    CodeGrew,
    CodeStarted,
    Part,
    ReasoningEnded,
    ReasoningPart,
    TextPart,
    UnreadableCall,
    join,
)
from oi_tui.engine.reply.text_parser import TextParser
from oi_tui.engine.reply.tool_call_parser import ToolCallParser, clean_tool_name
from oi_tui.engine.reply.tool_call_recovery import recover_calls
from oi_tui.engine.tools import find_language

__all__ = [
    "CodeEnded",
    "CodeGrew",
    "CodeStarted",
    "Part",
    "ReasoningEnded",
    "ReasoningPart",
    "ReplyParser",
    "TextPart",
    "UnreadableCall",
    "join",
]

#: Reasons to stop that a provider gives for a reply that came to its end.
_WHOLE = ("stop", "tool_calls", "function_call", "tool_use", "end_turn", "eos")


#: What stands around the end of a call's arguments and says nothing.
_LEFT_OVER = " \t\r\n]})>\"'`;,|/<."


class _Call:
    """One native call: its pieces as they come, and as many calls as its arguments turn out to hold."""

    def __init__(
        self,
        resolve: Callable[[str], str | None],
        piece: ToolCallPiece,
        number: int,
        mcp_functions: Mapping[str, str],
    ) -> None:
        self._mcp_functions = mcp_functions
        self.index = piece.index
        self.id = piece.id or None
        self.name = piece.name or ""
        self._resolve = resolve
        self._identity = piece.id or f"call_{number}"
        self._reader: ToolCallParser | ForeignCallReader | None = None
        #: The texts of the calls so far; one that comes once more is an echo of the provider's.
        self._seen: set[str] = set()
        self._current: list[str] = []
        #: What a further call gave, until it is known to be another one.
        self._held: list[Part] | None = None
        self._waiting = ""
        #: What follows a whole call and is no further one.
        self._after: list[str] = []
        #: All of the arguments and what could not be read of them, until there is code.
        self._all: list[str] = []
        self._unread: list[Part] = []
        self._found = False

    @property
    def done(self) -> bool:
        """The arguments given so far are complete."""
        return self._reader is not None and self._reader.done

    @property
    def settled(self) -> bool:
        """The arguments are complete, and its end will tell nothing new."""
        return self.done and self._found and not self._after

    @property
    def begun(self) -> bool:
        """Some arguments have been given."""
        return self._reader is not None or bool(self._waiting.strip())

    def add_to_name(self, name: str) -> None:
        """Add a further piece of the function's name; models may also send the same name again."""
        if not self.begun and name not in ("", self.name):
            self.name += name

    def feed(self, text: str) -> list[Part]:
        """Take more of the arguments."""
        if not self._found:
            self._all.append(text)
        parts: list[Part] = []
        self._waiting += text
        while self._waiting.strip() or (self._waiting and self._reader and not self._reader.done):
            if self._reader is None:
                self._reader = self._make_reader()
            elif self._reader.done:
                if self._is_mcp_call or self._after or self._waiting.lstrip()[0] != "{":
                    self._after.append(self._waiting)
                    self._waiting = ""
                    break
                has_code = self._found or any(isinstance(part, CodeStarted) for part in parts)
                identity = None if has_code else self._identity
                self._reader = ToolCallParser(self._resolve, name=self.name, call=identity, native=True)
                self._held = []
            text, self._waiting = self._waiting, ""
            new_parts = self._reader.feed(text)
            if self._reader.done:
                self._waiting = self._reader.rest
            self._current.append(text[: len(text) - len(self._waiting)])
            parts += self._deliver(new_parts)
        return self._resolve_languages(parts)

    @property
    def _is_mcp_call(self) -> bool:
        return isinstance(self._reader, ForeignCallReader)

    def _make_reader(self) -> ToolCallParser | ForeignCallReader:
        if language := find_language(self.name, self._mcp_functions):
            return ForeignCallReader(language, self._identity)
        return ToolCallParser(self._resolve, name=self.name, call=self._identity, native=True)

    def _deliver(self, found: list[Part]) -> list[Part]:
        assert self._reader
        if self._held is not None:
            self._held += found
            if not self._reader.done:
                return []
            found, self._held = self._held, None
        if self._reader.done:
            raw = "".join(self._current).strip()
            self._current.clear()
            if raw in self._seen:
                return []
            self._seen.add(raw)
        return found

    def _resolve_languages(self, parts: list[Part]) -> list[Part]:
        """Return the parts, without what cannot be read as long as there is no code:
        it gets a second look.
        """
        if not self._found:
            if not any(isinstance(part, CodeStarted) for part in parts):
                self._unread += parts
                return []
            self._found = True
            self._all.clear()
            # Some providers begin with arguments that are empty.
            unread = [
                part
                for part in self._unread
                if not (isinstance(part, UnreadableCall) and part.raw.endswith("({})"))
            ]
            parts, self._unread = unread + parts, []
        return parts

    def finish(self, *, whole: bool) -> list[Part]:
        """End the call, for which nothing more comes."""
        if self._reader is None:
            self._reader = self._make_reader()
        pending_parts, self._held = self._held or [], None
        whole = whole or self._reader.done
        parts = self._resolve_languages(pending_parts + self._reader.finish(whole=whole))
        if self._found:
            return parts + self._take_trailing_words()
        raw = "".join(self._all)
        looked = () if self._is_mcp_call else recover_calls(raw, clean_tool_name(self.name), self._resolve)
        for number, recovered_call in enumerate(looked):
            call = None if number else self._identity
            parts += [
                CodeStarted(recovered_call.language, call),
                CodeGrew(recovered_call.code),
                CodeEnded(whole),
            ]
        return parts or [
            UnreadableCall(f"{clean_tool_name(self.name)}({raw.strip()})" if self.name else raw.strip())
        ]

    def _take_trailing_words(self) -> list[Part]:
        """Take words after the arguments, but not what is left of a template."""
        if not self._after:
            return []
        words = remove_last_tokens("".join(self._after) + self._waiting)
        bare = words.strip(_LEFT_OVER).lower()
        again = bare and " " not in bare and ("execute" in bare or clean_tool_name(self.name) in bare)
        return [TextPart(words)] if bare and not again else []


class ReplyParser:
    """Reads one reply. `resolve` tells which words are languages; with `fences`, fenced blocks are code.

    `mcp_functions` are functions beside our own tool, each with the language that its arguments are.
    """

    def __init__(
        self,
        resolve: Callable[[str], str | None],
        fences: bool,
        mcp_functions: Mapping[str, str] | None = None,
    ) -> None:
        self._mcp_functions = mcp_functions or {}
        self._resolve = resolve
        self._text = TextParser(resolve, fences=fences)
        self._call: _Call | None = None
        self._by_index: dict[int, _Call] = {}
        #: Where a provider gives several calls the same index: the one that we give each, by index and id.
        self._own_index: dict[tuple[int, str], int] = {}
        self._last_index: dict[int, int] = {}
        #: Pieces that name a complete call once more, by their index: what follows tells what they mean.
        self._named_again: dict[int, ToolCallPiece] = {}
        self._calls = 0
        #: What came while a call was open; it follows when that call is over.
        self._later: deque[Delta] = deque()
        self._finish: str | None = None
        self._console = ConsoleSession(None)

    def feed(self, delta: Delta) -> list[Part]:
        """Read the next piece; returns the parts that are certain now."""
        if isinstance(delta, ToolCallPiece):
            delta = self._set_index(delta)
        return self._remove_prompts(self._feed(delta))

    def finish(self) -> list[Part]:
        """Decide what is undecided and end what is open, because the reply is over."""
        return self._remove_prompts(self._end())

    def _remove_prompts(self, parts: list[Part]) -> list[Part]:
        """Return the parts, with the commands alone where the code is a session with prompts."""
        cleaned_parts: list[Part] = []
        for part in parts:
            if isinstance(part, CodeStarted):
                self._console = ConsoleSession(self._resolve(part.language))
            elif isinstance(part, CodeGrew):
                part = CodeGrew(self._console.feed(part.text))
            elif isinstance(part, CodeEnded) and (rest := self._console.finish()):
                cleaned_parts.append(CodeGrew(rest))
            if not isinstance(part, CodeGrew) or part.text:
                cleaned_parts.append(part)
        return cleaned_parts

    def _set_index(self, piece: ToolCallPiece) -> ToolCallPiece:
        """Give the piece the index of its own call, which an id tells where it comes with a name."""
        own_index = self._own_index.get((piece.index, piece.id or ""))
        if own_index is None and piece.id and not piece.name:
            # Some give each piece of a call the next index.
            own_index = next((own for (_, name), own in self._own_index.items() if name == piece.id), None)
        if own_index is None and piece.id and piece.name:
            is_taken = piece.index in self._last_index
            own_index = -len(self._own_index) - 1_000_000 if is_taken else piece.index
            self._own_index[piece.index, piece.id] = own_index
        if own_index is not None:
            self._last_index[piece.index] = own_index
        return replace(piece, index=self._last_index.setdefault(piece.index, piece.index))

    def _feed(self, delta: Delta) -> list[Part]:
        if isinstance(delta, Finish):
            self._finish = delta.reason
            return []
        call = self._call
        if call and not (isinstance(delta, ToolCallPiece) and delta.index == call.index):
            if not call.settled:
                self._later.append(delta)
                return []
            if self._later:
                return self._catch_up() + self._feed(delta)
        return self._feed_delta(delta)

    def _end(self) -> list[Part]:
        whole = self._finish in _WHOLE
        parts: list[Part] = []
        while True:
            if self._call is not None:
                parts += self._call.finish(whole=whole)
                self._call = None
            if not self._later:
                return parts + self._text.flush(whole=whole)
            parts += self._catch_up()

    def _catch_up(self) -> list[Part]:
        """Read what had to wait for the end of a call."""
        later, self._later = self._later, deque()
        return [part for delta in later for part in self._feed(delta)]

    def _begins(self, call: _Call, piece: ToolCallPiece) -> bool:
        """Return whether a piece of a call begins another one.

        Some providers give every call the index 0, some repeat the name with every piece, some a new id.
        """
        if piece.index != call.index:
            return True
        if piece.id and call.id and piece.id != call.id:
            return bool(piece.name) or call.done
        return bool(piece.name) and call.done and not piece.id

    def _feed_delta(self, delta: Delta) -> list[Part]:
        match delta:
            case Text(text):
                return self._text.feed(text)
            case Reasoning(text):
                if self._text.code_open:
                    return self._text.hold_thought(text)
                return [ReasoningPart(text)]
            case ToolCallPiece():
                return self._feed_call_piece(delta)
        return []

    def _feed_call_piece(self, piece: ToolCallPiece) -> list[Part]:
        parts: list[Part] = []
        call = self._by_index.get(piece.index)
        if again := self._named_again.pop(piece.index, None):
            arguments = again.arguments + piece.arguments
            piece = ToolCallPiece(piece.index, piece.id, piece.name or again.name, arguments)
        if call and piece.name == call.name and call.done and not piece.id and not piece.arguments.strip():
            self._named_again[piece.index] = piece
            return []
        if call is None or self._begins(call, piece):
            self._calls += 1
            call = _Call(self._resolve, piece, self._calls, self._mcp_functions)
            self._by_index[piece.index] = call
        elif piece.name:
            call.add_to_name(piece.name)
        if call is not self._call:
            if self._call is not None:
                parts += self._call.finish(whole=True)
            parts += self._text.flush()
            self._call = call
        return parts + call.feed(piece.arguments)
