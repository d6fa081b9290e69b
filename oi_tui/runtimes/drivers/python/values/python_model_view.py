"""What the model gets of a value: compact, and independent of the width of anybody's window."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import re
import sys

from python_cell_text import escape_line_breaks, format_value, is_enumerated, is_missing
from python_records import has_names, has_same_fields, read_records

#: Tables with at most this many rows are given whole; of longer ones this many of the first and the last.
_WHOLE, _HEAD, _TAIL = 20, 8, 4
#: Longer ones are given whole too if they take at most this many characters: up to as many rows as a notebook
#: shows, and more if the rows have names, as in a summary with a row for each column of a table.
_SUMMARY, _ROWS, _NAMED_ROWS = 2_500, 60, 300
#: The types of so many objects of a column are looked at; so many different ones are named.
_LOOKED_AT, _NAMED_TYPES = 1_000, 4
#: From this many columns on, a type that all of them have is named once.
_ONE_TYPE = 6
#: The most characters of a cell of a table, of a string in a container, and of a whole view.
_CELL, _STRING, _MOST = 80, 400, 12_000
#: The last characters of a long text, which are kept with the first.
_END = 2_000
#: A value whose text is no longer than this is kept as it is.
_SHORT = 1_500
#: The longest name of a column.
_NAME = 200
#: The longest name of a type.
_TYPE = 60
#: Missing values are counted in tables of up to this many cells.
_COUNTED = 20_000_000
#: The same where each is looked at by Python, and not by a library.
_COUNTED_BY_PYTHON = 2_000_000
#: Classes of tables.
_KINDS = ("DataFrame", "Series", "Table", "RecordBatch")
#: The rows of a query of SQL (python_sql_cells.py), a class of our own.
SQL_ROWS = "SqlRows"
#: What shows something that is no text, by its tag in a page.
_MEDIA = {
    "img": "image",
    "iframe": "page",
    "audio": "audio",
    "video": "video",
    "svg": "drawing",
    "canvas": "drawing",
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
#: Columns beyond this are only counted.
_COLUMNS = 500


def view_of(value, text):
    """Return the view of a value whose `repr` is `text`; None where that text says as much."""
    try:
        view = _view_table(value) or _view_array(value) or _view_database_rows(value)
        view = view or _view_lazy_frame(value)
        if view is None and len(text) > _SHORT:
            view = _view_records(value) or _view_container(value) or _view_text(value, text)
        return view
    except Exception:
        # A strange value is given as it prints itself.
        return None


def remove_colours(text):
    """Return a text without what colours it on a terminal."""
    return _COLOURS.sub("", text) if "\x1b" in text else text


def convert_html(html):
    """Return the words of a page, without its tags; cells of a table are parted by bars, also empty ones."""
    from html.parser import HTMLParser

    words, hidden = [], []

    class Parser(HTMLParser):
        #: The column of the cell, how many it takes, and in how many more rows cells above take columns.
        column, width, covered = 0, 1, {}

        def begin_cell(self, attributes):
            while self.covered.get(self.column, 0) > 0:
                self.covered[self.column] -= 1
                self.column += 1
                words.append(" | ")
            words.append(" | ")
            self.width, rows = (_parse_span(attributes, name) for name in ("colspan", "rowspan"))
            self.covered.update(dict.fromkeys(range(self.column, self.column + self.width), rows - 1))
            self.column += self.width

        def handle_starttag(self, tag, attributes):
            if tag == "tr":
                self.column = 0
            elif tag == "table":
                self.covered = {}
            if tag in ("script", "style"):
                hidden.append(tag)
            elif tag in ("tr", "p", "br", "div", "li", "h1", "h2", "h3", "table", "pre"):
                words.append("\n")
            elif tag in ("td", "th"):
                self.begin_cell(dict(attributes))
            elif tag in _MEDIA:
                values = dict(attributes)
                source = values.get("src") or ""
                what = values.get("alt") or ("" if source.startswith("data:") else source)
                words.append(" [{}] ".format(": ".join(filter(None, [_MEDIA[tag], what[:200]]))))
                if tag in ("audio", "video"):
                    hidden.append(tag)

        def handle_endtag(self, tag):
            if hidden and tag == hidden[-1]:
                hidden.pop()
            elif tag in ("td", "th"):
                words.append(" | " * (self.width - 1))
                self.width = 1

        def handle_data(self, data):
            if not hidden:
                words.append(re.sub(r"\s+", " ", data))

    parser = Parser()
    parser.feed(html)
    lines = (re.sub(r" +", " ", line).strip() for line in "".join(words).split("\n"))
    # The bar before the first cell parts nothing.
    lines = (line[1:].lstrip() if line[:1] == "|" else line for line in lines)
    return "\n".join(line for line in lines if line.strip(" |"))


def _parse_span(attributes, name):
    """Return how many columns or rows a cell takes."""
    text = attributes.get(name) or "1"
    return min(max(int(text), 1), 1000) if text.isascii() and text.isdigit() else 1


# -- tables


def find_kind(value):
    """Find the library of a table and its kind there, also of a derived class; "" twice for others."""
    for entry in type(value).__mro__:
        library = entry.__module__.partition(".")[0]
        if library in ("pandas", "polars", "pyarrow") and entry.__name__ in _KINDS:
            return library, entry.__name__
    return "", ""


def _view_table(value):
    library, name = find_kind(value)
    if type(value).__name__ == SQL_ROWS:
        return value.view()
    if library == "pandas" and name == "DataFrame":
        return _view_pandas(value)
    if library == "pandas" and name == "Series":
        return _view_pandas(value.to_frame("value" if value.name is None else value.name), "Series")
    if library == "polars" and name in ("DataFrame", "Series"):
        frame = value if name == "DataFrame" else value.to_frame()
        return _view_polars(frame, name)
    if library == "pyarrow" and name in ("Table", "RecordBatch"):
        return _view_arrow(value)
    return None


def _view_pandas(frame, name="DataFrame"):
    rows, width = frame.shape
    excerpt = frame.iloc[:, :_COLUMNS]
    is_counted = rows * width <= _COUNTED
    # Column by column: together, sparse ones would warn of their different fill values.
    columns = [
        (label, _type_of(excerpt.iloc[:, at]), int(excerpt.iloc[:, at].isna().sum()) if is_counted else 0)
        for at, label in enumerate(excerpt.columns)
    ]
    index = [_label(entry) for entry in frame.index.names]

    def lines(start, stop):
        part = excerpt.iloc[start:stop]
        for label, row in zip(part.index, part.itertuples(index=False, name=None)):
            yield [*(label if isinstance(label, tuple) else (label,)), *row]

    return format_table(
        name,
        rows,
        width,
        columns,
        lines,
        index=", ".join(entry or "index" for entry in index),
        counted=is_counted,
        over=", ".join(filter(None, map(_label, frame.columns.names))) if name == "DataFrame" else "",
        named=rows > 0 and isinstance(frame.index[0], (str, tuple)),
    )


def _type_of(series):
    """Return the type of a column; of objects, their types, those that come first before others."""
    text = str(series.dtype)
    if text != "object":
        return text
    values = series.iloc[:_LOOKED_AT].dropna()
    if not len(values):
        first = series.first_valid_index() if len(series) <= _COUNTED else None
        values = series.loc[[first]] if first is not None and series.index.is_unique else values
    types = list(dict.fromkeys(type(value).__name__ for value in values))
    return "|".join(types) if 0 < len(types) <= _NAMED_TYPES else text


def shorten_type(text):
    """Shorten a type of polars as in the head of a column: "Datetime[us, UTC]", "List(Enum)"."""
    name, _, rest = text.partition("(")
    if name in ("Categorical", "Enum", "Struct"):
        return name
    if name in ("Array", "List"):
        inner, comma, size = rest.removesuffix(")").rpartition(", shape=")
        inner, size = (inner, ", " + size.strip("(),")) if comma else (size, "")
        return "{}({}{})".format(name, shorten_type(inner), size)
    values = [value.strip("'") for value in re.findall(r"=('[^']*'|\w+)", rest) if value != "None"]
    return "{}[{}]".format(name, ", ".join(values)) if values else text


def _type_for_model(text):
    """Return the name of a type of polars or pyarrow: short, but with fields and categories
    where they are few.
    """
    if text.startswith(("Struct(", "Enum(")) and len(text) <= _TYPE:
        return text
    short = shorten_type(text)
    return short if len(short) <= _TYPE else short[: _TYPE - 1] + "…"


def _view_polars(frame, name):
    columns = [
        (label, _type_for_model(str(kind)), frame[label].null_count())
        for label, kind in list(frame.schema.items())[:_COLUMNS]
    ]
    names = [label for label, _, _ in columns]

    def lines(start, stop):
        return map(_mark_nan, frame.select(names).slice(start, stop - start).rows())

    return format_table("polars " + name, frame.height, frame.width, columns, lines)


def list_lazy_columns(value):
    """Return the columns of a LazyFrame of polars with their types, in words, without its rows.

    "" for another value, and where they are not known.
    """
    kind = type(value)
    if (kind.__module__.partition(".")[0], kind.__name__) != ("polars", "LazyFrame"):
        return ""
    try:
        fields = list(value.collect_schema().items())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # A panic of polars is no Exception. The file may be gone, or a column of the plan.
        return ""
    shown = [
        "{} {}".format(_shorten_name(_quote_label(name)), _type_for_model(str(of)))
        for name, of in fields[:_COLUMNS]
    ]
    if len(fields) > _COLUMNS:
        shown.append("… {:,} more columns".format(len(fields) - _COLUMNS))
    return ", ".join(shown)


def _view_lazy_frame(value):
    columns = list_lazy_columns(value)
    if not columns:
        return None
    plan = str(value)
    return "polars LazyFrame, whose rows are not computed yet\nColumns: {}\n{}".format(
        columns, _view_text(plan, plan) or plan
    )


def _view_arrow(table):
    fields = list(table.schema)[:_COLUMNS]
    columns = [
        (field.name, _type_for_model(str(field.type)), table.column(at).null_count)
        for at, field in enumerate(fields)
    ]

    def lines(start, stop):
        part = table.slice(start, stop - start)
        return map(_mark_nan, zip(*(part.column(at).to_pylist() for at in range(len(fields)))))

    return format_table("pyarrow " + type(table).__name__, table.num_rows, table.num_columns, columns, lines)


def _mark_nan(row):
    """Return a row in which NaN is a value, unlike what is missing."""
    return ["NaN" if type(value) is float and value != value else value for value in row]


def _view_database_rows(rows):
    """Return a list of rows of a database that say nothing of themselves, such as `sqlite3.Row`."""
    if type(rows) is not list or not rows or type(rows[0]).__name__ != "Row":
        return None
    if not all(type(row) is type(rows[0]) and hasattr(row, "keys") for row in rows[:1000]):
        return None
    names = list(rows[0].keys())
    columns = []
    for at, name in enumerate(names[:_COLUMNS]):
        values = [row[at] for row in rows]
        sample = next((value for value in values if value is not None), None)
        kind = "" if sample is None else type(sample).__name__
        columns.append((name, kind, sum(value is None for value in values)))

    def lines(start, stop):
        return (tuple(row)[:_COLUMNS] for row in rows[start:stop])

    return format_table("list of Row", len(rows), len(names), columns, lines)


def _view_records(value):
    """Return a list of records with the same fields, or a dictionary of columns."""
    records = read_records(value) if type(value) is not tuple else None
    if records is None or len(records) < 4 or not has_names(records) or not has_same_fields(value):
        return None
    names, columns = records.names[:_COLUMNS], []
    is_counted = len(records) * len(names) <= _COUNTED_BY_PYTHON
    for name in names:
        items = records.column(name) if is_counted else records.sample(name)
        sample = next((item for item in items if item is not None), None)
        kind = "" if sample is None else type(sample).__name__
        columns.append((name, kind, sum(item is None for item in items) if is_counted else 0))

    def lines(start, stop):
        return (records.row(number, names) for number in range(start, min(stop, len(records))))

    return format_table(records.kind, len(records), len(records.names), columns, lines, counted=is_counted)


def format_table(name, rows, width, columns, lines, index="", counted=True, over="", named=False):
    """Return a table in words: shape, columns, and rows as CSV, those in the middle left out first.

    `over` is the name of the columns as a whole; rows that are `named` are a summary.
    """
    kinds = {kind for _, kind, _ in columns}
    all_one = len(kinds) == 1 and len(columns) >= _ONE_TYPE
    labels = ", ".join(
        "{}{}{}".format(
            _shorten_name(_quote_label(label)),
            "" if all_one or not kind else " " + kind,
            " ({:,} missing)".format(missing) if missing else "",
        )
        for label, kind, missing in columns
    )
    head = "{}: {:,} row{} by {:,} column{}".format(name, rows, "s" * (rows != 1), width, "s" * (width != 1))
    if width > len(columns):
        labels += ", … {:,} more columns".format(width - len(columns))
    if not counted:
        labels += " (missing values were not counted)"
    title = "Columns" + (" ({})".format(over) if over else "") + (", all " + kinds.pop() if all_one else "")
    parts = [head, "{}: {}".format(title, labels)]
    if not rows:
        return "\n".join(parts)
    begins = "{}, then the columns".format(index) if index else "the columns"
    room = _MOST - sum(map(len, parts))
    first, last = [], []
    if rows <= (_NAMED_ROWS if named else _ROWS):
        first = _write_csv(lines(0, rows))
        if rows > _WHOLE and sum(map(len, first)) > _SUMMARY:
            first = []
    if not first:
        first, last = _write_csv(lines(0, _HEAD)), _write_csv(lines(rows - _TAIL, rows))
    while sum(map(len, first)) + sum(map(len, last)) > room and len(first) + len(last) > 1:
        (last if len(last) >= len(first) else first).pop(0 if len(last) >= len(first) else -1)
    between = rows - len(first) - len(last)
    gap = ["… {:,} rows not shown …".format(between)] if between else []
    return "\n".join([*parts, "Rows as CSV ({}):".format(begins), "", *first, *gap, *last])


def _write_csv(rows):
    return [",".join(map(_write_field, row)) for row in rows]


def _write_field(value):
    """Return a cell as CSV: nothing for a missing value, and two quotation marks for an empty text."""
    text = _format_cell(value)
    if not text:
        return '""' if type(value) is str else ""
    return '"{}"'.format(text.replace('"', '""')) if "," in text or '"' in text else text


def _format_cell(value):
    if value is None:
        return ""
    if type(value) is float or type(value).__name__ in ("float64", "float32"):
        return "{:.7g}".format(value) if value == value else ""
    if type(value) is not str and is_missing(value):
        # The text "nan" is none of these: it is what is left where missing values were made texts.
        return ""
    text = escape_line_breaks(format_value(value, True) if is_enumerated(value) else str(value))
    if len(text) > _CELL:
        return "{}… ({:,} characters)".format(text[:_CELL], len(text))
    return text


def _shorten_name(name):
    """Return a name of a column, with its length where it is too long to be given whole."""
    if len(name) <= _NAME:
        return name
    return "{}… ({:,} characters)".format(name[:_NAME], len(name))


def _label(label):
    return "" if label is None else str(label).replace("\n", "\\n")


def _quote_label(label):
    """Return the name of a column, in quotation marks where it could be read as something else."""
    text = _label(label)
    is_odd = not text or text != text.strip() or "," in text or '"' in text
    return repr(text) if isinstance(label, str) and is_odd else text or repr(label)


# -- arrays and containers


def _view_array(value):
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray) or value.size <= 20:
        return None
    is_masked = isinstance(value, numpy.ma.MaskedArray)
    with numpy.printoptions(threshold=200, edgeitems=4, linewidth=120):
        # numpy warns of its own way to write masked values where a separator is given.
        text = str(value) if is_masked else numpy.array2string(value, separator=", ")
    facts = ", {:,} masked".format(int(numpy.ma.count_masked(value))) if is_masked else ""
    if value.dtype.kind in "iuf" and value.size <= _COUNTED:
        missing = int(numpy.isnan(value).sum()) if value.dtype.kind == "f" else 0
        if missing < value.size and not (is_masked and value.mask.all()):
            facts += ", {:.7g} to {:.7g}".format(numpy.nanmin(value), numpy.nanmax(value))
        facts += ", {:,} nan".format(missing) if missing else ""
    shape = " by ".join(map(str, value.shape))
    return "{}: {} {}{}\n\n{}".format(type(value).__name__, shape, value.dtype, facts, text)


def _view_text(value, text):
    """Return the beginning and the end of a text that is too long to be given whole; None for others."""
    if len(text) <= _MOST:
        return None
    what = "{:,} {}".format(len(value), "bytes") if type(value) is bytes else ""
    what = what or "{:,} characters".format(len(value) if type(value) is str else len(text))
    return "{} … ({}) … {}".format(text[: _MOST - _END], what, text[-_END:])


def _view_container(value):
    kind = _find_container_kind(value)
    if kind is None:
        return None
    return "{} of {:,}:\n\n{}".format(type(value).__name__, len(value), _compact(value)[:_MOST])


def _find_container_kind(value):
    """Return the kind of a container, also of a class that was derived from it; None for other values."""
    container = next((kind for kind in (dict, list, tuple, set, frozenset) if isinstance(value, kind)), None)
    # A named tuple says more as it prints itself.
    return None if container is tuple and hasattr(value, "_fields") else container


def _describe_item(value):
    """Return what a table or an array within a container is, in a few words; None for other values."""
    library, name = find_kind(value)
    shape = getattr(value, "shape", None)
    if library:
        if type(shape) is not tuple:
            shape = (value.num_rows, value.num_columns)
        return "<{} of {}{}>".format(name, " by ".join(map("{:,}".format, shape)), _list_column_names(value))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray) and value.size > 20:
        shape = " by ".join(map("{:,}".format, value.shape))
        return "<{} of {} {}>".format(type(value).__name__, shape, value.dtype)
    return None


def _list_column_names(table):
    """Return the names of the columns of a table within a container, as many as have room."""
    names = getattr(table, "column_names", None)
    names = list(getattr(table, "columns", ()) if names is None else names)
    if not names:
        return ""
    text = ""
    for number, name in enumerate(names):
        piece = ", " * bool(text) + _quote_label(name)
        if len(text) + len(piece) > _STRING:
            return ": {}, … {:,} more".format(text, len(names) - number)
        text += piece
    return ": " + text


def _compact(value, depth=0):
    """Containers with their first items, and long texts with their length."""
    kind = _find_container_kind(value)
    if kind is None:
        brief = _describe_item(value)
        if brief is not None:
            return brief
        text = repr(value[:_STRING] if type(value) in (str, bytes) else value)
        many = len(value) if type(value) in (str, bytes) else len(text)
        if many <= _STRING:
            return text
        what = "bytes" if type(value) is bytes else "characters"
        return "{}… ({:,} {})".format(text if type(value) in (str, bytes) else text[:_STRING], many, what)
    many = len(value)
    limit = 30 if depth == 0 else 8
    if depth > 5:
        return "<{} of {:,}>".format(type(value).__name__, many)
    items = []
    for item in value.items() if kind is dict else value:
        if len(items) == limit:
            items.append("… {:,} more".format(many - limit))
            break
        if kind is dict:
            items.append("{}: {}".format(_compact(item[0], depth + 1), _compact(item[1], depth + 1)))
        else:
            items.append(_compact(item, depth + 1))
    opening, closing = {list: "[]", tuple: "()", dict: "{}"}.get(kind, "{}")
    return opening + ", ".join(items) + closing
