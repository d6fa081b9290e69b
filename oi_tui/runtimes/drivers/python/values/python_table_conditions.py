"""Filters the rows of a table by a condition on one column, as `price > 5`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import operator
import re

from python_cell_text import is_missing, text_of
from python_table_statistics import TableReadError

_CONDITION = re.compile(r"(.+?)\s*(==|!=|<=|>=|=|<|>)\s*(.+)", re.S)
_SIGNS = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: The modules of types whose values are compared as numbers: no code of the program is run.
_NUMBERS = ("builtins", "numpy", "decimal")


def find_matching(table, words, most):
    """The numbers of the rows where a column has a value, as `price > 5`; None for a text to look for."""
    found = _CONDITION.fullmatch(words.strip())
    if found is None:
        return None
    called = found.group(1).strip("`'\"")
    names = [str(name) for name, _, _ in table.columns]
    same = [at for at, name in enumerate(names) if name == called]
    same = same or [at for at, name in enumerate(names) if name.lower() == called.lower()]
    if not same:
        return None
    if table.rows > most:
        raise TableReadError("The table is too long to be filtered here; filter it with code.")
    sign, value = found.group(2), found.group(3).strip("'\"")
    values = table.column(same[0])
    if value == "missing" and sign in ("=", "==", "!="):
        return {at for at, item in enumerate(values) if is_missing(item) == (sign != "!=")}
    try:
        number = float(value)
    except ValueError:
        number = None
    test = _SIGNS[sign]
    return {
        at for at, item in enumerate(values) if not is_missing(item) and _holds(test, item, value, number)
    }


def _holds(test, item, value, number):
    if number is not None and type(item).__module__ in _NUMBERS:
        try:
            return bool(test(float(item), number))
        except (TypeError, ValueError):
            return False
    text = text_of(item, True) or ""
    # A time at midnight is called by its day.
    midnight = " 00:00:00"
    return test(text[: -len(midnight)] if text.endswith(midnight) else text, value)
