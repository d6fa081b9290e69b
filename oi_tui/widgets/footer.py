"""The last line of a screen: a message, and the keys that work now."""

from textual import events
from textual.content import Content
from textual.widgets import Static

from oi_tui.text import clean_line
from oi_tui.widgets.key_hints import find_key, press
from oi_tui.widgets.static_text import show_text
from oi_tui.widgets.truncate import measure_width

#: Keys and what they do, the most important first; the last one is the way back.
Keys = tuple[tuple[str, str], ...]


class KeyFooter(Static):
    """Keys in one line that never overflows: where room is short, those before the last are left out.

    A sentence that is longer than the line takes several. A click on a key presses it.
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, markup=False)
        self._line = ""
        self._keys: Keys = ()

    def show(self, keys: Keys, notice: str = "") -> None:
        """Show a sentence, if there is one, and the keys."""
        notice = clean_line(notice)
        width = self.app.size.width - 2
        room = width - (measure_width(notice) + 3 if notice else 0)
        while keys and sum(len(key) + len(what) + 4 for key, what in keys) - 3 > room:
            if len(keys) == 1 and not notice:
                break
            keys = (*keys[:-2], *keys[-1:]) if len(keys) > 1 else ()
        parts = [Content.assemble((key, "$text-accent"), f" {what}") for key, what in keys]
        if notice:
            parts.insert(0, Content.styled(notice, "$text-warning"))
        is_long = measure_width(notice) > width
        self.styles.height = "auto" if is_long else 1
        self.styles.text_wrap = "wrap" if is_long else "nowrap"
        line = Content("   ").join(parts)
        self._line, self._keys = line.plain, () if is_long else keys
        show_text(self, line)

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked."""
        offset = event.get_content_offset(self)
        hints = [f"{key} {what}" for key, what in self._keys]
        if offset is not None and (key := find_key(self._line, offset.x, hints)):
            press(self.app, key)
