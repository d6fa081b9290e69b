"""Edits the code of a cell where it stands."""

from collections.abc import Callable, Iterator

from rich.cells import cell_len
from textual.widget import Widget

from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.selection import MARGIN
from oi_tui.widgets.conversation.transcript import Transcript
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.prompt.completion_list import MOST_ROWS, Completions

#: Rows of the conversation that stay visible above and below the editor, and the fewest rows of the editor.
_REST, _FEWEST = 3, 3


class CellEditor:
    """Opens a code editor over the code of one cell, which makes room for it.

    The editor and its list of completions are widgets of `container`, above the transcript. The container
    calls `fit` when its size or the text changed, and `move` when the transcript moved.
    """

    def __init__(self, container: Widget, transcript: Transcript) -> None:
        self._container = container
        self._transcript = transcript
        self._cell: CellBlock | None = None
        self.code_editor = CodeEditor(id="cell-editor")
        self._completions = Completions(id="code-completions")
        self._completions.add_class("-beside")
        #: Called when a cell is no longer being edited.
        self.on_closed: Callable[[], None] = lambda: None

    def widgets(self) -> Iterator[Widget]:
        """Yield the widgets to mount."""
        self.code_editor.display = False
        yield self.code_editor
        yield self._completions

    @property
    def is_open(self) -> bool:
        """Whether a cell is being edited."""
        return self._cell is not None

    @property
    def key(self) -> str | None:
        """The key of the cell that is being edited."""
        return self._cell.key if self._cell else None

    def open(self, cell: CellBlock) -> None:
        """Edit the code of a cell. The editor takes the focus."""
        self.cancel()
        self._cell = cell
        cell.code_folded = False
        self.code_editor.open(cell.code, cell.message.format)
        self.fit()
        self._transcript.reveal(cell.key)
        self.code_editor.display = True
        self.code_editor.focus()
        self.move()

    def finish(self) -> str:
        """Close the editor. Return the edited code, "" if nothing was being edited."""
        cell = self._cell
        if cell is None:
            return ""
        code = self.code_editor.code if self.code_editor.modified else cell.code
        cell.set_edited(code)
        self._close(cell)
        return code

    def cancel(self) -> None:
        """Close the editor, if it is open, and keep the code as it was."""
        if self._cell is not None:
            self._close(self._cell)

    def _close(self, cell: CellBlock) -> None:
        cell.editor_rows = None
        self._cell = None
        self.code_editor.completion.close()
        self.code_editor.display = False
        self.on_closed()
        self._transcript.redraw(cell.key)
        self._transcript.flush()

    def fit(self) -> None:
        """Give the editor as many rows as its text takes, as far as they fit."""
        cell = self._cell
        if cell is None:
            return
        rows = min(self.code_editor.row_count, max(self._container.size.height - _REST, _FEWEST))
        if cell.editor_rows != rows:
            cell.editor_rows = rows
            self.code_editor.styles.height = rows
            self._transcript.redraw(cell.key)
            self._transcript.reveal(cell.key)

    def move(self) -> None:
        """Put the editor over the code of its cell."""
        if self._cell is not None:
            top = self._transcript.find_block_top(self._cell.key) or 0
            self.code_editor.styles.offset = (MARGIN, top + self._cell.code_top)
            self.code_editor.styles.width = self._transcript.block_width

    def list_completions(self, event: CodeEditor.CompletionsOffered) -> None:
        """List completions below the caret, or above it where there is no room."""
        offers = event.offers if self.is_open else ()
        self._completions.show(offers, event.chosen, event.note if self.is_open else "")
        if not self._completions.display:
            return
        size = self._container.size
        height = min(len(offers), MOST_ROWS) + bool(event.note)
        widest = max((cell_len(offer.label) + cell_len(offer.facts) for offer in offers), default=0)
        width = min(max(widest + 8, cell_len(event.note) + 5, 24), size.width)
        caret = self.code_editor.cursor_screen_offset - self._container.content_region.offset
        is_below = caret.y + 1 + height <= size.height
        self._completions.styles.width = width
        self._completions.styles.offset = (
            max(min(caret.x, size.width - width), 0),
            caret.y + 1 if is_below else max(caret.y - height, 0),
        )
