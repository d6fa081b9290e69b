"""Splits terminal input into keys, pastes and replies, so that none is mistaken for another.

`XTermParser` of Textual 8.2.8 raises on key reports with sub-parameters (`ESC[121;1:3u`, a released key) or
numbers that are no characters, types replies to terminal queries into the prompt, and takes pasted text after
an ESC for keys. Here every sequence is read whole first, however torn it arrives: known ones are passed on,
key reports in the one form that the parser understands, and everything else is a reply or dropped.

Sources: ECMA-48 (control sequences and strings), xterm's "Control Sequences" (mouse, modifyOtherKeys),
Kitty's "keyboard protocol" (`CSI u`).
"""

import codecs
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS

#: How long an ESC may be the beginning of a sequence, in seconds. Stopping a program must not wait longer.
ESCAPE_DELAY = 0.04
#: The same while the terminal has not answered all that it was asked a moment ago.
REPLY_DELAY = 0.6
#: How long the rest of a control sequence or string may take to arrive, in seconds; then it is dropped.
TORN = 1.0
#: After this many seconds without input a paste has ended, even where the terminal did not say so.
PASTE_SILENCE = 3.0
#: So many characters at once are a paste, even where the terminal did not say so.
UNMARKED_PASTE = 256
#: After this many seconds without input such a paste has ended.
UNMARKED_SILENCE = 0.05
#: Longer control sequences are not valid; longer strings are cut to this length.
_LONGEST = 256
#: The largest terminal that a size report may claim, in columns and rows.
_MOST_COLUMNS, _MOST_ROWS = 2000, 1000

_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
#: What begins a sequence: ESC, or one of the 8-bit controls that stand for ESC and a letter.
_BEGINS = re.compile("[\x1b\x90\x98\x9b\x9d\x9e\x9f]")
_EIGHT_BIT = {"\x90": "P", "\x98": "X", "\x9b": "[", "\x9d": "]", "\x9e": "^", "\x9f": "_"}
#: What ends a string as it should.
_COMPLETE = ("\x1b\\", "\x07", "\x9c")
#: Keys that send a control character. Tabs and ends of lines may stand in a paste as well.
_CONTROL = re.compile("([\x00-\x08\x0b\x0c\x0e-\x1f\x7f])")
#: Up to three parameters with their sub-parameters, each of which may be empty.
_NUMBERS = re.compile(r"[0-9]{0,7}(?::[0-9]{0,7})*(?:;[0-9]{0,7}(?::[0-9]{0,7})*){0,2}")
#: The letters that begin a string: DCS, SOS, OSC, PM, APC.
_STRINGS = "PX]^_"
#: What ends a string. CAN and SUB cancel it, and so does an ESC that begins something else.
_STRING_ENDS = re.compile("\x1b\\\\|[\x07\x18\x1a\x9c]|\x1b(?=[^\\\\])")
_CSI = re.compile(r"\x1b\[(?P<parameters>[0-?]*)(?P<between>[ -/]*)(?P<final>[@-~])")
#: What ends a control sequence that is too long: its last character, or what cannot stand in it.
_CSI_ENDS = re.compile("[@-~]|\x1b|(?=[^ -?])")
_CSI_BEGUN = re.compile(r"\x1b\[[0-?]*[ -/]*")
#: How xterm's oldest mouse report begins, and the length of all of it.
_OLD_MOUSE, _OLD_MOUSE_LENGTH = b"\x1b[M", 6
_MOUSE = re.compile(r"<(\d{1,3});(\d{1,5});(\d{1,5})")
_SIZE = re.compile("48;" + ";".join([r"(\d{1,6})(?::[\d:]*)?"] * 4))
#: Reports of a terminal about itself: device attributes, the size of a cell, flags of the keyboard.
_REPORT = re.compile(r"\x1b\[(?:\?[0-9;]{0,80}[cnu]|6;\d{1,5};\d{1,5}t)")
_MODE = re.compile(r"\?\d{1,5};\d")
_POSITION = re.compile(r"\d{1,4};\d{1,4}")
#: Final characters of the reports about keys.
_KEY_FINALS = "u~ABCDEFHPQRS"
#: Keys with alt that Textual takes for the key alone, as `CSI u` spells them.
_ALT = {"\r": "\x1b[13;3u", "\n": "\x1b[13;3u", "d": "\x1b[100;3u"}
#: Bits of a modifier that are locks (caps, num): they change no key.
_LOCKS = 0b1100_0000
_SHIFT = 0b1
#: Codes of `CSI u` below the space that are keys: tab, enter, escape.
_CONTROL_KEYS = (9, 13, 27)


