"""The recent output of the running program, and the modes that it set."""

import re

#: Private modes (DECSET), by xterm's numbers: cursor keys in their other form, and the alternate screen.
CURSOR_KEYS = 1
ALTERNATE = frozenset({47, 1047, 1049})
#: The last characters that are kept: at least this many, and at most twice as many.
KEPT = 64 * 1024
_MODES = re.compile(r"(?:\x1b\[|\x9b)\?([0-9;]{1,40})([hl])|\x1bc")
_CUT = re.compile(r"(?:\x1b(?:\[(?:\?[0-9;]{0,40})?)?|\x9b(?:\?[0-9;]{0,40})?)\Z")
_SWITCH = re.compile(r"(?:\x1b\[|\x9b)\?(?:[0-9]{1,5};){0,8}(?:1049|1047|47)(?:;[0-9]{1,5}){0,8}h")
#: How far beyond the cut a place is looked for where nothing is torn apart.
_SEARCHED = 2_000


class _Modes:
    """Private modes that differ from the initial ones, after text that may be cut anywhere."""

    def __init__(self) -> None:
        self.on: set[int] = set()
        self.off: set[int] = set()
        self._cut = ""

    def feed(self, text: str) -> None:
        if not self._cut and "\x1b" not in text and text.isascii():
            return
        text = self._cut + text
        for match in _MODES.finditer(text):
            if match[1] is None:
                self.on, self.off = set(), set()
                continue
            numbers = {int(number) for number in match[1].split(";") if number and len(number) < 6}
            if match[2] == "h":
                self.on |= numbers
                self.off -= numbers
            else:
                self.on -= ALTERNATE if numbers & ALTERNATE else numbers
                self.on -= numbers
                self.off |= numbers
        tail_match = _CUT.search(text, max(0, len(text) - 50))
        self._cut = tail_match.group() if tail_match else ""

    def copy(self) -> "_Modes":
        other = _Modes()
        other.on, other.off, other._cut = set(self.on), set(self.off), self._cut
        return other

    def text(self) -> str:
        """Return the sequence that sets a new terminal to these modes."""
        alternate = sorted(self.on & ALTERNATE)[-1:]
        switched_on = [*alternate, *sorted(self.on - ALTERNATE)]
        return "".join(f"\x1b[?{number}h" for number in switched_on) + "".join(
            f"\x1b[?{number}l" for number in sorted(self.off - ALTERNATE)
        )


class OutputHistory:
    """The end of what a program wrote, escape sequences and all; bounded however much it was."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._now = _Modes()
        #: The modes where the text that is kept begins.
        self._before = _Modes()

    def feed(self, text: str) -> None:
        """Take what was written next, cut anywhere."""
        self._now.feed(text)
        self._pieces.append(text)
        self._size += len(text)
        if self._size > 2 * KEPT:
            self._drop()

    @property
    def alternate(self) -> bool:
        """Whether the program is on the alternate screen."""
        return bool(self._now.on & ALTERNATE)

    @property
    def full_screen(self) -> bool:
        """Whether a program has taken the whole terminal, or at least its cursor keys, for itself."""
        return self.alternate or CURSOR_KEYS in self._now.on

    def replay(self) -> str:
        """Return the output that brings a new terminal to the program's state:
        from its last screen switch on.
        """
        text = "".join(self._pieces)
        self._pieces = [text]
        start = 0
        if self.alternate:
            for match in _SWITCH.finditer(text):
                start = match.start()
        modes = self._before.copy()
        modes.feed(text[:start])
        return modes.text() + text[start:]

    def _drop(self) -> None:
        text = "".join(self._pieces)
        position = len(text) - KEPT
        safe = re.compile(r"(?=\x1b)|(?<=\n)").search(text, position, position + _SEARCHED)
        position = safe.start() if safe else position
        self._before.feed(text[:position])
        self._pieces = [text[position:]]
        self._size = len(text) - position
