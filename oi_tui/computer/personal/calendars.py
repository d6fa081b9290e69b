"""`computer.calendar`: events of a CalDAV calendar, or of Calendar on macOS."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

from oi_tui.computer import applescript
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.personal import event_times
from oi_tui.computer.personal.accounts import is_set_up, read_account
from oi_tui.computer.personal.dav import Collection, Item, escape, read_properties
from oi_tui.computer.tool import Tool

_DATA = "{urn:ietf:params:xml:ns:caldav}calendar-data"
_QUERY = (
    '<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data>'
    '<C:expand start="{start}" end="{end}"/></C:calendar-data></D:prop><C:filter>'
    '<C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="{start}" end="{end}"/>'
    "</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"
)
#: Properties of an event that takes place on more than one day.
_REPEATING = ("RRULE", "RDATE", "RECURRENCE-ID")
_MAC_GET = """on run argv
set first to current date
set day of first to 1
set year of first to item 1 of argv as integer
set month of first to item 2 of argv as integer
set day of first to item 3 of argv as integer
set time of first to 0
set last to first + (item 4 of argv as integer) * days
set found to ""
tell application "Calendar"
repeat with c in calendars
repeat with e in (every event of c whose start date >= first and start date < last)
set times to (start date of e as string) & tab & (end date of e as string)
set found to found & (summary of e) & tab & times & linefeed
end repeat
end repeat
end tell
return found
end run"""

Day = datetime.date
Event = dict[str, Any]
_ONE_DAY = datetime.timedelta(days=1)


class Calendar(Tool):
    """Read and change the user's calendar."""

    def get_events(self, start_date: Day | None = None, end_date: Day | None = None) -> list[Event]:
        """Return the events from `start_date` (default: today) to `end_date`, both included, the first first.

        An event is a dictionary with title, start, end, location and notes. Times are those of this machine's
        zone; of events of whole days, start and end are the first and the last day. Where the server does not
        list the days of a repeated event, it has its rule as `repeats`, and the start of its first day.
        """
        first = event_times.local_day(
            event_times.parse("calendar.get_events: start_date", start_date or datetime.date.today())
        )
        last = event_times.local_day(event_times.parse("calendar.get_events: end_date", end_date or first))
        if last < first:
            raise ComputerError("calendar.get_events: end_date is before start_date.")
        if _on_mac():
            lines = applescript.run(
                _MAC_GET, str(first.year), str(first.month), str(first.day), str((last - first).days + 1)
            )
            return [
                dict(zip(("title", "start", "end"), line.split("\t"))) for line in lines.splitlines() if line
            ]
        return [event for _, event in self._find(first, last)]

    def create_event(
        self,
        title: str,
        start_date: Day,
        end_date: Day,
        location: str = "",
        notes: str = "",
        calendar: str | None = None,
    ) -> str:
        """Create an event in the calendar that is set up. Return a sentence that says what was created.

        Two dates instead of times are the first and the last of its whole days.
        """
        _check_calendar(calendar)
        if not all(isinstance(text, str) for text in (title, location, notes)):
            raise ComputerError("calendar.create_event: title, location and notes must be texts.")
        start = event_times.parse("calendar.create_event: start_date", start_date)
        end = event_times.parse("calendar.create_event: end_date", end_date)
        if isinstance(start, datetime.datetime) != isinstance(end, datetime.datetime):
            raise ComputerError("calendar.create_event: give two times, or two dates for whole days.")
        if end < start:
            raise ComputerError("calendar.create_event: end_date is before start_date.")
        _require_dav("create_event")
        id_ = str(uuid.uuid4())
        lines = [
            *("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//oi-tui//computer//EN", "BEGIN:VEVENT"),
            f"UID:{id_}",
            f"DTSTAMP:{event_times.write_stamp(event_times.now())}",
            event_times.write_value("DTSTART", start),
            event_times.write_value("DTEND", end if isinstance(end, datetime.datetime) else end + _ONE_DAY),
            f"SUMMARY:{escape(title)}",
            *([f"LOCATION:{escape(location)}"] if location else []),
            *([f"DESCRIPTION:{escape(notes)}"] if notes else []),
            *("END:VEVENT", "END:VCALENDAR", ""),
        ]
        self._open_collection().put(f"{id_}.ics", "\r\n".join(lines), "text/calendar")
        return f"Created “{title}” on {event_times.format_time(start)}."

    def delete_event(self, event_title: str, start_date: Day, calendar: str | None = None) -> str:
        """Delete the one event that has this title and begins at this time or, for a date, on this day."""
        _check_calendar(calendar)
        _require_dav("delete_event")
        start = event_times.parse("calendar.delete_event: start_date", start_date)
        day = event_times.local_day(start)
        matches = [
            (item, event)
            for item, event in self._find(day, day)
            if event["title"] == event_title and _begins(event["start"], start)
        ]
        if len(matches) != 1:
            listing = "; ".join(f"{event['title']} at {event['start']}" for _, event in self._find(day, day))
            count = "no event" if not matches else f"{len(matches)} events"
            raise ComputerError(
                f"There is {count} “{event_title}” then, so nothing was deleted. "
                f"That day: {listing or 'nothing'}."
            )
        collection, item = self._open_collection(), matches[0][0]
        # What the query found are single days; the entry itself says whether it has others.
        whole = read_properties(collection.read(item), "VEVENT")
        if len(whole) != 1 or any(name in whole[0] for name in _REPEATING):
            raise ComputerError(
                f"“{event_title}” is repeated, and all of its days would be deleted. Nothing was deleted. "
                "The user can delete the one day in the calendar itself."
            )
        collection.delete(item)
        return f"Deleted “{event_title}” on {day}."

    def get_first_calendar(self) -> str:
        """Return the name of the calendar that is used."""
        if _on_mac():
            return applescript.run('tell application "Calendar" to return name of first calendar')
        return read_account("calendar", "calendar").value("url")

    def _open_collection(self) -> Collection:
        return Collection(read_account("calendar", "calendar"))

    def _find(self, first: Day, last: Day) -> list[tuple[Item, Event]]:
        # Servers take a whole day for one in UTC: ask for one more on both sides, and look at the days here.
        begin, end = (event_times.midnight(day) for day in (first - _ONE_DAY, last + 2 * _ONE_DAY))
        query = _QUERY.format(start=event_times.write_stamp(begin), end=event_times.write_stamp(end))
        matches = []
        for item in self._open_collection().report(query, _DATA):
            for values in read_properties(item.text, "VEVENT"):
                span = event_times.read_span(values)
                if span is None or "RRULE" in values or event_times.covers(span, first, last):
                    matches.append((item, _describe_event(values, span)))
        return sorted(matches, key=lambda entry: str(entry[1]["start"]))


def _on_mac() -> bool:
    return applescript.is_available() and not is_set_up("calendar")


def _require_dav(what: str) -> None:
    if _on_mac():
        raise ComputerError(
            f"calendar.{what} needs a section [calendar] with a CalDAV address in accounts.ini."
        )


def _check_calendar(name: str | None) -> None:
    if name is not None and name != read_account("calendar", "calendar").value("url"):
        raise ComputerError("Only the calendar that is set up can be used: leave out `calendar`.")


def _describe_event(values: dict[str, str], span: tuple[Day, Day] | None) -> Event:
    start, end = span or (None, None)
    event = {
        "title": values.get("SUMMARY", ""),
        "start": event_times.describe_value(values, "DTSTART", start),
        "end": event_times.describe_value(values, "DTEND", end),
        "location": values.get("LOCATION", ""),
        "notes": values.get("DESCRIPTION", ""),
    }
    return {**event, "repeats": values["RRULE"]} if "RRULE" in values else event


def _begins(start: str, wanted: Day) -> bool:
    if isinstance(wanted, datetime.datetime):
        return start in (f"{wanted:%Y-%m-%d %H:%M}", f"{wanted:%Y-%m-%d}")
    return start.startswith(f"{wanted:%Y-%m-%d}")
