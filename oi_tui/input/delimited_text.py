"""Reads CSV and its relatives as they are found: delimiters, encodings, titles, bad rows, open quotes."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import IO, Any

from oi_tui.input.table_records import MARKS, NUMBER, YEAR, TableRecords, find_header
from oi_tui.input.text_encoding import detect_encoding, find_error_handler, restore_letters
from oi_tui.runtimes.tables import TableError

_SAMPLE_BYTES, _SAMPLE_LINES = 64 * 1024, 200
#: Where lines are very long: the most bytes of the sample, the lines that are enough, the most cells.
_WIDE_BYTES, _WIDE_LINES, _SAMPLE_CELLS = 4 * 1024 * 1024, 5, 500_000
_DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_DELIMITERS |= {"~": "tildes", "^": "carets", "\x01": "ctrl+a"}
_SPACE = " "
#: The share of the lines of a text that have as many cells as most, where it is a table.
_TABLE_SHARE = 0.8
_NAMES = {**_DELIMITERS, _SPACE: "spaces"}
#: Endings of files that hold tables and other texts.
_OPEN_ENDINGS = (".txt", ".dat", ".data")
#: No text has this character: the file has one column.
_NONE = "\x1f"
#: What may stand between cells in more than one character: `||`, `::`, `|~|`. Doubled commas, semicolons and
#: tabs have an empty cell between them.
_LONG_DELIMITER = re.compile(r"[^\w\s\"'.,;()\[\]{}<>/\\+=-]{2,4}")
#: What stands for it while lines are read; no text has this character, either.
_LONG = "\x1d"
_DECIMAL_COMMA = re.compile(r"[+-]?\d[\d \u00a0\u202f]*,\d+$", re.ASCII)
#: After this many lines, an open quotation mark is an error in the file, unless the next mark ends a cell.
_LONG_CELL = 5000
#: A longer row, in characters, is an error in any case.
_LONGEST_ROW = 64_000_000
#: The longest cell, in characters.
_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class _Form:
    """How the cells of a file are written."""

    delimiter: str
    spaces: bool
    escaped: bool
    #: The characters between the cells, where they are several, and `delimiter` stands for them.
    several: str = ""

    def make_reader(self, lines: Iterable[str], *, quotes: bool = True) -> Any:
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            skipinitialspace=self.spaces,
            escapechar="\\" if self.escaped else None,
            quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        )


def read(ending: str, name: str, opener: Callable[[], IO[bytes]]) -> TableRecords:
    """Find out how the file is written, and begin to read it.

    Raises TableError for a text without columns, whose name does not say that it is a table.
    """
    csv.field_size_limit(_LIMIT)
    with opener() as file:
        sample = _read_sample(file)
        complete = not file.read(1)
    encoding = detect_encoding(sample)
    text = sample.decode(encoding, "surrogateescape" if encoding.startswith("utf-8") else "replace")
    text = text.replace("\0", "")
    lines = io.StringIO(text, newline="").readlines()
    if not complete and len(lines) > 1:
        lines.pop()
    separator_line = re.match(r"sep=(.|[^\w\s]{2,4})\s*$", lines[0]) if lines else None
    lines = lines[1 if separator_line else 0 :][:_SAMPLE_LINES]
    remarks = _count_remarks(lines)
    lines = lines[remarks:]
    tabs = ending in (".tsv", ".tab")
    several = separator_line.group(1) if separator_line else "" if tabs else _detect_long_delimiter(lines)
    if len(several) > 1:
        lines = [line.replace(several, _LONG) for line in lines]
        form = replace(_detect_form(lines, _LONG, tabs=False), several=several)
    else:
        form = _detect_form(lines, several, tabs=tabs)
    if ending in _OPEN_ENDINGS:
        form = _read_as_text(name, lines, form)
    notes = [] if encoding.startswith("utf-8") else [encoding.upper()]
    errors = find_error_handler(encoding).replace("strict", "surrogateescape")
    source = _read_lines(lambda: io.TextIOWrapper(opener(), encoding, errors, newline=""), notes)
    if separator_line:
        next(source, None)
    if form.several:
        source = (line.replace(form.several, _LONG) for line in source)
    last_remark = list(islice(source, remarks))[-1:]
    if form.delimiter == _SPACE:
        source = map(_space, source)
    rows = _read_rows(source, form, notes)
    if form.several:
        rows = ([cell.replace(_LONG, form.several) for cell in row] for row in rows)
    first = list(islice(rows, 1))
    first += islice(rows, min(_SAMPLE_LINES, _SAMPLE_CELLS // max(1, *map(len, first), 1)))
    widths = Counter(len(row) for row in first)
    width = max(widths, key=lambda many: (widths[many], many), default=0)
    names_in_remark = _find_names(next(form.make_reader(last_remark), []), first, width)
    if names_in_remark:
        first.insert(0, names_in_remark)
        remarks -= 1
    if remarks:
        notes.append(f"{remarks:,} line{'s' * (remarks != 1)} of comments (#) skipped")
    at = find_header(first, width) if width > 1 else 0
    names, body = _split(first, at, width)
    if at:
        notes.append(f"{at} line{'s' * (at != 1)} above the names left out")
    kind = "Text" if ending in _OPEN_ENDINGS else ending[1:].upper()
    if form.delimiter not in (",", _NONE) and ending in (".csv", *_OPEN_ENDINGS):
        kind += f" with {form.several or _NAMES.get(form.delimiter, repr(form.delimiter))}"
    comma = form.delimiter != "," and _has_decimal_commas(body, certain=form.delimiter == ";")
    return TableRecords(kind, names, chain(body, rows), comma=comma, notes=notes)


def _read_sample(file: IO[bytes]) -> bytes:
    """Return the beginning of the file: more of it where its lines are very long."""
    sample = file.read(_SAMPLE_BYTES)
    while sample.count(b"\n") < _WIDE_LINES and len(sample) < _WIDE_BYTES:
        more = file.read(len(sample))
        if not more:
            break
        sample += more
    return sample


def _count_remarks(lines: Sequence[str]) -> int:
    """Return how many lines above the table begin with #; none where there is nothing but such lines."""
    return next((at for at, line in enumerate(lines) if not line.startswith("#")), 0)


