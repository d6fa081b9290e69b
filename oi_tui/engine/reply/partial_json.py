"""Parses JSON while it arrives, also if it is not quite valid.

Models write quotes without escaping them, break lines within strings, forget quotes around keys. Whatever is
valid JSON is read as such; only where it is not, the reader takes the likelier meaning.
"""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

Kind = Literal["object", "array", "text", "string", "literal", "close"]

_SPACE = re.compile(r"[\s\ufeff]*")
_LITERAL = re.compile(r"[^\s,\]}:\"'{\[]{1,64}")
_LITERALS = re.compile(r"-?\d[\d.eE+-]*|true|false|null|none|nan|-?infinity|undefined", re.IGNORECASE)
_BARE_KEY = re.compile(r"[A-Za-z_][\w-]{0,60}")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/", "'": "'"}
_HEX = re.compile("[0-9a-fA-F]{4}")
_RUNS = {quote: re.compile(rf"[^{quote}\\]+") for quote in "\"'`"}
_KEY_NEXT = re.compile(r"""\s{0,200}(?:(["'])([A-Za-z_][\w .-]{0,60})\1|([A-Za-z_]\w{0,30}))\s{0,50}:""")
_KEY_PERHAPS = re.compile(
    r"""\s{0,200}(?:(["'])(?:[A-Za-z_][\w .-]{0,60}(?:\1\s{0,50})?)?|[A-Za-z_]\w{0,30}\s{0,50})?"""
)
_CLOSERS = re.compile(r"[}\])\s]{0,300}")
#: How deep a document may be nested.
_DEEPEST = 40

Path = tuple[str, ...]


class JsonEvent(NamedTuple):
    """Something found at a path of keys, in lower case ("[]" stands for an element of an array).

    `object`, `array` and `close` are brackets, `text` is a piece of a string, `string` its end, `literal`
    everything else.
    """

    kind: Kind
    path: Path
    text: str = ""


