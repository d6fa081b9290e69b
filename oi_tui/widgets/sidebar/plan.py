"""Finds the plan in what a model wrote: its checklist, or the numbered list before its first code."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oi_tui.messages import Message
from oi_tui.text import clean_line

#: A plan with fewer items says nothing that the code does not say.
_FEWEST = 2
_CHECKBOX = re.compile(r"^ {0,3}(?:[-*+]|\d{1,2}[.)]) \[(?P<mark>[ xX])\] +(?P<text>\S.*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^ {0,3}\d{1,2}[.)] +(?P<text>\S.*)$", re.MULTILINE)
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"\*\*|__|`")


@dataclass(frozen=True, slots=True)
class PlanItem:
    """An item of a plan. `done` is None where the model does not say."""

    text: str
    done: bool | None = None


def find_plan(messages: Iterable[Message]) -> tuple[PlanItem, ...]:
    """Return the newest checklist of a turn, else the first numbered list before its code; else nothing."""
    plan: Sequence[PlanItem] = ()
    code_came = False
    for message in messages:
        if message.role != "assistant":
            continue
        if message.type == "code":
            code_came = True
        elif message.type == "message":
            text = _FENCED.sub("", message.content)
            checked = [
                PlanItem(_describe_step(match["text"]), match["mark"] != " ")
                for match in _CHECKBOX.finditer(text)
            ]
            numbered = [PlanItem(_describe_step(match["text"])) for match in _NUMBERED.finditer(text)]
            if len(checked) >= _FEWEST:
                plan = checked
            elif len(numbered) >= _FEWEST and not code_came and not plan:
                plan = numbered
    # A list in an answer without code is the answer.
    return tuple(plan) if code_came else ()


def _describe_step(text: str) -> str:
    return clean_line(_MARKUP.sub("", text), 80)
