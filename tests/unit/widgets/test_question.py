"""What a question about code accepts as its answer, and of what it warns."""

import math
from pathlib import Path

import pytest

from oi_tui.engine.events import ApprovalRequested
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.permissions import Permission, list_offers
from oi_tui.engine.review.scanner import scan_code
from oi_tui.messages import Message
from oi_tui.widgets.approval.options import ApprovalOption, Clickable, OptionLine
from oi_tui.widgets.approval.question import ANSWERS, Question, QuestionStage

CODE = "import os\nprint(1)"
FOLDER = Path("/work")


def ask(code: str = CODE, *, edited: str | None = None, caution: str = "", given: int = 2) -> Question:
    shown = code if edited is None else edited
    message = Message(role="assistant", type="code", format="python", content=code)
    findings: Findings = scan_code("python", shown, FOLDER)
    found: tuple[Permission, ...] = list_offers("python", CODE, FOLDER)[:given]
    assert len(found) == given
    return Question(ApprovalRequested(message, caution=caution), shown, "Python", findings, found)


def test_a_question_takes_the_name_of_an_answer() -> None:
    accepted = [word for word in (*ANSWERS, "", "1", "yes") if ask().accepts(QuestionStage.ASKING, word)]
    assert accepted == ["run", "edit", "reject", "always", "help"]
    assert ask(edited="print(2)").accepts(QuestionStage.ASKING, "diff")


def test_of_what_may_be_granted_only_the_numbers_that_are_shown_count() -> None:
    numbers = ("-1", "0", "1", "2", "3", "", "run", "²")
    assert [n for n in numbers if ask().accepts(QuestionStage.ALWAYS, n)] == ["1", "2"]
    assert not ask(given=0).accepts(QuestionStage.ALWAYS, "1")


@pytest.mark.parametrize("stage", [QuestionStage.EDITING, QuestionStage.WHY, QuestionStage.WORD])
def test_where_something_is_typed_no_letter_answers(stage: QuestionStage) -> None:
    assert not any(ask(edited="print(2)").accepts(stage, word) for word in (*ANSWERS, "1"))


def test_only_other_code_is_edited() -> None:
    assert not ask(edited=CODE).is_edited
    assert ask(edited=CODE + "\n").is_edited
    assert ask(edited="").is_edited


@pytest.mark.parametrize(
    ("code", "level", "warning"),
    [
        ("print(1)", "clear", []),
        ("x = 1 \u202e# done", "danger", ["Hidden characters: U+202E RIGHT-TO-LEFT OVERRIDE"]),
        ("p\u0430y = 1", "danger", ["Look-alike letters: CYRILLIC SMALL LETTER A in p\u0430y"]),
    ],
)
def test_what_hides_something_is_grave_and_named(code: str, level: str, warning: list[str]) -> None:
    assert (ask(code).level, ask(code).warnings) == (level, warning)
    assert ask(code, caution="Careful.").warnings == ["Careful.", *warning]


def test_what_hides_something_in_the_edited_code_counts() -> None:
    assert ask("x = 1 \u202e# done", edited="x = 1").warnings == []
    assert ask("x = 1", edited="x = 1 \u202e# done").level == "danger"


def test_an_answer_shows_its_key_and_its_word() -> None:
    option = ApprovalOption("y", "run")
    assert (option.id, option.word, str(option.content)) == ("choice-run", "run", " y  run")
    option.say("run the edited code")
    assert str(option.content) == " y  run the edited code"
    option.say("run", "r")
    assert str(option.content) == " r  run"
    option.say("go")
    assert (option.word, str(option.content)) == ("run", " r  go")
    line = OptionLine(2)
    line.show("this code")
    assert (line.id, line.word, str(line.content)) == ("offer-2", "2", " 2  this code")


def test_a_click_without_a_press_was_pressed_before_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    posted: list[object] = []
    option = ApprovalOption("y", "run")
    monkeypatch.setattr(option, "post_message", posted.append)
    option.on_click()
    chosen = posted[0]
    assert isinstance(chosen, Clickable.Chosen)
    assert (chosen.word, chosen.pressed) == ("run", -math.inf)