@dataclass(frozen=True, slots=True)
class Pasted:
    """Text between the two marks of a bracketed paste, or so much at once that nobody typed it."""

    text: str


@dataclass(frozen=True, slots=True)
class TerminalReply:
    """Input that only a terminal sends: a string without its end (`ESC _ Gi=1;OK`), or a report that is no
    key.
    """

    text: str


#: What input is split into. Text is what Textual's parser reads: characters, or one sequence.
InputUnit = str | Pasted | TerminalReply


class InputDecoder:
    """Decodes what a terminal sends. Bytes that are no UTF-8 become U+FFFD.

    xterm's oldest mouse report has three bytes of any value. Two of them could be read as one character, so
    that the first character of the next key would be taken for the third.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        #: How many bytes of such a report have come.
        self._seen = 0

    def decode(self, data: bytes) -> str:
        """Return the text of the bytes that came now."""
        return self._decode(self._mend_mouse_reports(data))

    def _mend_mouse_reports(self, data: bytes) -> bytes:
        if not self._seen and b"\x1b" not in data:
            return data
        mended = bytearray(data)
        for at, byte in enumerate(data):
            if self._seen >= len(_OLD_MOUSE):
                mended[at] = min(byte, 127)
                self._seen = (self._seen + 1) % _OLD_MOUSE_LENGTH
            elif byte == _OLD_MOUSE[self._seen]:
                self._seen += 1
            else:
                self._seen = int(byte == _OLD_MOUSE[0])
        return bytes(mended)


class InputFilter:
    """Splits input into units.

    `feed` takes what arrived, `tick` is called when `wait` seconds have passed without input. While
    `is_reply_expected`, an ESC may well be the beginning of a reply, and more is waited for a little longer.
    """

    def __init__(
        self,
        is_reply_expected: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_reply_expected = is_reply_expected
        self._clock = clock
        self._held = ""
        self._string = ""
        #: What ends the string or the overlong sequence that is being read; None outside of one.
        self._until: re.Pattern[str] | None = None
        self._paste: list[str] | None = None
        #: A paste without marks.
        self._unmarked: list[str] = []
        #: When the last input arrived.
        self._fed = 0.0

    @property
    def wait(self) -> float | None:
        """In how many seconds to call `tick`; None while nothing is held."""
        limit = self._limit
        return None if limit is None else max(limit - (self._clock() - self._fed), 0.0)

    @property
    def _limit(self) -> float | None:
        if self._paste is not None:
            return PASTE_SILENCE
        if self._unmarked:
            return UNMARKED_SILENCE
        if self._until or len(self._held) > 2:
            return TORN
        if not self._held:
            return None
        return REPLY_DELAY if self._is_reply_expected() else ESCAPE_DELAY

    def feed(self, text: str) -> list[InputUnit]:
        """Take what arrived and return the units that are complete now."""
        self._fed = self._clock()
        text, self._held = self._held + text, ""
        units: list[InputUnit] = []
        at = 0
        while at < len(text):
            if self._paste is not None:
                at = self._read_paste(text, at, units)
            elif self._until:
                at = self._read_string(text, at, self._until, units)
            elif begins := _BEGINS.search(text, at):
                self._read_text(text[at : begins.start()], units)
                self._end_unmarked(units)
                if letter := _EIGHT_BIT.get(begins[0]):
                    text, at = f"\x1b{letter}{text[begins.end() :]}", 0
                else:
                    at = begins.start()
                at = self._read_sequence(text, at, units)
            else:
                self._read_text(text[at:], units)
                at = len(text)
        return units

    def tick(self) -> list[InputUnit]:
        """Return held input whose rest did not come in time."""
        if self.wait != 0.0:
            return []
        text, self._held = self._held, ""
        self._until = None
        if self._paste is not None:
            pasted, self._paste = Pasted("".join((*self._paste, text))), None
            return [pasted]
        if self._unmarked:
            units: list[InputUnit] = []
            self._end_unmarked(units)
            return units
        # More than two characters are a torn report, and no key.
        return [text] if 0 < len(text) <= 2 else []

    def _hold(self, text: str, at: int) -> int:
        """Keep what is unfinished for the next input; return where to go on, which is the end."""
        self._held = text[at:]
        return len(text)

    def _read_text(self, text: str, units: list[InputUnit]) -> None:
        """Read text outside of sequences: keys, or a paste without marks, which would be slow as keys."""
        for part in filter(None, _CONTROL.split(text)):
            if _CONTROL.match(part):
                self._end_unmarked(units)
                units.append(part)
            # A key that is held down sends one character over and over.
            elif self._unmarked or (len(part) >= UNMARKED_PASTE and part.strip(part[0])):
                self._unmarked.append(part)
            else:
                units.append(part)

    def _end_unmarked(self, units: list[InputUnit]) -> None:
        """End a paste without marks; an enter after its only line is a key."""
        if not self._unmarked:
            return
        text, self._unmarked = "".join(self._unmarked).replace("\r\n", "\n").replace("\r", "\n"), []
        is_line = text.endswith("\n") and text.count("\n") == 1
        units.append(Pasted(text.removesuffix("\n") if is_line else text))
        if is_line:
            units.append("\r")

    def _read_paste(self, text: str, at: int, units: list[InputUnit]) -> int:
        assert self._paste is not None
        end = text.find(_PASTE_ENDS, at)
        if end >= 0:
            self._paste.append(text[at:end])
            units.append(Pasted("".join(self._paste)))
            self._paste = None
            return end + len(_PASTE_ENDS)
        overlap = next(n for n in range(len(_PASTE_ENDS) - 1, -1, -1) if text.endswith(_PASTE_ENDS[:n]))
        rest = max(at, len(text) - overlap)
        self._paste.append(text[at:rest])
        return self._hold(text, rest)

    def _read_string(self, text: str, at: int, ends: re.Pattern[str], units: list[InputUnit]) -> int:
        end = ends.search(text, at)
        stop = end.start() if end else len(text) - text.endswith("\x1b")
        self._string += text[at:stop][: _LONGEST - len(self._string)]
        if not end:
            return self._hold(text, stop)
        self._until = None
        if end[0] in _COMPLETE:
            units.append(TerminalReply(self._string))
        return end.start() if end[0] == "\x1b" else end.end()

    def _read_sequence(self, text: str, at: int, units: list[InputUnit]) -> int:
        """Read what begins with the ESC at `at`; return where to go on."""
        letter = text[at + 1 : at + 2]
        if not letter:
            return self._hold(text, at)
        if letter == "[":
            return self._read_csi(text, at, units)
        if letter in _STRINGS:
            if at + 2 == len(text):
                return self._hold(text, at)  # alt and this letter, where nothing follows
            self._until, self._string = _STRING_ENDS, f"\x1b{letter}"
            return at + 2
        if letter == "O":
            return self._read_ss3(text, at, units)
        if letter == "\x1b":
            units.append("\x1b")
            return at + 1
        units.append(_ALT.get(letter, text[at : at + 2]))
        return at + 2

    def _read_ss3(self, text: str, at: int, units: list[InputUnit]) -> int:
        sequence = text[at : at + 3]
        if len(sequence) < 3:
            return self._hold(text, at)
        is_key = sequence in ANSI_SEQUENCES_KEYS
        units.append(sequence if is_key else sequence[:2])
        return at + (3 if is_key else 2)

    def _read_csi(self, text: str, at: int, units: list[InputUnit]) -> int:
        if text.startswith(("\x1b[[", "\x1b[M"), at):
            return self._read_old_csi(text, at, units)
        match = _CSI.match(text, at)
        if match is None:
            beginning = _CSI_BEGUN.match(text, at)
            assert beginning
            if beginning.end() == len(text):
                if len(beginning[0]) <= _LONGEST:
                    return self._hold(text, at)
                self._until, self._string = _CSI_ENDS, ""
                return len(text)
            if beginning[0] == "\x1b[" and beginning.end() < len(text):
                units.append("\x1b[")  # alt+[ and another key
            return beginning.end()
        if match[0] == _PASTE_BEGINS:
            self._paste = []
        elif _REPORT.fullmatch(match[0]):
            units.append(TerminalReply(match[0]))
        elif len(match[0]) <= _LONGEST and (translation := _translate(match)):
            units.append(translation)
        return match.end()

    def _read_old_csi(self, text: str, at: int, units: list[InputUnit]) -> int:
        """Read a function key of the Linux console (`ESC[[A`), or drop xterm's oldest mouse report."""
        length = 4 if text.startswith("\x1b[[", at) else _OLD_MOUSE_LENGTH
        sequence = text[at : at + length]
        if len(sequence) < length:
            return self._hold(text, at)
        if sequence in ANSI_SEQUENCES_KEYS:
            units.append(sequence)
        return at + length


