"""The bar for finding and replacing text in the code editor."""

from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from oi_tui.text import clean_line
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.editor.find_replace import (
    MOST,
    Location,
    Locations,
    PatternError,
    find_pattern_places,
    find_places,
    replace_all,
)
from oi_tui.widgets.field import Field
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: Seconds after the last key before the search begins.
_CALM = 0.05
#: The keys, the least needed last.
_KEYS = ("tab", "ctrl+r all", "ctrl+t regex", "esc")


class FindReplaceBar(Widget):
    """One line over two fields: what to find, letter for letter or as a pattern, and what to put there.

    Enter in the first field goes to the next place, in the second it replaces and continues. Replacing all is
    one step to undo.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", "Next match", show=False, id="replace.next"),
        Binding("up", "step(-1)", "Previous match", show=False, id="replace.previous"),
        Binding("ctrl+r", "replace_all", "Replace all", id="replace.all"),
        Binding("ctrl+t", "pattern", "Toggle regular expression", id="replace.pattern"),
        Binding("escape", "close", "Back to the code", id="replace.close"),
    ]

    def __init__(self, editor: CodeEditor, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._editor = editor
        self._found: list[Location] = []
        self._at = -1
        self._regular = False
        self._problem = ""
        self._remark = ""
        self._timer: TimerHandle | None = None

    def compose(self) -> ComposeResult:
        """Mount the labels, the two fields and the count."""
        yield Static("Find", id="replace-name", markup=False)
        yield Field(id="replace-text", placeholder="in this code", select_on_focus=True)
        yield Static("Replace", id="replace-put", markup=False)
        yield Field(id="replace-with", placeholder="replacement", select_on_focus=True)
        yield Static(id="replace-state", markup=False)

    def open(self, text: str = "") -> None:
        """Take the keys; with a text, look for it at once."""
        self.display = True
        self._remark = ""
        if text and "\n" not in text:
            self._field.value = text
        self._field.focus()
        self._search()

    def dismiss(self) -> None:
        """Hide the bar."""
        if self.display:
            self._stop_timer()
            self.display = False
            self._found, self._at = [], -1
            self._editor.mark_found(())

    @property
    def _field(self) -> Input:
        return self.query_one("#replace-text", Input)

    @property
    def _with(self) -> Input:
        return self.query_one("#replace-with", Input)

    # What a person does

    def on_key(self, event: events.Key) -> None:
        """Move between the fields with tab."""
        if event.key in ("tab", "shift+tab"):
            event.stop()
            event.prevent_default()
            (self._with if self._field.has_focus else self._field).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when typing pauses."""
        event.stop()
        if self.display:
            self._stop_timer()
            self._timer = schedule(self, _CALM, self._search)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next place, or replace this one and go on."""
        event.stop()
        if self._timer is not None:
            self._search()
        elif event.input is self._with:
            self._replace()
        else:
            self.action_step(1)

    def action_step(self, step: int) -> None:
        """Go to the next place, or the one before; around the ends of the code."""
        self._remark = ""
        if self._found:
            self._show((self._at + step) % len(self._found))
        self._show_state()

    def action_pattern(self) -> None:
        """Take what is sought for a regular expression, or letter for letter again."""
        self._regular = not self._regular
        self._search()

    def action_close(self) -> None:
        """Give the keys back to the code."""
        self.dismiss()
        self._editor.focus()

    def action_replace_all(self) -> None:
        """Replace every place, as one step to undo."""
        locations, text = self._found, self._editor.code
        if not locations or locations[-1].end > len(text):
            return
        first, last = locations[0].start, locations[-1].end
        where = Locations(text)
        middle = replace_all(text[:last], locations)[first:]
        self._editor.replace_once(middle, where.find_location(first), where.find_location(last))
        more = " (there may be more)" if len(locations) == MOST else ""
        self._remark = f"{len(locations):,} replaced{more}"
        self._search()

    def _replace(self) -> None:
        if not 0 <= self._at < len(self._found):
            return
        place, text = self._found[self._at], self._editor.code
        if place.end > len(text):
            return
        where = Locations(text)
        self._editor.replace_once(place.put, where.find_location(place.start), where.find_location(place.end))
        self._remark = ""
        self._search(place.start + len(place.put))

    # Searching

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # It may still be going on as the screen closes, and then finds no widgets.
    @work(exclusive=True, group="replace", exit_on_error=False)
    async def _search(self, start: int | None = None) -> None:
        """Find all places, and show the first one from character `start`, or from the caret, on."""
        self._stop_timer()
        text, sought, replacement = self._editor.code, self._field.value, self._with.value
        where = Locations(text)
        if start is None:
            start = where.find_index(min(self._editor.selection.start, self._editor.selection.end))
        self._problem, locations = "", list[Location]()
        try:
            if self._regular:
                locations = await find_pattern_places(text, sought, replacement)
            else:
                locations = find_places(text, sought, replacement)
        except PatternError as error:
            self._problem = str(error)
        if text != self._editor.code or not self.display:
            return
        self._found, self._at = locations, -1
        self._editor.mark_found(
            [(where.find_location(item.start), where.find_location(item.end)) for item in locations]
        )
        if locations:
            self._show(next((n for n, entry in enumerate(locations) if entry.start >= start), 0))
        self._show_state()

    def _show(self, number: int) -> None:
        self._at = number
        where, place = Locations(self._editor.code), self._found[number]
        self._editor.select(where.find_location(place.start), where.find_location(place.end))

    def _show_state(self) -> None:
        self.query_one("#replace-name", Static).update(Content("Regex" if self._regular else "Find"))
        if self._problem:
            text = clean_line(self._problem, 60)
        elif self._remark:
            text = self._remark
        elif self._found:
            text = f"{self._at + 1:,} of {len(self._found):,}{'+' if len(self._found) == MOST else ''}"
        else:
            text = "not found" if self._field.value else ""
        keys = list(_KEYS)
        room = self.size.width - 12 - 2 * 14
        while keys and len(" · ".join([text, *keys])) > room:
            keys.pop(0 if len(keys) > 1 and keys[0] == "tab" else -1)
        self.query_one("#replace-state", Static).update(Content(" · ".join(filter(None, [text, *keys]))))

    def on_resize(self) -> None:
        """Show as many keys as fit."""
        self._show_state()
