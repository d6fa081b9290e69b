"""A cell: code, its state, and its output."""

import time

from rich.segment import Segment
from rich.style import Style
from typing_extensions import override

from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.messages import Message, Stopping
from oi_tui.text import clean_line, format_duration
from oi_tui.widgets.conversation.blocks import Block
from oi_tui.widgets.conversation.cells.cell_code import CellCode
from oi_tui.widgets.conversation.cells.cell_images import CellImages
from oi_tui.widgets.conversation.cells.cell_state import describe_run, describe_state
from oi_tui.widgets.conversation.cells.products import list_changed_files, list_products, summarise
from oi_tui.widgets.conversation.output import Output, add_rule, count_lines
from oi_tui.widgets.conversation.rows import Row, Span, clip_spans, wrap_words
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.truncate import measure_width

#: The left side of a cell's frame: top, side, bottom. What runs or waits stands out without colours, too.
_FRAME, _ACTIVE_FRAME = ("╭", "│", "╰"), ("┏", "┃", "┗")
#: From here on whole seconds are counted: each tenth would draw the header, also on a slow connection.
_TENTHS_UNTIL = 10
#: The longest reason that is shown, in characters.
_LONGEST_REASON = 600
#: Code with more lines than this is folded once it ran without an error.
_FOLDED_ABOVE = 24
_STEPS = {"interrupt": "stopping", "terminate": "ending it", "kill": "killing it"}


