"""Status lines that never overflow: the least important part is left out first."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from oi_tui.text import clean_line
from oi_tui.widgets.key_hints import find_hint, find_key, press

#: A fact and the CSS-like style it is drawn in; facts that matter most come first.
Fact = tuple[str, str]
GAP = "  "
#: The last fact at the left is shortened to this many cells before others are left out: a title may be cut
#: early, what is in progress not.
_TITLE, _PROGRESS = 16, 50


class StatusBar(Widget):
    """One line with facts at the left and facts at the right, each listed by importance.

    Where room is short, the last fact at the left is shortened, then the facts at the right go, then those at
    the left. The first at the left stays in any case; with `keeps_right` it is the first at the right.
    A click on a key hint presses its key.
    """

    @dataclass
    class FactClicked(Message):
        """A fact at the right that is no key hint was clicked; `number` is its place in `right`."""

        bar: "StatusBar"
        number: int

        @property
        def control(self) -> "StatusBar":
            """The line with the fact."""
            return self.bar

    left: reactive[Sequence[Fact]] = reactive((), layout=False)
    right: reactive[Sequence[Fact]] = reactive((), layout=False)

    def __init__(self, *, keeps_right: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keeps_right = keeps_right

    def render(self) -> Content:
        """Fit the facts to the width."""
        return fit_facts(self.left, self.right, self.content_size.width, keeps_right=self._keeps_right)

    def on_click(self, event: events.Click) -> None:
        """Press the key of the hint that was clicked."""
        offset = event.get_content_offset(self)
        hints = [clean_line(text) for text, _ in self.right]
        if offset is None:
            return
        line = self.render().plain
        if key := find_key(line, offset.x, hints):
            press(self.app, key)
        elif (number := find_hint(line, offset.x, hints)) is not None:
            self.post_message(self.FactClicked(self, number))


def fit_facts(
    left: Sequence[Fact], right: Sequence[Fact], width: int, *, keeps_right: bool = False
) -> Content:
    """Fit the facts into a line of at most `width` cells."""
    lefts, rights = _clean(left), _clean(right)
    shortest = _TITLE if keeps_right else _PROGRESS
    while len(rights) > keeps_right and _measure_least(lefts, shortest) + _measure_apart(rights) > width:
        rights.pop()
    while len(lefts) > (not keeps_right) and _measure_least(lefts, shortest) + _measure_apart(rights) > width:
        lefts.pop()
    end = _join(rights).truncate(width, ellipsis=True)
    room = width - _measure_apart(rights) if rights else width
    line = _join(lefts).truncate(max(0, room), ellipsis=True)
    return Content.assemble(line, " " * max(0, width - line.cell_length - end.cell_length), end)


def _clean(facts: Sequence[Fact]) -> list[Fact]:
    flat = ((clean_line(text), style) for text, style in facts)
    return [(text, style) for text, style in flat if text]


def _measure_least(facts: Sequence[Fact], shortest: int) -> int:
    """Return the cells that the facts take when the last one is shortened."""
    if not facts:
        return 0
    *others, (last, _) = facts
    return sum(cell_len(text) + len(GAP) for text, _ in others) + min(cell_len(last), shortest)


def _measure_apart(facts: Sequence[Fact]) -> int:
    """Return the cells that the facts take with the gap before each."""
    return sum(cell_len(text) + len(GAP) for text, _ in facts)


def _join(facts: Sequence[Fact]) -> Content:
    return Content(GAP).join(Content.styled(text, style) for text, style in facts)
