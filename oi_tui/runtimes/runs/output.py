"""Collects the output of a run, and reports it once for each frame."""

import codecs
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from oi_tui.messages import Displayed, Printed, Report, ValueBegan, ValueEnded

FRAME = 1 / 60
#: A piece of output is reported before its frame is over when it is this long, in characters. The C library
#: gives the memory of longer ones back each time, and to get it anew takes longer than all else.
_LARGEST_PIECE = 256 * 1024
#: As much of the last line is remembered, in characters.
_LONGEST_LINE = 1000
#: Below a value that is updated, so much is written again, and so much is remembered, in characters.
_LONGEST_BELOW, _LONGEST_LOG = 8000, 100_000
#: The longest page that is shown once more with the value that it belongs to, in characters.
_LONGEST_PAGE = 20_000
#: How many places that values were shown at are remembered after their run.
_MOST_PLACES = 200
#: What moves the cursor within what was printed: the number of lines says nothing then.
_MOVES = re.compile(r"\x1b\[[0-9;]*[A-HJKSTdfsu`]|\x1b[78M]|[\b\x0b\x0c]|\r(?!\r*\n)")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
#: What puts the cursor elsewhere on the screen: what was printed before is not on its line.
_JUMPS = re.compile(r"\x1b\[(?:[0-9;]*[Hfd]|\?1049[hl])")


