"""Foreign text made safe to show: nothing that a model, program or file says can control the terminal."""

import re
import unicodedata
from functools import lru_cache

#: Characters that are never drawn as they are: C0 but tab and newline, DEL, C1, and lone surrogates; line and
#: paragraph separators; and every character that is itself not seen (bidi, zero-width, tags, soft
#: hyphen, byte order mark, variation selectors).
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_HALF = re.compile("[\ud800-\udfff]")
#: Joins the parts of one emoji and picks its colour; harmless between visible characters in prose.
_EMOJI_JOINERS = "\u200d"
#: Asks for the picture of a sign or for its plain form. Terminals do not agree on how wide that is, so it is
#: left out where text is only to be read.
_PRESENTATION = re.compile("(?<=[^\\s\ufe00-\ufe0f])[\ufe0e\ufe0f](?![\ufe00-\ufe0f])")


@lru_cache(maxsize=4096)
def _spell(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\u27e8U+{code:04X}\u27e9"


def whole(text: str) -> str:
    """The text as it can be written in UTF-8: halves of a character joined, lone ones replaced by U+FFFD."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def visible(text: str) -> str:
    r"""The text with every character that could control a terminal or deceive a reader spelled out.

    Tab and newline stay. Control characters become control pictures (ESC is "␛"), format characters their
    number ("⟨U+202E⟩"), lone surrogates U+FFFD. The result is safe in any widget that does not read markup.

    >>> visible("a\x1b[2Jb\u202e")
    'a␛[2Jb⟨U+202E⟩'
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: _spell(match.group()), text)


def spelled(text: str) -> list[tuple[str, bool]]:
    """The text as `visible` gives it, in pieces; True marks those that were spelled out."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for match in _UNSAFE.finditer(text):
        if match.start() > end:
            pieces.append((text[end : match.start()], False))
        pieces.append((_spell(match.group()), True))
        end = match.end()
    if end < len(text):
        pieces.append((text[end:], False))
    return pieces


def without_form(text: str) -> str:
    """The text without what asks for the picture of a sign, or for its plain form."""
    return text if text.isascii() else _PRESENTATION.sub("", text)


def prose(text: str) -> str:
    """As `visible`, but without carriage returns before a newline, and with the joiners of emoji."""
    if text.isascii() and text.isprintable():
        return text
    text = without_form(text.replace("\r\n", "\n"))
    if _EMOJI_JOINERS not in text:
        return visible(text)
    return _EMOJI_SEQUENCE.sub(lambda m: m.group() if m.group(1) else visible(m.group()), text)


_EMOJI_SEQUENCE = re.compile(
    "((?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff]))"
    "|[^\u200d]+|\u200d"
)


def one_line(text: str, limit: int = 300) -> str:
    """As `prose`, on a single line of at most `limit` characters: for titles, names and list entries."""
    flat = " ".join(prose(text[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def names(text: str) -> list[str]:
    """What is hidden in the text, in words, each once: `['U+202E RIGHT-TO-LEFT OVERRIDE', …]`."""
    found = dict.fromkeys(match.group() for match in _UNSAFE.finditer(text))
    return [f"U+{ord(c):04X} {unicodedata.name(c, 'CONTROL CHARACTER')}" for c in found]


def duration(seconds: float) -> str:
    """A time in words: "0.3 s", "2 min 05 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
