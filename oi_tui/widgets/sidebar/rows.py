"""The rows of the sidebar."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oi_tui.actions.restore_files import MARKS
from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.messages import Message
from oi_tui.runtimes.variables import Memory, Variable, sort_by_interest
from oi_tui.text import clean_line, format_count, format_duration
from oi_tui.widgets.sidebar.plan import PlanItem

#: Rows that the variables of a language and the changed files have at least, also where room is short.
_FEWEST = 5
#: How many steps of a turn, and items of a plan, are listed at most.
_MOST_ITEMS = 7
#: The rows from which there is room for both.
_TALL = 30
#: Comments at the beginning of code, with which a model often says what it does.
_COMMENT = re.compile(r"\s*(?:#|//|--)\s+(?P<words>[^\n]*\w[^\n]*)")
#: The words for steps that did not simply finish.
_STATES = {
    "writing": "writing…",
    "queued": "not run yet",
    "running": "running",
    "waiting": "waiting for input",
    "failed": "failed",
    "interrupted": "stopped",
    "lost": "crashed",
    "rejected": "rejected",
    "skipped": "skipped",
    "unfinished": "incomplete",
}
#: The width of the bar that shows how full the context window is, in cells.
_BAR = 20
#: A number with many digits.
_LONG_NUMBER = re.compile(r"-?\d{1,15}\.\d{6,}(e[+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class SidebarFacts:
    """What the sidebar shows."""

    memories: tuple[Memory, ...] = ()
    #: The code of the current turn, with the numbers of the cells.
    codes: tuple[tuple[int, Message], ...] = ()
    #: The plan of the model in the current turn.
    plan: tuple[PlanItem, ...] = ()
    #: Steps that changed files, with the numbers of their cells, oldest first.
    change_sets: tuple[tuple[int, ChangeSet], ...] = ()
    #: Tokens of the last request and its reply.
    tokens: int = 0
    #: The context window in tokens; None where it is not known.
    window: int | None = None
    requests: int = 0
    #: The cost as text, "" before the first request.
    price: str = ""


@dataclass(frozen=True, slots=True)
class SidebarRow:
    """A row: text at the left and at the right. One with an `action` can be selected."""

    text: str = ""
    note: str = ""
    kind: Literal["heading", "entry", "facts", "warning"] = "facts"
    action: Literal["", "variable", "restore", "more"] = ""
    #: The variable's language and name, or the number of the cell.
    language: str = ""
    name: str = ""
    type: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The identity of the row, by which it stays selected."""
        return (self.action, self.language, self.name, self.text if self.action == "restore" else "")


