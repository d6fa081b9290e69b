"""A code editor, highlighted by Pygments only in its visible lines."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import Document, EditResult
from textual.document._document_navigator import DocumentNavigator
from textual.document._edit import Edit
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widgets.text_area import Selection

from oi_tui.widgets.conversation.code import TAB, Highlighter, find_changed_lines, measure_gutter
from oi_tui.widgets.conversation.styles import Styles, get_styles
from oi_tui.widgets.editor.code_completion import CodeCompletion
from oi_tui.widgets.editor.code_line import RowView, paint_row
from oi_tui.widgets.editor.indentation import indent_next_line, shift_lines
from oi_tui.widgets.editor.text_area import StableTextArea
from oi_tui.widgets.editor.wrapped_lines import FastWrappedDocument, WrappedLines
from oi_tui.widgets.idle import obey
from oi_tui.widgets.prompt.completion import CompletionQuery
from oi_tui.widgets.prompt.completion_list import CompletionOffer

#: Longer pastes take more than a second.
_LONGEST_PASTE = 300_000


class CodeDocument(Document):
    """A document that breaks lines where programs do, at newlines only."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._lines = text.split("\n")
        self._newline = "\n"

    def replace_range(self, start: tuple[int, int], end: tuple[int, int], text: str) -> EditResult:
        """Replace the text between two locations; undoing it is exact."""
        (top, first), (bottom, last) = sorted((start, end))
        replaced = self.get_text_range((top, first), (bottom, last))
        inserted = (self._lines[top][:first] + text).split("\n")
        after = self._lines[bottom][last:]
        result = EditResult((top + len(inserted) - 1, len(inserted[-1])), replaced)
        inserted[-1] += after
        self._lines[top : bottom + 1] = inserted
        return result


