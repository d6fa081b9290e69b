"""A text area that can be scrolled while lines of it are removed."""

import contextlib

from textual.widgets import TextArea


class StableTextArea(TextArea):
    """Textual's own fails when an undo or redo leaves fewer lines and makes a scrollbar come or go.

    It looks for the caret before it has moved it back to a line that there is (`TextArea._undo_batch`).
    """

    def _recompute_cursor_offset(self) -> None:
        with contextlib.suppress(IndexError, ValueError):
            super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]
