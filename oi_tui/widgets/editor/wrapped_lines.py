"""Finds the rows, columns and cells of a code editor's lines, which may be wrapped."""

from bisect import bisect_right
from itertools import pairwise

from textual.document._wrapped_document import WrappedDocument
from textual.widgets import TextArea

from oi_tui.widgets.editor.code_line import count_cells, find_column


class FastWrappedDocument(WrappedDocument):
    """Finds parts of lines without the objects of Rich that Textual's own makes of all parts of a line."""

    def get_sections(self, line_index: int) -> list[str]:
        """Return the parts of a line."""
        line = self.document[line_index]
        return [line[start:end] for start, end in pairwise((0, *self.get_offsets(line_index), len(line)))]

    def find_row(self, y: int) -> tuple[int, int]:
        """Return the line that a row shows, and the part of it; those of the last row behind the end."""
        return self._offset_to_line_info[min(y, len(self._offset_to_line_info) - 1)]


class WrappedLines:
    """The lines of a text area as they are shown: each takes a row, or more where long lines are wrapped.

    A part of a line is what one row shows of it, counted from 0.
    """

    def __init__(self, area: TextArea) -> None:
        self._area = area

    @property
    def row_count(self) -> int:
        """The rows that the text takes."""
        # The wrapped document counts its rows again each time that it is asked.
        area = self._area
        return area.virtual_size.height if area.soft_wrap else area.document.line_count

    def find_row(self, y: int) -> tuple[int, int]:
        """Return the line that a row of the text shows, counted from 0, and the part of it."""
        if not self._area.soft_wrap:
            return y, 0
        wrapped = self._area.wrapped_document
        assert isinstance(wrapped, FastWrappedDocument)
        return wrapped.find_row(y)

    def find_columns(self, line: int, part: int) -> tuple[int, int | None]:
        """Return the columns from and up to which a part goes; None for the end of the line."""
        ends = self._area.wrapped_document.get_offsets(line) if self._area.soft_wrap else []
        return ends[part - 1] if part else 0, ends[part] if part < len(ends) else None

    def find_offset(self, line: int, column: int) -> tuple[int, int]:
        """Return the cell and the row of a character. Raises IndexError or ValueError if there is none."""
        if not self._area.soft_wrap:
            return self._count_cells_before(line, column), line
        wrapped = self._area.wrapped_document
        part = bisect_right(wrapped.get_offsets(line), column)
        first, _ = self.find_columns(line, part)
        y = wrapped.location_to_offset((line, 0)).y + part
        return self._count_cells_before(line, column) - self._count_cells_before(line, first), y

    def find_location(self, x: int, y: int) -> tuple[int, int]:
        """Return the line and column of the character in a cell of a row."""
        line, part = self.find_row(y)
        first, last = self.find_columns(line, part)
        text = self._area.document.get_line(line)
        column = find_column(text, x + self._count_cells_before(line, first))
        return line, column if last is None else min(column, last - 1)

    def _count_cells_before(self, line: int, column: int) -> int:
        return count_cells(self._area.document.get_line(line), column)
