"""Texts of values in the cells of a table; no code of the program runs for them."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import struct
import sys

#: A text is cut to this many characters, unless all of it is wanted.
_LONGEST = 200
#: Values from elsewhere may run the program's own code when they are written.
_WRITTEN = (
    "builtins",
    "datetime",
    "decimal",
    "fractions",
    "uuid",
    "pathlib",
    "pandas",
    "numpy",
    "polars",
    "pyarrow",
    "shapely",
    "ipaddress",
    "sympy",
    "cftime",
)
#: Types of numbers with fewer digits than those of Python, by how the libraries call them.
_SINGLE = ("float32", "Float32", "float", "float[pyarrow]")
_HALF = ("float16", "halffloat", "halffloat[pyarrow]")


def is_missing(value):
    """Return whether a value stands for none: None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return True
    try:
        # Not of an array, which compares its items.
        return bool(value != value)
    except Exception:
        return False


def is_enumerated(value):
    """Return whether it is a member of an enumeration."""
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(type(value), enum.EnumMeta)


def is_written(value):
    """Return whether the value is of a type that can be written and compared without code of the program."""
    kind = type(value)
    return kind.__module__.partition(".")[0] in _WRITTEN and kind is not object


def format_value(value, whole):
    """Return the text of a cell; None where the value is missing."""
    kind = type(value)
    if value is None or kind.__name__ in ("NaTType", "NAType"):
        return None
    if is_enumerated(value):
        # As it writes itself, without a method of its class.
        return "{}.{}".format(kind.__name__, object.__getattribute__(value, "__dict__").get("_name_"))
    if not is_written(value):
        return "<{}>".format(kind.__name__)
    if kind.__module__ == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item() if value.dtype.kind in "biuf" else value
    if type(value) is float:
        if value != value:
            return None
        return repr(value) if whole else "{:.10g}".format(value)
    if kind.__name__ == "Decimal" and is_missing(value):
        return None
    try:
        text = str(value)
    except Exception:
        # It holds something that cannot be written.
        return "<{}>".format(kind.__name__)
    if whole:
        return text
    return escape_line_breaks(text[:_LONGEST]) + ("…" if len(text) > _LONGEST else "")


def escape_line_breaks(text):
    """Return a text with its line breaks written out."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def shorten(value, kind):
    """Return a number of a column of this type, with the fewest digits that mean it: 0.1
    and not 0.10000000149.
    """
    form = "f" if kind in _SINGLE else "e" if kind in _HALF else ""
    if not form or type(value) is not float or value != value:
        return value
    for digits in range(1, 10):
        short = float("{:.{}g}".format(value, digits))
        try:
            if struct.unpack(form, struct.pack(form, short))[0] == value:
                return short
        except (OverflowError, struct.error):
            # Rounded up, the largest numbers do not fit any more.
            continue
    return value
