"""The texts of the approval panel: its title, and facts that wrap only between each other."""

from collections.abc import Sequence

from textual.content import Content

from oi_tui.engine.events import ApprovalRequested
from oi_tui.engine.review.findings import Findings, Level
from oi_tui.engine.tools import describe_tool, is_tool
from oi_tui.text import clean_line, normalise_line_ends
from oi_tui.widgets.truncate import measure_width

#: What a digit puts into the empty field that asks why.
QUICK_REASONS = ("wrong approach", "too risky", "explain it first", "use another language")
_APART = " · "
#: How each level is marked and coloured. The marks tell the levels apart without colours.
MARKS: dict[Level, str] = {"clear": "", "notes": "", "danger": "▲ "}
COLOURS: dict[Level, str] = {"clear": "$text-success", "notes": "$text-warning", "danger": "$text-error"}
_RISKY = "High risk. "
_LONGEST_RISK = 400
#: From which width on the code of a risky line stands beside what it does.
_ROOM_FOR_CODE = 50
#: How many cells of that code are shown at least.
_LEAST_CODE = 12
_INDENT = "   "
#: The note lists what the code may call: nothing of it may be cut off.
_LONGEST_FACT = 2_000


def describe_request(
    request: ApprovalRequested, code: str, where: str, findings: Findings, below: int, level: Level
) -> tuple[str, list[str]]:
    """Return the question, and what a person should know of the code; `below` lines of it are out of sight.

    `level` says how much care it needs.
    """
    text = normalise_line_ends(code, request.message.format)
    lines = text.count("\n") + (not text.endswith("\n"))
    facts = [request.note, f"{lines} line{'s' * (lines != 1)}"]
    if below:
        facts[-1] += f", {below} more below (page down)"
    facts += where.split(_APART)
    facts += findings.fact_sentences
    # Warnings, such as of hidden characters, make a high risk of code in which no risks were found.
    if level != "danger" or not findings.readable:
        facts.append(findings.conclusion)
    mark = f"{MARKS[level]}{_RISKY}" if level == "danger" else ""
    facts_shown = [clean_line(fact, _LONGEST_FACT if fact is request.note else 200) for fact in facts if fact]
    return mark + _describe_question(request), facts_shown


def _describe_question(request: ApprovalRequested) -> str:
    language = request.message.format or ""
    if is_tool(language):
        # Which tool it is must not be cut off.
        return f"Call {clean_line(describe_tool(language), 250)}?"
    asker = f" for {clean_line(request.asker, 60)}" if request.asker else ""
    return f"Run this {_write_language(request)} code{asker}?"


def list_risks(findings: Findings, code: str, width: int, most: int) -> Content:
    """Return the risks by lines of the code: the number, the text, and what the line does.

    The most serious come first. What does not fit into `most` rows is counted. Rows that are left go to what
    does not fit into one row, from the first line on.
    """
    risks, lines = findings.risks_by_line, code.splitlines()
    visible_risks = risks if len(risks) <= most else risks[: max(most - 1, 1)]
    digits = max((len(str(line)) for line, _ in visible_risks if line), default=0)
    texts = [clean_line(lines[line - 1], 200) if 0 < line <= len(lines) else "" for line, _ in visible_risks]
    room = 0
    if width >= _ROOM_FOR_CODE:
        # What a line does is read first; its code, which also stands above, has the rest.
        rest = (
            width
            - digits
            - 3
            - max((measure_width(clean_line(does, _LONGEST_RISK)) for _, does in visible_risks), default=0)
        )
        room = min(
            max(map(measure_width, texts), default=0), max(_LEAST_CODE, min(rest, width // 2 - digits))
        )
    rows: list[Content] = []
    spare = most - len(visible_risks) - (len(risks) > len(visible_risks))
    for (line, does), text in zip(visible_risks, texts, strict=True):
        number = f"{line or '':>{digits}} " if digits else ""
        excerpt = Content(text).truncate(room, ellipsis=True, pad=True) if room else Content("")
        prefix = Content.assemble((number, "$text-muted"), excerpt, "  " if room else "")
        wrapped = _wrap(clean_line(does, _LONGEST_RISK), width - prefix.cell_length, 1 + max(spare, 0))
        spare -= len(wrapped) - 1
        for part in wrapped:
            rows.append(Content.assemble(prefix, (part, "bold")).truncate(width, ellipsis=True))
            prefix = Content(" " * prefix.cell_length)
    if len(risks) > len(visible_risks) and most > 1:
        rows.append(
            Content.styled(f"{len(risks) - len(visible_risks)} more, marked with ! above", "$text-muted")
        )
    return Content("\n").join(rows)


def _wrap(text: str, width: int, most: int) -> list[str]:
    """Break a text between words into at most `most` rows; the last row has all that is left."""
    rows = [row.plain.rstrip() for row in Content(text).wrap(max(width, 1))]
    return [*rows[: most - 1], " ".join(rows[most - 1 :])] if len(rows) > most else rows


def describe_stage(stage: str, request: ApprovalRequested, *, vi: bool = False) -> tuple[str, list[str]]:
    """Return the title and the facts for a stage after the question."""
    language = _write_language(request)
    match stage:
        case "editing":
            keys = [
                "f5 done",
                "ctrl+enter run",
                ":q! cancel" if vi else "esc cancel",
                "f8 your changes",
                "ctrl+f find",
                "ctrl+g $EDITOR",
            ]
            return f"Editing this {language} code", keys
        case "why":
            quick = [f"{number} {reason}" for number, reason in enumerate(QUICK_REASONS, 1)]
            return f"Why not run this {language} code?", quick
        case "always":
            return "Run it, and auto-approve", ["ends with this conversation", "esc back"]
        case _:
            facts = ["all languages, whatever the code does", "%auto_run off turns this off"]
            return "Run everything without asking?", facts


def _write_language(request: ApprovalRequested) -> str:
    return clean_line(request.message.format or "", 30)


def lay_out(title: str, facts: Sequence[str], width: int, colour: str = COLOURS["notes"]) -> Content:
    """Lay out title and facts in as few lines as possible, broken between facts only.

    Where they do not fit on one line, all facts stand together below the title, if there is room for that.
    """
    below = measure_width(_APART.join(facts)) <= width < measure_width(title + _INDENT + _APART.join(facts))
    lines, room = [""], 0 if below else width - measure_width(title + _INDENT)
    for fact in facts:
        more = _APART + fact if lines[-1] else fact
        if measure_width(lines[-1] + more) <= room:
            lines[-1] += more
        else:
            lines.append(fact)
            room = width
    text = (_INDENT if lines[0] else "") + "\n".join(lines)
    return Content.assemble((title, f"{colour} bold"), (text, "$text-muted"))
