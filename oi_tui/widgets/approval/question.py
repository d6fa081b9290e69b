"""The question in the panel, and the state of its answer."""

from dataclasses import dataclass
from enum import StrEnum

from oi_tui.engine.events import ApprovalRequested
from oi_tui.engine.review.findings import Findings, Level
from oi_tui.engine.review.permissions import Permission
from oi_tui.text import clean_line, list_hidden_characters
from oi_tui.widgets.conversation.code import find_mixed_identifiers

#: The answers to a question, by the names that bindings and options use.
ANSWERS = ("run", "edit", "reject", "always", "diff", "help")


class QuestionStage(StrEnum):
    """What the panel waits for."""

    ASKING = "asking"
    #: The code is edited in the conversation; the question comes again afterwards.
    EDITING = "editing"
    #: The person types why the code is rejected.
    WHY = "why"
    #: The person chooses what to approve besides.
    ALWAYS = "always"
    #: The person types the word that lets everything run.
    WORD = "word"


@dataclass(frozen=True)
class Question:
    """A request for approval, with the code as it stands now and what was found in it.

    `where` says what would run the code, and in which place; `offers` are what may be granted besides, from
    narrow to wide.
    """

    request: ApprovalRequested
    code: str
    where: str
    findings: Findings
    offers: tuple[Permission, ...]

    @property
    def is_edited(self) -> bool:
        """Whether the code differs from the model's."""
        return self.code != self.request.message.content

    def accepts(self, stage: QuestionStage, answer: str) -> bool:
        """Return whether this can be answered now: the name of an answer, or the number
        of an offer, from 1.
        """
        if stage is QuestionStage.ALWAYS:
            return answer.isdecimal() and 0 < int(answer) <= len(self.offers)
        return stage is QuestionStage.ASKING and answer in ANSWERS and (answer != "diff" or self.is_edited)

    @property
    def level(self) -> Level:
        """How much care the code needs; what hides something in it is grave as well."""
        return "danger" if self._hidden or self._mixed else self.findings.level

    @property
    def warnings(self) -> list[str]:
        """The text above the answers."""
        warnings = [self.request.caution] if self.request.caution else []
        if characters := self._hidden:
            warnings.append("Hidden characters: " + ", ".join(characters))
        if mixed := self._mixed:
            warnings.append("Look-alike letters: " + clean_line(", ".join(mixed), 300))
        return warnings

    @property
    def _hidden(self) -> list[str]:
        return list_hidden_characters(self.code)

    @property
    def _mixed(self) -> list[str]:
        return find_mixed_identifiers(self.code, self.request.message.format)