class RunOutput:
    """Text that was printed and not yet reported. `last_at` is when something was printed last.

    `places` has the output in which each value that may be shown again was shown, by the value's key. It is
    shared by the runs of a language, so that a later run can update what an earlier one displayed.
    """

    def __init__(
        self, report: Callable[[Report], None], began: float, places: dict[str, "RunOutput"] | None = None
    ) -> None:
        self._report = report
        self._places = {} if places is None else places
        #: The output of the earlier run to which belongs what is shown now.
        self._earlier: RunOutput | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: list[str] = []
        self._size = 0
        self._due = 0.0
        self._last_line = ""
        #: The path of the cell's file without its number, which is shown as `cell `; and whether a part of it
        #: at the end of the text has waited for the rest.
        self._path, self._has_waited = "", False
        self.last_at = began
        #: What the model gets in place of what is printed now.
        self._view: str | None = None
        #: The table that is shown in place of what is printed now.
        self._table: str | None = None
        #: What was reported since the first of the values that are shown under a key and may be updated.
        self._log: list[Report] = []
        self._log_size = 0
        #: Where these values are in it: their beginnings and ends.
        self._shown: dict[str, tuple[int, int]] = {}
        #: The keys of images: one that is shown again takes the place of the one before, and no line.
        self._images: set[str] = set()
        #: The value being shown for a key, and the text below the value that it replaces.
        self._key: str | None = None
        self._began = 0
        self._below: list[Report] = []
        self._below_keys: dict[str, tuple[int, int]] = {}

    @property
    def due(self) -> float:
        """When the next report is due."""
        return self._due if self._text else float("inf")

    @property
    def is_on_a_line(self) -> bool:
        """Whether the line of the cursor has text, such as a prompt."""
        return bool(self._last_line or self._text)

    @property
    def prompt(self) -> str:
        """The text on the line of the cursor, as far as it was reported, without escape sequences."""
        return _ESCAPES.sub("", _JUMPS.split(self._last_line)[-1])

    def show_as_cell(self, path: Path) -> None:
        """Show the path of the cell's file as `cell 3`, and those of earlier cells: they are ours alone."""
        self._path = str(path).rstrip("0123456789")

    def feed(self, data: bytes) -> None:
        """Add what the program printed."""
        if self._earlier:
            self.last_at = time.monotonic()
            self._earlier.feed(data)
            return
        text = self._decoder.decode(data)
        self._text.append(text)
        self._size += len(text)
        self.last_at = time.monotonic()

    def replace_with(self, view: object, table: object) -> None:
        """Tell the model this in place of what is printed from now on, and show the table in place of it."""
        if self._earlier:
            self._earlier.replace_with(view, table)
            return
        self.flush()
        self._view = view if isinstance(view, str) else None
        self._table = table if isinstance(table, str) else None

    def display(self, format: str, content: str, key: object) -> None:
        """Report an image or a page at its place in the output, or at that of the one with the same key."""
        if self._earlier:
            self._earlier.display(format, content, key)
            return
        self.flush()
        name = key if isinstance(key, str) else None
        if format.startswith("base64") and name in self._images:
            self._report(Displayed(format, content, self._view, name))
            return
        if format.startswith("base64"):
            if name is not None:
                self._images.add(name)
            # No line above an image can be written again.
            self._key = None
            self._forget_shown()
        self._report_and_log(Displayed(format, content, self._view, name))

    def begin_value(self, kind: object, key: object = None, *, updates: bool = False) -> None:
        """Report that what is printed from now on shows a value.

        One that `updates` an earlier one, shown under the same key, takes its lines; what stands below it is
        written again after it.
        """
        self.flush()
        self._rewrite_below()
        name = key if isinstance(key, str) else None
        if name is not None:
            earlier = self._places.get(name) if updates else None
            if earlier is not None and earlier is not self:
                self._update_earlier(earlier, name)
                return
            self._remember(name)
        if isinstance(key, str):
            place = self._shown.pop(key, None)
            if updates and place:
                self._go_back(*place)
            self._key = None if self.is_on_a_line else key
            self._began = len(self._log)
        self._report_and_log(ValueBegan("result" if kind == "result" else "display", name))

    def _remember(self, key: str) -> None:
        """Note that the value is shown in this run."""
        self._places.pop(key, None)
        self._places[key] = self
        if len(self._places) > _MOST_PLACES:
            del self._places[next(iter(self._places))]

    def _update_earlier(self, earlier: "RunOutput", key: str) -> None:
        """Report what comes until the end of the value as a part of an earlier run's output."""
        self._report(ValueBegan("display", key, is_earlier=True))
        report = self._report
        repeats = False

        def pass_on(item: Report) -> None:
            nonlocal repeats
            if isinstance(item, ValueBegan):
                repeats = item.kind == "repeat"
            if repeats or isinstance(item, Printed | Displayed):
                report(item)

        earlier._report = pass_on
        earlier.begin_value("display", key, updates=True)
        self._earlier = earlier

    def end_value(self, forms: object = None) -> None:
        """Report that the value has been shown, and its other forms."""
        ended = ValueEnded(_check_forms(forms))
        if self._earlier:
            earlier, self._earlier = self._earlier, None
            earlier.end_value()
            earlier.flush(last=True)
            self._report(ended)
            return
        self.flush()
        self._report_and_log(ended)
        if self._key is not None and not self.is_on_a_line and _join_printed(self._log[self._began :]):
            self._shown[self._key] = (self._began, len(self._log))
        self._key = None
        self._rewrite_below()

    def _go_back(self, start: int, end: int) -> None:
        """Move the cursor to an earlier value, so that it and all output since can be written again."""
        text, below = _join_printed(self._log[start:]), self._log[end:]
        if any(isinstance(report, Displayed) and not _is_of_value(report) for report in below):
            return
        if len(_join_printed(below)) > _LONGEST_BELOW or _MOVES.search(text):
            return
        self._report(Printed(f"\x1b[{text.count(chr(10))}A\r\x1b[J"))
        self._last_line = ""
        self._below = below
        self._below_keys = {
            key: (first - end, last - end) for key, (first, last) in self._shown.items() if first >= end
        }
        for key in self._below_keys:
            del self._shown[key]
        del self._log[start:]
        self._log_size = sum(map(_measure, self._log))

    def _rewrite_below(self) -> None:
        """Write the text below an updated value again."""
        below, self._below = self._below, []
        keys, self._below_keys = self._below_keys, {}
        if not below:
            return
        at = len(self._log)
        if keys and not self._shown:
            self._shown.update(keys)
        self._report(ValueBegan("repeat"))
        for report in below:
            if isinstance(report, Printed | Displayed):
                self._report(report)
            self._log_report(report)
        self._report(ValueEnded())
        if self._shown:
            self._shown.update({key: (at + first, at + last) for key, (first, last) in keys.items()})
        self._last_line = re.split(r"[\r\n]", _join_printed(below))[-1][-_LONGEST_LINE:]

    def _report_and_log(self, report: Report) -> None:
        """Report something, and log it where a value above or this one may be updated."""
        self._report(report)
        self._log_report(report)

    def _log_report(self, report: Report) -> None:
        if self._key is None and not self._shown:
            self._log.clear()
            self._log_size = 0
            return
        if isinstance(report, Displayed) and not _is_of_value(report):
            # It is never shown once more; only that it stands there is needed.
            report = replace(report, content="", view=None)
        self._log.append(report)
        self._log_size += _measure(report)
        if self._log_size > _LONGEST_LOG:
            self._forget_shown()

    def _forget_shown(self) -> None:
        self._key = None
        self._shown.clear()
        self._log.clear()
        self._log_size = 0

    def _name_cells(self, text: str, *, last: bool) -> str:
        """Return the text with `cell 3` for paths of cells. The beginning of one waits for one frame."""
        path = self._path
        text = text.replace(path, "cell ")
        sizes = range(min(len(path) - 1, len(text)), 0, -1)
        size = next((size for size in sizes if text.endswith(path[:size])), 0)
        if last or self._text or self._has_waited:
            size = 0
        self._has_waited = size > 0
        if size:
            self._text.append(text[-size:])
        return text[: len(text) - size]

    def flush_if_due(self, now: float) -> None:
        """Report what was printed when its frame is over, or when it is long."""
        if self._text and (now >= self._due or self._size >= _LARGEST_PIECE):
            self.flush(now)

    def flush_if_any(self) -> None:
        """Report what was printed; what follows did not come before it."""
        if self._text:
            self.flush()

    def flush(self, now: float | None = None, last: bool = False) -> None:
        """Report what was printed; with `last` also an incomplete character at the end."""
        if last and self._earlier:
            self.end_value()
        text = "".join(self._text)
        self._text.clear()
        if last:
            text += self._decoder.decode(b"", True)
        elif text.endswith("\r"):
            # Whether it begins a line again or ends one is seen with the next character.
            text = text[:-1]
            self._text.append("\r")
        if self._path:
            text = self._name_cells(text, last=last)
        self._size = 0
        self._due = (now or time.monotonic()) + FRAME
        if text:
            tail = text[-_LONGEST_LINE:]
            if len(text) < _LONGEST_LINE:
                tail = self._last_line + tail
            self._last_line = re.split(r"[\r\n]", tail)[-1][-_LONGEST_LINE:]
            self._report_and_log(Printed(text, self._view, self._table))
        if last:
            self._rewrite_below()


def _measure(report: Report) -> int:
    """Return the number of characters of a report that count for the limit of the log."""
    if isinstance(report, Printed):
        return len(report.text)
    if isinstance(report, Displayed):
        return len(report.content)
    return sum(map(len, report.forms.values())) if isinstance(report, ValueEnded) else 0


def _join_printed(reports: Iterable[Report]) -> str:
    return "".join(report.text for report in reports if isinstance(report, Printed))


def _check_forms(forms: object) -> dict[str, str]:
    """Return the forms of a value that a program sent, without those that are no texts."""
    if not isinstance(forms, dict):
        return {}
    return {mime: form for mime, form in forms.items() if isinstance(mime, str) and isinstance(form, str)}


def _is_of_value(report: Displayed) -> bool:
    """Return whether a page is a form of a value that is printed with it, such as a table,
    and not a long one.
    """
    return report.view is not None and len(report.content) <= _LONGEST_PAGE
