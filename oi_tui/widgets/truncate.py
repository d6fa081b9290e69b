"""Truncates text to a number of cells, with a mark where something is left out."""

from rich.cells import cell_len, set_cell_size


def measure_width(text: str) -> int:
    """Return the width of the text, in cells."""
    return len(text) if text.isascii() else cell_len(text)


def cut_end(text: str, width: int) -> str:
    """Return as much of the beginning as fits: "a long sent…"."""
    return (
        text
        if measure_width(text) <= width
        else f"{set_cell_size(text, max(width - 1, 0)).rstrip()}…"[:width]
    )


def fit(text: str, width: int) -> str:
    """Fit the text into exactly `width` cells: pad a short one, and cut a long one with "…"."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, max(0, width - 1)).rstrip() + "…", width)


def cut_beginning(text: str, width: int) -> str:
    """Return as much of the end as fits, where a path has its name: "…puts/plot.png"."""
    if measure_width(text) <= width:
        return text
    text = text[-width:] if width > 0 else ""
    while text and measure_width(text) > width - 1:
        text = text[1:]
    return f"…{text.lstrip()}"[: max(width, 0)]
