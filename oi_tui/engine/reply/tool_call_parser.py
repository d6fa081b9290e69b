"""Parses tool calls: the JSON arguments of a native call, or a call printed as text."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

from oi_tui.engine.reply.code_text import CodeText
from oi_tui.engine.reply.partial_json import JsonEvent, PartialJsonParser, Path
from oi_tui.engine.reply.parts import CodeEnded, CodeGrew, CodeStarted, Part, UnreadableCall, clean_word
from oi_tui.engine.reply.tool_call_recovery import CODE, LANGUAGE, join_command, recover_code

_CODE = frozenset(CODE)
_LANGUAGE = frozenset(LANGUAGE)
#: Their lists are the words of a command; those of other keys are lines of code.
_COMMAND = frozenset({"command", "cmd"})
_NAME = frozenset({"name", "tool", "tool_name", "function_name", "recipient_name"})
_ARGUMENTS = frozenset(
    {"arguments", "parameters", "args", "params", "input", "tool_input", "action_input", "kwargs"}
)
#: May lie around a call.
_AROUND = frozenset(
    {"[]", "tool_calls", "tool_uses", "tool_call", "function", "function_call", "action", "calls"}
)
#: May stand beside the name and the arguments.
_BESIDE = frozenset(
    {
        "id",
        "type",
        "index",
        "role",
        "content",
        "call_id",
        "thought",
        "thoughts",
        "reasoning",
        "explanation",
        "plan",
        "description",
        "title",
    }
)
_KEYS = _CODE | _LANGUAGE | _NAME | _ARGUMENTS | _AROUND | _BESIDE
#: May follow the code, where its quotes were not escaped.
_FOLLOWING = _CODE | _LANGUAGE | frozenset({"name", "type", "id"})
#: What models call the one tool, apart from the names of languages.
_TOOL = frozenset(
    {
        "execute",
        "run",
        "exec",
        "functions",
        "code",
        "run_code",
        "execute_code",
        "code_interpreter",
        "interpreter",
    }
)
#: Characters of something that may turn out to be a call; beyond them it counts as other JSON.
_UNDECIDED = 600
#: Code that is itself a call, and what may become such code.
_CALL = re.compile(r"""(?:functions\.execute\(\s*)?\{\s*["'](?:language|code|name)["']\s*:""")
_CALL_PERHAPS = re.compile(r"""(?:f[a-z.]{0,16}\(?\s*)?(?:\{\s*(?:["'][a-z]{0,8}(?:["']\s*)?)?)?""")

Resolve = Callable[[str], str | None]


def clean_tool_name(name: str) -> str:
    """Return the name of a function without what models put around it."""
    return name.strip().lower().removeprefix("functions.").removeprefix("functions::")


def is_tool(name: str, resolve: Resolve) -> bool:
    """Return whether a function of this name may be meant to run code."""
    name = clean_tool_name(name)
    return name in _TOOL or resolve(name) is not None


class Source(Enum):
    """What the text that comes next is read as."""

    JSON = auto()
    #: The arguments are no JSON, but the code itself.
    CODE = auto()
    #: The arguments are neither; they are collected to be shown.
    UNREADABLE = auto()


class Verdict(Enum):
    """What the value has turned out to be."""

    OPEN = auto()
    CALL = auto()
    OTHER = auto()


@dataclass
class _CurrentCall:
    """What is known of the call that is being read."""

    language: str | None = None
    #: Where the code stands; None until its key came.
    path: Path | None = None
    #: The code as long as it cannot be given out: the language may follow it.
    held: list[str] = field(default_factory=list)
    text: CodeText = field(default_factory=CodeText)
    #: Code that is a list: its lines are joined, the words of a command are quoted.
    line_breaks: int = 0
    words: list[str] = field(default_factory=list)
    #: Whether the code is itself a call; None until that is known.
    is_call: bool | None = None
    started: bool = False
    closed: bool = False


@dataclass
class _StringArgument:
    """Arguments that are a string: it holds a call in JSON, or just the code; blanks do not tell which."""

    kind: Literal["call", "code"] | None = None
    blanks: str = ""
    inner: PartialJsonParser | None = None


class ToolCallParser:
    """Reads one JSON value that is, or may be, a call or several.

    A native call is known to be one: what cannot be understood is `UnreadableCall`. Text may be other JSON:
    `decided` says when it is a call, `refused` that it is none; nothing is given out before.

    What the text is read as, and how far a call in it has got::

        JSON ──complete──────────────────> over      (nothing) ──language and code known──> started
          ├──not JSON, named a language──> CODE          ^                                     │
          └──not JSON otherwise──────────> UNREADABLE    └──── its bracket closes: CodeEnded ──┘

    What is read as CODE or UNREADABLE has no end of its own: only `finish` ends it.
    """

    def __init__(self, resolve: Resolve, *, name: str = "", call: str | None = None, native: bool) -> None:
        self.found = 0
        self._resolve = resolve
        self._native = native
        self._given_name = self._name = name
        self._call_id = call
        self._source = Source.JSON
        self._over = False
        self._verdict = Verdict.CALL if native else Verdict.OPEN
        # Only what is known to be a call is read with patience: prose holds many braces and quotes.
        self._json = PartialJsonParser(_FOLLOWING, self._handle_event, alone=native, patient=native)
        self._call = _CurrentCall()
        self._argument = _StringArgument()
        self._parts: list[Part] = []
        #: All that was read before the first code, to be shown if there is none.
        self._raw: list[str] = []
        #: Characters that were read before the verdict.
        self._undecided = 0
        #: The string that is being read, where it is neither code nor an argument.
        self._string = ""

    @property
    def decided(self) -> bool:
        """It is a call."""
        return self._verdict is Verdict.CALL

    @property
    def refused(self) -> bool:
        """It is no call."""
        return self._verdict is Verdict.OTHER

    @property
    def done(self) -> bool:
        """The value is complete, or cannot be one."""
        return self._source is Source.JSON and (self._json.done or self._json.failed)

    @property
    def rest(self) -> str:
        """The text after the value."""
        return self._json.rest

    @property
    def open(self) -> bool:
        """Code has begun and not ended."""
        return self._call.started

    def feed(self, text: str) -> list[Part]:
        """Read on; returns what is certain."""
        if self._source is Source.CODE:
            self._add_code(text)
            return self._pop_parts()
        if not self._call.started:
            self._raw.append(text)
        if self._source is Source.UNREADABLE:
            return []
        self._json.feed(text)
        self._read()
        return self._pop_parts()

    def finish(self, *, whole: bool) -> list[Part]:
        """Return the end of the text.

        `whole`: the reply came to its end, so that missing brackets do not matter.
        """
        if self._over:
            return []
        if self._source is Source.JSON:
            self._json.finish()
            self._read()
        if not self._over:
            self._close_call(whole and (self._source is Source.CODE or self._call.closed))
        return self._pop_parts()

    def _pop_parts(self) -> list[Part]:
        if not self.decided:
            return []
        parts, self._parts = self._parts, []
        return parts

    def _refuse(self) -> None:
        if not self.decided:
            self._verdict = Verdict.OTHER
            self._json.stop()

    # -- what the JSON says -------------------------------------------------------------------

    def _read(self) -> None:
        """See how far the JSON has got."""
        if self._over or self._source is not Source.JSON:
            return
        if self._json.done:
            self._close_call(True)
            self._over = True
        elif self._json.failed:
            self._handle_failure()

    def _handle_event(self, event: JsonEvent) -> None:
        if self.refused or self._over:
            return
        path = event.path
        key = path[-1] if path else ""
        if key == "[]" and len(path) > 1 and path[-2] in _CODE:
            path, key = path[:-1], path[-2]
            if key in _COMMAND:
                self._add_command_word(event)
                return
            if event.kind == "string":
                self._call.line_breaks += 1
                return
            if self._call.line_breaks:
                self._add_code("\n" * self._call.line_breaks)
                self._call.line_breaks = 0
        if event.kind == "close":
            if self._call.words and key in _COMMAND:
                self._end_command(path)
            self._close()
            return
        if not self.decided and event.kind in ("text", "literal") and key not in _CODE:
            self._undecided += len(event.text) + 4
            if self._undecided > _UNDECIDED:
                self._refuse()
        if any(item not in _AROUND and item not in _ARGUMENTS for item in path[:-1]):
            return
        if key and key not in _KEYS:
            if not any(item in _ARGUMENTS for item in path[:-1]):
                self._refuse()
            return
        if event.kind in ("object", "array"):
            if not self.decided and key and key not in _AROUND and key not in _ARGUMENTS and key not in _CODE:
                self._refuse()
            self._settle(path)
            return
        if event.kind == "literal":
            return
        self._handle_scalar(event, path, key)

    def _handle_scalar(self, event: JsonEvent, path: Path, key: str) -> None:
        if key in _CODE:
            if self._call.path is None:
                self._call.path = path
                self._settle(path)
            if path == self._call.path and not self._call.closed:
                if event.kind == "text":
                    self._add_code(event.text)
                elif event.path == path:
                    self._end_code_string()
        elif event.kind == "text":
            if key in _ARGUMENTS or not path:
                self._add_argument_text(event.text, path)
            elif len(self._string) < 1000:
                self._string += event.text
        elif key in _ARGUMENTS or not path:
            self._end_argument()
        else:
            value, self._string = self._string, ""
            self._read_name(key, value, path)

    def _read_name(self, key: str, value: str, path: Path) -> None:
        if key in _LANGUAGE:
            if self._call.language is None:
                self._call.language = clean_word(value)
            self._settle(path)
            self._start()
        elif key in _NAME or key in ("function", "action"):
            if not self._native or not self._name:
                self._name = clean_tool_name(value)
            if not self.decided and not is_tool(value, self._resolve):
                self._refuse()

    def _settle(self, path: Path) -> None:
        """Decide, where that is still open, whether this is a call."""
        if self.decided or self.refused:
            return
        has_tool_name = bool(self._name) and is_tool(self._name, self._resolve)
        inside = any(item in _ARGUMENTS for item in path)
        has_code = self._call.path is not None
        if (has_code and self._resolve(self._call.language or "")) or (
            has_tool_name and (inside or has_code)
        ):
            self._verdict = Verdict.CALL
            self._json.patient = True
            self._start()

    # -- arguments that are a string, and code that is a call -----------------------------------

    def _add_argument_text(self, text: str, path: Path) -> None:
        argument = self._argument
        if argument.kind is None:
            text, argument.blanks = argument.blanks + text, ""
            if not text.strip():
                argument.blanks = text
                return
            argument.kind = "call" if text.lstrip()[0] == "{" else "code"
            self._settle(path or ("arguments",))
        if argument.kind == "code":
            self._add_code(text)
            return
        if argument.inner is None:
            within = path or ("arguments",)

            def report(event: JsonEvent) -> None:
                self._handle_event(event._replace(path=within + event.path))

            argument.inner = PartialJsonParser(_CODE | _LANGUAGE, report, patient=self.decided)
        argument.inner.feed(text)

    def _end_argument(self) -> None:
        argument = self._argument
        if argument.inner is not None:
            inner, argument.inner = argument.inner, None
            inner.finish()
        elif argument.kind == "code":
            self._end_code_string()
        self._argument = _StringArgument()

    # -- the code ---------------------------------------------------------------------------------

    def _add_command_word(self, event: JsonEvent) -> None:
        """Take a piece of a word of a command that is given as a list."""
        if event.kind == "text":
            self._string += event.text
        elif event.kind == "string":
            self._call.words.append(self._string)
            self._string = ""

    def _end_command(self, path: Path) -> None:
        call = self._call
        words, call.words = call.words, []
        if call.path is None:
            call.path = path
            self._settle(path)
            if call.language is None:
                call.language = self._find_language() or "shell"
            self._add_code(join_command(words) if call.language != "python" else "\n".join(words))
            self._end_code_string()

    def _find_language(self) -> str | None:
        """Return the language so far: from its own key, or from the function's name."""
        if self._call.language is not None:
            return self._call.language
        name = clean_tool_name(self._name)
        return name if name and self._resolve(name) is not None else None

    def _add_code(self, text: str) -> None:
        if self._call.started:
            self._emit(self._call.text.feed(text))
        else:
            self._call.held.append(text)
            self._start()

    def _start(self) -> None:
        """Give the code out as soon as the language is known, and it is known to be code."""
        call = self._call
        if call.started or not call.held or call.language is None:
            return
        if call.is_call is None:
            held = "".join(call.held)
            text = held.lstrip()
            is_near = len(held) - len(text) < _UNDECIDED
            if is_near and _CALL_PERHAPS.fullmatch(text) and len(text) < 80 and not call.closed:
                return
            call.is_call = is_near and _CALL.match(text) is not None
        if not call.is_call or (call.closed and not self._unwrap()):
            self._begin(call.language)

    def _unwrap(self) -> bool:
        """Read the code as a nested call. Returns whether it is one."""
        text = "".join(self._call.held).strip().removeprefix("functions.execute(")
        inner = ToolCallParser(self._resolve, call=self._call_id, native=False)
        parts = inner.feed(text) + inner.finish(whole=True)
        if not inner.found:
            return False
        self._parts += parts
        self.found += inner.found
        self._call.held, self._call_id = [], None
        return True

    def _begin(self, language: str) -> None:
        text, self._call.held = "".join(self._call.held), []
        self._call.started = True
        self._raw.clear()
        self.found += 1
        self._parts.append(CodeStarted(language, self._call_id))
        self._call_id = None
        self._emit(self._call.text.feed(text))

    def _emit(self, text: str) -> None:
        if text:
            self._parts.append(CodeGrew(text))

    def _end_code_string(self) -> None:
        call = self._call
        command = "".join(call.held).strip().lower()
        if call.path and call.path[-1] in _COMMAND and command in ("execute", "execute_code"):
            # The command is the tool; the code is still to come.
            self._name = self._name or command
            call.held, call.path = [], None
            return
        call.closed = True
        if not call.held and not call.started:
            call.held.append("")
        self._start()

    def _close(self) -> None:
        """Close a bracket; the call is over once its code and language are there."""
        if self._call.path is not None and self._call.started:
            self._close_call(True)

    def _close_call(self, complete: bool) -> None:
        call = self._call
        if not call.started and call.held and not self.refused:
            key = call.path[-1] if call.path else ""
            name = clean_tool_name(self._name)
            language = recover_code("".join(call.held), call.language, name, key, self._resolve)
            if language is not None and self.decided:
                self._begin(language.language)
        if call.started:
            self._emit(call.text.finish())
            self._parts.append(CodeEnded(complete))
            self._call = _CurrentCall()
            if not self._native:
                self._name = self._given_name
        elif not self.found and self.decided:
            self._parts.append(UnreadableCall(self._render()))
        elif not self.found:
            self._refuse()

    def _render(self) -> str:
        raw = "".join(self._raw)
        raw = raw[: len(raw) - len(self.rest)] if self._json.done else raw
        return f"{self._name}({raw})" if self._native and self._name else raw

    def _handle_failure(self) -> None:
        """Handle arguments that are not JSON: for a function that is a language, they are the code."""
        word = clean_tool_name(self._name)
        nothing_found = not self._call.started and not self.found
        if not self._native:
            self._refuse()
        elif nothing_found and (self._resolve(word) or word == "functions"):
            self._call = _CurrentCall(held=["".join(self._raw)])
            self._source = Source.CODE
            self._begin(word if self._resolve(word) else "python")
            return
        elif nothing_found and not self._call.held:
            self._source = Source.UNREADABLE
            return
        if self.decided:
            self._close_call(self._call.closed)
        self._over = True
