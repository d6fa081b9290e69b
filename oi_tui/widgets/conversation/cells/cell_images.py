"""The images that a cell showed."""

from oi_tui.widgets.conversation.output import add_rule
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.images.image import ImageRow


class CellImages(list[ImageRow]):
    """Images from first to last. Those that the program removed may stay until it shows another one."""

    def __init__(self) -> None:
        super().__init__()
        #: How many of the first images go as soon as another one takes their place.
        self._removed = 0
        #: By the id of the image's message: its rows, and the same rows in the cell's frame.
        self._framed: dict[str, tuple[list[Row], list[Row]]] = {}

    def show(self, image: ImageRow) -> None:
        """Add an image, in place of those that were removed."""
        self.drop_removed()
        self.append(image)

    def mark_removed(self) -> None:
        """Mark the images that the program removed; they stay until `drop_removed` or another image."""
        self._removed = len(self)

    def drop_removed(self) -> None:
        """Drop the images that the program removed."""
        del self[: self._removed]
        self._removed = 0

    def rows(self, width: int, look: Styles) -> list[Row]:
        """Return the rows of all images; the same rows as before for an image that did not change."""
        rows: list[Row] = []
        for image in self:
            image_rows = image.rows(width - 2, look)
            before = self._framed.get(image.message.id)
            if before is None or before[0] is not image_rows:
                framed_rows = [add_rule(row, look) for row in image_rows]
                before = self._framed[image.message.id] = (image_rows, framed_rows)
            rows += before[1]
        return rows

    def forget(self) -> None:
        """Drop what was drawn."""
        for image in self:
            image.forget()
        self._framed.clear()
