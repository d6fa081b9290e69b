"""Reads a Parquet, Arrow or Excel file for the program, in a Python that has the library for it.

Arguments: the ending, the path and the sheet. Writes lines of JSON: `"missing"` without the library, else
facts about the table, and then rows, a batch in a line.
"""

# mypy: ignore-errors

from __future__ import annotations

import contextlib
import datetime
import decimal
import functools
import json
import re
import sys
import zipfile

_BATCH = 1000
#: Python has no object for days after the year 9999, nor for all time zones that a file can name.
_NO_OBJECT = (ValueError, OverflowError, LookupError, TypeError, NotImplementedError, OSError)


def main(ending, path, table):
    read = _read_excel if ending in (".xlsx", ".xlsm") else _read_arrow
    batch = []
    try:
        for row in read(ending, path, table):
            batch.append([_simplify(value) for value in row])
            if len(batch) == _BATCH:
                _send(batch)
                batch = []
    except ImportError:
        _send("missing")
        return
    _send(batch)


def _send(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _simplify(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(name): _simplify(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_simplify(part) for part in value]
    if isinstance(value, bytes):
        return "<{:,} bytes>".format(len(value))
    return _write_duration(value) if isinstance(value, datetime.timedelta) else str(value)


def _write_duration(value):
    """Return hours, minutes and seconds: 26:03:04 and not 1 day, 2:03:04."""
    rest = abs(value)
    hours, seconds = divmod(rest.seconds, 3600)
    text = "{}:{:02}:{:02}".format(rest.days * 24 + hours, seconds // 60, seconds % 60)
    if rest.microseconds:
        text += ".{:06}".format(rest.microseconds)
    return text if value == rest else "-" + text


def _read_arrow(ending, path, _):
    import pyarrow

    if ending == ".parquet":
        from pyarrow import parquet

        file = parquet.ParquetFile(path)
        kind, schema, batches = "Parquet", file.schema_arrow, file.iter_batches(batch_size=_BATCH)
    else:
        source = pyarrow.memory_map(path)
        try:
            file = pyarrow.ipc.open_file(source)
            batches = (file.get_batch(at) for at in range(file.num_record_batches))
        except pyarrow.ArrowInvalid:
            source.seek(0)
            batches = file = pyarrow.ipc.open_stream(source)
        kind, schema = "Arrow", file.schema
    # Of values that are kept in a dictionary, only they are told.
    kinds = [item.type for item in schema]
    kinds = [of.value_type if str(of).startswith("dictionary<") else of for of in kinds]
    _send({"kind": kind, "names": schema.names, "types": list(map(str, kinds))})
    for batch in batches:
        for at in range(0, batch.num_rows, _BATCH):
            yield from zip(*map(_list_values, batch.slice(at, _BATCH).columns))


def _list_values(column):
    """Return the values of a column; those that Python has no object for as texts."""
    if str(column.type) == "float":
        # Numbers with few digits get no more: 0.1 and not 0.10000000149.
        return column.cast("string").to_pylist()
    try:
        return column.to_pylist()
    except _NO_OBJECT:
        return [_read_value(value) for value in _drop_zone(column)]


def _drop_zone(column):
    """Return a column of times without a zone, as UTC."""
    import pyarrow

    of = column.type
    return column.cast(pyarrow.timestamp(of.unit)) if getattr(of, "tz", None) else column


def _read_value(value):
    for read in (value.as_py, lambda: value.cast("string").as_py()):
        with contextlib.suppress(*_NO_OBJECT):
            return read()
    # A list or a record that has such a value.
    return "<{}>".format(value.type)


def _read_excel(_, path, table):
    book = _open_book(path, data_only=True)
    # The sheets that are hidden come behind the others.
    sheets = [sheet.title for sheet in sorted(book.worksheets, key=_is_hidden)]
    _send({"sheets": sheets})
    if not sheets or (table and table not in sheets):
        return
    sheet_name = table or sheets[0]
    rows = _read_rows(book[sheet_name])
    if not _has_formulas(path):
        yield from ([_convert_date(value) for value in row] for row in rows)
        return
    # What no spreadsheet program has computed yet has a formula and no value.
    formula_rows = _read_rows(_open_book(path)[sheet_name])
    for row, formulas in zip(rows, formula_rows):
        yield [
            _find_formula(formula) if value is None else _convert_date(value)
            for value, formula in zip(row, formulas)
        ]


def _open_book(path, **how):
    """Open a workbook, whatever is wrong with its sheets of charts, which have no rows."""
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):
        def read_chartsheet(self, sheet, rel):
            with contextlib.suppress(Exception):
                super().read_chartsheet(sheet, rel)

    reader = Reader(path, read_only=True, **how)
    reader.read()
    return reader.wb


def _is_hidden(sheet):
    return getattr(sheet, "sheet_state", "visible") != "visible"


def _read_rows(sheet):
    """Read all rows of a sheet, whose size some programs write wrongly at its beginning."""
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()
    for row in sheet.iter_rows():
        yield [_format_amount(cell) if type(cell.value) in (int, float) else cell.value for cell in row]


def _format_amount(cell):
    """Return a share or an amount of money as the sheet shows it, with all its digits; others as they are."""
    try:
        form = cell.number_format
    except LookupError:
        # Some programs write numbers of styles that the workbook does not have.
        return cell.value
    if form == "General":
        return cell.value
    mark, is_first, decimals = _read_format(form)
    if not mark:
        return cell.value
    # A spreadsheet keeps 15 digits: more come from the way in which numbers are stored.
    number = decimal.Decimal("{:.15g}".format(cell.value)) * (100 if mark == "%" else 1)
    if not number.is_finite():
        return cell.value
    digits = "{:f}".format(number.normalize().copy_abs())
    fraction = max(decimals, len(digits.partition(".")[2]))
    text = "{:,.{}f}".format(number.copy_abs(), fraction)
    text = mark + text if is_first else text + mark if mark == "%" else "{} {}".format(text, mark)
    return "-" + text if number < 0 else text


@functools.lru_cache(maxsize=None)
def _read_format(form):
    """Return the currency or % of a number format, whether it is before the number, and the decimals.

    "" for a format without them, or with conditions.
    """
    first = re.sub(r"\\(.)|[_*].", r"\1", form.partition(";")[0])
    first = re.sub(r"\[\$([^\]-]*)(?:-[^\]]*)?\]", r"\1", first)
    first = re.sub(r"\[[A-Za-z]+[0-9]*\]", "", first).replace('"', "").strip()
    digits = re.search(r"[0#?][0#?,]*(?:\.([0#?]*))?", first)
    mark = (first[: digits.start()] + first[digits.end() :]).strip(" ()+-") if digits else ""
    if len(mark) != 1 or mark not in "$\u20ac\u00a3\u00a5\u20b9\u20a9%":
        return "", False, 0
    is_first = mark != "%" and first.index(mark) < digits.start()
    return mark, is_first, len((digits.group(1) or "").rstrip("#?"))


def _has_formulas(path):
    """Return whether a cell of the workbook is a formula."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.startswith("xl/worksheets/") or not name.endswith(".xml"):
                continue
            with archive.open(name) as file:
                before = b""
                while part := file.read(1 << 20):
                    if re.search(rb"<(?:\w+:)?f[ >]", before + part):
                        return True
                    before = part[-20:]
    return False


def _find_formula(written):
    """Return the formula in a cell; None for a cell without one."""
    text = getattr(written, "text", written)
    return text if isinstance(text, str) and text.startswith("=") else None


def _convert_date(value):
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return value


main(*sys.argv[1:])
