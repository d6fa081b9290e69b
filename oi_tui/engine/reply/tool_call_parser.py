"""Reads the calls of the tool out of JSON: the arguments of a native call, or a call printed as text."""

import re
from collections.abc import Callable
from typing import Literal

from oi_tui.engine.reply.code_text import CodeText
from oi_tui.engine.reply.partial_json import JsonEvent, PartialJsonParser, Path
from oi_tui.engine.reply.parts import CodeEnded, CodeGrew, CodeStarted, Part, UnreadableCall, clean_word
from oi_tui.engine.reply.tool_call_recovery import CODE, LANGUAGE, command_line, language_of

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
#: Characters of something that may turn out to be a call; beyond them it is taken for other JSON.
_UNDECIDED = 600
#: Code that is itself a call, and what may become such code.
_CALL = re.compile(r"""(?:functions\.execute\(\s*)?\{\s*["'](?:language|code|name)["']\s*:""")
_CALL_PERHAPS = re.compile(r"""(?:f[a-z.]{0,16}\(?\s*)?(?:\{\s*(?:["'][a-z]{0,8}(?:["']\s*)?)?)?""")

Resolve = Callable[[str], str | None]


def tool_name(name: str) -> str:
    """The name of a function without what models put around it."""
    return name.strip().lower().removeprefix("functions.").removeprefix("functions::")


def is_tool(name: str, resolve: Resolve) -> bool:
    """Whether a function of this name may be meant to run code."""
    name = tool_name(name)
    return name in _TOOL or resolve(name) is not None


