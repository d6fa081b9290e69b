"""The lines above the answers: the question with its facts, the lines with risks, and warnings."""

from collections.abc import Iterator

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from oi_tui.text import normalise_line_ends
from oi_tui.widgets.approval.question import Question, QuestionStage
from oi_tui.widgets.approval.text import COLOURS, describe_request, describe_stage, lay_out, list_risks
from oi_tui.widgets.key_hints import find_key
from oi_tui.widgets.truncate import cut_end

#: How many lines with risks are shown from which height of the screen on.
_MOST_RISKS = ((36, 8), (24, 4), (16, 2), (0, 1))
#: Below this height of the screen not all facts are shown.
LOW = 16
#: Below this one none beside the number of lines.
LOWEST = 14


class QuestionText:
    """Writes what the panel says of a question into three widgets.

    `hidden_lines` is how many lines of the code are below the view; `in_vi` says whether the editor has the
    keys of vi.
    """

    def __init__(self) -> None:
        self.hidden_lines = 0
        self.in_vi = False
        #: The keys that act in a stage after the question, each with what it does.
        self._hints: list[str] = []
        self._title = Static(id="question", markup=False)
        self._risks = Static(id="findings", markup=False)
        self._warnings = Static(id="warning", markup=False)

    def widgets(self) -> Iterator[Static]:
        """Yield the widgets, from top to bottom."""
        yield from (self._title, self._risks, self._warnings)

    def show(self, question: Question, stage: QuestionStage, width: int, screen: Size) -> None:
        """Show the question, and what is known of it, in `width` cells."""
        self._title.update(self._write_title_and_facts(question, stage, width, screen))
        code = normalise_line_ends(question.code, question.request.message.format)
        most = next(most for height, most in _MOST_RISKS if screen.height >= height)
        warnings = Content("\n").join(Content(f"! {words}") for words in question.warnings)
        for line, content in (
            (self._risks, list_risks(question.findings, code, width, most)),
            (self._warnings, warnings),
        ):
            line.display = bool(content.plain) and stage is QuestionStage.ASKING
            line.update(content)

    def find_clicked_key(self, event: events.Click) -> str:
        """Return the key of the hint that was clicked; "" where there is none."""
        offset = event.get_content_offset(self._title)
        lines = str(self._title.content).split("\n")
        if offset is None or offset.y >= len(lines):
            return ""
        return find_key(lines[offset.y], offset.x, self._hints)

    def _write_title_and_facts(
        self, question: Question, stage: QuestionStage, width: int, screen: Size
    ) -> Content:
        request, level = question.request, question.level
        if stage is QuestionStage.ASKING:
            title, facts = describe_request(
                request, question.code, question.where, question.findings, self.hidden_lines, level
            )
        else:
            title, facts = describe_stage(stage, request, vi=self.in_vi)
        if screen.height < LOW and stage is not QuestionStage.WHY:
            # The answers come first: what runs the code, and where, is left out.
            facts = [] if stage is QuestionStage.ALWAYS else facts[:1]
            findings = question.findings
            if stage is QuestionStage.ASKING and screen.height >= LOWEST and not findings.risks:
                facts += [cut_end(fact, width) for fact in findings.fact_sentences]
        self._hints = [] if stage is QuestionStage.ASKING else facts
        colour = "$text-accent" if stage is QuestionStage.EDITING else COLOURS[level]
        return lay_out(title, facts, width, colour)
