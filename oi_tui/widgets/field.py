"""A line to type into."""

from textual import events
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import Input

from oi_tui.widgets.truncate import cut_end

#: So many characters of a paste are taken. A longer line would make every key slow.
LONGEST_PASTE = 10_000


class Field(Input):
    """Stays quick after a long paste: with a few megabytes, Textual's own needs seconds for each key."""

    #: A blinking caret would draw the field twice a second, which matters on a slow connection.
    cursor_blink = reactive(False, init=False)

    def on_paste(self, event: events.Paste) -> None:
        """Take the beginning of a paste that is too long, and say so."""
        line = event.text[: LONGEST_PASTE + 1].partition("\n")[0].partition("\r")[0]
        if len(line) > LONGEST_PASTE:
            event.stop()
            event.prevent_default()
            self.replace(line[:LONGEST_PASTE], *self.selection)
            message = f"The paste was cut to {LONGEST_PASTE:,} characters: no more fit into this field."
            self.notify(message, severity="warning", markup=False)

    def render_line(self, y: int) -> Strip:
        """Render a line. A placeholder that does not fit is cut with “…”; Textual (8.2.8) would wrap it."""
        words = self.placeholder
        self.set_reactive(Input.placeholder, cut_end(words, self.scrollable_content_region.width))
        try:
            return super().render_line(y)
        finally:
            self.set_reactive(Input.placeholder, words)
