"""A text area that folds long pastes to a few words, and highlights mentions."""

from typing import ClassVar

from rich.text import Text
from textual.document._document import EditResult, Location
from textual.document._edit import Edit
from textual.widgets.text_area import Selection

from oi_tui.widgets.editor.text_area import StableTextArea
from oi_tui.widgets.prompt.pastes import Pastes


class PromptTextArea(StableTextArea):
    """The words in brackets that stand for a paste move, and vanish, as one; `full` puts the paste back."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt--chip", "prompt--mention"}

    @property
    def pastes(self) -> Pastes:
        """The pastes, by their placeholders."""
        if "_pastes" not in self.__dict__:
            # The text area validates a selection before anything of ours is there.
            self._pastes = Pastes()
        return self._pastes

    def expand_pastes(self, text: str) -> str:
        """Return the text with every long paste in its place."""
        return self.pastes.expand(text)

    def remove_pastes(self, text: str) -> str:
        """Return the text without what was pasted."""
        return self.pastes.remove_pastes(text)

    def edit(self, edit: Edit) -> EditResult:
        """Change the text; a paste that would be cut through goes as a whole."""
        if self.pastes and edit.from_location != edit.to_location:
            start, end = sorted((edit.from_location, edit.to_location))
            for left, right in self.pastes.find_spans(self.document.get_line(start[0])):
                if left < start[1] < right:
                    start = start[0], left
            # A deletion of whole lines ends on the line after them, which may not be there.
            last = self.document.get_line(end[0]) if end[0] < self.document.line_count else ""
            for left, right in self.pastes.find_spans(last):
                if left < end[1] < right:
                    end = end[0], right
            edit.from_location, edit.to_location = start, end
        return super().edit(edit)

    def _validate_selection(self, selection: Selection) -> Selection:
        """Keep the caret out of the words that stand for a paste: it jumps over them."""
        start, end = super()._validate_selection(selection)
        if not self.pastes:
            return Selection(start, end)
        return Selection(
            self._move_out_of_paste(start, self.selection.start),
            self._move_out_of_paste(end, self.selection.end),
        )

    def _move_out_of_paste(self, location: Location, before: Location) -> Location:
        row, column = location
        for left, right in self.pastes.find_spans(self.document.get_line(row)):
            if left < column < right:
                return row, right if before <= (row, left) else left
        return location

    def action_open_paste(self) -> None:
        """Put the text of the paste beside the caret in its place."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if span := self.pastes.find_at(line, column):
            text = self.pastes.expand(line[slice(*span)])
            self.replace(text, (row, span[0]), (row, span[1]), maintain_selection_offset=False)
            self.move_cursor((row, span[0]))

    def get_line(self, line_index: int) -> Text:
        """Return the line with pastes and mentions highlighted."""
        line = super().get_line(line_index)
        for start, end in self.pastes.find_spans(line.plain):
            line.stylize(self.get_component_rich_style("prompt--chip", partial=True), start, end)
        if "@" in line.plain and not self.text.startswith(("%", "!")):
            from oi_tui.input import mentions

            style = self.get_component_rich_style("prompt--mention", partial=True)
            for match in mentions.MENTION.finditer(line.plain):
                line.stylize(style, *match.span())
        return line
