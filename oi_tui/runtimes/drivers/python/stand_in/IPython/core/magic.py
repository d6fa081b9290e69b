"""Decorators that make magics of functions, and of the methods of a class."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__all__ = [
    "Magics",
    "cell_magic",
    "line_cell_magic",
    "line_magic",
    "magics_class",
    "needs_local_scope",
    "no_var_expand",
    "register_cell_magic",
    "register_line_cell_magic",
    "register_line_magic",
]
#: The name of the attribute in which a method keeps what it is: pairs of a kind and a name.
_MARK = "_oi_tui_magics"


class Magics:
    """The base of classes whose methods are magics."""

    magics = {"line": {}, "cell": {}}

    def __init__(self, shell=None, **_options):
        self.shell = shell
        self.magics = {
            kind: {name: getattr(self, method) for name, method in methods.items()}
            for kind, methods in type(self).magics.items()
        }


def magics_class(cls):
    """Make the marked methods of a class known to `get_ipython().register_magics`."""
    cls.magics = {"line": {}, "cell": {}}
    for method in dir(cls):
        for kind, name in getattr(getattr(cls, method), _MARK, ()):
            cls.magics[kind][name] = method
    return cls


def _with_name(decorate):
    """Let a decorator be used as `@decorator` and as `@decorator("name")`."""

    def decorator(given):
        if callable(given):
            return decorate(given, given.__name__)
        return lambda function: decorate(function, given)

    return decorator


def _marking(kinds):
    def mark(function, name):
        marks = [*getattr(function, _MARK, ()), *((kind, name) for kind in kinds.split("_"))]
        setattr(function, _MARK, marks)
        return function

    return _with_name(mark)


def _registering(kinds):
    def register(function, name):
        builtins.get_ipython().register_magic_function(function, kinds, name)
        return function

    return _with_name(register)


line_magic = _marking("line")
cell_magic = _marking("cell")
line_cell_magic = _marking("line_cell")
register_line_magic = _registering("line")
register_cell_magic = _registering("cell")
register_line_cell_magic = _registering("line_cell")


def needs_local_scope(function):
    """Have a magic called with the variables of the cells as `local_ns`."""
    function.needs_local_scope = True
    return function


def no_var_expand(function):
    """Have a magic called with its text as it is written."""
    function.no_var_expand = True
    return function