class CellBlock(Block):
    """One cell of the conversation. `number` counts them from 1."""

    name = "the code"

    def __init__(self, message: Message, number: int) -> None:
        super().__init__(message.id)
        self.message = message
        self.number = number
        self._code = CellCode(message)
        self.output = Output()
        #: What it showed.
        self.images = CellImages()
        #: The files that changed while it ran.
        self.files: ChangeSet | None = None
        self.awaits_approval = False
        self.prompt: str | None = None
        self.stopping: Stopping | None = None
        #: Whether its language is being started, so that the code has not begun.
        self.starting = False
        self.code_folded = self._is_folded_at_first(message)
        #: How many rows the editor takes that stands over the code; None when it is not being edited.
        self.editor_rows: int | None = None
        self._started = time.monotonic()

    @property
    def code(self) -> str:
        """The code that is written so far."""
        return self._code.text

    # What happens to it

    def update_message(self, message: Message) -> None:
        """Show this version of the code message."""
        if message.state == "running" and self.message.state != "running":
            self._started = time.monotonic()
        before, self.message = self.message, message
        self._code.update_message(message)
        if not self.live:
            self.images.drop_removed()
            self.reach_line(None)
            self.prompt = self.stopping = None
            self.starting = False
            self.awaits_approval = False
        if message.decision is not None:
            self.awaits_approval = False
            self.flag(frozenset())
        if before.state in ("running", "waiting") and self._is_folded_at_first(message):
            self.code_folded = True

    def reach_line(self, line: int | None) -> None:
        """Mark the line that runs now, counted from 1; None if no line is known."""
        self._code.reach_line(line)

    @staticmethod
    def _is_folded_at_first(message: Message) -> bool:
        return message.state == "finished" and message.content.rstrip("\n").count("\n") >= _FOLDED_ABOVE

    def clear_images(self) -> None:
        """Remove the images that the program removed; while it runs,
        they stay until it shows another one.
        """
        self.images.mark_removed()
        if not self.live:
            self.images.drop_removed()

    def grow(self, text: str) -> None:
        """Add text that the model writes."""
        self._code.grow(text)

    def set_edited(self, code: str) -> None:
        """Set code that the person changed; it has not been approved yet."""
        proposed = self.message.proposed if self.message.proposed is not None else self.message.content
        self.message = self.message.replace(content=code, proposed=proposed if proposed != code else None)
        self._code.update_message(self.message)

    def flag(self, lines: frozenset[int]) -> bool:
        """Mark lines, counted from 1, as worth a look; return False if they are marked already."""
        return self._code.flag(lines)

    @property
    def live(self) -> bool:
        """Whether the program runs, or waits for input."""
        return self.message.state in ("running", "waiting")

    @property
    @override
    def sticky(self) -> bool:
        # While the code waits for approval, nothing covers a line of it.
        return not self.awaits_approval and self.editor_rows is None

    @override
    def margin(self, place: int, count: int) -> str:
        top, side, bottom = _ACTIVE_FRAME if self.awaits_person or self.live else _FRAME
        return top if place == 0 else bottom if place == count - 1 else side

    @property
    def awaits_person(self) -> bool:
        """Whether it is the person's turn to approve or to edit it."""
        return self.awaits_approval or self.editor_rows is not None

    @override
    def mark_style(self, look: Styles) -> Style:
        if self.awaits_person or self.prompt is not None:
            return look.warning
        match self.message.state:
            case "finished":
                return look.success
            case "failed" | "lost":
                return look.error
            case "interrupted" | "rejected" | "unfinished":
                return look.warning
            case "skipped":
                return look.muted
            case _:
                return look.accent

    @property
    def clock(self) -> str:
        """The running time of the program, as in the header; "" while the header does not say it."""
        if self.prompt is not None or self.stopping:
            return ""
        seconds = time.monotonic() - self._started
        if _TENTHS_UNTIL <= seconds < 60:
            return f"{int(seconds)} s"
        return format_duration(round(seconds, 1))

    # How it is drawn

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        header, reason = self._draw_header(width, look)
        return [header, *self._draw_code(width, look), *reason, *self._draw_below(width, look)]

    @property
    def code_top(self) -> int:
        """The row, in the block, where the code begins."""
        return 1

    @property
    def active_row(self) -> int | None:
        """The row, in the block, where the active line begins; None where no code is seen to run."""
        row = self._code.active_row
        return None if self.code_folded or self.prompt is not None or row is None else self.code_top + row

    def count_lines_below(self, end: int) -> int:
        """Return the number of code lines that are not completely above row `end` of the block."""
        if self.code_folded:
            return self._code.line_count
        return self._code.count_lines_below(end - self.code_top)

    def _draw_header(self, width: int, look: Styles) -> tuple[Row, list[Row]]:
        """Draw the first row, and the reason in further rows where it does not fit there."""
        reason = clean_line(self.message.reason or "", _LONGEST_REASON)
        spans, shorter = self._render_title(look, reason), self._render_title(look, "")
        if shorter == spans or sum(measure_width(text) for text, _ in spans) <= width:
            return Row(clip_spans(spans, width), fill=look.base), []
        style = look.error if self.message.state in ("failed", "lost") else look.warning
        rows = [
            add_rule(Row(row.segments, row.text, 0, row.joint), look)
            for row in wrap_words([(reason, style)], width - 2)
        ]
        return Row(clip_spans(shorter, width), fill=look.base), rows

    def _render_title(self, look: Styles, reason: str) -> list[Span]:
        language = clean_line(self.message.format or "text", 30)
        spans: list[Span] = [(f"[{self.number}] {language}", look.accent)]
        if self.message.where:
            # The host, without the folder: the line must have room for the state.
            spans.append((f" {clean_line(self.message.where, 60).partition(', ')[0]}", look.accent))
        for text, style in self._describe_state(look, reason):
            spans.extend([(" · ", look.muted), (text, style)])
        return spans

    def _describe_state(self, look: Styles, reason: str) -> list[Span]:
        message = self.message
        if self.editor_rows is not None:
            return [("you are editing it", look.warning)]
        if self.awaits_approval:
            edited = [("edited", look.warning)] if message.proposed is not None else []
            return [("waiting for your approval", look.warning), *edited]
        if message.state in ("running", "waiting"):
            return [*self._describe_running(look), *describe_run(message, look)]
        return describe_state(message, look, reason)

    def _describe_running(self, look: Styles) -> list[Span]:
        text = f"{'starting' if self.starting else 'running'} {self.clock}"
        if self.prompt is not None:
            text = "waiting for input"
        if self.stopping:
            text = f"{_STEPS[self.stopping.step]}…"
        spans = [(text, look.warning if self.prompt is not None else look.success)]
        line, count = self._code.active_line, self._code.line_count
        if line is not None and count > 1:
            spans.append((f"line {line} of {count}", look.muted))
        return spans

    def _draw_code(self, width: int, look: Styles) -> list[Row]:
        if self.editor_rows is not None:
            return [Row([], None, fill=look.code) for _ in range(self.editor_rows)]
        if self.code_folded:
            return [Row(clip_spans(self._draw_fold_line(width, look), width), click="fold")]
        return self._code.rows(width, look, timed=bool(self.clock))

    def _draw_fold_line(self, width: int, look: Styles) -> list[Span]:
        """Draw the line in place of folded code: its length, the key, and its products."""
        summary, _ = self._summarise_products(width)
        spans = [(self._folded_code, look.muted)]
        return [*spans, (" · ", look.muted), (summary, look.base)] if summary else spans

    @property
    def _folded_code(self) -> str:
        return f"▸ {count_lines(self._code.line_count)} of code · f unfolds"

    def _summarise_products(self, width: int) -> tuple[str, bool]:
        """Return the products of the code that fit into the line of folded code,
        and whether these are all.
        """
        products = list_products(self.files, self.output.tables, len(self.images))
        return summarise(products, width - measure_width(f"{self._folded_code} · "))

    def _draw_below(self, width: int, look: Styles) -> list[Row]:
        rows = self.output.rows(width, look, live=self.live, room=self.room) if self.output else []
        return rows + self.images.rows(width, look) + self._draw_changed_files(width, look)

    def _draw_changed_files(self, width: int, look: Styles) -> list[Row]:
        """Return a line about the files that changed, and one about what was not looked at."""
        if self.files is None:
            return []
        is_in_header = self.code_folded and self._summarise_products(width)[1]
        names = [] if is_in_header else list_changed_files(self.files)
        lines = [f"files  {'   '.join(names)}"] if names else []
        lines += [self.files.note] if self.files.note else []
        return [
            Row([Segment("│ ", look.rule), *clip_spans([(text, look.muted)], width - 2)]) for text in lines
        ]

    def open_output(self) -> bool:
        """Show all of the output that is kept, or fold it again; return False if all is shown anyway."""
        return self.output.toggle(live=self.live)

    @override
    def estimate(self, width: int) -> int:
        code = max(self.code.count("\n") + 1, len(self.code) // max(width - 6, 1))
        return 1 + code + self.output.estimate() + 12 * len(self.images)

    @override
    def source(self) -> str:
        return self.code

    @override
    def fold(self) -> bool:
        self.code_folded = not self.code_folded
        return True

    @property
    @override
    def keys(self) -> str:
        table = " · enter open the table" if self.output.tables else ""
        output = " · v view output · o open · C copy output"
        files = " · u restore files" if self.files and self.files.changes else ""
        diff = " · d your changes" if self.message.proposed is not None else ""
        image = " · p show image" if self.images else ""
        output = table + output if self.output else ""
        whole = " · m whole block · w what the model saw"
        # The question runs and edits code that waits for approval.
        run = "" if self.awaits_approval else " · r run · e edit"
        return f"c copy{run}{image}{diff}{files}{output}{whole} · s save · f fold · b back to here"

    @override
    def forget(self) -> None:
        self._code.forget()
        self.images.forget()
        self.output.forget()