def list_rows(facts: SidebarFacts, height: int) -> list[SidebarRow]:
    """List the rows; the longer sections are cut so that all of them fit, as far as that is possible."""
    context = _list_context(facts)
    memories = [memory for memory in facts.memories if memory.state == "known" and memory.variables]
    files = sum(len(change_set.changes) for _, change_set in facts.change_sets)
    most = max(1, min(_MOST_ITEMS, (height - 20) // 4))
    turn = _list_plan(facts.plan, most)
    if not turn or height >= _TALL:
        turn += _turn(facts.codes, most)
    fixed = len(turn) + len(context) + 4 + 2 * max(len(memories), 1)
    room = max(height - fixed, 0)
    for_files = min(files, max(_FEWEST, room // 3))
    for_each = max(_FEWEST, (room - max(for_files, 1)) // max(len(memories), 1))
    variables = _make_variable_rows(memories, facts.memories, for_each)
    return [*turn, *variables, *_make_file_rows(facts.change_sets, for_files), SidebarRow(), *context]


def _list_plan(items: Sequence[PlanItem], most: int) -> list[SidebarRow]:
    """List the plan in the model's words, with its progress where the model reports it."""
    if not items:
        return []
    has_marks = any(item.done is not None for item in items)
    done = sum(bool(item.done) for item in items)
    rows = [SidebarRow("Plan", f"{done} of {len(items)} done" if has_marks else "", "heading")]
    # Those that are done make room for those that are not.
    undone = next((at for at, item in enumerate(items) if not item.done), 0)
    first = min(undone, max(len(items) - most, 0))
    for number, item in enumerate(items[first : first + most], first + 1):
        mark = "✓" if item.done else "·" if has_marks else f"{number}."
        rows.append(SidebarRow(f"{mark} {item.text}"))
    if (hidden_count := len(items) - first - most) > 0:
        rows.append(SidebarRow(f"… {hidden_count} more"))
    return [*rows, SidebarRow()]


def _turn(codes: Sequence[tuple[int, Message]], most: int) -> list[SidebarRow]:
    """Return the pieces of code of a turn that has several, and how they stand."""
    if len(codes) < 2:
        return []
    done = sum(message.state == "finished" for _, message in codes)
    rows = [SidebarRow("Steps of this turn", f"{done:,} of {len(codes):,} done", "heading")]
    if (earlier := len(codes) - most) > 0:
        rows.append(SidebarRow(f"… {earlier:,} earlier"))
    rows += [_make_step_row(number, message) for number, message in codes[-most:]]
    return [*rows, SidebarRow()]


def _make_step_row(number: int, message: Message) -> SidebarRow:
    if message.state == "finished":
        words = "done" if message.seconds is None else format_duration(message.seconds)
    else:
        words = _STATES.get(message.state or "", "not run yet")
    kind: Literal["facts", "warning"] = "warning" if message.state in ("failed", "lost") else "facts"
    comment = _COMMENT.match(message.content)
    what = comment["words"] if comment else message.format or "text"
    return SidebarRow(f"[{number}] {clean_line(what, 60)}", words, kind)


def _make_variable_rows(known: Sequence[Memory], all_: Sequence[Memory], room: int) -> list[SidebarRow]:
    if not known:
        busy = any(memory.state in ("busy", "starting") for memory in all_)
        words = "shown when the code is done" if busy else "none yet"
        return [SidebarRow("Variables", kind="heading"), SidebarRow(words), SidebarRow()]
    rows: list[SidebarRow] = []
    for memory in known:
        title = f"Variables · {memory.language}" if len(known) > 1 else "Variables"
        rows += [
            SidebarRow(title, f"{memory.total:,}", "heading"),
            *_list_data(memory, room),
            SidebarRow(),
        ]
    return rows


def _list_data(memory: Memory, room: int) -> list[SidebarRow]:
    """List the data; functions, classes and what has no room are only counted."""
    data, code = sort_by_interest(memory.language, memory.variables)
    hidden_count = memory.total - len(memory.variables) + max(0, len(data) - room)
    counts = [
        f"{hidden_count:,} more" if hidden_count else "",
        _count(len(code), "function or class", "functions and classes"),
    ]
    rows = [_make_variable_row(memory.language, variable) for variable in data[:room]]
    if words := ", ".join(filter(None, counts)):
        rows.append(SidebarRow(f"… {words}", "f4", action="more", language=memory.language))
    return rows


def _make_variable_row(language: str, variable: Variable) -> SidebarRow:
    name, summary = clean_line(variable.name, 60), _shorten_number(clean_line(variable.summary, 80))
    return SidebarRow(name, summary, "entry", "variable", language, variable.name, variable.type)


def _make_file_rows(change_sets: Sequence[tuple[int, ChangeSet]], room: int) -> list[SidebarRow]:
    count = sum(len(change_set.changes) for _, change_set in change_sets)
    rows = [SidebarRow("Files changed", f"{count:,}" if count else "", "heading")]
    if not count:
        return [*rows, SidebarRow("none")]
    changes = [(cell, change) for cell, change_set in reversed(change_sets) for change in change_set.changes]
    for cell, change in changes[:room]:
        text = f"{MARKS[change.what]} {clean_line(change.name, 120)}"
        rows.append(SidebarRow(text, f"[{cell}] undo", "entry", "restore", name=str(cell)))
    if hidden_count := count - room if count > room else 0:
        rows.append(SidebarRow(f"… {hidden_count:,} more (%files)"))
    return rows


def _list_context(facts: SidebarFacts) -> list[SidebarRow]:
    rows = [SidebarRow("Context and cost", kind="heading")]
    if not facts.requests and not facts.tokens:
        return [*rows, SidebarRow("no request yet")]
    if not facts.tokens:
        rows.append(SidebarRow("tokens not reported"))
    elif facts.window:
        share = facts.tokens / facts.window
        full = min(_BAR, round(share * _BAR))
        kind: Literal["facts", "warning"] = "warning" if share > 0.9 else "facts"
        rows.append(SidebarRow("━" * full + "─" * (_BAR - full), f"{share:.0%}", kind))
        rows.append(SidebarRow(f"{format_count(facts.tokens)} of {format_count(facts.window)} tokens"))
    else:
        rows.append(SidebarRow(f"{format_count(facts.tokens)} tokens", "limit unknown"))
    requests = _count(facts.requests, "request", "requests") or "no request"
    cost = facts.price or "cost unknown"
    return [*rows, SidebarRow(requests, cost)]


def _shorten_number(text: str) -> str:
    """Shorten a number with many digits after its point to seven digits; other text stays as it is."""
    return f"{float(text):.7g}" if _LONG_NUMBER.fullmatch(text) else text


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}" if number else ""
