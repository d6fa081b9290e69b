"""Summarises what the code of a cell made: files, tables and figures."""

from collections.abc import Sequence

from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.text import clean_line
from oi_tui.widgets.conversation.inline_table import InlineTable
from oi_tui.widgets.truncate import measure_width

#: What a list of names begins with, in the order in which the lists stand.
_VERBS = {"created": "made", "changed": "changed", "deleted": "deleted"}
#: No name of a file or table is longer, in characters.
_LONGEST_NAME = 40
#: How many names are listed at most.
_MOST_NAMES = 8
#: How many changed files are named below a cell, and the mark of each.
_MOST_FILES = 5
_MARKS = {"created": "+", "changed": "~", "deleted": "-"}

Name = tuple[str, str]


def list_products(files: ChangeSet | None, tables: Sequence[InlineTable], figures: int) -> list[Name]:
    """List what code made, changed and deleted, each with its verb: `("made", "table df 120x4")`."""
    changes = files.changes if files else ()
    entries = [(verb, change) for what, verb in _VERBS.items() for change in changes if change.what == what]
    names = [(verb, clean_line(change.name, _LONGEST_NAME)) for verb, change in entries]
    created = len([verb for verb, _ in names if verb == "made"])
    tables_and_figures = [("made", _describe_table(table)) for table in tables]
    if figures:
        tables_and_figures.append(("made", "1 figure" if figures == 1 else f"{figures} figures"))
    return [*names[:created], *tables_and_figures, *names[created:]]


def list_changed_files(files: ChangeSet) -> list[str]:
    """List the first changed files with their marks, and count the others: `["+ a.csv", "3 more"]`."""
    changes = files.changes
    names = [f"{_MARKS[change.what]} {clean_line(change.name, 100)}" for change in changes[:_MOST_FILES]]
    if len(changes) > _MOST_FILES:
        names.append(f"{len(changes) - _MOST_FILES:,} more")
    return names


def _describe_table(table: InlineTable) -> str:
    name = f" {clean_line(table.name, _LONGEST_NAME)}" if table.name else ""
    return f"table{name} {table.total}x{table.width}"


def summarise(products: Sequence[Name], room: int) -> tuple[str, bool]:
    """Name as many of the products as `room` cells take, and count the rest; also whether all are named."""
    for count in range(min(len(products), _MOST_NAMES), 0, -1):
        text = _join(products[:count], len(products) - count)
        if measure_width(text) <= room:
            return text, count == len(products)
    return "", not products


def _join(products: Sequence[Name], more: int) -> str:
    parts: list[str] = []
    for index, (verb, name) in enumerate(products):
        same = index > 0 and products[index - 1][0] == verb
        parts.append(f", {name}" if same else f"{' · ' if parts else ''}{verb} {name}")
    return "".join(parts) + (f" and {more:,} more" if more else "")
