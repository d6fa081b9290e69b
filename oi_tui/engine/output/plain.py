"""Converts program output to the text that a reader sees."""

import re

from oi_tui.engine.output.screen_text import MOVES, draw

#: What is not plain text on one line: escape sequences and control characters.
_CONTROL = re.compile(
    r"(?:\x1b\[|\x9b)(?P<arguments>[0-9:;<=>?]*)[ -/]*(?P<final>[@-~])"  # CSI
    r"|(?:\x1b[\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"  # two-character sequences, and an escape cut off
    r"|(?P<move>[\r\b])"
    r"|[\x00-\x08\x0e-\x1f\x7f-\x9f\U000e0000-\U000e007f]"
)
#: What was drawn on the alternate screen, which leaves nothing behind.
_SWITCH = r"(?:\x1b\[|\x9b)\?(?:[0-9]{1,5};){0,8}(?:1049|1047|47)(?:;[0-9]{1,5}){0,8}"
_ASIDE = re.compile(rf"{_SWITCH}h.*?(?:{_SWITCH}l|\Z)", re.DOTALL)
_BREAKS = re.compile(r"\r*\n|[\x0b\x0c\x85]")
_SPECIAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\U000e0000-\U000e007f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
#: A carriage return or several before a line feed: what a terminal makes of each line's end.
_LINE_END = re.compile("\r+\n")
_LAST_RETURNS = re.compile(r"\r+\Z")
#: An escape sequence that has begun and may go on in the next piece.
_UNFINISHED = re.compile(
    r"(?:(?:\x1b\[|\x9b)[0-9:;<=>?]*[ -/]*"
    r"|(?:\x1b[\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c\n]*\x1b?"
    r"|\x1b[ -/]*)\Z"
)
#: The longest start of a sequence that is kept back.
_LONGEST_START = 8192
#: Farther right than any progress bar; a program cannot make us fill memory with blanks.
_WIDEST = 4096
#: Room for the line that says how much is missing.
_NOTE = 48


def make_plain(text: str) -> str:
    r"""Return the text as a terminal would have left it on each line, without colours or any other escape.

    Carriage returns and backspaces go back and overwrite, erasing and moving within the line work, everything
    else that is not text is taken out, and so is what full-screen programs drew. Lone surrogates become
    U+FFFD, so that the result can be encoded.

    >>> make_plain("10%\r20%\x1b[K\n\x1b[31mred\x1b[0m")
    '20%\nred'
    """
    if not _SPECIAL.search(text):
        return text
    text = _SURROGATES.sub("\ufffd", _ASIDE.sub("", text))
    if MOVES.search(text):
        text = draw(text)
    lines = _BREAKS.split(text)
    return "\n".join(_settle(line) if _CONTROL.search(line) else line for line in lines)


def normalise_line_ends(text: str) -> str:
    """Return the text with the line ends of a terminal as line feeds; other carriage returns stay."""
    return _LINE_END.sub("\n", text)


def split_unfinished(text: str) -> tuple[str, str]:
    """Return the text without an escape sequence at its end that may go on in the next piece, and that."""
    match = _UNFINISHED.search(text, max(0, len(text) - _LONGEST_START))
    return (text[: match.start()], text[match.start() :]) if match else (text, "")


class LineEnds:
    r"""Turns the line ends of a terminal into line feeds, in pieces cut anywhere.

    A carriage return that ends a piece is kept back until the next one shows what it is.

    >>> ends = LineEnds()
    >>> [ends.write("50%\r100%\r"), ends.write("\ndone\r\n"), ends.close()]
    ['50%\r100%', '\ndone\n', '']
    """

    def __init__(self) -> None:
        self._returns = ""

    def write(self, text: str) -> str:
        """Return the next piece, with line feeds."""
        text = self._returns + text
        last = _LAST_RETURNS.search(text, len(text.rstrip("\r")))
        self._returns = last[0] if last else ""
        return normalise_line_ends(text[: len(text) - len(self._returns)])

    def close(self) -> str:
        """Return the text that was held back."""
        returns, self._returns = self._returns, ""
        return returns


class EscapeFilter:
    r"""Takes colours and all other escape sequences out of pieces cut anywhere; \r and \b stay.

    >>> escapes = EscapeFilter()
    >>> [escapes.write("\x1b[3"), escapes.write("1mred\x1b[0m\n")]
    ['', 'red\n']
    """

    def __init__(self) -> None:
        self._held = ""

    def write(self, text: str) -> str:
        """Return the next piece, without escape sequences."""
        text, self._held = split_unfinished(self._held + text)
        return _CONTROL.sub(lambda match: match["move"] or "", text)


def _settle(line: str) -> str:
    cells: list[str] = []
    column = start = 0

    def write(run: str) -> None:
        nonlocal column
        if column > len(cells):
            cells.extend(" " * (column - len(cells)))
        cells[column : column + len(run)] = run
        column += len(run)

    for match in _CONTROL.finditer(line):
        if match.start() > start:
            write(line[start : match.start()])
        start = match.end()
        if match["move"] == "\r":
            column = 0
        elif match["move"] == "\b":
            column = max(0, column - 1)
        elif match["final"]:
            column = _move(cells, column, match["final"], match["arguments"])
    write(line[start:])
    return "".join(cells)


def _move(cells: list[str], column: int, final: str, arguments: str) -> int:
    first = arguments.split(";")[0]
    count = min(int(first), _WIDEST) if first.isdecimal() and len(first) < 9 else None
    if final == "K" and count in (None, 0):
        del cells[column:]
    elif final == "K" and count == 1:
        cells[:column] = " " * min(column, len(cells))
    elif final == "K":
        cells.clear()
    elif final == "G":
        return max(0, (count or 1) - 1)
    elif final == "C":
        return min(column + (count or 1), max(_WIDEST, len(cells)))
    elif final == "D":
        return max(0, column - (count or 1))
    return column


def clip(text: str, limit: int) -> str:
    """Return at most about `limit` characters of the text: its head and its tail,
    and how much is missing between.

    Whole lines are left out where there are lines ("… 214 lines not shown …"), characters where a single line
    is longer than what may stay. A limit of 0 or less means no limit.
    """
    if limit <= 0 or len(text) <= limit:
        return text
    room = max(limit - _NOTE, 2)
    head_room = room * 2 // 5
    tail_start = len(text) - (room - head_room)
    head_end = text.rfind("\n", 0, head_room + 1)
    next_line = text.find("\n", tail_start - 1) + 1
    if head_end >= head_room // 2 and 0 < next_line <= (tail_start + len(text)) // 2:
        count = text.count("\n", head_end + 1, next_line)
        lines = "line" if count == 1 else "lines"
        return f"{text[:head_end]}\n… {count:,} {lines} not shown …\n{text[next_line:]}"
    note = f"… {tail_start - head_room:,} characters not shown …"
    return f"{text[:head_room]}\n{note}\n{text[tail_start:]}"
