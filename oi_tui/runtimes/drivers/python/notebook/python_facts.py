"""Facts about an object: `name?`, `name??` and `%whos`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import fnmatch
import inspect
import types

from python_quiet_import import import_quietly

_LONGEST = 300

#: What a question mark alone says.
_HELP = """\
NAME?       what NAME is: its signature, type and documentation
NAME??      the same with its source
NAM*?       the names that match
help(NAME)  Python's own help
%lsmagic    the commands that begin with % and %%; %NAME? says what one does"""


def show(names, name, all_of_it, magics):
    """Print what is known of the object with the name; with `all_of_it` its source too."""
    if not name:
        print(_HELP)
        return
    if name.startswith("%"):
        text = magics.description(name)
        print("{}: {}".format(name, text) if text else "{} is not known here.".format(name))
        return
    if "*" in name:
        _list(names, name)
        return
    try:
        value = eval(name, names)
    except Exception:
        text = magics.description(name)
        print("%{}: {}".format(name, text) if text else "Object `{}` not found.".format(name))
        return
    for title, text in _gather_facts(value, name, all_of_it):
        if text:
            print("{}{}{}".format(title, "\n" if "\n" in text else " " * max(1, 16 - len(title)), text))


def _gather_facts(value, name, all_of_it):
    plain = _is_plain(value)
    if callable(value):
        yield ("Init signature:" if isinstance(value, type) else "Signature:"), _make_signature(value, name)
    if not plain:
        yield "Type:", type(value).__name__
        yield "String form:", _cut(_make_text(value))
        try:
            yield "Length:", str(len(value))
        except Exception:
            pass
    source = _find_source(value) if all_of_it else ""
    if source:
        yield "Source:", source
    else:
        try:
            yield "Docstring:", inspect.getdoc(value) or "<no docstring>"
        except Exception:
            pass
    try:
        file = inspect.getsourcefile(value if plain else type(value)) or ""
    except Exception:
        # What is built in comes from no file.
        file = ""
    yield "File:", file
    if plain:
        yield "Type:", type(value).__name__
    if isinstance(value, type) and not all_of_it:
        try:
            yield "Subclasses:", ", ".join(item.__name__ for item in value.__subclasses__()[:20])
        except TypeError:
            pass


def _is_plain(value):
    return isinstance(value, (type, types.ModuleType)) or inspect.isroutine(value)


def _make_signature(value, name):
    try:
        return "{}{}".format(name.rpartition(".")[2], inspect.signature(value))
    except (ValueError, TypeError):
        return ""


def _find_source(value):
    try:
        return inspect.getsource(value if _is_plain(value) else type(value)).rstrip()
    except (OSError, TypeError):
        return ""


def _make_text(value):
    try:
        return str(value)
    except Exception as error:
        return "<{}>".format(type(error).__name__)


def _cut(text):
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _list(names, pattern):
    """Print the names that match, of the variables or of what one of them holds."""
    owner, _, last = pattern.rpartition(".")
    try:
        inside = dir(eval(owner, names)) if owner else [*names, *dir(builtins)]
    except Exception:
        inside = []
    matches = sorted({item for item in inside if fnmatch.fnmatchcase(item, last)})
    visible_names = [item for item in matches if last.startswith("_") or not item.startswith("_")]
    print("\n".join(owner + "." + item if owner else item for item in visible_names) or "Nothing matches.")


def print_table(names, wanted):
    """Print the variables with their types and what they hold."""
    if not wanted:
        print("Nothing is remembered.")
        return
    variables = import_quietly("python_variables")
    rows = [("Variable", "Type", "Data/Info")]
    for name in wanted:
        value = names[name]
        kind = type.__dict__["__name__"].__get__(type(value))
        detail = _describe_size(value, variables) or variables.describe_variable(names, name).get(
            "preview", kind
        )
        rows.append((name, kind, str(detail).partition("\n")[0][:80]))
    wide = [max(len(row[at]) for row in rows) for at in (0, 1)]
    for at, row in enumerate(rows):
        print("{:<{}}   {:<{}}   {}".format(row[0], wide[0], row[1], wide[1], row[2]).rstrip())
        if at == 0:
            print("-" * (wide[0] + wide[1] + 15))


def _describe_size(value, variables):
    """Return how large a container is, as IPython writes it; "" for other values."""
    kind = type(value)
    if kind in (dict, list, tuple):
        return "n={}".format(len(value))
    if not variables._is_known(value):
        return ""
    if kind.__name__ == "ndarray":
        shape = "x".join(map(str, value.shape))
        return "{}: {} elems, type `{}`, {:,} bytes".format(shape, value.size, value.dtype, value.nbytes)
    if kind.__name__ in ("DataFrame", "Series"):
        return "Shape: {}".format(value.shape)
    return ""
