"""What calls of libraries of tables return, by what these say of their functions: nothing is called."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import ast
import inspect
import sys
import types

from python_variables import _is_known

#: Methods of tables that return one with the same columns, beside those that say so.
_SAME = frozenset(
    "sort_values sort_index dropna query reset_index drop_duplicates nlargest nsmallest round isna notna "
    "where mask filter sort unique limit slice with_columns assign replace shift fill_null drop_nulls".split()
)
_TABLES = ("DataFrame", "Series", "LazyFrame")
#: How classes end whose objects are about the columns of the table that makes them.
_ABOUT_A_TABLE = ("GroupBy", "Groupby", "Rolling", "Expanding", "Window", "Resampler", "LazyFrame")
#: What a function calls the class of its own object.
_SELF = ("Self", "NDFrameT", "FrameOrSeries")
#: Parts of libraries that have classes which functions name without importing them, by the library.
_MODULES = {
    "pandas": ("pandas", "pandas.api.typing"),
    "polars": ("polars", "polars.dataframe.group_by", "polars.lazyframe.group_by"),
    "numpy": ("numpy",),
}
_MISSING = object()


class Instance:
    """An object of a class that was not made: only the class is known, and the table that it is about."""

    def __init__(self, kind, table=None):
        self.kind = kind
        self.table = table


def find_result(function, owner):
    """Return what a function of a known library returns: an instance, or its owner for the same columns."""
    if isinstance(function, types.MethodType):
        owner, function = function.__self__, function.__func__
    elif is_column_maker(function):
        function = inspect.getattr_static(type(function), "__call__", None)
    if type(function) is not types.FunctionType or _find_library(function) not in _MODULES:
        return None
    kind = type(owner) if type(owner) is not Instance else owner.kind
    words = _find_class_name(function.__annotations__.get("return"))
    if words in _SELF or (words == kind.__name__ and words in _TABLES and function.__name__ in _SAME):
        return owner
    instance = _make_instance(words, function)
    if instance is not None and instance.kind.__name__.endswith(_ABOUT_A_TABLE):
        instance.table = owner.table if type(owner) is Instance else owner
    return instance


def is_column_maker(value):
    """Return whether a value is `col` of polars, which makes expressions of names of columns."""
    kind = type(value)
    module = type.__dict__["__module__"].__get__(kind)
    is_of_polars = type(module) is str and module.partition(".")[0] == "polars"
    return is_of_polars and type.__dict__["__name__"].__get__(kind) == "Col"


def find_attribute(instance, name):
    """Return an attribute of an instance, as far as its class says what it is."""
    attribute = inspect.getattr_static(instance.kind, name, _MISSING)
    if type(attribute) is types.FunctionType:
        return types.MethodType(attribute, instance)
    accessor = (
        getattr(attribute, "_accessor", None) if type(attribute).__module__.startswith("pandas.") else None
    )
    if isinstance(accessor, type):
        return Instance(accessor)
    getter = attribute.fget if type(attribute) is property else None
    return find_result(getter, instance) if type(getter) is types.FunctionType else None


def find_part(value, key):
    """Find the part of a table that a condition, list or slice selects; of groups, those of a column."""
    if type(value) is Instance:
        if value.kind.__name__ == "DataFrameGroupBy":
            return value if type(key) is list else _make_instance("SeriesGroupBy", None, "pandas")
        return value if value.kind.__name__ in _TABLES and not isinstance(key, str) else None
    if not _is_known(value):
        return None
    name = type(value).__name__
    if name in ("_LocIndexer", "_iLocIndexer"):
        if isinstance(key, ast.Tuple) and isinstance(key.elts[-1], ast.Constant):
            column = key.elts[-1].value
            return value.obj[column] if name == "_LocIndexer" and column in value.obj.columns else None
        return value.obj
    return value if name in _TABLES else None


def _find_library(function):
    module = function.__globals__.get("__name__")
    return module.partition(".")[0] if type(module) is str else ""


def _find_class_name(annotation):
    """Return the first class that an annotation names."""
    if isinstance(annotation, type):
        return annotation.__name__
    text = annotation if type(annotation) is str else ""
    return text.partition("|")[0].partition("[")[0].strip().rpartition(".")[2]


def _make_instance(name, function, library=""):
    """Make an instance of the named class from the library of a function; None if there is no such class."""
    places = [] if function is None else [function.__globals__]
    for module in _MODULES[library or _find_library(function)]:
        if module in sys.modules:
            places.append(vars(sys.modules[module]))
    kind = next((place[name] for place in places if isinstance(place.get(name), type)), None)
    return None if kind is None else Instance(kind)
