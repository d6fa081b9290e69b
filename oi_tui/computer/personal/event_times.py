"""Times of calendar events: read from iCalendar, and written into it.

A whole day is a date. A time is in the zone of this machine.
"""

from __future__ import annotations

import datetime
import re

from oi_tui.computer.errors import ComputerError

Day = datetime.date
Time = datetime.datetime

#: Interpreters before 3.11 have no datetime.UTC.
_UTC = datetime.timezone.utc  # noqa: UP017
#: Others cannot be converted to every zone.
_YEARS = range(1900, 9999)
_ONE_DAY = datetime.timedelta(days=1)
_DURATION = re.compile(
    r"\+?P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)


def read_span(values: dict[str, str]) -> tuple[Day, Day] | None:
    """Return when an event begins and ends; of whole days, the first and the last.

    A time in a zone that is not known here is taken for one of this machine's. None for anything else.
    """
    try:
        start = _read_value(values.get("DTSTART", ""), values.get("DTSTART;", ""))
        if "DTEND" in values:
            end = _read_value(values["DTEND"], values.get("DTEND;", ""))
        elif length := _DURATION.fullmatch(values.get("DURATION", "")):
            end = start + datetime.timedelta(
                **{key: int(text or 0) for key, text in length.groupdict().items()}
            )
        else:
            end = start if isinstance(start, Time) else start + _ONE_DAY
        if not isinstance(start, Time) and not isinstance(end, Time):
            # iCalendar names the day after the last one.
            return start, max(start, end - _ONE_DAY)
    except (ValueError, OverflowError):
        return None
    return (start, end) if isinstance(start, Time) and isinstance(end, Time) else None


def _read_value(value: str, parameters: str) -> Day:
    """Read the value. Raises ValueError if it is not a time."""
    if re.fullmatch(r"\d{8}", value):
        return Time.strptime(value, "%Y%m%d").date()
    time = Time.strptime(value.rstrip("Z"), "%Y%m%dT%H%M%S")
    if value.endswith("Z"):
        time = time.replace(tzinfo=_UTC)
    elif zone := _find_zone(_read_zone_name(parameters)):
        time = time.replace(tzinfo=zone)
    return time.astimezone()


def _read_zone_name(parameters: str) -> str:
    match = re.search(r"TZID=(?:\"([^\"]*)\"|([^;]*))", parameters)
    return (match[1] or match[2]) if match else ""


def _find_zone(name: str) -> datetime.tzinfo | None:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name) if name else None
    except (LookupError, ValueError, OSError):
        # Such as "W. Europe Standard Time", which Outlook writes.
        return None


def describe_value(values: dict[str, str], name: str, time: Day | None) -> str:
    """Return a time of an event, with the name of its zone where that is unknown here."""
    if time is None:
        return values.get(name, "")
    zone = _read_zone_name(values.get(f"{name};", "")) if isinstance(time, Time) else ""
    return format_time(time) if not zone or _find_zone(zone) else f"{format_time(time)} {zone}"


def covers(span: tuple[Day, Day], first: Day, last: Day) -> bool:
    """Return whether an event takes place on one of these days."""
    start, end = span
    if isinstance(start, Time) and isinstance(end, Time):
        begin, until = midnight(first), midnight(last + _ONE_DAY)
        return begin <= start < until or start < begin < end
    return start <= last and end >= first


def midnight(day: Day) -> Time:
    """Return when a day begins here."""
    return Time.combine(day, datetime.time()).astimezone()


def format_time(time: Day) -> str:
    """Return `2026-03-04 10:00`, or `2026-03-04` for a whole day."""
    return f"{time:%Y-%m-%d %H:%M}" if isinstance(time, Time) else f"{time:%Y-%m-%d}"


def write_value(name: str, time: Day) -> str:
    """Return a property of iCalendar."""
    if isinstance(time, Time):
        return f"{name}:{write_stamp(time)}"
    return f"{name};VALUE=DATE:{time:%Y%m%d}"


def write_stamp(time: Time) -> str:
    """Return a time in UTC, as iCalendar writes it."""
    return f"{time.astimezone(_UTC):%Y%m%dT%H%M%SZ}"


def now() -> Time:
    """Return the time."""
    return Time.now(_UTC)


def local_day(time: Day) -> Day:
    """Return the day of a time here."""
    return time.date() if isinstance(time, Time) else time


def parse(name: str, value: object) -> Day:
    """Return a date, or a time in the zone of this machine. Raises ComputerError that names the argument."""
    try:
        if isinstance(value, str):
            value = Day.fromisoformat(value) if len(value) == len("2026-03-04") else Time.fromisoformat(value)
        if isinstance(value, Day) and value.year in _YEARS:
            return value.astimezone() if isinstance(value, Time) else value
    except ValueError:
        pass
    raise ComputerError(
        f"{name} must be a time or a date, such as datetime.datetime(2026, 3, 4, 10, 0), not {value!r:.80}."
    )
