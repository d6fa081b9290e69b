"""Text made to fit a number of cells, with a mark where something was left out."""

from rich.cells import set_cell_size

from oi_tui.widgets.rows import width_of


def beginning(text: str, width: int) -> str:
    """As much of the beginning as there is room for: "a long sent…"."""
    return text if width_of(text) <= width else f"{set_cell_size(text, max(width - 1, 0)).rstrip()}…"[:width]


def ending(text: str, width: int) -> str:
    """As much of the end as there is room for, where a path has its name: "…puts/plot.png"."""
    if width_of(text) <= width:
        return text
    text = text[-width:] if width > 0 else ""
    while text and width_of(text) > width - 1:
        text = text[1:]
    return f"…{text.lstrip()}"[: max(width, 0)]
