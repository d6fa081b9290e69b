"""Filters the rows of a table by a condition on one column, as `price > 5`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import operator
import re

from python_cell_text import is_missing, text_of
from python_table_statistics import TableReadError

_TRUTH = {"true": True, "false": False}
#: A time at midnight is called by its day.
_MIDNIGHT = re.compile(r" 00:00:00([+-][0-9]{2}:[0-9]{2})?$")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?")
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
    """The numbers of the rows where a column has a value, as `price > 5`; None for a text to look for.

    For a column that is an array of numpy, an array that says so of each row.
    """
    found = _CONDITION.fullmatch(words.strip())
    if found is None:
        return None
    called = found.group(1).strip("`'\"")
    names = [str(name) for name, _, _ in table.columns]
    same = [at for at, name in enumerate(names) if name == called]
    same = same or [at for at, name in enumerate(names) if name.lower() == called.lower()]
    if not same:
        return None
    sign, value = found.group(2), found.group(3).strip("'\"")
    values = table.array(same[0])
    if values is not None and (fit := _fit(values, sign, value)) is not None:
        return fit
    if table.rows > most:
        raise TableReadError("The table is too long to be filtered here; filter it with code.")
    values = table.column(same[0])
    if _asks_missing(sign, value):
        return {at for at, item in enumerate(values) if is_missing(item) == (sign != "!=")}
    number = _number(value)
    test = _SIGNS[sign]
    return {
        at for at, item in enumerate(values) if not is_missing(item) and _holds(test, item, value, number)
    }


def _asks_missing(sign, value):
    return value == "missing" and sign in ("=", "==", "!=")


def _number(value):
    try:
        return float(value)
    except ValueError:
        return None


def _fit(values, sign, value):
    """Which items of an array of numbers or times fit; None where their texts have to be compared."""
    kind = values.dtype.kind
    # What is missing is no number, and is not equal to itself.
    there = values == values
    if _asks_missing(sign, value):
        return there if sign == "!=" else ~there
    if kind == "M":
        # Times in nanoseconds end outside these years.
        if not _DAY.fullmatch(value) or not "1678" <= value < "2262":
            return None
        try:
            wanted = values.dtype.type(value.replace(" ", "T"))
        except ValueError:
            # There is no such day.
            return None
    elif kind == "b" and value.lower() in _TRUTH:
        wanted = _TRUTH[value.lower()]
    else:
        wanted = _number(value)
        if wanted is None:
            return None
        if kind in "iu" and wanted.is_integer():
            # Large numbers are compared exactly.
            wanted = int(value) if re.fullmatch(r"[-+]?[0-9]+", value) else int(wanted)
    return _SIGNS[sign](values, wanted) & there


def _holds(test, item, value, number):
    if type(item).__name__ in ("bool", "bool_") and value.lower() in _TRUTH:
        return bool(test(bool(item), _TRUTH[value.lower()]))
    if number is not None and type(item).__module__ in _NUMBERS:
        try:
            return bool(test(float(item), number))
        except (TypeError, ValueError):
            return test is operator.ne
    return test(_MIDNIGHT.sub("", text_of(item, True) or ""), value)