class CodeEditor(StableTextArea):
    """Edits code in any of the languages that Pygments knows; an unknown one is edited without colours.

    Lines that differ from the text it was opened with have a "~" beside their number. Escape is left to the
    screen, and Tab indents, so F5 or Escape, which the screen binds, lead out. Where the language offers
    completions, Tab completes behind a word. Long lines are cut at the edge, or wrapped below each other.
    """

    @dataclass
    class CompletionsRequested(Message):
        """Completions were asked for; `CodeEditor.completion` takes the answer."""

        query: CompletionQuery

    @dataclass
    class CompletionsOffered(Message):
        """Other completions are offered, or another one is chosen; none when the list closes."""

        offers: Sequence[CompletionOffer]
        chosen: int
        note: str

    @dataclass
    class ViCommand(Message):
        """The person typed a line after the colon of vi, such as wq."""

        line: str

    @dataclass
    class Wrapped(Message):
        """Long lines are wrapped now, or no longer, so the text needs another number of rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "text_start", "Go to start", show=False, id="editor.start"),
        Binding("ctrl+end", "text_end", "Go to end", show=False, id="editor.end"),
        Binding("alt+z", "wrap_lines", "Wrap long lines", show=False, id="editor.wrap"),
    ]

    def __init__(self, text: str = "", language: str | None = None, *, id: str | None = None) -> None:
        self._highlighter = Highlighter(language)
        self._original = text.split("\n")
        self._changed: set[int] | None = set()
        self._look: Styles | None = None
        #: By row, the columns from and up to which something was found.
        self._found: dict[int, list[tuple[int, int | None]]] = {}
        self._rows = WrappedLines(self)
        self.completion = CodeCompletion(self)
        self.completion.language = language or ""
        super().__init__(text, soft_wrap=False, show_line_numbers=True, tab_behavior="focus", id=id)
        self.indent_width = TAB

    def open(self, text: str, language: str | None) -> None:
        """Load this text, and forget the text before it with its undo history."""
        self.completion.close()
        self.completion.language = language or ""
        self._highlighter = Highlighter(language)
        self._original = text.split("\n")
        self._found = {}
        self.load_text(text)
        if self.vi:
            self.vi.begin("normal")

    def use_vi(self, wanted: bool) -> None:
        """Turn the keys of vi on or off."""
        if wanted == (self.vi is not None):
            return
        self.vi = None
        if wanted:
            from oi_tui.widgets.vi.vi import Vi

            self.vi = Vi(
                self, self._note_vi, lambda line: self.post_message(self.ViCommand(line)), mode="normal"
            )

    @property
    def modified(self) -> bool:
        """Whether the text differs from the one it was opened with."""
        return bool(self.changed) or self.document.line_count != len(self._original)

    @property
    def changed(self) -> set[int]:
        """The lines that changed since the text was opened, counted from 0."""
        if self._changed is None:
            self._changed = find_changed_lines(self._original, self._list_lines())
        return self._changed

    @property
    def code(self) -> str:
        """The text as it now stands."""
        return "\n".join(self._list_lines())

    def _list_lines(self) -> list[str]:
        document = self.document
        return document.lines if isinstance(document, Document) else document.text.split("\n")

    def mark_found(self, found: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> None:
        """Mark these parts of the text, each from a row and column up to another, until the next call."""
        self._found = {}
        for (top, first), (bottom, last) in found:
            for row in range(top, bottom + 1):
                start, end = first if row == top else 0, last if row == bottom else None
                self._found.setdefault(row, []).append((start, end))
        self._line_cache.clear()
        self.refresh()

    def select(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Select a part of the text and bring it into view."""
        self.selection = Selection(start, end)
        self.scroll_cursor_visible()

    def replace_once(self, text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Replace a part with `text`, as a separate step of undo."""
        self.history.checkpoint()
        self.replace(text, start, end, maintain_selection_offset=False)
        self.history.checkpoint()

    def action_text_start(self) -> None:
        """Put the caret before the first character."""
        self.move_cursor((0, 0))

    def action_text_end(self) -> None:
        """Put the caret behind the last character."""
        self.move_cursor(self.document.end)

    def action_wrap_lines(self) -> None:
        """Wrap long lines, or cut them at the edge again."""
        self.soft_wrap = not self.soft_wrap
        self.post_message(self.Wrapped())

    @property
    def row_count(self) -> int:
        """The rows that the text takes."""
        return self._rows.row_count

    def _on_resize(self) -> None:
        super()._on_resize()
        if self.soft_wrap:
            self.post_message(self.Wrapped())

    # What TextArea lets one replace

    def _set_document(self, text: str, language: str | None) -> None:  # noqa: ARG002
        self.document = CodeDocument(text)
        self.wrapped_document = FastWrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._highlighter.forget_from(0)
        self._build_highlight_map()
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def _build_highlight_map(self) -> None:
        self._line_cache.clear()
        self._changed = None

    def _replace_via_keyboard(
        self, insert: str, start: tuple[int, int], end: tuple[int, int]
    ) -> EditResult | None:
        return super()._replace_via_keyboard(insert.replace("\r\n", "\n").replace("\r", "\n"), start, end)

    def edit(self, edit: Edit) -> EditResult:
        """Apply an edit; colours are computed again from its first line on."""
        self._highlighter.forget_from(edit.top[0])
        return super().edit(edit)

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        self._highlighter.forget_from(min((edit.top[0] for edit in edits), default=0))
        super()._undo_batch(edits)

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        self._highlighter.forget_from(min((edit.top[0] for edit in edits), default=0))
        super()._redo_batch(edits)

    @property
    def gutter_width(self) -> int:
        """The cells left of the code; as many as beside the same code in the conversation."""
        return measure_gutter(self.document.line_count)

    def _recompute_cursor_offset(self) -> None:
        row, column = self.cursor_location
        # In the middle of an undo the caret is still where the text was longer.
        row = min(row, self.document.line_count - 1)
        with contextlib.suppress(IndexError, ValueError):
            self._cursor_offset = self._rows.find_offset(row, column)

    def get_target_document_location(self, event: events.MouseEvent) -> tuple[int, int]:
        """Return the position in the text under the mouse."""
        scroll_x, scroll_y = self.scroll_offset
        y = min(max(event.y + scroll_y - self.gutter.top, 0), self.row_count - 1)
        return self._rows.find_location(event.x - self.gutter_width + scroll_x - self.gutter.left, y)

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Take the tab key, which belongs to the text here."""
        return key in ("tab", "shift+tab") or super().check_consume_key(key, character)

    def on_paste(self, event: events.Paste) -> None:
        """Refuse a paste that would hold up the screen for long; half of it would be no code."""
        if (size := len(event.text)) > _LONGEST_PASTE:
            event.stop()
            event.prevent_default()
            message = (
                f"The editor takes pastes of up to {_LONGEST_PASTE:,} characters; this one has {size:,}."
            )
            message += " Save it in a file, and let the code read that."
            self.notify(message, severity="warning", markup=False)

    async def _on_key(self, event: events.Key) -> None:
        if self.read_only:
            return
        if (self.vi is None or self.vi.mode == "insert") and self.completion.handle_key(event.key):
            event.stop()
            event.prevent_default()
            return
        if self.handle_vi_key(event):
            return
        if event.key not in ("enter", "tab", "shift+tab"):
            await obey(self, event)
            return
        event.stop()
        event.prevent_default()
        (top, column), (bottom, _) = sorted(self.selection)
        if event.key == "enter":
            before = self.document.get_line(top)[:column]
            indent = indent_next_line(before, self.indent_width)
            self._replace_via_keyboard("\n" + indent, *self.selection)
        elif event.key == "tab" and top == bottom:
            self.indent()
        else:
            self._shift_lines(top, bottom, deeper=event.key == "tab")

    def indent(self) -> None:
        """Replace the selection with spaces up to the next tab stop."""
        self._replace_via_keyboard(" " * self._find_columns_to_next_tab_stop(), *self.selection)

    # Completions

    @property
    def before_caret(self) -> str | None:
        """The code before the caret; None while something is selected."""
        start, (row, column) = self.selection
        if start != (row, column):
            return None
        lines = self._list_lines()
        return "\n".join([*lines[:row], lines[row][:column]])

    def complete_with(self, text: str, typed: int) -> None:
        """Replace characters before the caret, as one step to undo."""
        row, column = self.selection.end
        self.replace_once(text, (row, max(column - typed, 0)), (row, column))
        self.move_cursor((row, max(column - typed, 0) + len(text)))

    def ask(self, query: CompletionQuery) -> None:
        """Ask for completions."""
        self.post_message(self.CompletionsRequested(query))

    def show_offers(self, offers: Sequence[CompletionOffer], chosen: int, note: str) -> None:
        """Show completions, or close the list if there are none."""
        self.post_message(self.CompletionsOffered(offers, chosen, note))

    def on_text_area_changed(self) -> None:
        """Look for completions of what is typed now, while they are listed."""
        self.completion.follow()

    def on_text_area_selection_changed(self) -> None:
        """Close the list of completions where the caret left what they complete."""
        self.completion.follow()

    def on_blur(self) -> None:
        """Close the list of completions."""
        self.completion.close()

    def _shift_lines(self, top: int, bottom: int, *, deeper: bool) -> None:
        """Indent or dedent whole lines, as one step to undo."""
        lines = [self.document.get_line(row) for row in range(top, bottom + 1)]
        shifted = shift_lines(lines, self.indent_width, deeper=deeper)
        (first, start), (last, end) = self.selection
        result = "\n".join(shifted)
        if shifted == lines:
            return
        self.replace(result, (top, 0), (bottom, len(lines[-1])), maintain_selection_offset=False)
        moved = [len(new) - len(old) for new, old in zip(shifted, lines, strict=True)]
        self.selection = type(self.selection)(
            (first, max(start + moved[first - top], 0)), (last, max(end + moved[last - top], 0))
        )

    # Painting

    @property
    def look(self) -> Styles:
        """The styles to draw with."""
        return get_styles(self.app.current_theme, colourful=not self.app.no_color)

    def render_line(self, y: int) -> Strip:
        """Render one line of the view."""
        scroll_x, scroll_y = self.scroll_offset
        if y + scroll_y >= self.row_count:
            return Strip.blank(self.size.width, self.look.code)
        line, part = self._rows.find_row(y + scroll_y)
        first, last = self._rows.find_columns(line, part)
        bracket = self._matching_bracket_location if self.has_focus else None
        view = RowView(
            line,
            part,
            self.soft_wrap,
            first,
            last,
            scroll_x,
            self.size.width,
            self.gutter_width,
            self.look,
            self._find_selected(line),
            caret=self.selection.end[1] if self.has_focus and self.selection.end[0] == line else None,
            bracket=bracket[1] if bracket and bracket[0] == line else None,
            matches=tuple(self._found.get(line, ())),
            is_changed=line in self.changed,
        )
        strip = self._line_cache.get(("code", view))
        if strip is None:
            get_line = self.document.get_line
            strip = paint_row(view, get_line(line), self._highlighter.pieces(line, get_line))
            self._line_cache["code", view] = strip
        return strip

    def _find_selected(self, line: int) -> tuple[int, int]:
        """Return the columns of a line from and up to which it is selected, with the end of the line."""
        (top, start), (bottom, end) = sorted(self.selection)
        if not top <= line <= bottom:
            return 0, 0
        length = len(self.document.get_line(line))
        return start if line == top else 0, end if line == bottom else length + 1

    @property
    def cursor_screen_offset(self) -> Offset:
        """The cursor's position on the screen, for the terminal's own cursor."""
        x, y = self._cursor_offset
        region = self.content_region
        return Offset(
            region.x + x - round(self.scroll_x) + self.gutter_width, region.y + y - round(self.scroll_y)
        )
