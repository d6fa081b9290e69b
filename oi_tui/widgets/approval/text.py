"""The texts of the approval panel: title, and facts that are never broken in the middle."""

from collections.abc import Sequence

from textual.content import Content

from oi_tui.engine.events import ApprovalRequested
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.tools import is_tool, words
from oi_tui.text import one_line, with_line_ends
from oi_tui.widgets.truncate import width_of

#: What a digit puts into the empty field that asks why.
QUICK_REASONS = ("wrong approach", "too risky", "explain it first", "use another language")
_APART = " · "
_INDENT = "   "


def about(
    request: ApprovalRequested, code: str, where: str, findings: Findings, below: int
) -> tuple[str, list[str]]:
    """The question, and what a person should know of the code; `below` lines of it are out of sight."""
    shown = with_line_ends(code, request.message.format)
    lines = shown.count("\n") + (not shown.endswith("\n"))
    facts = [request.note, f"{lines} line{'s' * (lines != 1)}"]
    if below:
        facts[-1] += f", {below} more below (page down)"
    facts += where.split(_APART)
    facts += [*findings.fact_sentences, findings.conclusion]
    return _question(request), [one_line(fact, 200) for fact in facts if fact]


def _question(request: ApprovalRequested) -> str:
    language = request.message.format or ""
    if is_tool(language):
        # Which tool it is must not be cut off.
        return f"Call {one_line(words(language), 250)}?"
    return f"Run this {_language(request)} code?"


def of_stage(stage: str, request: ApprovalRequested) -> tuple[str, list[str]]:
    """The title and the facts while the answer is worked out."""
    language = _language(request)
    match stage:
        case "editing":
            keys = ["f5 done", "esc cancel", "f8 your changes", "ctrl+f find", "ctrl+g $EDITOR"]
            return f"Editing this {language} code", keys
        case "why":
            quick = [f"{number} {reason}" for number, reason in enumerate(QUICK_REASONS, 1)]
            return f"Why not run this {language} code?", quick
        case "always":
            return "Run it, and auto-approve", ["ends with this conversation", "esc back"]
        case _:
            facts = ["all languages, whatever the code does", "%auto_run off turns this off"]
            return "Run everything without asking?", facts


def _language(request: ApprovalRequested) -> str:
    return one_line(request.message.format or "", 30)


def laid_out(title: str, facts: Sequence[str], width: int) -> Content:
    """Title and facts in as few lines as can be, broken between two facts only.

    Where they do not fit on one line, all facts stand together below the title, if there is room for that.
    """
    below = width_of(_APART.join(facts)) <= width < width_of(title + _INDENT + _APART.join(facts))
    lines, room = [""], 0 if below else width - width_of(title + _INDENT)
    for fact in facts:
        more = _APART + fact if lines[-1] else fact
        if width_of(lines[-1] + more) <= room:
            lines[-1] += more
        else:
            lines.append(fact)
            room = width
    text = (_INDENT if lines[0] else "") + "\n".join(lines)
    return Content.assemble((title, "$text-warning bold"), (text, "$text-muted"))
