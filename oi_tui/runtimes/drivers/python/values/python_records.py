"""Values of Python that are tables without a library: lists of records, and dictionaries of columns.

No code of the program runs for it: fields are read from where objects keep them.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import collections
import datetime
import decimal
import sys
import types

from python_cell_text import is_enumerated

#: The number of records of a list whose keys are read, where their type names none.
_ASKED = 1000
#: In a longer table, the types of values are read from about this many rows.
_SAMPLED = 20_000
#: A list is shown as a table if it has at least this many records, at most this many fields, and only values
#: of these types.
_FEWEST, _MOST_FIELDS = 3, 60
_SIMPLE = (
    str,
    int,
    float,
    bool,
    type(None),
    datetime.date,
    datetime.datetime,
    datetime.timedelta,
    decimal.Decimal,
)
_DICTIONARIES = (dict, collections.OrderedDict, collections.defaultdict)
_slots_of = types.MemberDescriptorType.__get__


class Records:
    """The rows of a list, with the names of their fields; or the columns of a dictionary."""

    def __init__(self, kind, rows, names, cell):
        self.kind = kind
        self.rows = rows
        self.names = names
        #: The value of a row under a name, both as they are in `rows` and `names`.
        self.cell = cell

    def __len__(self):
        return len(self.rows)

    def row(self, number, names):
        """Return the values of a row under some of the names."""
        return [self.cell(self.rows[number], name) for name in names]

    def column(self, name, rows=slice(None)):
        """Return the values under a name."""
        return [self.cell(row, name) for row in self.rows[rows]]

    def sample(self, name):
        """Return the values under a name, of many rows only some from all parts."""
        return [self.cell(row, name) for row in self.rows[:: len(self.rows) // _SAMPLED or 1]]


class Columns(Records):
    """The columns of a dictionary, which are lists, or arrays of numpy with one dimension."""

    def __init__(self, columns, length):
        super().__init__("dict of lists", range(length), list(columns), self._get_item)
        self._columns = columns

    def _get_item(self, row, name):
        column = self._columns[name]
        return column[row] if type(column) in (list, tuple) else column[row : row + 1].tolist()[0]

    def column(self, name, rows=slice(None)):
        """Return the values under a name."""
        column = self._columns[name]
        return column[rows] if type(column) in (list, tuple) else column[rows].tolist()


def read_records(value):
    """Return a list of records, or a dictionary of columns, as rows and names; None for other values."""
    if type(value) in _DICTIONARIES:
        return _read_columns(value)
    if type(value) not in (list, tuple) or not value:
        return None
    kind = "{} of {}".format(type(value).__name__, type(value[0]).__name__)
    if all(type(row) in _DICTIONARIES for row in value):
        names = list(dict.fromkeys(key for row in value[:_ASKED] for key in dict.keys(row)))
        return Records(kind, value, names, dict.get) if names else None
    if all(map(is_database_row, value)):
        return Records(kind, value, list(value[0].keys()), lambda row, name: row[name])
    of = type(value[0])
    if not all(type(row) is of for row in value):
        rows = all(type(row) in (list, tuple) for row in value)
        return _read_rows(kind, value) if rows else None
    if of in (list, tuple):
        return _read_rows(kind, value)
    names = list_fields(of)
    if not names:
        return None
    if issubclass(of, tuple):
        places = {name: at for at, name in enumerate(names)}
        return Records(kind, value, names, lambda row, name: tuple.__getitem__(row, places[name]))
    slots = {name: _find_slot_reader(of, name) for name in names}
    return Records(kind, value, names, lambda row, name: _read_field(row, name, slots[name]))


def is_shown_as_table(value):
    """Return whether a cell shows it as a table: records of the same fields, or columns,
    with simple values only.
    """
    if type(value) is list and value and is_database_row(value[0]):
        return all(map(is_database_row, value))
    if type(value) is tuple or (type(value) is list and (not value or type(value[0]) in (list, tuple))):
        return False
    records = read_records(value)
    if records is None or len(records) < _FEWEST or len(records.names) > _MOST_FIELDS:
        return False
    if type(value) is not list and (len(records.names) < 2 or not has_names(records)):
        return False
    return has_same_fields(value) and all(
        type(item) in _SIMPLE or is_enumerated(item)
        for name in records.names
        for item in records.sample(name)
    )


def has_names(records):
    """Return whether all fields are called by texts."""
    return all(type(name) is str for name in records.names)


def has_same_fields(value):
    """Return whether all records have the fields of the first."""
    if type(value) is not list or type(value[0]) not in _DICTIONARIES:
        return True
    return all(row.keys() == value[0].keys() for row in value)


def explain_no_table(value):
    """Return why a dictionary of lists is no table; None for other values."""
    columns = list(value.values()) if type(value) in _DICTIONARIES else []
    if not columns or not all(type(column) in (list, tuple) or _is_vector(column) for column in columns):
        return None
    lengths = [len(column) for column in columns]
    return "its lists have different lengths, from {:,} to {:,}".format(min(lengths), max(lengths))


def is_database_row(value):
    """Return whether it is a row of SQLite."""
    return type(value).__name__ == "Row" and type(value).__module__ == "sqlite3"


def _read_rows(kind, value):
    width = max(map(len, value))
    return Records(kind, value, list(range(width)), lambda row, at: row[at] if at < len(row) else None)


def _read_columns(value):
    """Return a dictionary of lists that all have the same length, and at least one item."""
    columns = {}
    for name, column in value.items():
        if type(column) not in (list, tuple) and not _is_vector(column):
            return None
        columns[name] = column
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or not min(lengths):
        return None
    return Columns(columns, min(lengths))


def _is_vector(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.ndim == 1


def list_fields(of):
    """Return the names of the fields that a class of records declares and prints; none for other classes."""
    for entry in of.__mro__:
        own = type.__getattribute__(entry, "__dict__")
        field_names = own.get("_fields")
        if type(field_names) is tuple and issubclass(of, tuple):
            return list(field_names)
        fields = own.get("__dataclass_fields__")
        if type(fields) is dict:
            # Not those of the class, and not those that are only arguments.
            declared = [
                name
                for name, field in fields.items()
                if getattr(getattr(field, "_field_type", None), "name", "") == "_FIELD" and field.repr
            ]
            return declared
        attributes = own.get("__attrs_attrs__")
        if isinstance(attributes, tuple):
            return [attribute.name for attribute in attributes if attribute.repr is True]
        fields = own.get("__pydantic_fields__") or own.get("model_fields") or own.get("__fields__")
        if type(fields) is dict and "pydantic" in sys.modules:
            return [name for name, field in fields.items() if getattr(field, "repr", True)]
        names = own.get("__struct_fields__")
        if type(names) is tuple and "msgspec" in sys.modules:
            return list(names)
    return []


def _find_slot_reader(of, name):
    """Return what reads a field that is kept outside the dictionary of an object; None for other fields."""
    for entry in of.__mro__:
        descriptor = type.__getattribute__(entry, "__dict__").get(name)
        if type(descriptor) is types.MemberDescriptorType:
            return descriptor
    return None


def _read_field(row, name, slot):
    try:
        return (
            _slots_of(slot, row) if slot is not None else object.__getattribute__(row, "__dict__").get(name)
        )
    except AttributeError:
        # It was declared, and never set.
        return None
