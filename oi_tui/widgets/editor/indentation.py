"""The indentation of code lines."""

from collections.abc import Sequence


def indent_next_line(before_caret: str, width: int) -> str:
    """Return the indentation of a line that is begun behind this text: deeper where a block begins."""
    indent = before_caret[: len(before_caret) - len(before_caret.lstrip(" \t"))]
    begins_block = before_caret.rstrip()[-1:] in (":", "{", "(", "[")
    return indent + " " * width if begins_block else indent


def shift_lines(lines: Sequence[str], width: int, *, deeper: bool) -> list[str]:
    """Indent lines by `width` spaces, or dedent them by as many as they have."""
    if deeper:
        return [" " * width + line if line else line for line in lines]
    return [line[min(len(line) - len(line.lstrip(" ")), width) :] for line in lines]
