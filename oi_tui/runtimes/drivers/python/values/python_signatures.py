"""Signatures and documentation of what code calls, without running the program's code."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import functools
import inspect
import sys
import types

from python_records import list_fields
from python_static import find_static, is_of, list_names_of_class
from python_variables import _is_known, _name_of

_CACHED = type(functools.lru_cache(maxsize=1)(lambda: None))
#: Functions that are written in Python, and what wraps them.
PYTHON_FUNCTIONS = (types.FunctionType, _CACHED)
#: The class of functions that Cython makes.
_CYTHON = "cython_function_or_method"
FUNCTIONS = (
    *PYTHON_FUNCTIONS,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
)
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def describe_call(value):
    """Return the parameters of a call of the value, and its signature and documentation in a line.

    Raises ValueError or TypeError where they are not known.
    """
    if not is_of(value, (type, functools.partial)) and not _is_function(value):
        # An object of the program that can be called.
        call = find_static(type(value), "__call__")
        value = types.MethodType(call, value) if is_of(call, PYTHON_FUNCTIONS) else value
    parameters = list_parameters(value)
    return parameters, format_signature(_name(value), parameters, read_documentation(value))


def _is_function(value):
    """Return whether it is a function that says what it takes without the program's code."""
    return is_of(value, FUNCTIONS) or _is_known(value) or _name_of(type(value)) == _CYTHON


def list_parameters(function):
    """List the parameters of a function, without `self`. Raises ValueError or TypeError if unknown."""
    if type(function) is functools.partial:
        return _list_parameters_left(function)
    if is_of(function, type):
        fields = list_fields(function) if "pydantic" in sys.modules else []
        if fields and "__pydantic_fields__" in list_names_of_class(function):
            return [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in fields]
        starter = find_static(function, "__init__")
        if is_of(starter, types.FunctionType):
            return list(_find_signature(starter).parameters.values())[1:]
        if type(function) is not type and not _is_known(function):
            raise TypeError("inspect would ask the class, which asks the program's metaclass")
    elif not _is_function(function):
        raise TypeError("not a function")
    return list(_find_signature(function).parameters.values())


def _list_parameters_left(partial):
    """List the parameters of a partial function; the values that it has already are their defaults."""
    defaults = partial.keywords
    return [
        parameter.replace(default=defaults[parameter.name], kind=parameter.KEYWORD_ONLY)
        if parameter.name in defaults
        else parameter
        for parameter in list_parameters(partial.func)[len(partial.args) :]
    ]


def _find_signature(function):
    """Find the signature of the function that this one wraps; its own where it wraps none."""
    inner, seen = function, 0
    while is_of(inner, (*PYTHON_FUNCTIONS, types.MethodType)) and seen < 100:
        inner, seen = (inner.__func__ if is_of(inner, types.MethodType) else inner), seen + 1
        if "__wrapped__" not in inner.__dict__:
            return inspect.signature(function)
        inner = inner.__dict__["__wrapped__"]
    # `inspect` would ask an object of the program what it wraps in turn.
    return inspect.signature(function, follow_wrapped=is_of(function, type) or not seen)


def _unwrap_function(value):
    """Return the function of a method, and of one of which some arguments are given."""
    while is_of(value, types.MethodType) or type(value) is functools.partial:
        value = value.__func__ if is_of(value, types.MethodType) else value.func
    return value


def _name(value):
    value = _unwrap_function(value)
    if is_of(value, type):
        return _name_of(value)
    name = getattr(value, "__name__", "") if _is_function(value) else ""
    return name if type(name) is str else ""


def read_documentation(value):
    """Return the first line of what a function or class says of itself, without a signature."""
    value = _unwrap_function(value)
    if is_of(value, type):
        text = list_names_of_class(value).get("__doc__")
    else:
        text = value.__doc__ if _is_function(value) else None
    lines = [line.strip() for line in text.splitlines()] if type(text) is str else []
    signature = _name(value) + "("
    return next((line for line in lines if line and not line.startswith(signature)), "")


def format_signature(name, parameters, documentation):
    """Return a signature with its documentation."""
    parts, star = [], False
    for parameter in parameters:
        if parameter.kind == parameter.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = parameter.default
        default_text = "" if default is parameter.empty else "={}".format(format_default(default))
        parts.append(stars + parameter.name + default_text)
    line = "{}({})".format(name, ", ".join(parts))
    return "{}: {}".format(line, documentation) if documentation else line


def format_default(value):
    """Return a default value, cut; dots for an object that the program would have to show."""
    if type(value) not in _PLAIN:
        return "..."
    text = repr(value)
    return text if len(text) <= 30 else text[:29] + "..."
