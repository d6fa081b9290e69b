"""Shows the user's changes to the model's code, line by line."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from oi_tui import paths
from oi_tui.screens.dialog import Page
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.footer import KeyFooter

#: Unchanged lines are shown up to this distance from a change.
_AROUND = 3
#: Longer code is compared by its lines as sets, which is quick and nearly as good.
_LONG = 4_000


class DiffScreen(Page[None]):
    """Shows lines that went with "-" and lines that came with "+", with what stands around them."""

    CSS_PATH = paths.styles() / "reader.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f8,d", "dismiss", "Back", id="changes.leave"),
    ]

    def __init__(self, title: str, before: str, after: str) -> None:
        super().__init__()
        self._title = title
        self._before = before.split("\n")
        self._after = after.split("\n")

    def compose(self) -> ComposeResult:
        """Mount the title, the lines, and the keys."""
        yield Static(Content(clean_line(self._title, 200)), id="reader-title", markup=False)
        with VerticalScroll(id="changes"):
            yield Static(id="changes-lines", markup=False)
        yield KeyFooter(id="reader-status")

    def on_mount(self) -> None:
        """Begin with the lines."""
        rows = list(list_changes(self._before, self._after))
        removed = sum(sign == "-" for sign, _, _ in rows)
        added = sum(sign == "+" for sign, _, _ in rows)
        width = len(str(max(len(self._before), len(self._after))))
        lines = [_draw_row(sign, number, text, width) for sign, number, text in rows]
        same = "No changes: this is what the model wrote."
        self.query_one("#changes-lines", Static).update(Content("\n").join(lines) if lines else Content(same))
        self.query_one(VerticalScroll).focus()
        counts = f"- {_count(removed)} of the model   + {_count(added)} of yours" if lines else ""
        self.query_one(KeyFooter).show((("up / down", "scroll"), ("esc", "back")), counts)


def _count(lines: int) -> str:
    return f"{lines:,} line{'s' * (lines != 1)}"


def list_changes(before: list[str], after: list[str]) -> Iterator[tuple[str, int, str]]:
    """Yield the lines with a sign each, "-", "+" or " ", and their numbers; "…" and a count
    for those left out.
    """
    steps = SequenceMatcher(None, before, after, autojunk=len(before) > _LONG).get_opcodes()
    if all(tag == "equal" for tag, *_ in steps):
        return
    for index, (tag, start, end, first, last) in enumerate(steps):
        if tag == "equal":
            head = 0 if index == 0 else _AROUND
            tail = 0 if index == len(steps) - 1 else _AROUND
            hidden_count = (last - first) - head - tail
            for offset in range(last - first):
                if hidden_count <= 1 or offset < head or offset >= last - first - tail:
                    yield " ", first + offset + 1, after[first + offset]
                elif offset == head:
                    yield "…", hidden_count, ""
            continue
        yield from (("-", number + 1, before[number]) for number in range(start, end))
        yield from (("+", number + 1, after[number]) for number in range(first, last))


def _draw_row(sign: str, number: int, text: str, width: int) -> Content:
    if sign == "…":
        return Content.styled(f"  {'':>{width}}  … {number} unchanged lines …", "$text-muted")
    style = {"-": "$text-error", "+": "$text-success"}.get(sign, "")
    words = escape_controls(text).expandtabs(4)
    return Content.assemble((f"{sign} {number:>{width}}  ", style or "$text-muted"), (words, style))
