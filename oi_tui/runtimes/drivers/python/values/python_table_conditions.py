"""Filters the rows of a table by a condition on one column, as `price > 5`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import datetime
import math
import operator
import re
import sys
from fractions import Fraction

from python_cell_text import format_value, is_missing
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
#: Units of time in seconds, by their first letters as people shorten them.
_UNITS = {
    "w": 604_800,
    "d": 86_400,
    "h": 3600,
    "hr": 3600,
    "m": 60,
    "min": 60,
    "s": 1,
    "sec": 1,
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
    "ps": Fraction(1, 10**12),
    "fs": Fraction(1, 10**15),
    "as": Fraction(1, 10**18),
}
_WORDS = {
    "week": "w",
    "day": "d",
    "hour": "h",
    "minute": "min",
    "second": "s",
    "millisecond": "ms",
    "milli": "ms",
    "microsecond": "us",
    "micro": "us",
    "µs": "us",
    "μs": "us",
    "nanosecond": "ns",
    "nano": "ns",
}
#: A duration in words (1h 30min), with a clock as pandas writes it (2 days 03:00:00), and as ISO 8601.
_PART = re.compile(r"\s*(?:,|and)?\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zµμ]+)")
_CLOCK = re.compile(r"\s*,?\s*([-+]?)([0-9]+):([0-9]{1,2})(?::([0-9]{1,2}(?:\.[0-9]*)?))?")
_ISO = re.compile(
    r"P(?:([0-9.]+)W)?(?:([0-9.]+)D)?(?:T(?:([0-9.]+)H)?(?:([0-9.]+)M)?(?:([0-9.]+)S)?)?",
    re.I,
)
_DURATIONS = ("timedelta", "Timedelta", "timedelta64")
#: The modules of types whose values are compared as numbers: no code of the program is run.
_NUMBERS = ("builtins", "numpy", "decimal")
#: Types of which equal values have the same text. In a column of these, each value is tested once.
_TESTED_ONCE = {str, datetime.date, type(None)}
if sys.version_info >= (3, 10):
    # Before, all NaN had the same hash, and a set of many took very long.
    _TESTED_ONCE.add(float)


def find_matching(table, words, most):
    """Return the numbers of the rows where a column has a value, as `price > 5`; None for a text to look for.

    For a column that is an array of numpy, an array that says so of each row.
    """
    match = _CONDITION.fullmatch(words.strip())
    if match is None:
        return None
    column_name = match.group(1).strip("`'\"")
    names = [str(name) for name, _, _ in table.columns]
    same = [at for at, name in enumerate(names) if name == column_name]
    same = same or [at for at, name in enumerate(names) if name.lower() == column_name.lower()]
    if not same:
        return None
    sign, value = match.group(2), match.group(3).strip("'\"")
    values = table.array(same[0])
    if values is not None and values.dtype.kind == "m" and not _asks_missing(sign, value):
        return _fit_duration(values, sign, _need_duration(value, column_name))
    if values is not None and (fit := _fit(values, sign, value)) is not None:
        return fit
    if table.rows > most:
        raise TableReadError("The table is too long to be filtered here; filter it with code.")
    values = table.column(same[0])
    if _asks_missing(sign, value):
        return {at for at, item in enumerate(values) if is_missing(item) == (sign != "!=")}
    test = _SIGNS[sign]
    ranks = {format_value(item, True): rank for rank, item in enumerate(table.categories(same[0]))}
    if value in ranks:
        return find_rows(values, lambda item: test(ranks[format_value(item, True)], ranks[value]))
    if any(kind.__name__ in _DURATIONS for kind in set(map(type, values))):
        duration = _need_duration(value, column_name)
        lengths = (None if is_missing(item) else _convert_to_seconds(item) for item in values)
        return {at for at, length in enumerate(lengths) if length is not None and test(length, duration)}
    number = _number(value)
    return find_rows(values, lambda item: _holds(test, item, value, number))


def find_rows(values, holds):
    """Return the numbers of the rows whose value is there, and of which this is true."""
    if set(map(type, values)) <= _TESTED_ONCE:
        matches = {item for item in set(values) if not is_missing(item) and holds(item)}
        return {at for at, item in enumerate(values) if item in matches}
    return {at for at, item in enumerate(values) if not is_missing(item) and holds(item)}


def _asks_missing(sign, value):
    return value == "missing" and sign in ("=", "==", "!=")


def _number(value):
    # Python also reads digits of other scripts and 1_000, which are texts in a table.
    if not value.isascii() or "_" in value:
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _fit(values, sign, value):
    """Return which items of an array of numbers or times fit; None where their texts have to be compared."""
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
            operand = values.dtype.type(value.replace(" ", "T"))
        except ValueError:
            # There is no such day.
            return None
    elif kind == "b" and value.lower() in _TRUTH:
        operand = _TRUTH[value.lower()]
    else:
        operand = _number(value)
        if operand is None and kind in "iuf" and sign in ("=", "==", "!="):
            # No number is called like that.
            return there if sign == "!=" else there & ~there
        if operand is None:
            return None
        if kind in "iu" and operand.is_integer():
            # Large numbers are compared exactly.
            operand = int(value) if re.fullmatch(r"[-+]?[0-9]+", value) else int(operand)
    return _SIGNS[sign](values, operand) & there


def _holds(test, item, value, number):
    if type(item).__name__ in ("bool", "bool_") and value.lower() in _TRUTH:
        return bool(test(bool(item), _TRUTH[value.lower()]))
    if number is not None and type(item) is str:
        own = _number(item)
        return test is operator.ne if own is None else test(own, number)
    if number is not None and type(item).__module__ in _NUMBERS:
        try:
            # An integer may be too large for a float.
            return bool(test(item if type(item) is int else float(item), number))
        except (TypeError, ValueError):
            return test is operator.ne
    text = item if type(item) is str else format_value(item, True) or ""
    return test(_MIDNIGHT.sub("", text) if "00:00:00" in text else text, value)


# -- durations


def read_duration(text):
    """Return the seconds of a duration, such as `1h 30min`, `2 days, 3:00:00` or `PT90M`.

    None for other texts.
    """
    text = text.strip()
    sign = -1 if text.startswith("-") else 1
    rest = text.lstrip("-+").strip() if text[:1] in ("-", "+") else text
    if (iso := _ISO.fullmatch(rest)) and any(iso.groups()):
        parts = zip(iso.groups(), ("w", "d", "h", "m", "s"))
        try:
            return sign * sum(Fraction(many) * _UNITS[unit] for many, unit in parts if many)
        except ValueError:
            return None
    at, total = 0, Fraction(0)
    rest = rest.lower()
    while part := _PART.match(rest, at):
        unit = _find_unit(part[2])
        if unit is None:
            return None
        total, at = total + Fraction(part[1]) * unit, part.end()
    if at and sign < 0 and (rest[at:].lstrip()[:1] == "+" or "day" in rest[:at]):
        # Python and pandas write one hour less than nothing as -1 days +23:00:00.
        total, sign = -total, 1
    if clock := _CLOCK.match(rest, at):
        seconds = int(clock[2]) * 3600 + int(clock[3]) * 60 + Fraction(clock[4] or 0)
        total, at = total + (-seconds if clock[1] == "-" else seconds), clock.end()
    return sign * total if at and not rest[at:].strip() else None


def _find_unit(word):
    """Return the seconds of a unit of time; None for other words, such as those for months and years."""
    for name in (word, word[:-1] if word.endswith("s") else word):
        if (unit := _UNITS.get(_WORDS.get(name, name))) is not None:
            return unit
    return None


def _need_duration(value, called):
    duration = read_duration(value)
    if duration is None:
        text = "{} holds durations. Compare it with one, such as 1h, 90 min, 2 days, 01:30:00 or PT1H30M."
        raise TableReadError(text.format(called))
    return duration


def _convert_to_seconds(item):
    """Return the seconds of a duration of Python, pandas or numpy; None for other values."""
    if type(item).__module__.partition(".")[0] not in ("datetime", "pandas", "numpy"):
        return None
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(item, numpy.timedelta64):
        return int(item.astype("int64")) * _step(item.dtype)
    if not isinstance(item, datetime.timedelta):
        return None
    whole = (item.days * 86_400 + item.seconds) * 10**9 + item.microseconds * 1000
    return Fraction(whole + getattr(item, "nanoseconds", 0), 10**9)


def _step(kind):
    """Return the seconds of 1 in an array of this type."""
    unit, many = sys.modules["numpy"].datetime_data(kind)
    if _UNITS.get("min" if unit == "m" else unit.lower()) is None or unit in ("Y", "M"):
        raise TableReadError("Durations in years, months or no unit have no fixed length; filter with code.")
    return _UNITS["min" if unit == "m" else unit.lower()] * many


def _fit_duration(values, sign, wanted):
    """Return which durations fit: whole numbers of their unit are compared, so that none is too large."""
    numbers, limit = values.astype("int64"), wanted / _step(values.dtype)
    there = values == values
    if sign in ("=", "==", "!="):
        same = numbers == int(limit) if limit == int(limit) else numbers != numbers
        return (~same if sign == "!=" else same) & there
    return _SIGNS[sign](numbers, math.floor(limit) if sign in (">", "<=") else math.ceil(limit)) & there
