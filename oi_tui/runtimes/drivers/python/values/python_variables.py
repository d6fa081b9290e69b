"""What the program remembers: names, types and sizes, at a price that does not depend on what they hold.

No code of the program runs for it: attributes are asked only of types that come from Python itself or from a
few libraries known to answer at once, never of a class of the program's own, subclasses included.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import sys
import types

_LONGEST = 60
_MOST = 2000
_PREVIEW = 20_000
_LIBRARIES = (
    *("numpy", "pandas", "polars", "pyarrow", "scipy", "torch", "jax", "jaxlib", "tensorflow", "PIL"),
    *("geopandas", "xarray"),
)
#: What the libraries call their data frames.
TABLES = ("DataFrame", "GeoDataFrame")
_COUNTED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)
_PLAIN = (bool, int, float, complex, type(None))
_NAMED = (types.FunctionType, types.BuiltinFunctionType)
_name_of = type.__dict__["__name__"].__get__
_qualified_name_of = type.__dict__["__qualname__"].__get__
_module_of = type.__dict__["__module__"].__get__


def describe(names):
    """Return how many variables there are, and the newest of them in the order of definition.

    Each is a dictionary with `name`, `type`, `summary` and `size` in bytes.
    """
    mine = [
        (name, value)
        for name, value in list(names.items())
        if type(name) is str and not name.startswith("_") and not issubclass(type(value), types.ModuleType)
    ]
    variables = []
    for name, value in mine[-_MOST:]:
        kind = _name_of(type(value))
        try:
            summary, size = _summarise(value, kind), _describe_size(value)
        except Exception:
            # A library's value that is broken still has a name and a type.
            summary, size = kind, None
        variables.append({"name": name, "type": kind, "summary": summary, "size": size})
    return len(mine), variables


def describe_variable(names, name):
    """Describe a variable: its type, its shape and the beginning of its value; empty if there is none."""
    if name not in names:
        return {}
    value = names[name]
    kind = _name_of(type(value))
    detail = {"description": kind, "preview": kind}
    for key, tell in (("description", _describe_value), ("preview", _render)):
        try:
            detail[key] = tell(value, kind)[:_PREVIEW]
        except Exception:
            # A library's value that is broken still has a name and a type.
            continue
    return detail


def _describe_value(value, kind):
    if type(value) in (str, bytes, bytearray):
        return "{} of {} {}".format(kind, len(value), "characters" if kind == "str" else "bytes")
    if type(value) in _PLAIN:
        return _summarise(value, kind) if value is None else "{} {}".format(kind, _summarise(value, kind))
    summary = _summarise(value, kind)
    if type(value) is dict and value:
        keys = [_summarise(key, _name_of(type(key))) for key in list(value)[:30]]
        return "{}, with the keys {}".format(summary, ", ".join(keys))
    if type(value) in (list, tuple) and value:
        first = value[0]
        inner = _describe_value(first, "dict") if type(first) is dict else _name_of(type(first))
        return "{}, the first: {}".format(summary, inner)
    if type(value) is types.FunctionType:
        code = value.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return "{}({})".format(summary, ", ".join(names))
    if _is_known(value):
        columns = _describe_columns(value)
        if columns:
            shape = getattr(value, "shape", (0, 0))
            column_text = ", ".join(columns[:40]) + (", ..." if len(columns) > 40 else "")
            return "{}, {} rows x {} columns: {}".format(kind, shape[0], shape[1], column_text)
    return summary


def _describe_columns(value):
    """Return the columns of a table with their types."""
    if _name_of(type(value)) not in TABLES:
        return []
    return ["{} ({})".format(name, of) for name, of in zip(list(value.columns), list(value.dtypes))]


def _render(value, kind):
    if _is_known(value) and kind in (*TABLES, "Series", "GeoSeries") and _holds_no_objects(value):
        head = value.head(20)
        text = head.to_string() if hasattr(head, "to_string") else str(head)
        return "{}\n\n{}".format(_describe_value(value, kind), text)
    if _is_known(value) and kind == "ndarray" and not value.dtype.hasobject:
        return "{}\n\n{!r}".format(_describe_value(value, kind), value)
    if type(value) in _COUNTED or type(value) in _PLAIN:
        return _format(value, 0, _PREVIEW)
    return _describe_value(value, kind)


def _holds_no_objects(value):
    """Return whether what a table shows of itself is made without a class of the program's own."""
    head = value.head(20)
    columns = [head[name] for name in head.columns] if _name_of(type(value)) in TABLES else [head]
    allowed = (*_PLAIN, str, bytes)
    return len(columns) <= 200 and all(
        str(column.dtype) != "object" or all(type(cell) in allowed for cell in column.tolist())
        for column in columns
    )


