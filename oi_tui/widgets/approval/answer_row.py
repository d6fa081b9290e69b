"""The row of answers, each with its key."""

from textual.app import ComposeResult
from textual.containers import Horizontal

from oi_tui.widgets.approval.answer_keys import format_key, map_answers
from oi_tui.widgets.approval.options import ApprovalOption
from oi_tui.widgets.approval.question import Question

#: Shorter texts for panels below a width. An empty one leaves the key, and none hides the answer.
_NARROW: tuple[tuple[int, dict[str, str | None]], ...] = (
    (44, {"reject": "no", "always": "more", "help": None}),
    (58, {"always": "always", "help": ""}),
)
_TEXTS = {"always": "always …"}


class AnswerRow(Horizontal):
    """Shows the answers to a question that are possible, the recommended one first."""

    def compose(self) -> ComposeResult:
        """Show one option for each answer."""
        for answer, key in self._find_first_keys().items():
            yield ApprovalOption(format_key(key), answer)

    def show(self, question: Question, width: int) -> None:
        """Show the answers to this question, with texts that fit into the width."""
        narrow = next((texts for least, texts in _NARROW if width < least), {})
        for answer, key in self._find_first_keys().items():
            text = narrow.get(answer, _TEXTS.get(answer, answer))
            option = self._find_option(answer)
            option.display = text is not None
            option.say(text or "", format_key(key))
        self._find_option("diff").display = question.is_edited
        self._find_option("always").display = not question.request.asker
        self._order(question)

    def _order(self, question: Question) -> None:
        """Put the answer first that the level of risk calls for; the others keep their usual order."""
        order = [f"choice-{answer}" for answer in self._find_first_keys()]
        if question.level == "danger":
            order.sort(key=lambda name: name != "choice-reject")
        if [child.id for child in self.children] != order:
            self.sort_children(key=lambda child: order.index(child.id or ""))

    def _find_first_keys(self) -> dict[str, str]:
        """Return the key that stands for each answer, where several can be pressed."""
        keys: dict[str, str] = {}
        for key, answer in map_answers(self.app).items():
            keys.setdefault(answer, key)
        return keys

    def _find_option(self, answer: str) -> ApprovalOption:
        return self.query_one(f"#choice-{answer}", ApprovalOption)
