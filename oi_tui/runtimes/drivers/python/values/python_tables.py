"""Tables of the program, read page by page: data frames, arrays, and lists of records."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import decimal
import itertools
import json
import os
import sys
import weakref

from python_cell_text import escape_line_breaks, format_value, is_missing, is_written, shorten
from python_model_view import SQL_ROWS, find_kind, list_lazy_columns, shorten_type
from python_records import explain_no_table, is_shown_as_table, read_records
from python_table_conditions import find_matching
from python_table_search import find_words
from python_table_statistics import COMMON, TableReadError, ValueCounts, describe

_ALL = slice(None)
#: Rows whose values are compared as texts, and those that need slow sorting, are at most this many.
_SEARCHED, _LISTED = 2_000_000, 2_000_000
#: What columns of objects may hold so that pandas compares them without code of the program.
_COMPARED = (
    "string",
    "bytes",
    "boolean",
    "integer",
    "floating",
    "decimal",
    "date",
    "datetime",
    "time",
    "empty",
)
#: What gives the rows of a value that has none of its own, by its type.
_METHODS = {
    "LazyFrame": "collect()",
    "DuckDBPyRelation": "df()",
    "Dataset": "to_dataframe()",
    "DataArray": "to_series()",
    "Styler": "data",
}
#: How much is told of the columns of a table that is not computed yet, in characters.
_COLUMNS_OF_HINT = 400
#: Of a table in the conversation: shown whole up to this many rows, else this many of the first and the last.
_WHOLE, _HEAD, _TAIL = 16, 8, 4
#: Columns that are sent of it, and the longest text of a cell.
_SENT, _CELL = 60, 80
#: A shown table of up to this many cells stays in memory, so that it can be opened; of this many tables.
_KEPT_CELLS, _KEPT = 200_000, 200
#: Tables that were shown, by their keys: functions that return them, or None once they are gone.
_shown = {}
_numbers = itertools.count(1)
#: Tells the keys of this process from those of any other.
_PROCESS = os.urandom(6).hex()
#: The row numbers of the view that was last asked for, with what they belong to.
_order = [None, None]


def answer(names, words, is_needed=lambda: False):
    """Return the answer to a question about one table, written as hexadecimal JSON.

    A long search is given up once `is_needed` says that a request waits.
    """
    query = json.loads(bytes.fromhex(words).decode())
    try:
        value = _find_table(names, query["name"])
        table = _wrap_table(value)
        if table is None:
            kind, name = type(value).__name__, query["name"]
            method = _METHODS.get(kind)
            hint = " Its rows are in {}.{}.".format(name, method) if method else ""
            if columns := list_lazy_columns(value):
                hint += " Its columns are {}.".format(columns[:_COLUMNS_OF_HINT])
            why = explain_no_table(value) or "it is of type {}".format(kind)
            raise TableReadError("{} is not a table: {}.{}".format(name, why, hint))
        if query["do"] == "statistics":
            return describe(table, query["column"])
        numbers = _select_rows(table, query, is_needed)
        return (_shape if query["do"] == "shape" else _page)(table, query, numbers)
    except TableReadError as trouble:
        return {"error": str(trouble)}
    except Exception as error:
        return {"error": "The table cannot be read: {}".format(_describe_error(error))}


def _describe_error(error):
    """Return the kind of an error with its words, where these can be had."""
    try:
        return "{}: {}".format(type(error).__name__, error)
    except Exception:
        return type(error).__name__


def _find_table(names, name):
    """Return the value of a variable, or the shown table with this key."""
    if name.startswith("table:"):
        value = _shown.get(name, _return_none)()
        if value is None:
            raise TableReadError("This table is no longer in memory. Run its cell again to open it.")
        return value
    if name not in names:
        raise TableReadError("There is no variable {}.".format(name))
    return names[name]


def _return_none():
    return None


# -- tables in the conversation


def inline(value, names):
    """Return a table as JSON, with its first and last rows and the key that opens it.

    None for other values.
    """
    if not is_frame(value) and not is_shown_as_table(value) and type(value).__name__ != SQL_ROWS:
        return None
    try:
        table = _wrap_table(value)
        return json.dumps(_inline(table, value, names))
    except Exception:
        # A strange frame is shown as it prints itself.
        return None


def _inline(table, value, names):
    columns = [[escape_line_breaks(name)[:_CELL], of, numeric] for name, of, numeric in table.columns[:_SENT]]
    head = table.rows if table.rows <= _WHOLE else _HEAD
    rows = list(table.read(range(head), 0, len(columns)))
    if head < table.rows:
        rows += table.read(range(table.rows - _TAIL, table.rows), 0, len(columns))
    cells = [_align([row[at] for _, row in rows]) for at in range(len(columns))]
    return {
        "key": _remember(value, table),
        "name": _name_of(value, names),
        "kind": table.kind,
        "index": table.index,
        "total": table.rows,
        "width": len(table.columns),
        "columns": columns,
        "head": head,
        "rows": [
            [_cut(format_value(label, False)) or "", list(row)]
            for (label, _), row in zip(rows, zip(*cells) if cells else [])
        ],
    }


def _remember(value, table):
    """Remember a table that is shown, a large one only as long as the program does; return its key."""
    small = table.rows * len(table.columns) <= _KEPT_CELLS
    key = "table:{}:{}".format(_PROCESS, next(_numbers))
    try:
        _shown[key] = (lambda: value) if small else weakref.ref(value)
    except TypeError:
        return ""
    while len(_shown) > _KEPT:
        del _shown[next(iter(_shown))]
    return key


def _name_of(value, names):
    matches = (name for name, item in list(names.items()) if item is value and type(name) is str)
    return next((name for name in matches if not name.startswith("_")), "")


def _align(values):
    """Return the texts of a column; numbers with as many decimals as the most exact
    of them needs, up to four.
    """
    there = [value for value in values if not is_missing(value)]
    if not there or not all(_is_float(value) for value in there):
        return [_cut(format_value(value, False)) for value in values]
    sizes = [abs(float(value)) for value in there]
    if max(sizes) >= 1e12 or any(0 < size < 1e-3 for size in sizes):
        return [None if is_missing(value) else "{:.6g}".format(float(value)) for value in values]
    parts = ["{:.4f}".format(size).partition(".")[2].rstrip("0") for size in sizes]
    digits = max(1, *map(len, parts))
    return [None if is_missing(value) else "{:.{}f}".format(float(value), digits) for value in values]


def _is_float(value):
    if isinstance(value, float):
        return True
    # A number of numpy, and no array of them.
    return getattr(getattr(value, "dtype", None), "kind", "") == "f" and not getattr(value, "shape", ())


def _cut(text):
    return text if text is None or len(text) <= _CELL else text[: _CELL - 1] + "…"


def _shape(table, query, numbers):
    columns = [[escape_line_breaks(str(name)), of, numeric] for name, of, numeric in table.columns]
    size = {"rows": len(numbers), "total": table.rows}
    return {"kind": table.kind, "columns": columns, "index": table.index, **size}


def _page(table, query, numbers):
    numbers = numbers[query["start"] : query["start"] + query["count"]]
    first, whole = query["first"], query["whole"]
    last = min(first + query["columns"], len(table.columns))
    of = [name for _, name, _ in table.columns[first:last]]
    page = [
        [
            format_value(label, whole) or "",
            [format_value(shorten(value, kind), whole) for value, kind in zip(row, of)],
        ]
        for label, row in table.read(numbers, first, last)
    ]
    names = [escape_line_breaks(str(name)) for name, _, _ in table.columns[first:last]]
    return {"page": page, "names": names, "total": table.rows}


def _select_rows(table, query, is_needed):
    """Return the numbers of the rows of a view, in its order; to tell its shape, they are found anew."""
    if query["do"] == "shape":
        _order[:] = [None, None]
    sort, descending, words = query.get("sort"), query.get("descending"), query.get("words")
    if sort is None and not words:
        return range(table.rows)
    key = (id(table.value), table.rows, len(table.columns), sort, descending, words)
    if _order[0] != key:
        numbers = range(table.rows) if sort is None else table.sorted(sort, bool(descending))
        if words:
            matches = find_matching(table, words, _SEARCHED)
            if matches is None:
                matches = find_words(table, words.lower(), is_needed)
            numbers = _select(numbers, matches)
        _order[:] = [key, numbers]
    return _order[1]


def _select(numbers, matches):
    """Return the numbers of rows that match, in their order."""
    if isinstance(matches, set):
        return [number for number in numbers if number in matches]
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return [number for number in numbers if matches[number]]
    if isinstance(matches, bytearray):
        matches = numpy.frombuffer(matches, dtype=bool)
    if isinstance(numbers, range):
        return numpy.flatnonzero(matches)
    numbers = numpy.asarray(numbers)
    return numbers[matches[numbers]]


# -- kinds of tables


def is_frame(value):
    """Return whether it is a data frame, or one column of one."""
    return find_kind(value)[1] in ("DataFrame", "Series", "Table", "RecordBatch")


def _wrap_table(value):
    kind = type(value)
    library, name = find_kind(value)
    if kind.__name__ == SQL_ROWS:
        return _SqlRows(value)
    if library == "pandas" and name in ("DataFrame", "Series"):
        return _Pandas(value)
    if library == "polars" and name in ("DataFrame", "Series"):
        return _Polars(value)
    if library == "pyarrow" and name in ("Table", "RecordBatch"):
        return _Arrow(value)
    if kind.__module__ == "pyarrow.lib" and kind.__name__.endswith("Array"):
        return _Arrow(value)
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None and isinstance(value, pandas.Index):
        return _Pandas(value.to_frame(index=False), kind.__name__)
    if numpy is not None and isinstance(value, numpy.ndarray) and value.ndim in (1, 2):
        return _Array(value)
    records = read_records(value)
    return _Records(value, records) if records is not None else None


class _Lists:
    """What all tables can do that can list a column."""

    index = ""

    def sorted(self, at, descending):
        if self.rows > _LISTED:
            raise TableReadError("The table is too long to sort here; sort it with code.")
        values = self.column(at)
        there = [number for number, value in enumerate(values) if not is_missing(value)]
        try:
            # Objects of the program are not compared: that would run its code.
            if not all(is_written(values[number]) for number in there):
                raise TypeError
            there.sort(key=values.__getitem__, reverse=descending)
        except (TypeError, ValueError):
            there.sort(key=lambda number: format_value(values[number], True) or "", reverse=descending)
        return there + [number for number, value in enumerate(values) if is_missing(value)]

    def labels(self, rows):
        """Return the labels of some rows, where they say more than a number."""
        return ()

    def find_text(self, at, rows, words):
        """Return the numbers, from 0 on, of those rows of a column that have the words, in small letters.

        None where its library does not look for them.
        """
        return None

    def array(self, at):
        """Return a column of numbers or times as an array of numpy, one item for each row.

        None for others.
        """
        return None

    def categories(self, at):
        """Return the values that a column can have, the lowest first, where they have an order."""
        return ()


class _Pandas(_Lists):
    def __init__(self, value, kind=""):
        self.value = value
        self.kind = kind or type(value).__name__
        self.frame = value if value.ndim == 2 else value.to_frame()
        self.rows = self.frame.shape[0]
        self.columns = [
            (_name(label), str(of), getattr(of, "kind", "") in tuple("iuf"))
            for label, of in zip(self.frame.columns, self.frame.dtypes)
        ]
        self.index = ", ".join(str(name) for name in self.frame.index.names if name is not None)

    def labels(self, rows):
        index = self.frame.index
        numbers = getattr(index.dtype, "kind", "") in tuple("iuf") and index.name is None
        return () if numbers else map(_name, index[rows])

    def find_text(self, at, rows, words):
        column = self.frame.iloc[rows, at]
        if not isinstance(column.dtype, sys.modules["pandas"].StringDtype):
            return None
        mask = column.str.contains(words, case=False, regex=False, na=False)
        return mask.to_numpy(dtype=bool).nonzero()[0].tolist()

    def read(self, numbers, first, last):
        rows = slice(numbers.start, numbers.stop) if isinstance(numbers, range) else list(numbers)
        part = self.frame.iloc[rows, first:last]
        labels = [_name(label) if isinstance(label, tuple) else label for label in part.index]
        columns = [list(part.iloc[:, at]) for at in range(part.shape[1])]
        return zip(labels, zip(*columns)) if columns else []

    def column(self, at, rows=_ALL):
        column = self.frame.iloc[rows, at]
        # An array of texts is read one by one otherwise, which is slow.
        is_text = isinstance(column.dtype, sys.modules["pandas"].StringDtype)
        return column.to_numpy(dtype=object, na_value=None).tolist() if is_text else list(column)

    def categories(self, at):
        kind = self.frame.dtypes.iloc[at]
        return list(kind.categories) if getattr(kind, "ordered", None) is True else ()

    def numbers(self, at):
        """Return the numbers of a column as an array, whole ones exactly; missing ones are NaN
        or left out.
        """
        column = self.frame.iloc[:, at]
        kind = getattr(column.dtype, "kind", "")
        if kind in tuple("iu"):
            return column.dropna().to_numpy(dtype="uint64" if kind == "u" else "int64")
        return column.to_numpy(dtype=float, na_value=float("nan"))

    def array(self, at):
        column = self.frame.iloc[:, at]
        kind = getattr(column.dtype, "kind", "")
        if isinstance(column.dtype, sys.modules["pandas"].DatetimeTZDtype):
            return column.dt.tz_localize(None).to_numpy()
        if isinstance(column.dtype, sys.modules["numpy"].dtype):
            return column.to_numpy() if kind in tuple("iufbMm") else None
        if kind not in tuple("iuf"):
            return None
        missing = column.isna().any()
        return column.to_numpy(dtype=float, na_value=float("nan")) if missing else column.to_numpy(kind + "8")

    def counts(self, at):
        """Return how often values occur; None where they are not pandas' own.

        Objects of the program are not compared: that would run its code.
        """
        column = self.frame.iloc[:, at]
        infer = sys.modules["pandas"].api.types.infer_dtype
        if str(column.dtype) == "object" and infer(column, skipna=True) not in _COMPARED:
            return None
        try:
            counts = column.value_counts()
        except Exception:
            # Lists of pyarrow and others have no order.
            return None
        # A category may not occur at all.
        counts = counts[counts > 0]
        values = counts.index

        def find_ends():
            ordered = values if getattr(values.dtype, "kind", "") in tuple("Mm") else list(values)
            return (values.min(), values.max()) if ordered is values else (min(ordered), max(ordered))

        return ValueCounts(int(counts.sum()), len(counts), counts.head(COMMON).items(), find_ends)

    def times(self, at):
        """Return the points in time of a column as an array, without their zone; None for other columns."""
        column = self.frame.iloc[:, at]
        if getattr(column.dtype, "kind", "") != "M" or "pyarrow" in str(column.dtype):
            return None
        there = column.dropna()
        if getattr(column.dtype, "tz", None) is not None:
            there = there.dt.tz_localize(None)
        return there.to_numpy()

    def sorted(self, at, descending):
        values = getattr(self.frame.iloc[:, at], "array", None)
        kind = getattr(self.frame.dtypes.iloc[at], "kind", "")
        numpy = sys.modules["numpy"]
        if kind in tuple("iufb") and isinstance(self.frame.dtypes.iloc[at], numpy.dtype):
            return _order_of(numpy, values.to_numpy(), descending)
        column = self.frame.iloc[:, at].reset_index(drop=True)
        infer = sys.modules["pandas"].api.types.infer_dtype
        if str(column.dtype) == "object" and infer(column, skipna=True) not in _COMPARED:
            return super().sorted(at, descending)
        try:
            return column.sort_values(ascending=not descending, kind="stable").index.to_numpy()
        except Exception:
            # Each kind of column has an exception of its own for values without an order.
            return super().sorted(at, descending)


def _order_of(numpy, values, descending):
    """Return the numbers of the rows in the order of their values, equal ones as they are,
    missing ones last.
    """
    if not descending:
        return values.argsort(kind="stable")
    order = len(values) - 1 - values[::-1].argsort(kind="stable")[::-1]
    missing = int(numpy.isnan(values).sum()) if values.dtype.kind == "f" else 0
    return numpy.concatenate([order[missing:], order[:missing]]) if missing else order


#: Types of polars whose values it does not count, or not without a panic, which is no exception of Python.
_UNCOUNTED = ("Object", "List", "Array", "Struct", "Null", "Unknown", "Float")


class _Polars(_Lists):
    def __init__(self, value):
        self.value = value
        self.kind = "polars " + type(value).__name__
        self.frame = value if hasattr(value, "schema") else value.to_frame()
        self.rows = self.frame.height
        self.columns = [
            (name, shorten_type(str(of)), of.is_numeric()) for name, of in self.frame.schema.items()
        ]

    def read(self, numbers, first, last):
        names = self.frame.columns[first:last]
        if isinstance(numbers, range):
            part = self.frame.select(names).slice(numbers.start, len(numbers))
        else:
            part = self.frame.select(names)[[int(number) for number in numbers]]
        return zip(numbers, part.rows())

    def column(self, at, rows=_ALL):
        return self.frame.to_series(at)[rows].to_list()

    def find_text(self, at, rows, words):
        column = self.frame.to_series(at)[rows]
        if str(column.dtype) != "String":
            return None
        return (
            column.str.to_lowercase().str.contains(words, literal=True).fill_null(False).arg_true().to_list()
        )

    def categories(self, at):
        kind = self.frame.to_series(at).dtype
        return kind.categories.to_list() if str(kind).startswith("Enum") else ()

    def numbers(self, at):
        column = self.frame.to_series(at).drop_nulls()
        whole = column.dtype.is_integer() and not _is_huge(column.dtype)
        return column.to_numpy() if whole else column.cast(sys.modules["polars"].Float64).to_numpy()

    def array(self, at):
        column = self.frame.to_series(at)
        if "numpy" in sys.modules and str(column.dtype).startswith("Duration"):
            return column.to_numpy()
        if "numpy" in sys.modules and str(column.dtype).startswith("Datetime"):
            return column.dt.replace_time_zone(None).to_numpy()
        if "numpy" in sys.modules and str(column.dtype) == "Date":
            return column.to_numpy()
        if "numpy" not in sys.modules or not column.dtype.is_numeric() or _is_huge(column.dtype):
            return None
        has_own = column.dtype.is_integer() and not column.null_count()
        return column.to_numpy() if has_own else column.cast(sys.modules["polars"].Float64).to_numpy()

    def counts(self, at):
        """Return how often values occur; None where polars does not compare them."""
        column = self.frame.to_series(at).drop_nulls()
        if str(column.dtype).startswith(_UNCOUNTED):
            return None
        many = sys.modules["polars"].DataFrame(
            {"value": column.unique(maintain_order=True), "many": column.unique_counts()}
        )
        common = many.sort("many", descending=True, maintain_order=True).head(COMMON)
        return ValueCounts(len(column), len(many), common.rows(), lambda: (column.min(), column.max()))

    def times(self, at):
        """Return the points in time of a column as an array, without their zone; None for other columns."""
        values = self.array(at)
        return values[values == values] if values is not None and values.dtype.kind == "M" else None

    def sorted(self, at, descending):
        if str(self.frame.to_series(at).dtype) == "Object":
            # polars ends with a panic for these, which is no exception of Python.
            return super().sorted(at, descending)
        order = self.frame.to_series(at).arg_sort(descending=descending, nulls_last=True)
        return order.to_numpy() if "numpy" in sys.modules else order.to_list()


def _is_huge(of):
    """Return whether a type of polars holds integers that numpy has no type for."""
    return str(of).endswith("128")


class _Arrow(_Lists):
    def __init__(self, value):
        self.value = value
        self.kind = "pyarrow " + type(value).__name__
        if not hasattr(value, "num_rows"):
            value = sys.modules["pyarrow"].table({"value": value})
        self.table = value
        self.rows = value.num_rows
        self.columns = [(field.name, str(field.type), _is_number(str(field.type))) for field in value.schema]

    def read(self, numbers, first, last):
        part = self.table.select(list(range(first, last)))
        if isinstance(numbers, range):
            part = part.slice(numbers.start, len(numbers))
        else:
            # An empty list would have no type.
            places = sys.modules["pyarrow"].array([int(number) for number in numbers], "int64")
            part = part.take(places)
        return zip(numbers, zip(*(part.column(at).to_pylist() for at in range(last - first))))

    def column(self, at, rows=_ALL):
        return self._get_column(at, rows).to_pylist()

    def find_text(self, at, rows, words):
        from pyarrow import compute

        column = self._get_column(at, rows)
        if str(column.type) not in ("string", "large_string"):
            return None
        mask = compute.match_substring(column, words, ignore_case=True)
        return compute.indices_nonzero(mask).to_pylist()

    def _get_column(self, at, rows=_ALL):
        column = self.table.column(at)[rows]
        # The items of a dictionary are made one by one otherwise, which is slow.
        is_dictionary = str(column.type).startswith("dictionary")
        return column.cast(column.type.value_type) if is_dictionary else column

    def array(self, at):
        column = self.table.column(at)
        kind = str(column.type)
        if "numpy" not in sys.modules:
            return None
        if kind.startswith("timestamp"):
            if column.type.tz is not None:
                from pyarrow import compute

                column = compute.local_timestamp(column)
            return column.to_numpy()
        if kind == "date32[day]" or kind in ("float", "double"):
            return column.to_numpy()
        has_own = kind == "bool" or kind.startswith(("int", "uint"))
        return column.to_numpy() if has_own and not column.null_count else None

    def numbers(self, at):
        from pyarrow import compute

        column = compute.drop_null(self.table.column(at))
        whole = str(column.type).startswith(("int", "uint"))
        return column.to_numpy() if whole else column.cast("float64").to_numpy()

    def counts(self, at):
        """Return how often values occur; None where pyarrow does not count them."""
        from pyarrow import compute

        column = compute.drop_null(self._get_column(at))
        if str(column.type).startswith(("float", "double", "halffloat")):
            return None
        try:
            many = column.value_counts()
        except Exception:
            # Lists, structures and others.
            return None
        numbers = many.field("counts").to_numpy()
        first = (-numbers).argsort(kind="stable")[:COMMON]
        common = ((many.field("values")[int(row)].as_py(), numbers[row]) for row in first)

        def find_ends():
            ends = compute.min_max(column)
            return ends["min"].as_py(), ends["max"].as_py()

        return ValueCounts(len(column), len(many), common, find_ends)

    def times(self, at):
        """Return the points in time of a column as an array, without their zone; None for other columns."""
        values = self.array(at)
        return values[values == values] if values is not None and values.dtype.kind == "M" else None

    def sorted(self, at, descending):
        table = sys.modules["pyarrow"].table({"value": self._get_column(at), "row": range(self.rows)})
        keys = [("value", "descending" if descending else "ascending"), ("row", "ascending")]
        try:
            return table.sort_by(keys).column("row").to_pylist()
        except Exception:
            # Lists, structures and others have no order.
            return super().sorted(at, descending)


def _is_number(name):
    """Return whether a type of pyarrow with this name holds numbers."""
    return name.startswith(("int", "uint", "float", "double", "halffloat", "decimal"))


class _Array(_Lists):
    def __init__(self, value):
        self.value = value
        self.kind = "numpy array"
        numpy = sys.modules["numpy"]
        # Of a matrix, each part would be a matrix again.
        array = numpy.asarray(value) if isinstance(value, numpy.matrix) else value
        self.rows = array.shape[0]
        self.fields = array.dtype.names if array.ndim == 1 else None
        if self.fields:
            self.values = array
            parts = [array.dtype[name] for name in self.fields]
            self.columns = [(name, str(of), of.kind in "iuf") for name, of in zip(self.fields, parts)]
        else:
            self.values = array.reshape(-1, 1) if array.ndim == 1 else array
            of, numeric = str(array.dtype), array.dtype.kind in "iuf"
            self.columns = [(str(at), of, numeric) for at in range(self.values.shape[1])]

    def read(self, numbers, first, last):
        rows = slice(numbers.start, numbers.stop) if isinstance(numbers, range) else list(numbers)
        if self.fields:
            return zip(numbers, zip(*(self._get_column(at)[rows].tolist() for at in range(first, last))))
        return zip(numbers, self.values[rows, first:last].tolist())

    def column(self, at, rows=_ALL):
        return self._get_column(at)[rows].tolist()

    def numbers(self, at):
        part = self._get_column(at)
        return part.compressed() if hasattr(part, "compressed") else part

    def sorted(self, at, descending):
        part = self.array(at)
        if part is None or part.dtype.kind in "Mm":
            return super().sorted(at, descending)
        return _order_of(sys.modules["numpy"], part, descending)

    def array(self, at):
        part = self._get_column(at)
        is_plain = type(part) is sys.modules["numpy"].ndarray
        return part if is_plain and part.ndim == 1 and part.dtype.kind in tuple("iufbMm") else None

    def _get_column(self, at):
        return self.values[self.fields[at]] if self.fields else self.values[:, at]


class _Records(_Lists):
    """A list of records, or a dictionary of columns."""

    def __init__(self, value, records):
        self.value = value
        self.kind = records.kind
        self.rows = len(records)
        self.records = records
        self.columns = []
        for name in records.names:
            kinds = {type(records.cell(row, name)) for row in records.rows[:1000]} - {type(None)}
            label = kinds.pop().__name__ if len(kinds) == 1 else "mixed" if kinds else ""
            self.columns.append((_name(name), label, label in ("int", "float") and self._is_all(name)))

    def _is_all(self, name):
        return all(type(item) in (int, float, type(None)) for item in self.records.sample(name))

    def read(self, numbers, first, last):
        names = self.records.names[first:last]
        for number in numbers:
            yield number, self.records.row(number, names)

    def column(self, at, rows=_ALL):
        return self.records.column(self.records.names[at], rows)


class _SqlRows(_Lists):
    """The rows of a query."""

    kind = "result"

    def __init__(self, value):
        self.value = value
        self.rows = len(value.rows)
        self.columns = [(name, value.kind(at), self._is_numeric(at)) for at, name in enumerate(value.columns)]

    def _is_numeric(self, at):
        kinds = {type(row[at]) for row in self.value.rows} - {type(None)}
        return bool(kinds) and kinds <= {int, float, decimal.Decimal}

    def read(self, numbers, first, last):
        for number in numbers:
            yield number, self.value.rows[number][first:last]

    def column(self, at, rows=_ALL):
        return [row[at] for row in self.value.rows[rows]]


def _name(label):
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
