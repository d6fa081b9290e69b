"""Messages of several lines, which three quotation marks begin and end."""

QUOTES = '"""'


def is_open(text: str) -> bool:
    """Whether three quotation marks wait for three more."""
    return text.count(QUOTES) % 2 == 1


def without_quotes(text: str) -> str:
    """Return the message without the marks, where they are around all of it."""
    text = text.strip()
    if text.count(QUOTES) == 2 and text.startswith(QUOTES) and text.endswith(QUOTES):
        return text[len(QUOTES) : -len(QUOTES)].strip()
    return text
