"""Makes foreign text safe to show: it cannot control the terminal."""

import math
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
#: Variation selectors: they ask for a character as an emoji or as plain text. Terminals do not agree on how
#: wide that is, so they are left out where text is only read.
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


def repair_surrogates(text: str) -> str:
    """Return the text as it can be written in UTF-8: halves of a character joined,
    lone ones replaced by U+FFFD.
    """
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def escape_controls(text: str) -> str:
    r"""Return the text with every character that could control a terminal or deceive a reader spelled out.

    Tab and newline stay. Control characters become control pictures (ESC is "␛"), format characters their
    number ("⟨U+202E⟩"), lone surrogates U+FFFD. The result is safe in any widget that does not read markup.

    >>> escape_controls("a\x1b[2Jb\u202e")
    'a␛[2Jb⟨U+202E⟩'
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: _spell(match.group()), text)


def split_spelled(text: str) -> list[tuple[str, bool]]:
    """Return the text as `escape_controls` gives it, in pieces; True marks those that were spelled out."""
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


def strip_variation_selectors(text: str) -> str:
    """Return the text without variation selectors, which ask for a character as an emoji or as plain text."""
    return text if text.isascii() else _PRESENTATION.sub("", text)


def clean_text(text: str) -> str:
    """Escape as `escape_controls` does, but without carriage returns before a newline, and
    with the joiners of emoji.
    """
    if text.isascii() and text.isprintable():
        return text
    text = strip_variation_selectors(text.replace("\r\n", "\n"))
    if _EMOJI_JOINERS not in text:
        return escape_controls(text)
    return _EMOJI_SEQUENCE.sub(lambda m: m.group() if m.group(1) else escape_controls(m.group()), text)


_EMOJI_SEQUENCE = re.compile(
    "((?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff]))"
    "|[^\u200d]+|\u200d"
)


def clean_line(text: str, limit: int = 300) -> str:
    """Clean as `clean_text` does, on a single line of at most `limit` characters: for titles, names
    and list entries.
    """
    flat = " ".join(clean_text(text[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


#: Languages that take a carriage return for the end of a line, in comments too.
_RETURN_ENDS_LINES = frozenset(
    {
        "python",
        "py",
        "javascript",
        "js",
        "typescript",
        "ts",
        "deno",
        "bun",
        "react",
        "jsx",
        "java",
        "lua",
        "powershell",
    }
)
_RETURN = re.compile("\r\n?")


def normalise_line_ends(code: str, language: str | None) -> str:
    r"""Return code with the line ends that its language sees: Python runs what follows a "\r" in a comment.

    >>> normalise_line_ends("a()  # \rb()", "python")
    'a()  # \nb()'
    """
    if "\r" not in code or (language or "").lower() not in _RETURN_ENDS_LINES:
        return code
    return _RETURN.sub("\n", code)


#: Letters of other scripts that look like Latin ones, capital and small. Source: Unicode's confusables.txt.
_LOOK_ALIKES = {
    "CYRILLIC": frozenset(
        "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u04ae\u050c\u051a\u051c\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u04bb\u0501\u051b\u051d\u050d"
    ),
    "GREEK": frozenset(
        "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03f3"
    ),
    "ARMENIAN": frozenset("\u054d\u054f\u0555\u057d\u0585\u0578\u0581\u0570"),
}
_WORD = re.compile(r"[^\W\d_]+")


def find_lookalikes(identifier: str) -> set[str]:
    """Return the letters of an identifier that pass for Latin ones, such as a Cyrillic a in "paypal".

    Letters that Python itself reads as Latin (fullwidth, mathematical: PEP 3131 normalises to NFKC) always
    count; letters of another script count among Latin letters, and in a Cyrillic or Armenian word of nothing
    else.
    """
    if identifier.isascii():
        return set()
    lookalikes = {c for c in identifier if not c.isascii() and unicodedata.normalize("NFKC", c).isascii()}
    for word in _WORD.findall(identifier):
        has_latin = any(c.isascii() for c in word)
        for script, letters in _LOOK_ALIKES.items():
            alike = letters.intersection(word)
            if has_latin or (alike and script != "GREEK" and letters.issuperset(word)):
                lookalikes |= alike
    return lookalikes


#: What joins the parts of an emoji, or asks for its colours. It hides nothing between two emoji.
_IN_EMOJI = re.compile(
    "(?<=[\u203c-\u3299\U0001f000-\U0001faff])\ufe0f"
    "|(?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff])"
)


def simplify_emoji(text: str) -> str:
    """Return the text with each emoji as the signs that it consists of, without what joins them."""
    return text if text.isascii() else _IN_EMOJI.sub("", text)


def list_hidden_characters(text: str) -> list[str]:
    """Name the hidden characters, each once: `['U+202E RIGHT-TO-LEFT OVERRIDE', …]`.

    The characters that join ordinary emoji do not count.
    """
    names_found = dict.fromkeys(match.group() for match in _UNSAFE.finditer(simplify_emoji(text)))
    return [f"U+{ord(c):04X} {unicodedata.name(c, 'CONTROL CHARACTER')}" for c in names_found]


def format_elapsed(seconds: float) -> str:
    """Return the time that has passed so far, in words: "12 s", "48 min", "3 h 05 min"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = int(seconds) // 60
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def format_duration(seconds: float) -> str:
    """Return a time in words: "8 ms", "0.3 s", "2 min 05 s"."""
    if 0 < seconds < 0.05:
        return f"{max(seconds * 1000, 1):.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def format_count(number: int) -> str:
    """Shorten a number to a few characters: 950, 1.9k, 128k, 1.0M."""
    if number < 1000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1000:.1f}k" if number < 99_950 else f"{number / 1000:.0f}k"
    return f"{number / 1_000_000:.1f}M"


def format_dollars(amount: float, *, short: bool = False) -> str:
    """Return an amount in USD. Only zero is shown as zero.

    It has two decimals from one dollar on, and below it as many as it needs; with `short`, two from one cent
    on.

    >>> format_dollars(12), format_dollars(0.0312), format_dollars(0.0312, short=True)
    ('$12.00', '$0.0312', '$0.03')
    """
    if amount <= 0 or amount >= 1 or (short and amount >= 0.01):
        return f"${amount:,.2f}"
    if amount < 1e-9:
        return f"${amount:.1g}"
    decimals = max(4, 1 - math.floor(math.log10(amount)))
    whole, _, part = f"{amount:.{decimals}f}".partition(".")
    return f"${whole}.{part.rstrip('0'):0<2}"