def _format(value, depth, room):
    """Return the value as Python writes it, cut to about `room` characters; built-in types only."""
    kind = _name_of(type(value))
    if type(value) in (str, bytes, bytearray):
        return repr(value) if len(value) <= room else "{!r}...".format(value[:room])
    if type(value) in _PLAIN or type(value) is range:
        return _summarise(value, kind)
    if type(value) not in _COUNTED or depth > 3:
        return _describe_value(value, kind) if type(value) in _COUNTED else _summarise(value, kind)
    parts, length = [], 0
    for item in value.items() if type(value) is dict else value:
        part_room = max(20, min(room - length, 2000))
        if type(value) is dict:
            part = "{}: {}".format(_format(item[0], depth + 1, 200), _format(item[1], depth + 1, part_room))
        else:
            part = _format(item, depth + 1, part_room)
        parts.append(part)
        length += len(part) + 2
        if length > room or len(parts) == 200:
            break
    if len(parts) < len(value):
        parts.append("... {} in all".format(len(value)))
    opening, closing = {"list": "[]", "tuple": "()", "dict": "{}", "set": "{}"}.get(kind, "[]")
    flat = ", ".join(parts)
    if len(flat) <= 70 and "\n" not in flat:
        return opening + flat + closing
    indent = "    " * (depth + 1)
    lines = ",\n".join(indent + part for part in parts)
    return "{}\n{}\n{}{}".format(opening, lines, "    " * depth, closing)


def _summarise(value, kind):
    if type(value) in _PLAIN:
        if type(value) is int and value.bit_length() > 200:
            return "int of {} bits".format(value.bit_length())
        return repr(value)
    if type(value) in (str, bytes) and len(value) <= _LONGEST:
        return repr(value)
    if type(value) in _COUNTED:
        return "{} of {}".format(kind, len(value))
    if issubclass(type(value), type):
        return "class {}".format(_qualified_name_of(value))
    if type(value) in _NAMED:
        return "function {}".format(value.__qualname__)
    if _is_known(value):
        return _shape(value, kind)
    return kind


def _shape(value, kind):
    """Return the kind with the shape: `DataFrame 1200x8`, `ndarray (3500, 3500) float64`, `float64 2.5`."""
    shape, of = getattr(value, "shape", None), getattr(value, "dtype", None)
    if kind == "Dataset" and not isinstance(shape, tuple):
        # Of xarray: the names of its dimensions, with their lengths.
        sizes = dict(value.sizes).items()
        return " ".join([kind, *("{}={}".format(name, length) for name, length in sizes)])
    if not isinstance(shape, tuple):
        shape, of = getattr(value, "size", None), None
    if not (isinstance(shape, tuple) and all(isinstance(length, int) for length in shape)):
        return kind
    if of is None:
        return "{} {}".format(kind, "x".join(map(str, shape)))
    if kind == str(of) and not shape:
        item = value.item()
        return "{} {!r}".format(kind, item) if type(item) in _PLAIN else kind
    return "{} {} {}".format(kind, tuple(shape), of)


def _describe_size(value):
    if type(value) in _PLAIN or type(value) in _COUNTED:
        return sys.getsizeof(value)
    if _is_known(value):
        size = getattr(value, "nbytes", None)
        if size is None and _name_of(type(value)) in TABLES and len(getattr(value, "columns", ())) <= 100:
            usage = getattr(value, "memory_usage", None)
            size = int(usage(deep=False).sum()) if usage is not None else None
        return size if isinstance(size, int) else None
    return None


def _is_known(value):
    # Asked of `type` itself: what a class of the program's own makes of the attribute is not run.
    module = _module_of(type(value))
    return type(module) is str and module.partition(".")[0] in _LIBRARIES
