"""Tracks how far down the user has read."""

from collections.abc import Iterator
from contextlib import contextmanager

from oi_tui.widgets.conversation.layout import Layout
from oi_tui.widgets.conversation.styles import Styles


class ReadPosition:
    """The last block that was seen and how many of its lines: what is above may grow without being new."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.forget()

    def forget(self) -> None:
        """Forget the position: nothing was seen."""
        self._block = self._lines = 0

    @property
    def below(self) -> int:
        """The number of lines below the read position."""
        return self._layout.total - self._line if self._layout.blocks else 0

    @property
    def _line(self) -> int:
        layout = self._layout
        return layout.find_top(self._block) + min(self._lines, layout.get_height(self._block))

    def reach(self, line: int, *, just: bool = False) -> None:
        """Note that the lines above this one were seen; with `just`, no others."""
        layout = self._layout
        if not layout.blocks:
            self.forget()
            return
        line = min(line if just else max(line, self._line), layout.total)
        self._block = layout.find_block_at(line - 1)
        self._lines = line - layout.find_top(self._block)

    @contextmanager
    def keep(self, look: Styles) -> Iterator[None]:
        """Keep the read part of the last block while it is laid out again."""
        layout = self._layout
        before = layout.get_height(self._block) if layout.blocks else 0
        yield
        if before:
            layout.ensure(self._block, look)
            self._lines = round(min(self._lines / before, 1) * layout.get_height(self._block))