def _translate(match: re.Match[str]) -> str:
    """Return a control sequence in the form that Textual reads; "" drops it."""
    sequence, parameters, final = match[0], match["parameters"], match["final"]
    if sequence in ANSI_SEQUENCES_KEYS or sequence in ("\x1b[I", "\x1b[O"):
        return sequence
    is_valid = False
    match match["between"], final:
        case "", "M" | "m":
            mouse = _MOUSE.fullmatch(parameters)
            is_valid = bool(mouse and int(mouse[1]) < 256 and int(mouse[2]) and int(mouse[3]))
        case "", "t":
            size = _SIZE.fullmatch(parameters)
            is_valid = bool(size and _is_plausible_size(*map(int, size.groups())))
        case "$", "y":
            is_valid = bool(_MODE.fullmatch(parameters))
        case "", "R" if _POSITION.fullmatch(parameters):
            is_valid = True
        case "", _ if final in _KEY_FINALS:
            return _translate_key(parameters, final)
    return sequence if is_valid else ""


def _is_plausible_size(rows: int, columns: int, height: int, width: int) -> bool:
    return 0 < rows <= _MOST_ROWS and 0 < columns <= _MOST_COLUMNS and height >= rows and width >= columns


def _translate_key(parameters: str, final: str) -> str:
    """Return a report about a key as `CSI code ; modifiers ; text final`; "" for one that is no press."""
    if not _NUMBERS.fullmatch(parameters):
        return ""
    fields = [[int(part or "0") for part in field.split(":")] for field in parameters.split(";")]
    codes, modifiers, text = [*fields, [0], [0]][:3]
    if modifiers[0] > 256 or len(modifiers) > 2 or modifiers[1:] == [3]:
        return ""
    bits = max(modifiers[0] - 1, 0) & ~_LOCKS
    if final == "~" and codes[0] == 27 and text[0]:
        # xterm's modifyOtherKeys: the code stands where Kitty has the text.
        codes, text, final = text, [0], "u"
    if final == "u":
        return _translate_character(codes, bits, [number for number in text if number])
    code = codes[0] or 1
    if f"{code}{final}" not in FUNCTIONAL_KEYS or text != [0]:
        return ""
    return f"\x1b[{code};{bits + 1}{final}" if bits else f"\x1b[{code}{final}"


def _translate_character(codes: list[int], bits: int, text: list[int]) -> str:
    code = codes[0]
    if f"{code}u" in FUNCTIONAL_KEYS or code in _CONTROL_KEYS:
        return f"\x1b[{code};{bits + 1}u" if bits else f"\x1b[{code}u"
    if not _is_character(code) or not all(map(_is_character, text)):
        return ""
    if not text and not bits & ~_SHIFT:
        shifted = codes[1] if len(codes) > 1 and _is_character(codes[1]) else ord(chr(code).upper()[0])
        return chr(shifted if bits else code)
    spelled = ":".join(map(str, text))
    return f"\x1b[{code};{bits + 1 if bits else ''};{spelled}u" if text else f"\x1b[{code};{bits + 1}u"


def _is_character(code: int) -> bool:
    """Return whether a code point is a character that a key can type: no control, surrogate
    or private use.
    """
    return (
        0x20 <= code <= 0x10FFFF
        and not 0x7F <= code < 0xA0
        and not 0xD800 <= code < 0xF900
        and code < 0xF0000
    )
