"""Reads dates as people write them: 01.02.2024, 1/2/2024 3:04 PM, 2024/01/02, 2-Jan-2024 and Jan 2, 2024."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

_CLOCK = r"(?:,?[ T]+(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?(?: ?([AaPp])\.?[Mm]\.?)?)?"
_WHOLE_CLOCK = (
    r"(?:,?[ T]+(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?: ?[AaPp]\.?[Mm]\.?)?)?"
)
_DIGITS = re.compile(rf"(\d{{1,4}})([./-])(\d{{1,2}})\2(\d{{1,4}}){_CLOCK}", re.ASCII)
_DAY_FIRST = re.compile(rf"(\d{{1,2}})([ /-])([A-Za-z]{{3,9}})\.?\2(\d{{4}}|\d\d){_CLOCK}", re.ASCII)
_MONTH_FIRST = re.compile(rf"([A-Za-z]{{3,9}})\.? (\d{{1,2}}),? (\d{{4}}){_CLOCK}", re.ASCII)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?", re.ASCII)
#: A date with as much of its time as it has, without the zone; the day may be cut off.
_START = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?)?)?", re.ASCII)
#: The most dates that are counted one by one.
GROUPS = 100_000
#: How long dates are that differ in a unit of time at least, and months.
_DETAILS = (
    (26, timedelta(microseconds=1)),
    (23, timedelta(milliseconds=1)),
    (19, timedelta(seconds=1)),
    (16, timedelta(minutes=1)),
    (13, timedelta(hours=1)),
    (10, timedelta(days=1)),
)
_MONTH = 7
#: How the ends of times are written that take this long at least. For short ones, the day would need too much
#: room.
_FORMS = (
    (timedelta(days=1), "%Y-%m-%d"),
    (timedelta(minutes=1), "%Y-%m-%d %H:%M"),
    (timedelta(seconds=1), "%H:%M:%S"),
    (timedelta(0), "%H:%M:%S.%f"),
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
#: Years of two digits from this one on are of the last century.
_LAST_CENTURY = 69
#: The mark of a column whose months are words.
_NAMED = "name"


def find_order(text: str) -> str:
    """Return in which order a date is written, with what stands between, as `.dmy`; "" for another text.

    The order is `?` where day and month can be told apart by neither.
    """
    if not (match := _DIGITS.fullmatch(text)):
        return _NAMED if read_day(text, _NAMED) else ""
    first, between, _, last = match.group(1, 2, 3, 4)
    if len(first) == 4:
        orders = ["ymd"]
    elif len(first) > 2 or not (len(last) == 4 or (len(last) == 2 and between == "/")):
        return ""
    else:
        orders = ["dmy", "mdy"]
    fits = [order for order in orders if read_day(text, between + order)]
    return between + (fits[0] if len(fits) == 1 else "?") if fits else ""


def find_common_order(text: str, end: str) -> str:
    """Return the order of many dates at once, of which each has the `end` behind it; "" where it is not one.

    One by one takes ten times as long.
    """
    if not (match := _DIGITS.match(text)):
        return ""
    orders = [
        order
        for order in ("ymd", "dmy", "mdy")
        if _compile_dates(match[2], order, end).fullmatch(text) is not None
    ]
    return f"{match[2]}{orders[0] if len(orders) == 1 else '?'}" if orders else ""


@lru_cache
def _compile_dates(between: str, order: str, end: str) -> re.Pattern[str]:
    parts = {
        "d": "(?:0?[1-9]|[12][0-9]|3[01])",
        "m": "(?:0?[1-9]|1[0-2])",
        # With points or hyphens, two digits more are rather a version or a code.
        "y": "[0-9]{4}" if between != "/" or order == "ymd" else "(?:[0-9]{4}|[0-9]{2})",
    }
    date = re.escape(between).join(parts[part] for part in order)
    return re.compile(f"(?:{date}{_WHOLE_CLOCK}{re.escape(end)})+")


def merge_orders(one: str, other: str) -> str:
    """Return the order of a column that has dates of both; "" where no order fits both."""
    if one == other or (one[1:] != "?" and other == f"{one[0]}?" and one[1:] != "ymd"):
        return one
    return other if one == f"{other[0]}?" and other[1:] != "ymd" else ""


def describe_order(order: str) -> str:
    """Return the type of a column as it is shown: `date m/d/y?` where the order is not certain."""
    if order == _NAMED:
        return "date"
    return f"date {order[0].join(_settle(order))}{'?' * order.endswith('?')}"


def _settle(order: str) -> str:
    """Return the order of day, month and year: where it is not certain, as pandas reads it."""
    if order.endswith("?"):
        return "dmy" if order.startswith(".") else "mdy"
    return order[1:]


@lru_cache(20_000)
def read_day(value: object, order: str) -> str | None:
    """Return a date and its time as a text that sorts; None if it is no date in this order."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    if order == _NAMED:
        return _read_named(text)
    if not (match := _DIGITS.fullmatch(text)):
        return text.replace("T", " ") if _ISO.fullmatch(text) else None
    first, between, second, third, *clock = match.groups()
    settled = _settle(order)
    if settled == "dmy":
        year, month, day = third, second, first
    elif settled == "mdy":
        year, month, day = third, first, second
    else:
        year, month, day = first, second, third
    if between != order[0] or len(day) > 2 or len(month) > 2:
        return None
    return _write_day(year, int(month), int(day), clock)