class ToolCallParser:
    """Reads one JSON value that is, or may be, a call or several.

    A native call is known to be one: what cannot be understood is `UnreadableCall`. Text may be other JSON:
    `decided` says when it is a call, `refused` that it is none; nothing is given out before.
    """

    def __init__(self, resolve: Resolve, *, name: str = "", call: str | None = None, native: bool) -> None:
        self.decided = native
        self.refused = False
        self.found = 0
        self._resolve = resolve
        self._native = native
        self._given_name = self._name = name
        self._call = call
        # Only what is known to be a call is read with patience: prose holds many braces and quotes.
        self._json = PartialJsonParser(_FOLLOWING, self._event, alone=native, patient=native)
        #: Arguments that are a string hold a call in JSON, or just the code.
        self._argument: Literal["call", "code"] | None = None
        self._blanks = ""
        self._inner: PartialJsonParser | None = None
        self._parts: list[Part] = []
        self._raw: list[str] = []
        #: Arguments that are no JSON: the code itself, or a riddle.
        self._raw_code = self._lost = False
        self._undecided = 0
        self._over = False
        self._string = ""
        self._reset()

    def _reset(self) -> None:
        self._language: str | None = None
        self._code = CodeText()
        self._code_path: Path | None = None
        self._held: list[str] = []
        self._line_breaks = 0
        self._command: list[str] = []
        #: Whether the code is itself a call; None until that can be said.
        self._is_call: bool | None = None
        self._started = self._ended = self._code_closed = False

    @property
    def done(self) -> bool:
        """The value is complete, or cannot be one."""
        return not (self._raw_code or self._lost) and (self._json.done or self._json.failed)

    @property
    def rest(self) -> str:
        """The text after the value."""
        return self._json.rest

    @property
    def open(self) -> bool:
        """Code has begun and not ended."""
        return self._started and not self._ended

    def feed(self, text: str) -> list[Part]:
        """Read on; returns what is certain."""
        if self._raw_code:
            self._take_code(text)
            return self._give()
        if not self._started:
            self._raw.append(text)
        if self._lost:
            return []
        self._json.feed(text)
        self._read()
        return self._give()

    def finish(self, *, whole: bool) -> list[Part]:
        """The end of the text. `whole`: the reply came to its end, so that missing brackets do not matter."""
        if self._over:
            return []
        if not (self._raw_code or self._lost):
            self._json.finish()
            self._read()
        if not self._over:
            self._close_call(whole and (self._raw_code or self._code_closed))
            self._over = True
        return self._give()

    def _give(self) -> list[Part]:
        if not self.decided:
            return []
        parts, self._parts = self._parts, []
        return parts

    def _refuse(self) -> None:
        if not self.decided:
            self.refused = True
            self._json.stop()

    # -- what the JSON says -------------------------------------------------------------------

    def _read(self) -> None:
        """See how far the JSON has got."""
        if self._json.done and not self._over:
            self._top_closed()
        elif self._json.failed and not self._over:
            self._gave_up()

    def _event(self, event: JsonEvent) -> None:
        if self.refused or self._over:
            return
        path = event.path
        key = path[-1] if path else ""
        if key == "[]" and len(path) > 1 and path[-2] in _CODE:
            path, key = path[:-1], path[-2]
            if key in _COMMAND:
                self._command_word(event)
                return
            if event.kind == "string":
                self._line_breaks += 1
                return
            if self._line_breaks:
                self._take_code("\n" * self._line_breaks)
                self._line_breaks = 0
        if event.kind == "close":
            if self._command and key in _COMMAND:
                self._command_ended(path)
            self._closed()
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
        self._scalar(event, path, key)

    def _scalar(self, event: JsonEvent, path: Path, key: str) -> None:
        if key in _CODE:
            if self._code_path is None:
                self._code_path = path
                self._settle(path)
            if path == self._code_path and not self._code_closed:
                if event.kind == "text":
                    self._take_code(event.text)
                elif event.path == path:
                    self._code_string_ended()
        elif event.kind == "text":
            if key in _ARGUMENTS or not path:
                self._argument_text(event.text, path)
            elif len(self._string) < 1000:
                self._string += event.text
        elif key in _ARGUMENTS or not path:
            self._argument_ended()
        else:
            value, self._string = self._string, ""
            self._named(key, value, path)

    def _named(self, key: str, value: str, path: Path) -> None:
        if key in _LANGUAGE:
            if self._language is None:
                self._language = clean_word(value)
            self._settle(path)
            self._start()
        elif key in _NAME or key in ("function", "action"):
            if not self._native or not self._name:
                self._name = tool_name(value)
            if not self.decided and not is_tool(value, self._resolve):
                self._refuse()

    def _settle(self, path: Path) -> None:
        """Decide, where that is still open, whether this is a call."""
        if self.decided or self.refused:
            return
        named = bool(self._name) and is_tool(self._name, self._resolve)
        inside = any(item in _ARGUMENTS for item in path)
        both = self._code_path is not None and bool(self._resolve(self._language or ""))
        if both or (named and (inside or self._code_path is not None)):
            self.decided = self._json.patient = True
            self._start()

    # -- arguments that are a string, and code that is a call -----------------------------------

    def _argument_text(self, text: str, path: Path) -> None:
        if self._argument is None:
            text, self._blanks = self._blanks + text, ""
            if not text.strip():
                self._blanks = text
                return
            self._argument = "call" if text.lstrip()[0] == "{" else "code"
            self._settle(path or ("arguments",))
        if self._argument == "code":
            self._take_code(text)
            return
        if self._inner is None:
            within = path or ("arguments",)

            def tell(event: JsonEvent) -> None:
                self._event(event._replace(path=within + event.path))

            self._inner = PartialJsonParser(_CODE | _LANGUAGE, tell, patient=self.decided)
        self._inner.feed(text)

    def _argument_ended(self) -> None:
        if self._inner is not None:
            self._inner.finish()
            self._inner = None
        elif self._argument == "code":
            self._code_string_ended()
        self._argument, self._blanks = None, ""

    # -- the code ---------------------------------------------------------------------------------

    def _command_word(self, event: JsonEvent) -> None:
        """A piece of a word of a command that is given as a list."""
        if event.kind == "text":
            self._string += event.text
        elif event.kind == "string":
            self._command.append(self._string)
            self._string = ""

    def _command_ended(self, path: Path) -> None:
        words, self._command = self._command, []
        if self._code_path is None:
            self._code_path = path
            self._settle(path)
            if self._language is None:
                self._language = self._spoken() or "shell"
            self._take_code(command_line(words) if self._language != "python" else "\n".join(words))
            self._code_string_ended()

    def _spoken(self) -> str | None:
        """The language as far as it is known: said outright, or by the function's name."""
        if self._language is not None:
            return self._language
        name = tool_name(self._name)
        return name if name and self._resolve(name) is not None else None

    def _take_code(self, text: str) -> None:
        if self._ended:
            return
        if self._started:
            self._emit(self._code.feed(text))
        else:
            self._held.append(text)
            self._start()

    def _start(self) -> None:
        """Give the code out as soon as the language is known, and it is known to be code."""
        if self._started or not self._held or self._language is None:
            return
        if self._is_call is None:
            held = "".join(self._held).lstrip()
            if _CALL_PERHAPS.fullmatch(held) and len(held) < 80 and not self._code_closed:
                return
            self._is_call = _CALL.match(held) is not None
        if not self._is_call or (self._code_closed and not self._unwrapped()):
            self._begin(self._language)

    def _unwrapped(self) -> bool:
        """Take the code for what it is: a further call. False if it is none."""
        text = "".join(self._held).strip().removeprefix("functions.execute(")
        inner = ToolCallParser(self._resolve, call=self._call, native=False)
        parts = inner.feed(text) + inner.finish(whole=True)
        if not inner.found:
            return False
        self._parts += parts
        self.found += inner.found
        self._held, self._call = [], None
        return True

    def _begin(self, language: str) -> None:
        held, self._held = "".join(self._held), []
        self._started = True
        self._raw.clear()
        self.found += 1
        self._parts.append(CodeStarted(language, self._call))
        self._call = None
        self._emit(self._code.feed(held))

    def _emit(self, text: str) -> None:
        if text:
            self._parts.append(CodeGrew(text))

    def _code_string_ended(self) -> None:
        named = "".join(self._held).strip().lower()
        if self._code_path and self._code_path[-1] in _COMMAND and named in ("execute", "execute_code"):
            # The command is the tool; the code is still to come.
            self._name = self._name or named
            self._held, self._code_path = [], None
            return
        self._code_closed = True
        if not self._held and not self._started:
            self._held.append("")
        self._start()

    def _closed(self) -> None:
        """A bracket closed: the call is over once its code and language are there."""
        if self._code_path is not None and self._started and not self._ended:
            self._close_call(True)

    def _top_closed(self) -> None:
        if not self._over:
            self._close_call(True)
            self._over = True

    def _close_call(self, complete: bool) -> None:
        if not self._started and self._held and not self.refused:
            key = self._code_path[-1] if self._code_path else ""
            name = tool_name(self._name)
            meant = language_of("".join(self._held), self._language, name, key, self._resolve)
            if meant is not None and (self.decided or self._native):
                self._begin(meant.language)
        if self._started and not self._ended:
            self._emit(self._code.finish())
            self._parts.append(CodeEnded(complete))
            self._reset()
            if not self._native:
                self._name = self._given_name
            self._ended = False
            return
        if not self.found and self.decided:
            self._parts.append(UnreadableCall(self._shown()))
        elif not self.found:
            self._refuse()

    def _shown(self) -> str:
        raw = "".join(self._raw)
        raw = raw[: len(raw) - len(self.rest)] if self._json.done else raw
        return f"{self._name}({raw})" if self._native and self._name else raw

    def _gave_up(self) -> None:
        """It is not JSON. The arguments of a function that is a language are then the code itself."""
        if self._over:
            return
        word = tool_name(self._name)
        if not self._native:
            self._refuse()
        elif not self._started and not self.found and (self._resolve(word) or word == "functions"):
            raw = "".join(self._raw)
            self._reset()
            self._held = [raw]
            self._raw_code = True
            self._begin(word if self._resolve(word) else "python")
            return
        elif not self._started and not self.found and not self._held:
            self._lost = True
            return
        if not self.refused and self.decided:
            self._close_call(self._code_closed)
        self._over = True
