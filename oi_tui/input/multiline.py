"""Reads messages of several lines, which begin and end with three quotation marks or a code fence."""

import re

QUOTES = '"""'
_FENCE = "```"
#: A line that begins a message with a code fence, with or without the language of the code.
_OPENS = re.compile(r"```[\w+#-]*\s*")


def is_open(text: str) -> bool:
    """Return whether three quotation marks wait for three more, or the fence of the first line
    for its end.
    """
    if text.count(QUOTES) % 2 == 1:
        return True
    lines = text.lstrip().splitlines()
    return bool(lines and _OPENS.fullmatch(lines[0])) and len(_find_fences(lines)) % 2 == 1


def remove_quotes(text: str) -> str:
    """Return the message without the marks, where they are around all of it.

    A fence that names a language belongs to the message: it says what the code in it is.
    """
    text = text.strip()
    if text.count(QUOTES) == 2 and text.startswith(QUOTES) and text.endswith(QUOTES):
        return text[len(QUOTES) : -len(QUOTES)].strip()
    lines = text.splitlines()
    if len(lines) > 1 and lines[0].rstrip() == lines[-1].rstrip() == _FENCE and len(_find_fences(lines)) == 2:
        return "\n".join(lines[1:-1]).strip()
    return text


def _find_fences(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(_FENCE)]
