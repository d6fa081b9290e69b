"""The last filter before the terminal: removes characters that could control it."""

from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from oi_tui.text import clean_text, strip_variation_selectors

#: The character that Kitty's protocol replaces with an image.
_PLACEHOLDER = "\U0010eeee"
#: Under this a style keeps the colour that names the image.
META = "image"


class SanitizeFilter(LineFilter):
    """Replaces unsafe characters in every line that is drawn, whichever widget drew it.

    The widths of the line were settled before, so a character without width disappears and others become
    U+FFFD. Widgets that show foreign text spell such characters out themselves, before they measure.

    Characters that stand for an image in a terminal with Kitty's protocol come from no foreign text: only
    those pass whose style names one of our images, and they get the colour that names it back.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments, the same list where nothing was unsafe."""
        for text, _, _ in segments:
            if not (text.isascii() and text.isprintable()) and (_PLACEHOLDER in text or clean(text) != text):
                return [_clean(segment) for segment in segments]
        return segments


def _clean(segment: Segment) -> Segment:
    text, style, control = segment
    if _PLACEHOLDER in text:
        colour = style.meta.get(META) if style is not None and style._meta else None
        if style is None or colour is None:
            return Segment(clean(text.replace(_PLACEHOLDER, "\ufffd")), style, control)
        return Segment(clean(text), style + Style(color=colour), control)
    return Segment(clean(text), style, control)


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """Return the text with what is unsafe replaced, in as many cells."""
    if clean_text(text) == text and "\n" not in text and "\t" not in text:
        return text
    plain_text = strip_variation_selectors(text)
    cleaned = ""
    for at, character in enumerate(plain_text):
        joined = plain_text[max(0, at - 1) : at + 2]
        if character not in "\n\t" and (clean_text(character) == character or clean_text(joined) == joined):
            cleaned += character
        else:
            cleaned += "\ufffd" * cell_len(character)
    return set_cell_size(cleaned, cell_len(text))
