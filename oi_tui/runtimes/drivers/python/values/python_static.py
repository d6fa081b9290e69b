"""Reads values without running the program's code: no properties, no `__getattr__`, no metaclasses."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import inspect
import types

MISSING = object()
#: Where an object keeps its attributes, in classes of Python and in those of C.
_HOLDERS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def is_of(value, kinds):
    """Return whether the value is of these types, as `isinstance` without asking the value
    for its `__class__`.
    """
    return issubclass(type(value), kinds)


def find_static(value, name):
    """Return an attribute as it is stored; `MISSING` where there is none."""
    return inspect.getattr_static(value, name, MISSING)


def list_classes(kind):
    """Return the class and those that it inherits from."""
    return type.__dict__["__mro__"].__get__(kind)


def list_names_of_class(kind):
    """Return what a class defines itself."""
    return dict(type.__dict__["__dict__"].__get__(kind))


def own_names(value):
    """Return what an object holds by itself."""
    for kind in list_classes(type(value)):
        holder = list_names_of_class(kind).get("__dict__")
        if holder is not None:
            return dict(holder.__get__(value)) if is_of(holder, _HOLDERS) else {}
    return {}
