"""Values as text that is laid out as in a notebook: lines of at most 79 columns, broken in containers.

`_repr_pretty_` methods get the `Printer`, which has the methods that IPython's has.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import types
from collections import deque
from contextlib import contextmanager

from python_quiet_import import import_quietly

_WIDTH = 79
#: Of longer containers the rest is left out.
_MOST = 1000
#: Values of these types are what their `repr` is, in one line.
_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented)))
#: Names of the types whose digits `%precision` bounds: that of Python and that of numpy.
_FLOATS = ("float", "float64")
_BUILT_IN = (None, "builtins")


def format_value(value, own=None, float_format=None):
    """Return the text of a value.

    `own` finds the program's own function for a class, or returns None; `float_format` is as `%.3f`.
    """
    printer = Printer(own, float_format)
    printer.pretty(value)
    return printer.finish()


class _Group:
    """Places where lines may be broken: in all of them, or in none."""

    __slots__ = ("depth", "is_broken", "waiting")

    def __init__(self, depth):
        self.depth = depth
        self.is_broken = False
        #: How many of its places are not laid out yet.
        self.waiting = 0


class _LineBreak:
    """A place where a line may be broken, what stands there otherwise, and how the next line is indented."""

    __slots__ = ("group", "indent", "text")

    def __init__(self, group, text, indent):
        self.group, self.text, self.indent = group, text, indent


class Printer:
    """Lays text out as it comes. What is not decided yet waits until its line is too long or broken."""

    def __init__(self, own=None, float_format=None):
        self.max_width, self.max_seq_length = _WIDTH, _MOST
        self.indentation = 0
        self.verbose = False
        self.newline = "\n"
        #: The ids of the values that are being printed, each within the one before.
        self.stack = []
        self._own, self._float_format = own, float_format
        self._done = []
        #: The columns that are taken by what is laid out, and by what waits.
        self._column = self._waiting_width = 0
        self._waiting = deque()
        root = _Group(0)
        self._groups = [root]
        #: The groups that may still be broken, by their depth.
        self._breakable_groups = [[root]]

    def finish(self):
        """Return what was printed."""
        self.flush()
        return "".join(self._done)

    # -- what `_repr_pretty_` calls

    def text(self, text):
        """Print a text that is never broken."""
        if not self._waiting:
            self._done.append(text)
            self._column += len(text)
            return
        self._waiting.append(text)
        self._waiting_width += len(text)
        self._fit()

    def breakable(self, sep=" "):
        """Print a separator that becomes a new line if the line gets too long."""
        group = self._groups[-1]
        if group.is_broken:
            self.flush()
            self._begin_line(self.indentation)
            return
        self._waiting.append(_LineBreak(group, sep, self.indentation))
        self._waiting_width += len(sep)
        group.waiting += 1
        self._fit()

    def break_(self):
        """Begin a new line. What is around it is broken too."""
        self._break_group()
        self.flush()
        self._begin_line(self.indentation)

    def begin_group(self, indent=0, open=""):
        """Begin a group. Its lines are indented by that many more columns."""
        if open:
            self.text(open)
        group = _Group(len(self._groups))
        self._groups.append(group)
        if len(self._breakable_groups) <= group.depth:
            self._breakable_groups.append([])
        self._breakable_groups[group.depth].append(group)
        self.indentation += indent

    def end_group(self, dedent=0, close=""):
        """End the group."""
        self.indentation -= dedent
        group = self._groups.pop()
        if not group.waiting:
            self._drop(group)
        if close:
            self.text(close)

    @contextmanager
    def group(self, indent=0, open="", close=""):
        """Print the body of a `with` statement as a group."""
        self.begin_group(indent, open)
        try:
            yield
        finally:
            self.end_group(indent, close)

    @contextmanager
    def indent(self, indent):
        """Indent the lines that begin in the body of a `with` statement."""
        self.indentation += indent
        try:
            yield
        finally:
            self.indentation -= indent

    def flush(self):
        """Lay out what waits, without breaking lines."""
        for item in self._waiting:
            self._lay_out(item)
        self._waiting.clear()
        self._waiting_width = 0

    def _enumerate(self, items):
        """Iterate over numbers and items, and print dots in place of those that are too many."""
        for number, item in enumerate(items):
            if self.max_seq_length and number >= self.max_seq_length:
                self.text(",")
                self.breakable()
                self.text("...")
                return
            yield number, item

    def pretty(self, value):
        """Print a value."""
        kind = type(value)
        if kind in _PLAIN and self._own is None and self._float_format is None:
            self.text(repr(value))
            return
        is_cycle = id(value) in self.stack
        self.stack.append(id(value))
        self.begin_group()
        try:
            self._find_printer(value)(value, self, is_cycle)
        finally:
            self.end_group()
            self.stack.pop()

    def _find_printer(self, value):
        """Find the function that prints a value: that of its class, or of the first base with one."""
        kind = _get_attribute(value, "__class__") or type(value)
        for base in _get_attribute(kind, "__mro__") or type.mro(kind):
            print_function = self._own(base) if self._own is not None else None
            if print_function is not None:
                return print_function
            if self._float_format is not None and base.__name__ in _FLOATS:
                return lambda item, printer, is_cycle: printer.text(self._float_format % item)
            print_function = _PRINTERS.get(base) or _PRINTERS_BY_NAME.get(
                (_get_attribute(base, "__module__"), _get_attribute(base, "__name__"))
            )
            if print_function is not None:
                return print_function
            # Mocks have any attribute that they are asked for, classes have what is written in them.
            if "_repr_pretty_" in base.__dict__ and callable(base._repr_pretty_):
                return base._repr_pretty_
            if (
                base is not object
                and "__repr__" in base.__dict__
                and callable(_get_attribute(base, "__repr__"))
            ):
                return _print_repr
        return _print_object

    # -- the layout

    def _fit(self):
        """Break the outermost group that has a place for it, while the line is too long."""
        while self._column + self._waiting_width > self.max_width:
            if not self._break_group():
                return

    def _break_group(self):
        """Break the outermost group that has a place for it; return whether there was one."""
        group = self._group_to_break()
        if group is None:
            return False
        while group.waiting or (self._waiting and isinstance(self._waiting[0], str)):
            item = self._waiting.popleft()
            self._waiting_width -= len(item if isinstance(item, str) else item.text)
            self._lay_out(item)
        return True

    def _group_to_break(self):
        for groups in self._breakable_groups:
            for number, group in enumerate(reversed(groups)):
                if group.waiting:
                    # IPython counts from the wrong end here. Which groups can be broken later depends on it.
                    del groups[number]
                    group.is_broken = True
                    return group
            # They have no place yet: all that come will be broken.
            for group in groups:
                group.is_broken = True
            groups.clear()
        return None

    def _lay_out(self, item):
        if isinstance(item, str):
            self._done.append(item)
            self._column += len(item)
            return
        group = item.group
        group.waiting -= 1
        if group.is_broken:
            self._begin_line(item.indent)
            return
        if not group.waiting:
            self._drop(group)
        self._done.append(item.text)
        self._column += len(item.text)

    def _begin_line(self, indent):
        self._done.append(self.newline + " " * indent)
        self._column = indent

    def _drop(self, group):
        groups = self._breakable_groups[group.depth]
        if group in groups:
            groups.remove(group)


def _get_attribute(value, name):
    try:
        return getattr(value, name, None)
    except Exception:
        return None


# -- how values of a type are printed


def _print_repr(value, printer, is_cycle):
    with printer.group():
        for number, line in enumerate(repr(value).splitlines()):
            if number:
                printer.break_()
            printer.text(line)


def _print_object(value, printer, is_cycle):
    kind = _get_attribute(value, "__class__") or type(value)
    if _get_attribute(kind, "__repr__") is not object.__repr__:
        _print_repr(value, printer, is_cycle)
        return
    with printer.group(1, "<", ">"):
        printer.pretty(kind)
        printer.text(" at 0x{:x}{}".format(id(value), " ..." if is_cycle else ""))


def _print_items(items, printer, print_item):
    for number, item in printer._enumerate(items):
        if number:
            printer.text(",")
            printer.breakable()
        print_item(item)


def _make_sequence_printer(start, end):
    def print_sequence(value, printer, is_cycle):
        if is_cycle:
            printer.text(start + "..." + end)
            return
        with printer.group(len(start), start, end):
            _print_items(value, printer, printer.pretty)
            if isinstance(value, tuple) and len(value) == 1:
                printer.text(",")

    return print_sequence


def _set_printer(start, end):
    print_sequence = _make_sequence_printer(start, end)

    def print_set(value, printer, is_cycle):
        if not is_cycle and not value:
            printer.text(type(value).__name__ + "()")
            return
        is_long = printer.max_seq_length and len(value) >= printer.max_seq_length
        print_sequence(value if is_long or is_cycle else _sort_items(value), printer, is_cycle)

    return print_set


def _sort_items(items):
    """Return the items in their order, else in that of their texts, else as they are."""
    items = list(items)
    for key in (None, str):
        try:
            return sorted(items, key=key)
        except Exception:
            continue
    return items


def _make_mapping_printer(start, end):
    def print_mapping(value, printer, is_cycle):
        if is_cycle:
            printer.text("{...}")
            return

        def print_item(key):
            printer.pretty(key)
            printer.text(": ")
            printer.pretty(value[key])

        with printer.group(len(start), start, end):
            _print_items(value.keys(), printer, print_item)

    return print_mapping


class _Raw:
    """A text among values."""

    def __init__(self, text):
        self._text = text

    def _repr_pretty_(self, printer, is_cycle):
        printer.text(self._text)


class _Call:
    """What makes a value: a name with arguments."""

    def __init__(self, name, arguments, named=()):
        self._name, self._arguments, self._named = name, arguments, named

    def _repr_pretty_(self, printer, is_cycle):
        start = self._name + "("
        with printer.group(len(start), start, ")"):
            items = [("", item) for item in self._arguments]
            items += [(name + "=", item) for name, item in self._named]
            for number, (name, item) in enumerate(items):
                if number:
                    printer.text(",")
                    printer.breakable()
                if name:
                    with printer.group(len(name), name):
                        printer.pretty(item)
                else:
                    printer.pretty(item)


def _call_printer(arguments_of, named_of=lambda value: (), name=None):
    """Return a function that prints values as calls of their class."""

    def print_call(value, printer, is_cycle):
        label = name or value.__class__.__name__
        if is_cycle:
            printer.pretty(_Call(label, [_Raw("...")]))
        else:
            printer.pretty(_Call(label, arguments_of(value), named_of(value)))

    return print_call


def _print_class(value, printer, is_cycle):
    # A metaclass may have its own way.
    if next(base for base in type(value).__mro__ if "__repr__" in vars(base)) is not type:
        _print_repr(value, printer, is_cycle)
        return
    module, name = _get_attribute(value, "__module__"), _get_attribute(value, "__qualname__")
    name = name if isinstance(name, str) else str(value.__name__)
    printer.text(name if module in _BUILT_IN else "{}.{}".format(module, name))


def _print_function(value, printer, is_cycle):
    name = _get_attribute(value, "__qualname__") or value.__name__
    if value.__module__ and value.__module__ not in _BUILT_IN:
        name = "{}.{}".format(value.__module__, name)
    try:
        name += str(import_quietly("inspect").signature(value))
    except ValueError:
        # Some that are built in have no signature.
        pass
    printer.text("<function {}>".format(name))


def _print_exception(value, printer, is_cycle):
    kind = value.__class__
    name = _get_attribute(kind, "__qualname__") or kind.__name__
    name = name if kind.__module__ in _BUILT_IN else "{}.{}".format(kind.__module__, name)
    printer.pretty(_Call(name, _get_attribute(value, "args") or ()))


def _print_super(value, printer, is_cycle):
    with printer.group(8, "<super: ", ">"):
        printer.pretty(value.__thisclass__)
        printer.text(",")
        printer.breakable()
        printer.pretty(value.__self__)


def _print_pattern(value, printer, is_cycle):
    re = import_quietly("re")
    text = repr(value.pattern).replace("\\\\", "\\")
    arguments = [_Raw("r" + text)]
    names = "IGNORECASE LOCALE MULTILINE DOTALL UNICODE VERBOSE DEBUG".split()
    flags = ["re." + name for name in names if value.flags & getattr(re, name)]
    if value.flags:
        arguments.append(_Raw("|".join(flags)))
    printer.pretty(_Call("re.compile", arguments))


_PRINTERS = {
    **dict.fromkeys(_PLAIN, _print_repr),
    **dict.fromkeys((range, slice, types.MethodType), _print_repr),
    list: _make_sequence_printer("[", "]"),
    tuple: _make_sequence_printer("(", ")"),
    set: _set_printer("{", "}"),
    frozenset: _set_printer("frozenset({", "})"),
    dict: _make_mapping_printer("{", "}"),
    types.MappingProxyType: _make_mapping_printer("mappingproxy({", "})"),
    type(os.environ): _make_mapping_printer("environ{", "}"),
    type: _print_class,
    super: _print_super,
    types.FunctionType: _print_function,
    types.BuiltinFunctionType: _print_function,
    types.SimpleNamespace: _call_printer(
        lambda value: (), lambda value: vars(value).items(), name="namespace"
    ),
    BaseException: _print_exception,
}
#: Of modules that may not be loaded.
_PRINTERS_BY_NAME = {
    ("re", "Pattern"): _print_pattern,
    ("datetime", "datetime"): _print_repr,
    ("datetime", "timedelta"): _print_repr,
    ("collections", "defaultdict"): _call_printer(lambda value: [value.default_factory, dict(value)]),
    ("collections", "OrderedDict"): _call_printer(lambda value: [list(value.items())] if value else []),
    ("collections", "Counter"): _call_printer(lambda value: [dict(value.most_common())] if value else []),
    ("collections", "deque"): _call_printer(
        lambda value: [list(value)],
        lambda value: [("maxlen", value.maxlen)] if value.maxlen is not None else [],
    ),
    ("collections", "UserList"): _call_printer(lambda value: [value.data]),
}
