"""Writes a Parquet or Excel file from rows of texts: `table_writer.py FORMAT FILE`, run by any Python.

The first line of input is a list of the columns, each with the name of its type; each further line is a list
of rows, and the last one is `null`. The first line of output is `ready`, or `missing` where no library can
write the format; the last one is `written`, or the columns whose texts are not of their type.
"""

# mypy: ignore-errors

import datetime
import json
import re
import sys

# Beside this file are modules whose names belong to others, too.
del sys.path[0]

#: Rows that are written together.
_GROUP = 100_000
#: The beginnings of the names of types, in any case, as libraries and databases call them.
_TYPES = (
    (("int", "uint", "bigint", "smallint"), "int"),
    (("float", "double", "real", "percent", "currency"), "float"),
    (("bool",), "bool"),
    (("datetime", "timestamp"), "time"),
    # `date m/d/y?`: it is not known which number is the day.
    (("date ",), "text"),
    (("date",), "date"),
)
#: The texts of Excel have no such characters, and are no longer than this.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_LONGEST = 32_767
#: The most digits of a number in Excel; a longer number stays a text.
_DIGITS = 15


def get_kind(type_name):
    """Return the kind of a column: `int`, `float`, `bool`, `time`, `date` or `text`."""
    name = type_name.lower()
    return next((kind for beginnings, kind in _TYPES if name.startswith(beginnings)), "text")


class _Arrow:
    def __init__(self, path, columns):
        import pyarrow
        import pyarrow.parquet

        self._arrow = pyarrow
        self._types = [self._type(of) for _, of in columns]
        self._schema = pyarrow.schema([(name, of) for (name, _), of in zip(columns, self._types)])
        self._writer = pyarrow.parquet.ParquetWriter(path, self._schema)

    def _type(self, type_name):
        arrow, name = self._arrow, type_name.lower()
        zone = "UTC" if ("," in name or "tz" in name or "zone" in name) and "none" not in name else None
        return {
            "int": arrow.int64(),
            "float": arrow.float64(),
            "bool": arrow.bool_(),
            "time": arrow.timestamp("ns" if "ns" in name else "us", tz=zone),
            "date": arrow.date32(),
        }.get(get_kind(name), arrow.string())

    def write(self, columns, failed):
        arrays = []
        for at, (texts, of) in enumerate(zip(columns, self._types)):
            try:
                arrays.append(self._arrow.array(texts, self._arrow.string()).cast(of))
            except self._arrow.ArrowInvalid:
                failed.add(at)
        if not failed:
            self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))

    def close(self):
        self._writer.close()


class _Polars:
    def __init__(self, path, columns):
        import polars

        self._polars, self._path, self._columns = polars, path, columns
        self._parts = []

    def write(self, columns, failed):
        polars = self._polars
        new_columns = []
        for at, (texts, (name, of)) in enumerate(zip(columns, self._columns)):
            series = polars.Series(name, texts, polars.String)
            try:
                new_columns.append(self._convert(series, get_kind(of)))
            except (polars.exceptions.PolarsError, ValueError):
                failed.add(at)
        if not failed:
            self._parts.append(polars.DataFrame(new_columns))

    def _convert(self, series, kind):
        polars = self._polars
        if kind == "bool":
            return polars.Series(series.name, [_parse_bool(text) for text in series], polars.Boolean)
        if kind == "time":
            if not series.count():
                return series.cast(polars.Datetime("us"))
            _check_days(series)
            return series.str.to_datetime(time_unit="us", strict=True)
        if kind == "date":
            _check_days(series)
            return series.str.to_date(strict=True)
        return series.cast({"int": polars.Int64, "float": polars.Float64}.get(kind, polars.String))

    def close(self):
        polars = self._polars
        empty = polars.DataFrame(
            {name: [] for name, _ in self._columns}, {n: polars.String for n, _ in self._columns}
        )
        (polars.concat(self._parts) if self._parts else empty).write_parquet(self._path)


class _Excel:
    def __init__(self, path, columns):
        import openpyxl
        from openpyxl.cell import WriteOnlyCell

        self._path, self._cell = path, WriteOnlyCell
        self._book = openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("Table")
        self._sheet.freeze_panes = "A2"
        self._kinds = [get_kind(of) for _, of in columns]
        self._sheet.append([self._make_cell(name, "text") for name, _ in columns])

    def write(self, columns, failed):
        new_columns = []
        for at, (texts, kind) in enumerate(zip(columns, self._kinds)):
            try:
                new_columns.append([self._make_cell(text, kind) for text in texts])
            except ValueError:
                failed.add(at)
        if not failed:
            for row in zip(*new_columns):
                self._sheet.append(row)

    def _make_cell(self, text, kind):
        if text is None:
            return None
        if kind in ("int", "float") and len(re.sub(r"\D|e.*", "", text.lstrip("-0."))) <= _DIGITS:
            value = int(text) if kind == "int" else float(text)
            if abs(value) != float("inf"):
                return value
        if kind == "bool":
            return _parse_bool(text)
        if kind in ("time", "date"):
            return datetime.datetime.fromisoformat(text).replace(tzinfo=None)
        if len(text) > _LONGEST:
            raise SystemExit("a text has {:,} characters, and Excel takes {:,}".format(len(text), _LONGEST))
        cell = self._cell(self._sheet, _CONTROL.sub("\ufffd", text))
        # A text that begins like a formula is none.
        cell.data_type = "s"
        return cell

    def close(self):
        self._book.save(self._path)


def _check_days(series):
    """Raise ValueError where a date has no year first: polars would guess which number is the day."""
    if not series.str.contains(r"^\d{4}-\d\d-\d\d").all():
        raise ValueError(series.name)


def _parse_bool(text):
    if text is None:
        return None
    if text.lower() not in ("true", "false", "0", "1"):
        raise ValueError(text)
    return text.lower() in ("true", "1")


#: What can write a format, the best one first.
_WRITERS = {"parquet": (_Arrow, _Polars), "xlsx": (_Excel,)}


def _open(form, path, columns):
    for writer in _WRITERS[form]:
        try:
            return writer(path, columns)
        except ImportError:
            continue
    return None


def main(form, path):
    """Write the file."""
    columns = json.loads(sys.stdin.readline())
    writer = _open(form, path, columns)
    print("ready" if writer else "missing", flush=True)
    if writer is None:
        return
    failed, rows = set(), []
    while True:
        more = json.loads(sys.stdin.readline())
        rows += more or []
        if rows and (more is None or len(rows) >= _GROUP):
            writer.write(list(zip(*rows)), failed)
            rows = []
        if more is None:
            break
    if not failed:
        writer.close()
    print(json.dumps(sorted(failed)) if failed else "written", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
