"""A column of a table in figures: facts, and how often values or ranges of them occur."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import collections
import decimal
import math
import statistics

from python_cell_text import format_value, is_missing

#: A column of more rows is described only where its library does it.
_LISTED = 2_000_000
_BINS = 10
#: The most values that a bar is drawn for.
COMMON = _BINS
#: Values whose least and greatest say something, by their modules.
_ORDERED = ("datetime", "decimal", "fractions", "pandas")
#: Below this, in microseconds, the ranges of times are shorter than a minute.
_SHORT_SPAN = 600e6
#: The units in which the ends of times are written that take so many microseconds together.
_UNITS = (
    (20 * 86_400e6, "datetime64[D]"),
    (_SHORT_SPAN, "datetime64[m]"),
    (10e6, "datetime64[s]"),
    (0, "datetime64[us]"),
)


class TableReadError(Exception):
    """Why there is no answer, as a sentence."""


class ValueCounts:
    """How often the values of a column occur, as its library counted them."""

    def __init__(self, present, distinct, common, ends):
        #: How many values there are, and how many different ones.
        self.present = present
        self.distinct = distinct
        #: The most common values, as pairs with their numbers, in falling order.
        self.common = [(value, int(many)) for value, many in common]
        #: Returns the least and the greatest value.
        self.ends = ends


def describe(table, at):
    """Return the column with this number: its facts, and its bars.

    Raises TableReadError where it is too long.
    """
    is_numeric = table.columns[at][2]
    if is_numeric and hasattr(table, "numbers"):
        try:
            return _describe_array(table.numbers(at), table.rows)
        except ImportError:
            # polars and pyarrow need numpy for it.
            pass
    counts = table.counts(at) if hasattr(table, "counts") else None
    if counts is not None:
        return _describe_counts(counts, table.rows, table.times(at))
    if table.rows > _LISTED:
        raise TableReadError("The column is too long for statistics; compute them with code.")
    values = [value for value in table.column(at) if not is_missing(value)]
    # In a long list, only a sample of the values showed that they are numbers.
    if is_numeric and all(isinstance(value, (int, float, decimal.Decimal)) for value in values):
        try:
            numbers = [float(value) for value in values]
        except OverflowError:
            # Whole numbers may be larger than any other number.
            numbers = [value if isinstance(value, int) else float(value) for value in values]
        return _describe_numbers(numbers, table.rows)
    kinds = {type(value) for value in values}
    pairs = collections.Counter(format_value(value, False) for value in values).most_common()
    ends = _find_ends(values) if len(kinds) == 1 else []
    return {"facts": _make_facts(table.rows, len(values), len(pairs), ends), "bars": _find_most_common(pairs)}


def _make_facts(rows, present, distinct=None, more=()):
    facts = [["rows", "{:,}".format(rows)], ["missing", "{:,}".format(rows - present)]]
    if distinct is not None:
        facts.append(["distinct", "{:,}".format(distinct)])
    return [*facts, *more]


def _find_most_common(pairs):
    return [[text, many] for text, many in pairs[:COMMON]]


def _find_ends(values):
    """Return the least and the greatest of values that have an order which says something."""
    return _make_ends(values[0], lambda: (min(values), max(values))) if values else []


def _make_ends(value, ends):
    """Return the least and the greatest as facts, where the order of values such
    as this one says something.
    """
    if type(value).__module__.partition(".")[0] not in _ORDERED:
        return []
    try:
        low, high = ends()
    except TypeError:
        return []
    return [["min", format_value(low, False)], ["max", format_value(high, False)]]


def _describe_counts(counts, rows, times):
    ends = _make_ends(counts.common[0][0], counts.ends) if counts.common else []
    facts = _make_facts(rows, counts.present, counts.distinct, ends)
    if times is not None and counts.distinct > COMMON:
        bars = _count_times(times)
    else:
        bars = _find_most_common([(format_value(value, False) or "", many) for value, many in counts.common])
    return {"facts": facts, "bars": bars}


def _count_times(times):
    import numpy

    counts, edges = numpy.histogram(times.astype("datetime64[us]").astype("int64"), bins=_BINS)
    span = edges[-1] - edges[0]
    unit = next(unit for least, unit in _UNITS if span >= least)
    ends = [
        str(edge).replace("T", " ") for edge in edges.astype("int64").astype("datetime64[us]").astype(unit)
    ]
    if span < _SHORT_SPAN:
        # The day is among the facts, and there is no room for it here.
        ends = [end.partition(" ")[2] for end in ends]
    return _format_ranges(counts.tolist(), ends)


def _describe_array(values, rows):
    import numpy

    finite, facts = values, _make_facts(rows, len(values))
    if values.dtype.kind == "f":
        missing, finite = int(numpy.isnan(values).sum()), values[numpy.isfinite(values)]
        facts = _make_facts(rows, len(values) - missing)
        infinite = len(values) - missing - len(finite)
        if infinite:
            facts.append(["infinite", "{:,}".format(infinite)])
    if not len(finite):
        return {"facts": facts, "bars": []}
    low, high = finite.min().item(), finite.max().item()
    # The sum of numbers may be larger than any number.
    with numpy.errstate(all="ignore"):
        middle = numpy.quantile(finite, [0.25, 0.5, 0.75]).tolist()
        mean = float(finite.mean(dtype=float))
        std = float(finite.std(dtype=float, ddof=1)) if len(finite) > 1 else 0.0
    figures = [("min", low), ("25 %", middle[0]), ("median", middle[1]), ("mean", mean)]
    figures += [("75 %", middle[2]), ("max", high), ("std", std)]
    facts += [[name, format_figure(value)] for name, value in figures]
    try:
        counts, edges = numpy.histogram(finite, bins=_BINS) if low != high else ([], [])
    except (OverflowError, ValueError):
        # The least and the greatest are so close that there is no number between them, or farther apart than
        # the largest number.
        counts, edges = [], []
    if not len(counts):
        return {
            "facts": facts,
            "bars": [[_format_range(format_figure(low), format_figure(high)), len(finite)]],
        }
    return {"facts": facts, "bars": _format_ranges(counts.tolist(), _format_edges(edges.tolist()))}


def _describe_numbers(values, rows):
    finite = [value for value in values if isinstance(value, int) or math.isfinite(value)]
    facts = _make_facts(rows, len(values))
    if len(finite) < len(values):
        facts.append(["infinite", "{:,}".format(len(values) - len(finite))])
    if not finite:
        return {"facts": facts, "bars": []}
    low, high = min(finite), max(finite)
    try:
        mean, width = sum(finite) / len(finite), (high - low) / _BINS
        figures = [("min", low), ("median", statistics.median(finite)), ("mean", mean), ("max", high)]
    except OverflowError:
        figures, width = [("min", low), ("max", high)], math.inf
    facts += [[name, format_figure(value)] for name, value in figures]
    if not width or not math.isfinite(width):
        return {
            "facts": facts,
            "bars": [[_format_range(format_figure(low), format_figure(high)), len(finite)]],
        }
    counts = [0] * _BINS
    for value in finite:
        counts[min(int((value - low) / width), _BINS - 1)] += 1
    return {
        "facts": facts,
        "bars": _format_ranges(counts, _format_edges([low + width * at for at in range(_BINS + 1)])),
    }


def format_figure(value):
    """Return a number for people: whole ones with all their digits, others with seven that count."""
    if isinstance(value, int) or (abs(value) < 1e15 and value == int(value)):
        try:
            return "{:d}".format(int(value))
        except ValueError:
            # Python writes no integers of thousands of digits.
            return _shorten_integer(int(value))
    if 1e7 <= abs(value) < 1e15:
        return "{:.1f}".format(value)
    return "{:.7g}".format(value)


def _shorten_integer(value):
    """Return an integer with seven digits that count."""
    shift = value.bit_length() - 60
    exponent = math.log10(abs(value) >> shift) + shift * math.log10(2)
    digits = _trim_zeros("{:.6f}".format(10 ** (exponent % 1)))
    return "{}{}e+{}".format("-" if value < 0 else "", digits, int(exponent))


def _format_edges(edges):
    """Return the ends of the ranges, with as many digits as tell them apart."""
    step = (edges[-1] - edges[0]) / (len(edges) - 1)
    largest = max(abs(edges[0]), abs(edges[-1]))
    if not 1e-6 <= step or largest >= 1e15:
        # With 17 digits, all floats differ.
        for digits in range(4, 18):
            texts = ["{:.{}g}".format(edge, digits) for edge in edges]
            if len(set(texts)) == len(edges):
                break
        return texts
    digits = max(0, 1 - math.floor(math.log10(step)))
    return [_trim_zeros("{:.{}f}".format(edge, digits)) for edge in edges]


def _trim_zeros(text):
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _format_range(low, high):
    return low if low == high else "{} to {}".format(low, high)


def _format_ranges(counts, ends):
    return [[_format_range(ends[at], ends[at + 1]), int(many)] for at, many in enumerate(counts)]
