"""Looks for a text in the cells of a table, some rows after the other, so that it can be given up."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import time

from python_cell_text import format_value
from python_table_conditions import find_rows
from python_table_statistics import TableReadError

#: Rows that are looked at before it is seen whether to go on.
_PART = 50_000
#: After this many seconds the search is given up: the answer is waited for a little longer.
_SECONDS = 8.0
#: What the texts of numbers and of times are made of, in small letters: others are not looked for in them.
_OF_NUMBERS, _OF_TIMES = frozenset("0123456789+-.e"), frozenset("0123456789+-:. ")
_INFINITE = "-infinity"
_TIMES = ("datetime", "Datetime", "timestamp", "Date", "date32")


def find_words(table, words, is_needed):
    """Return for each row whether the words, in small letters, are in its label or in one of its cells.

    Raises TableReadError after some seconds, and once `is_needed` says that a request waits.
    """
    columns = _find_columns(table, words)
    flags = bytearray(table.rows)
    end = time.monotonic() + _SECONDS
    for start in range(0, table.rows, _PART):
        part = slice(start, min(start + _PART, table.rows))
        labels = [format_value(label, True) for label in table.labels(part)]
        _mark(flags, start, find_rows(labels, lambda label: words in label.lower()))
        for at in columns:
            if is_needed():
                raise TableReadError("The search was stopped, because a cell has to run.")
            if time.monotonic() > end:
                raise TableReadError(
                    "The table is too large to search all its cells. Filter by a condition on a column, "
                    "or with code."
                )
            _mark(flags, start, _search_part(table, at, part, words))
    return flags


def _mark(found, start, numbers):
    for number in numbers:
        found[start + number] = 1


def _find_columns(table, words):
    """Return the columns in which the words may be."""
    columns = []
    for at, (_, of, numeric) in enumerate(table.columns):
        # Of a long list, a sample showed that it holds numbers; it may hold texts, too.
        numeric = numeric and hasattr(table, "numbers")
        made_of = _OF_NUMBERS if numeric else _OF_TIMES if of.startswith(_TIMES) else None
        if made_of is None or made_of.issuperset(words) or (numeric and words in _INFINITE):
            columns.append(at)
    return columns


def _search_part(table, at, part, words):
    """Return the numbers of the rows in a part of a column that have the words."""
    numbers = table.find_text(at, part, words)
    return find_rows(table.column(at, part), lambda value: _has(value, words)) if numbers is None else numbers


def _has(value, words):
    return words in _write(value).lower()


def _write(value):
    kind = type(value)
    if kind is str:
        return value
    if kind is int:
        try:
            return str(value)
        except ValueError:
            # Python writes no integers of thousands of digits.
            pass
    return format_value(value, True) or ""