class PartialJsonParser:
    """One JSON value, read incrementally; every character is looked at a bounded number of times.

    What is found is reported at once, and the listener can `stop` the reading there. `done`: the value is
    complete. `failed`: it cannot be JSON. What follows the value is in `rest`. `keys` are those that may
    follow a string in which a quote was not escaped; unless `patient`, such a string is no JSON. `alone`:
    nothing else is expected after the value.
    """

    def __init__(
        self,
        keys: frozenset[str],
        on_event: Callable[[JsonEvent], None],
        *,
        alone: bool = True,
        patient: bool = True,
    ) -> None:
        self.patient = patient
        self.done = False
        self.failed = False
        #: The last string was closed by its own quote, not by the end of the text.
        self.closed = False
        self._keys = keys
        self._on_event = on_event
        self._alone = alone
        self._buffer = ""
        self._at = 0
        self._final = False
        self._path: Path = ()
        self._stack: list[str] = []
        self._state = self._read_value
        self._quote = ""
        self._broken = False

    @property
    def rest(self) -> str:
        """The text that was fed but not read."""
        return self._buffer[self._at :]

    def feed(self, text: str) -> None:
        """Read on."""
        self._buffer = self._buffer[self._at :] + text
        self._at = 0
        while not (self.done or self.failed) and self._state():
            pass

    def finish(self) -> None:
        """Read what is left as complete text: nothing more comes."""
        self._final = True
        self.feed("")

    def stop(self) -> None:
        """Read no further: it is not what was looked for."""
        self.failed = True

    # -- one step each; False means that more text is needed -----------------------------------

    def _read_value(self) -> bool:
        character = self._skip_space()
        if not character:
            return False
        if character in "{[":
            if len(self._stack) >= _DEEPEST:
                return self._fail()
            self._at += 1
            self._stack.append(character)
            self._emit("object" if character == "{" else "array")
            if character == "[":
                self._path += ("[]",)
            self._state = self._read_key if character == "{" else self._read_value
            return True
        if character in "\"'" or (character == "`" and self._stack):
            return self._begin_string(character)
        if character in "]}" and self._stack:
            if self._stack[-1] == "{":
                self._path = self._path[:-1]
            return self._close_bracket()
        match = _LITERAL.match(self._buffer, self._at)
        if match is None:
            return self._fail()
        if not self._final and match.end() == len(self._buffer) and len(match[0]) < 64:
            return False
        if not _LITERALS.fullmatch(match[0]):
            return self._fail()
        self._at = match.end()
        self._emit("literal", match[0])
        return self._end_value()

    def _read_key(self) -> bool:
        character = self._skip_space()
        if not character:
            return False
        if character == "}":
            return self._close_bracket()
        if character == ",":
            self._at += 1
            return True
        if character in "\"'":
            end = self._buffer.find(character, self._at + 1, self._at + 100)
            if end < 0:
                return self._fail() if len(self._buffer) - self._at > 100 else False
            self._path += (self._buffer[self._at + 1 : end].lower(),)
            self._at = end + 1
        else:
            match = _BARE_KEY.match(self._buffer, self._at)
            if match is None:
                return self._fail()
            if match.end() == len(self._buffer):
                return False
            self._path += (match[0].lower(),)
            self._at = match.end()
        self._state = self._read_colon
        return True

    def _read_colon(self) -> bool:
        character = self._skip_space()
        if not character:
            return False
        if character != ":":
            return self._fail()
        self._at += 1
        self._state = self._read_value
        return True

    def _read_separator(self) -> bool:
        character = self._skip_space()
        if not character:
            return False
        if character in "}]":
            return self._close_bracket()
        if character == ",":
            self._at += 1
        elif character not in "\"'" or self._stack[-1] != "{":
            return self._fail()
        if self._stack[-1] == "{":
            self._state = self._read_key
        else:
            self._state = self._read_value
        return True

    def _begin_string(self, quote: str) -> bool:
        ahead = self._buffer[self._at : self._at + 3]
        if ahead == quote * len(ahead) and len(ahead) < 3 and not self._final:
            return False
        self._quote = quote * 3 if ahead == quote * 3 and quote != "`" else quote
        self._at += len(self._quote)
        self._broken = self.closed = False
        self._state = self._read_string
        return True

    def _read_string(self) -> bool:
        match = _RUNS[self._quote[0]].match(self._buffer, self._at)
        if match:
            self._emit("text", match[0])
            self._at = match.end()
        if self._at >= len(self._buffer):
            return False
        if self._buffer[self._at] == "\\":
            return self._read_escape()
        ends = self._ends()
        if ends is None:
            return False
        if not ends:
            if not self.patient:
                return self._fail()
            self._broken = True
            self._emit("text", self._buffer[self._at])
            self._at += 1
            return True
        self._at += len(self._quote)
        self.closed = True
        self._emit("string")
        return self._end_value()

    def _read_escape(self) -> bool:
        after = self._buffer[self._at + 1 : self._at + 2]
        if not after:
            if self._final:
                self._emit("text", "\\")
                self._at += 1
            return False
        if after != "u":
            self._emit("text", _ESCAPES.get(after, "\\" + after))
            self._at += 2
            return True
        if len(self._buffer) < self._at + 6 and not self._final:
            return False
        if not _HEX.fullmatch(self._buffer, self._at + 2, self._at + 6):
            self._emit("text", "\\u")
            self._at += 2
            return True
        code = int(self._buffer[self._at + 2 : self._at + 6], 16)
        if 0xD800 <= code < 0xDC00:
            pair = self._buffer[self._at + 6 : self._at + 12]
            if len(pair) < 6 and "\\u"[: len(pair)] == pair[:2] and not self._final:
                return False
            low = int(pair[2:], 16) if pair[:2] == "\\u" and _HEX.fullmatch(pair, 2) else 0  # noqa: FURB166
            if 0xDC00 <= low < 0xE000:
                code = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00
                self._at += 6
        self._emit("text", "\ufffd" if 0xD800 <= code < 0xE000 else chr(code))
        self._at += 6
        return True

    def _ends(self) -> bool | None:
        """Return whether the quote here closes the string; None if that cannot be known yet."""
        if len(self._quote) == 3:
            ahead = self._buffer[self._at : self._at + 3]
            if len(ahead) < 3 and ahead == self._quote[: len(ahead)] and not self._final:
                return None
            return ahead == self._quote
        if not self._stack:
            return True
        start = self._at + 1
        match = re.compile(r"\s{0,300}").match(self._buffer, start)
        assert match
        start = match.end()
        if start >= len(self._buffer):
            return True if self._final else None
        character = self._buffer[start]
        if self._stack[-1] == "[":
            return character in ",]"
        if character == "}":
            return self._closes(start)
        if character in "\"'":
            # The comma was forgotten, or this quote was not escaped.
            return self._key_follows(start)
        if character == ",":
            trailing = re.compile(r"\s{0,200}").match(self._buffer, start + 1)
            assert trailing
            if self._buffer[trailing.end() : trailing.end() + 1] == "}" and not self._broken:
                return True
            return self._key_follows(start + 1)
        return False

    def _closes(self, start: int) -> bool | None:
        """Return whether a quote before a brace closes the string: in a broken one, only at the very end."""
        if not self._broken:
            return True
        match = _CLOSERS.match(self._buffer, start)
        assert match
        if match.end() == len(self._buffer):
            return True if self._final else None
        if self._alone:
            return False
        enough = match[0].count("}") + match[0].count("]") >= len(self._stack)
        return enough and (self._buffer[match.end()] in "<`{" or "\n" in match[0])

    def _key_follows(self, start: int) -> bool | None:
        match = _KEY_NEXT.match(self._buffer, start)
        if match:
            return (bool(match[2]) and not self._broken) or (match[2] or match[3]) in self._keys
        perhaps = _KEY_PERHAPS.match(self._buffer, start)
        if perhaps and perhaps.end() == len(self._buffer):
            return self._final or None
        return False

    # -- common ---------------------------------------------------------------------------------

    def _skip_space(self) -> str:
        match = _SPACE.match(self._buffer, self._at)
        assert match
        self._at = match.end()
        return self._buffer[self._at : self._at + 1]

    def _end_value(self) -> bool:
        """Note that a value is complete."""
        if not self._stack:
            self.done = True
            return False
        if self._stack[-1] == "{":
            self._path = self._path[:-1]
        self._state = self._read_separator
        return True

    def _close_bracket(self) -> bool:
        self._at += 1
        if self._stack.pop() == "[":
            self._path = self._path[:-1]
        self._emit("close")
        return self._end_value()

    def _fail(self) -> bool:
        self.failed = True
        return False

    def _emit(self, kind: Kind, text: str = "") -> None:
        self._on_event(JsonEvent(kind, self._path, text))