def _find_names(remark: list[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the names of the columns in a remark above the rows; none where the first row has them."""
    if width < 2 or len(remark) != width:
        return []
    has_number = [any(NUMBER.match(cell.strip()) for cell in row) for row in rows]
    if not has_number[0] and any(has_number):
        return []
    return [remark[0].lstrip("# ") or "#", *remark[1:]]


def _split(rows: list[list[str]], at: int, width: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and the rows below."""
    if not rows:
        return [], []
    header, body = rows[at], rows[at + 1 :]
    if (_is_data(header) and (not body or _is_data(body[0]))) or _is_like_rows(header, body):
        return [""] * len(header), rows[at:]
    if len(header) == width - 1 and all(row[-1] for row in body if len(row) == width):
        # As R writes it: the column of the row names has no name.
        header = ["", *header]
    return [name.strip() for name in header], body


def _has_decimal_commas(rows: Sequence[Sequence[str]], *, certain: bool) -> bool:
    """Return whether numbers are written as 12,5; without being `certain` 1,234 says nothing of it."""
    cells = (cell.strip(MARKS + " \u00a0\u202f") for row in rows for cell in row if "," in cell)
    return any(
        _DECIMAL_COMMA.match(cell) and (certain or len(cell.rpartition(",")[2]) != 3) for cell in cells
    )


def _is_data(row: Sequence[str]) -> bool:
    """Return whether a row has numbers only, which are not years."""
    if not row or not all(NUMBER.match(cell.strip()) for cell in row):
        return False
    return not all(YEAR.match(cell.strip()) for cell in row)


def _is_like_rows(header: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Return whether a first row with texts is no header: all columns
    with only numbers below have one in it, too.

    Years, and other numbers that increase from column to column, may be names.
    """
    columns = zip(*(row for row in body if len(row) == len(header)), strict=True)
    numeric = [
        name.strip() for name, column in zip(header, columns, strict=False) if _has_only_numbers(column)
    ]
    if len(numeric) < 2 or not all(map(NUMBER.match, numeric)) or all(map(YEAR.match, numeric)):
        return False
    numbers = [float(number.replace(",", ".")) for number in numeric]
    return not all(one < next_one for one, next_one in pairwise(numbers))


def _has_only_numbers(column: Sequence[str]) -> bool:
    return bool(column) and all(map(NUMBER.match, map(str.strip, column)))


# -- encodings


def _read_lines(opener: Callable[[], IO[str]], notes: list[str]) -> Iterator[str]:
    """Yield the lines of the file, in which single bytes that are no UTF-8 are letters of Windows-1252."""
    converted = cleaned = False
    with opener() as file:
        for line in file:
            if "\0" in line:
                # Such as the space that a program reserved and never filled.
                line = line.replace("\0", "")
                if not cleaned:
                    cleaned = True
                    notes.append("zero bytes left out")
                if not line.strip("\r\n"):
                    continue
            text = restore_letters(line)
            if text is not line and not converted:
                converted = True
                notes.append("Windows-1252")
            yield text


# -- delimiters and quotation marks


def _detect_form(lines: list[str], given: str, *, tabs: bool) -> _Form:
    text = "".join(lines)
    delimiter = given or _detect_delimiter(lines, tabs=tabs)
    ends = re.escape(delimiter)
    # A quotation mark within a quoted cell begins none.
    cells = re.sub(rf'(^|{ends})"(?:[^"]|"")*"(?={ends}|[\r\n]|$)', r"\1", text, flags=re.MULTILINE)
    spaces = re.search(f'{ends} +"', cells) is not None
    escaped = re.search(rf'[^\\{ends}]\\"(?!\s*({ends}|[\r\n]|$))', text) is not None
    return _Form(delimiter, spaces, escaped)


def _detect_delimiter(lines: list[str], *, tabs: bool) -> str:
    if tabs and any("\t" in line for line in lines):
        return "\t"
    best, most = _NONE, 0.5
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        (width, many), *_ = Counter(widths).most_common(1) or [(0, 0)]
        if width < 2:
            continue
        share = many / len(widths)
        if widths[0] not in (width, width - 1) and len(widths) > 1:
            share *= 0.9
        if share + min(width, 10) / 100 > most:
            best, most = delimiter, share + min(width, 10) / 100
    if best == _NONE and lines:
        candidate = max(_DELIMITERS, key=lines[0].count)
        return candidate if lines[0].count(candidate) else _NONE
    return best


def _detect_long_delimiter(lines: Sequence[str]) -> str:
    """Return the several characters that stand between the cells; "" where it is one."""
    # What is quoted is no delimiter.
    filled = [re.sub(r'"(?:[^"]|"")*"', "", line) for line in lines if line.strip()]
    if not filled:
        return ""
    candidates: set[str] = set(_LONG_DELIMITER.findall(filled[0]))
    for candidate in sorted(candidates, key=len):
        many, lines_with_many = Counter(line.count(candidate) for line in filled).most_common(1)[0]
        if filled[0].count(candidate) != many or lines_with_many < len(filled) * _TABLE_SHARE:
            continue
        rest = [line.replace(candidate, "") for line in filled]
        if any(mark in rest[0] for mark in candidate if mark in _DELIMITERS):
            continue
        single = _detect_delimiter(rest, tabs=False)
        widths = Counter(len(row) for row in csv.reader(rest, delimiter=single) if row)
        (width, lines_with_width), *_ = widths.most_common(1) or [(0, 0)]
        if width <= many or lines_with_width < len(filled) * _TABLE_SHARE:
            return candidate
    return ""


def _read_as_text(name: str, lines: list[str], form: _Form) -> _Form:
    """Return the form of a text whose name does not say that it is a table.

    Raises TableError for other texts.
    """
    if not any(line.strip() for line in lines):
        raise TableError(f"{name} is not a table: it is empty.")
    spaced = replace(form, delimiter=_SPACE, spaces=True, several="")
    share = _count_share(lines, form)
    # Where columns are aligned, there are several spaces in a row.
    aligned = all("  " in line for line in lines if line.strip())
    words = list(map(_space, lines))
    # Without that, lines of as many words each are no table, but with numbers among them.
    if _count_share(words, spaced) == 1 and (aligned or (share < 1 and _has_numbers(words, spaced))):
        return spaced
    if share >= _TABLE_SHARE or _is_numbers(lines):
        return form
    raise TableError(
        f"{name} is not a table: no columns are found in its lines. If it has some, read it with code "
        "(pandas.read_csv), and open the data frame."
    )


def _space(line: str) -> str:
    """Return the line with spaces only between its cells."""
    return line.strip().replace("\t", _SPACE) + "\n"


def _count_share(lines: list[str], form: _Form) -> float:
    """Return the share of the lines that have the usual number of cells; 0 for one cell, or one line."""
    widths = Counter(len(row) for row in form.make_reader(lines) if row)
    (width, many), *_ = widths.most_common(1) or [(0, 0)]
    return many / widths.total() if width > 1 and widths.total() > 1 else 0.0


def _has_numbers(lines: list[str], form: _Form) -> bool:
    """Return whether one of the columns has numbers, apart from its first cell."""
    rows = [row for row in form.make_reader(lines) if row][1:]
    return any(all(NUMBER.match(cell) for cell in column) for column in zip(*rows, strict=True))


def _is_numbers(lines: list[str]) -> bool:
    """Return whether there is a column of numbers, of which the first may be its name."""
    cells = [line.strip() for line in lines if line.strip()]
    return len(cells) > 1 and all(NUMBER.match(cell) for cell in cells[1:])


class _OpenQuoteError(Exception):
    """A quotation mark is not closed."""


def _read_rows(lines: Iterator[str], form: _Form, notes: list[str]) -> Iterator[list[str]]:
    """Read the rows. A line with a quotation mark that is never closed becomes one row."""
    pending: list[str] = []
    open_quote_rows = 0

    closing = re.compile(rf'"(?:\s*(?:{re.escape(form.delimiter)}|[\r\n])|"|$)')

    def feed() -> Iterator[str]:
        size = 0
        for line in lines:
            pending.append(line)
            size = size + len(line) if len(pending) > 1 else len(line)
            if len(pending) > _LONG_CELL:
                mark = line.find('"')
                if size > _LONGEST_ROW or (mark >= 0 and not closing.match(line, mark)):
                    raise _OpenQuoteError
            yield line
        if pending:
            raise _OpenQuoteError

    while True:
        try:
            for row in form.make_reader(feed()):
                pending.clear()
                # A line of spaces only is as empty as one without.
                if row and (len(row) > 1 or not row[0].isspace()):
                    yield row
            break
        except _OpenQuoteError:
            open_quote_rows += 1
            bad, again = pending[0], pending[1:]
            pending = []
            yield from form.make_reader([bad], quotes=False)
            lines = chain(again, lines)
    if open_quote_rows:
        notes.append(f"{open_quote_rows:,} row{'s' * (open_quote_rows != 1)} with an open quotation mark")
