"""A list whose selected row is marked by a sign as well as by its colour."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from rich.segment import Segment
from rich.style import Style
from textual.command import Command, CommandList
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import OptionList
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from textual.visual import VisualType

#: The columns before each row, and what stands there in the row that is chosen.
_COLUMNS = 2
_MARK = "> "


class ChoiceList(OptionList):
    """An option list with `>` before the row that enter takes. Where that changes, two rows are drawn."""

    highlighted: reactive[int | None] = reactive(None, repaint=False)

    def _watch_highlighted(self, before: int | None, now: int | None) -> None:
        """Draw the row that was chosen and the one that is. Textual's own watcher scrolls to it."""
        for option in (before, now):
            if option is not None and option in self._index_to_line:
                self.refresh_lines(self._index_to_line[option], self._heights[option])

    def _get_left_gutter_width(self) -> int:
        return _COLUMNS

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows that it needs. Text cannot be wrapped to no width at all."""
        padding = self.get_component_styles("option-list--option").padding.width
        return super().get_content_height(container, viewport, max(width - _COLUMNS, 1 + padding))

    def action_page_up(self) -> None:
        """Move up a page; to the first option where there is no room for a page."""
        if self._lines:
            super().action_page_up()  # type: ignore[no-untyped-call]
        else:
            self.action_first()

    def action_page_down(self) -> None:
        """Move down a page; to the last option where there is no room for a page."""
        if self._lines:
            super().action_page_down()  # type: ignore[no-untyped-call]
        else:
            self.action_last()

    def render_line(self, y: int) -> Strip:
        """Return a row of an option, with the mark before its first row where it is chosen."""
        row = super().render_line(y)
        number = self.scroll_offset.y + y
        if number >= len(self._lines):
            return row
        option, part = self._lines[number]
        mark = _MARK if option == self.highlighted and part == 0 else " " * _COLUMNS
        style = next((segment.style for segment in row if segment.style), self.rich_style)
        return Strip.join([Strip([Segment(mark, style + Style(meta={"option": option}))], _COLUMNS), row])


# A style sheet comes down by the first base alone.
class CommandChoiceList(CommandList, ChoiceList):
    """The list of the command palette, marked in the same way, with titles above groups of entries."""

    def add_options(self, new_options: "Iterable[Option | VisualType | None]") -> Self:
        """Add entries, with the title of their group before the first of each."""
        group = ""
        rows: list[Option | VisualType | None] = []
        for option in new_options:
            title = getattr(option.hit, "group", "") if isinstance(option, Command) else ""
            if title and title != group:
                rows.append(Option(Content.styled(title, "bold $text-muted"), disabled=True))
                group = title
            rows.append(option)
        return super().add_options(rows)

    def validate_highlighted(self, highlighted: int | None) -> int | None:
        """Choose the entry below a title, never the title."""
        index = super().validate_highlighted(highlighted)
        while index is not None and index + 1 < self.option_count and self.options[index].disabled:
            index += 1
        return index
