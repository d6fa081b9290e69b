"""Reads a call of a tool that is not the tool for code: its arguments are the code, as JSON."""

import json

from oi_tui.engine.reply.parts import CodeEnded, CodeGrew, CodeStarted, Part
from oi_tui.engine.tools import write_arguments

_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"


class ForeignCallReader:
    """Collects the arguments of one call, and gives them out once they are whole."""

    def __init__(self, language: str, call: str | None) -> None:
        self._language = language
        self._call = call
        self._text = ""
        self.done = False
        #: The text after the arguments.
        self.rest = ""

    def feed(self, text: str) -> list[Part]:
        """Read on; returns the call when it is complete."""
        self._text += text
        # Only an end can complete an object, so that long arguments are not read at each piece of them.
        if "}" not in text:
            return []
        try:
            value, end = _DECODER.raw_decode(self._text.lstrip(_BLANKS))
        except (ValueError, RecursionError):
            return []
        self.rest = self._text.lstrip(_BLANKS)[end:]
        self.done = True
        return self._make_parts(value, whole=True)

    def finish(self, *, whole: bool) -> list[Part]:
        """End the call. A call without arguments has none."""
        if self.done:
            return []
        self.done = True
        return self._make_parts({}, whole=whole) if not self._text.strip() else []

    def _make_parts(self, value: object, *, whole: bool) -> list[Part]:
        if not isinstance(value, dict):
            return []
        return [CodeStarted(self._language, self._call), CodeGrew(write_arguments(value)), CodeEnded(whole)]
