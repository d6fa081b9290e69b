"""The colours that programs request from terminals."""

import re
from functools import lru_cache

from rich.color import Color
from rich.style import Style

#: What a terminal begins with.
PLAIN = Style()


@lru_cache(maxsize=2048)
def apply_colours(style: Style, parameters: str) -> Style:
    """Return the style after the sequence that selects `parameters` (ECMA-48, 8.3.117)."""
    codes = [int(part) if part.isdecimal() else 0 for part in re.split("[;:]", parameters[:100])]
    position = 0
    while position < len(codes):
        code = codes[position]
        position += 1
        if code == 0:
            style = PLAIN
        elif code in _MANNERS:
            style += _MANNERS[code]
        elif code in (38, 48):
            color, count = _read_extended(codes[position:])
            position += count
            if color:
                style += Style(color=color) if code == 38 else Style(bgcolor=color)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style += Style(color=Color.from_ansi(code - 30 if code < 90 else code - 82))
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style += Style(bgcolor=Color.from_ansi(code - 40 if code < 100 else code - 92))
        elif code in (39, 49):
            style = _remove(style, foreground=code == 39)
    return style


def _read_extended(codes: list[int]) -> tuple[Color | None, int]:
    match codes:
        case [5, number, *_]:
            return (Color.from_ansi(number) if number < 256 else None), 2
        case [2, red, green, blue, *_] if max(red, green, blue) < 256:
            return Color.from_rgb(red, green, blue), 4
    return None, len(codes)


def _remove(style: Style, *, foreground: bool) -> Style:
    base = style.without_color
    if foreground and style.bgcolor:
        return base + Style(bgcolor=style.bgcolor)
    if not foreground and style.color:
        return base + Style(color=style.color)
    return base


_MANNERS = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
    9: Style(strike=True),
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False),
    27: Style(reverse=False),
    29: Style(strike=False),
}