def find_detail(low: object, high: object) -> int:
    """Return how many characters of the dates between two of them are needed to count them.

    With these, at most about `GROUPS` of them differ. 0 where one of the two is no day.
    """
    try:
        span = _parse_start(high) - _parse_start(low)
    except ValueError:
        return 0
    return next((length for length, unit in _DETAILS if span <= unit * GROUPS), _MONTH)


def count_days(counts: Sequence[tuple[object, int]], bins: int) -> tuple[tuple[str, int], ...]:
    """Return how many dates are in each of some equal times.

    None where one is no day, or all are the same. They are written as `read_day` returns them.
    """
    try:
        times = [(_parse_start(text), many) for text, many in counts]
    except ValueError:
        return ()
    low, high = min(times)[0], max(times)[0]
    width = (high - low) / bins
    if width < timedelta(microseconds=1):
        return ()
    edges = [low + width * at for at in range(bins)]
    sums = [0] * bins
    for time, many in times:
        place = bisect_left(edges, time)
        sums[place if place < bins and edges[place] == time else place - 1] += many
    form = next(form for least, form in _FORMS if width >= least)
    names = [edge.strftime(form) for edge in (*edges, high)]
    return tuple(zip(map(" to ".join, pairwise(names)), sums, strict=True))


def _parse_start(text: object) -> datetime:
    """Return a date with its time. Its zone is left out: all of a column have the same one."""
    if not (match := _START.match(str(text))):
        raise ValueError(text)
    return datetime.fromisoformat(match[0] if len(match[0]) > _MONTH else f"{match[0]}-01")


def _read_named(text: str) -> str | None:
    if match := _DAY_FIRST.fullmatch(text):
        day, _, month, year = match.groups()[:4]
    elif match := _MONTH_FIRST.fullmatch(text):
        month, day, year = match.groups()[:3]
    else:
        return None
    names = [name for name in _MONTHS if name == month.lower() or name[:3] == month.lower()]
    names += ["september"] * (month.lower() == "sept")
    clock = match.groups()[-4:]
    return _write_day(year, _MONTHS.index(names[0]) + 1, int(day), clock) if names else None


def _write_day(year: str, month: int, day: int, clock: Sequence[str | None]) -> str | None:
    if len(year) not in (2, 4) or not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if len(year) == 2:
        year = f"{19 if int(year) >= _LAST_CENTURY else 20}{year}"
    hour, minute, second, half = clock
    if hour is None:
        return f"{year}-{month:02}-{day:02}"
    hours = int(hour) % 12 + 12 * (half in ("P", "p")) if half else int(hour)
    if hours > 23 or int(minute or 0) > 59:
        return None
    return f"{year}-{month:02}-{day:02} {hours:02}:{minute}:{second or '00'}"
