"""What `get_ipython()` has for formats, displays, history, magics and extensions."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import sys
import traceback
import types

_METHODS = {
    "text/plain": "",
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
    "application/javascript": "_repr_javascript_",
    "application/pdf": "_repr_pdf_",
}


class Formatter:
    """Functions of the program that make one form of values, by their types."""

    def __init__(self, mime):
        self.format_type = mime
        self.print_method = _METHODS[mime]
        self.enabled = True
        self.type_printers, self.deferred_printers, self.singleton_printers = {}, {}, {}

    def for_type(self, typ, func=None):
        """Have a function make the form of values of a type; return the one before."""
        if isinstance(typ, str):
            return self.for_type_by_name(*typ.rpartition(".")[::2], func=func)
        before = self.type_printers.get(typ)
        if func is not None:
            self.type_printers[typ] = func
        return before

    def for_type_by_name(self, type_module, type_name, func=None):
        """Do the same for a type that may not be loaded yet."""
        before = self.deferred_printers.get((type_module, type_name))
        if func is not None:
            self.deferred_printers[type_module, type_name] = func
        return before

    def pop(self, typ, default=None):
        """Forget the function of a type, and return it."""
        return self.type_printers.pop(typ, default)

    def lookup(self, value):
        """Return the function for a value. Raises KeyError."""
        if id(value) in self.singleton_printers:
            return self.singleton_printers[id(value)]
        for kind in type(value).__mro__:
            if kind in self.type_printers:
                return self.type_printers[kind]
            name = kind.__module__, kind.__name__
            if name in self.deferred_printers:
                return self.deferred_printers[name]
        raise KeyError(type(value))


class TracebackFormatter:
    """Writes errors as text, for libraries that ask `get_ipython().InteractiveTB` for it."""

    mode = "Context"

    def text(self, etype=None, value=None, tb=None, tb_offset=None, context=5):
        """Return the text of an error; of the one that is being handled, without arguments."""
        return self.stb2text(self.structured_traceback(etype, value, tb))

    def structured_traceback(self, etype=None, evalue=None, etb=None, tb_offset=None, context=5):
        """Return the lines of this text."""
        if etype is None:
            etype, evalue, etb = sys.exc_info()
        lines = traceback.format_exception(etype, evalue, etb)
        return "".join(lines).rstrip("\n").split("\n")

    def stb2text(self, stb):
        """Return lines as one text."""
        return "\n".join(stb)

    def set_mode(self, mode=None):
        """Take a mode, which has no effect here."""
        self.mode = mode or self.mode

    def __call__(self, etype=None, evalue=None, etb=None, out=None, tb_offset=None):
        print(self.text(etype, evalue, etb), file=out)


class DisplayFormatter:
    """The formats of values, and what the program's own functions make of them."""

    def __init__(self, shows):
        self._shows = shows
        self.formatters = {mime: Formatter(mime) for mime in _METHODS}
        self.active_types = list(_METHODS)
        self.ipython_display_formatter = types.SimpleNamespace(enabled=True)
        shows.formatters = self

    def own_printer(self):
        """Return what finds the program's function that prints values of a class; None without any."""
        formatter = self.formatters["text/plain"]
        if not (formatter.type_printers or formatter.deferred_printers):
            return None

        def find(kind):
            name = getattr(kind, "__module__", None), getattr(kind, "__name__", None)
            return formatter.type_printers.get(kind) or formatter.deferred_printers.get(name)

        return find

    def data(self, mime, value):
        """Return what a function of the program makes of a value; None without one."""
        formatter = self.formatters.get(mime)
        if formatter is None or not (formatter.type_printers or formatter.deferred_printers):
            return None
        try:
            return formatter.lookup(value)(value)
        except KeyError:
            return None

    def format(self, obj, include=None, exclude=None):
        """Return the forms of a value by their types, and nothing about them."""
        forms = {}
        for mime, method in _METHODS.items():
            if (include and mime not in include) or (exclude and mime in exclude):
                continue
            if not method:
                forms[mime] = self._shows.make_text(obj, whole=False)
                continue
            data = self.data(mime, obj)
            if data is None:
                data = self._shows.call(obj, method)
            if data is not None:
                forms[mime] = data
        return forms, {}


class DisplayPublisher:
    """Shows values that are given in their forms."""

    def __init__(self, shows):
        self._shows = shows

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_options):
        """Show a value, given as a dictionary of types and contents."""
        name = (transient or {}).get("display_id")
        self._shows.display(data, raw=True, display_id=name, update=update and name is not None)

    def clear_output(self, wait=False):
        """Remove what the cell printed so far."""
        self._shows._import_quietly("python_display").clear_output(wait)


class HistoryManager:
    """The cells that ran, and their values."""

    def __init__(self, history):
        self.input_hist_raw = self.input_hist_parsed = history.inputs
        self.output_hist = history.outputs

    def get_range(self, session=0, start=1, stop=None, raw=True, output=False):
        """Yield the session, the number and the text of cells."""
        end = len(self.input_hist_raw) if stop is None else stop
        for number in range(max(start, 1), min(end, len(self.input_hist_raw))):
            text = self.input_hist_raw[number]
            if text:
                yield 0, number, (text, self.output_hist.get(number)) if output else text

    def get_tail(self, n=10, raw=True, output=False, include_latest=False):
        """Return the last cells, as `get_range` yields them."""
        entries = list(self.get_range(output=output))
        return entries[-n:] if include_latest else entries[:-1][-n:]


class MagicsManager:
    """The magics that are known."""

    def __init__(self, magics):
        self._magics = magics

    @property
    def magics(self):
        """The line magics and the cell magics, each with a function that runs it."""
        lines, cells = self._magics.names()
        return {
            "line": {name: _of_line(self._magics, name) for name in lines},
            "cell": {name: _of_cell(self._magics, name) for name in cells},
        }

    def lsmagic(self):
        """Return the same."""
        return self.magics

    def register_function(self, func, magic_kind="line", magic_name=None):
        """Make a magic that calls a function."""
        self._magics.register(func, magic_kind, magic_name or func.__name__)

    def register_alias(self, alias_name, magic_name, magic_kind="line", magic_params=None):
        """Give a magic another name."""
        self._magics._line_alias_magic(
            "{} {} {}".format(alias_name, magic_name, "-c" if magic_kind == "cell" else "-l")
        )


class ExtensionManager:
    """Loads extensions."""

    def __init__(self, magics):
        self._magics = magics
        self.loaded = set()

    def load_extension(self, module_str):
        """Load an extension by the name of its module."""
        self.loaded.add(module_str)
        self._magics._line_load_ext(module_str)

    reload_extension = load_extension


def _of_line(magics, name):
    return lambda line="": magics.line("{} {}".format(name, line).rstrip())


def _of_cell(magics, name):
    return lambda line="", cell="": magics.cell("{} {}".format(name, line).rstrip(), cell)
