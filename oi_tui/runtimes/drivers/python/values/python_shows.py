"""How values are shown: text on the terminal; figures, images and tables as events."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import _frozen_importlib
import binascii
import os
import sys
import types
import weakref

#: Code asks whether "inline" is in the name of the backend, as it is in notebooks.
_FIGURES = "_oi_tui_inline"
#: Names of classes that may be tables.
_FRAMES = ("DataFrame", "Series", "Table", "RecordBatch", "SqlRows")
#: Names of classes of values that may hold the records or the columns of a table.
_RECORDS = ("list", "dict", "OrderedDict", "defaultdict")
#: Values of these types are what their `repr` is.
_PLAIN = (int, str, float, bool, bytes)
#: Forms of a value that can be read as they are.
_TEXTS = ("text/markdown", "text/latex")
#: Methods of values that have forms beside a text, an image and a page.
_FORMS = (
    "_repr_mimebundle_",
    "_repr_markdown_",
    "_repr_latex_",
    "_repr_svg_",
    "_repr_json_",
    "_repr_javascript_",
)
#: Libraries of figures that are pages.
_PLOTS = ("plotly", "altair", "bokeh")
#: How many values of a cell are kept apart from what is printed.
_MOST_VALUES = 1000


class ValueDisplay:
    """What `display()`, the last expression of a cell and the figures of matplotlib become."""

    def __init__(self, channel, flush, imports, import_quietly):
        self._channel = channel
        self._import_quietly = import_quietly
        self._flush = flush
        self._shown = weakref.WeakSet()
        #: How often something was shown again under an id; and what is being shown under one.
        self._times = {}
        self._key = None
        self._updates = False
        #: Why the value that is being shown has not all of its forms.
        self._problem = None
        #: While a value is shown: what its methods returned, by its id and the name of the method. With the
        #: value, so that no other one has the id.
        self._returned = None
        #: A list for what would be displayed, while somebody keeps that.
        self.kept = None
        #: How floats are shown, as `%.3f`; None for all digits. And what `get_ipython()` has for other types.
        self.float_format = None
        self.formatters = None
        #: Of figures: what `savefig` is called with, whether they have twice the dots, and whether they are
        #: closed at the end of a cell.
        self.figure_options, self.is_fine, self.closes_figures = {"bbox_inches": "tight"}, False, True
        #: Whether containers are broken into lines.
        self.is_pretty = True
        #: Whether a value is being shown, which may show others.
        self._valued = False
        self._values = 0
        imports.makers[_FIGURES] = lambda name: _frozen_importlib.ModuleSpec(name, _Backend(self))
        imports.prepare("matplotlib", _choose_backend)
        imports.prepare("pandas", _show_all_columns)
        imports.prepare("polars", _print_all_columns)
        imports.prepare("PIL.ImageShow", self._add_viewer)
        imports.prepare("IPython.core.display_functions", self._patch_display)
        imports.prepare("IPython.display", self._patch_display)
        plots = lambda: import_quietly("python_plots")  # noqa: E731
        imports.prepare("plotly.io._renderers", lambda module: plots().prepare_plotly(module, self))
        imports.prepare("bokeh.io.showing", lambda module: plots().prepare_bokeh(module, self))
        imports.prepare("bokeh.io.notebook", lambda module: plots().prepare_bokeh_notebook(module))
        imports.prepare("tqdm.notebook", lambda module: plots().prepare_tqdm(module))

    def result(self, value, kind="display"):
        """Show a value: the "result" of a cell's last expression, or another one."""
        if not self._is_figure(value) and not self._is_plot(value) and self._display_itself(value):
            return
        if self.kept is not None:
            self._capture(value)
            return
        marks = not self._valued and self._channel._owner == os.getpid()
        if not marks or (self._values >= _MOST_VALUES and not self._key):
            self._show(value)
            return
        self._valued = True
        self._values += 1
        self._flush()
        self._channel.send("value", placed=True, kind=kind, key=self._key, updates=self._updates)
        self._returned, forms = {}, {}
        try:
            self._show(value)
            forms = self._collect_forms(value)
        finally:
            self._returned = None
            self._flush()
            self._channel.send("value_end", placed=True, forms=forms)
            self._valued = False

    def _collect_forms(self, value):
        """Return the other forms of a value, by their types: clients of a kernel show one of them."""
        if type(value) in _PLAIN or self._is_figure(value) or self._is_plot(value):
            return {}
        if self.formatters is None and not any(hasattr(type(value), method) for method in _FORMS):
            return {}
        try:
            bundle = self.make_bundle(value)
            return self._import_quietly("python_forms").collect_forms(self, value, bundle)
        except Exception:
            # The value is shown already, and an error here belongs to none of the program's lines.
            return {}

    def _capture(self, value):
        """Capture the forms of a value, in place of showing it."""
        if self._is_figure(value) or self._is_plot(value):
            # These are kept where they are drawn.
            self._show(value)
            return
        forms = self._import_quietly("python_display").choose_forms(self, value, None, None)
        captured = self._import_quietly("python_captured")
        self.kept.append(captured.RichOutput(self, forms._repr_mimebundle_()))

    def _show(self, value):
        if self._is_figure(value):
            if _is_empty(value):
                print(value)
            else:
                self.figure(value)
            return
        if self._is_plot(value):
            self._import_quietly("python_plots").show(self, value)
            return
        self._problem = None
        bundle = self.make_bundle(value)
        rich = self._find_richest(value, bundle)
        if rich and rich[0] != "html":
            text = self._make_drawn_text(value, bundle)
            if text is None:
                self._send(*rich)
            else:
                self._flush()
                self._channel.send("view", placed=True, content=text, table=None)
                self._send(*rich)
                self._flush()
                self._channel.send("view_end", placed=True)
            return
        text = bundle.get("text/plain")
        if not isinstance(text, str):
            text = self.make_text(value, whole=rich is None)
        elif not rich and _is_nondescript(text):
            text = next((bundle[form] for form in _TEXTS if isinstance(bundle.get(form), str)), text)
        if not rich and self._problem is not None and _is_nondescript(text):
            # Such as an image whose file is not there.
            text += "\nIt cannot be shown: {}".format(self._problem)
        nondescript = rich and _is_nondescript(text)
        view = self._view(value, text, rich if nondescript else None)
        table = self._table(value)
        if view is None and (table is not None or rich):
            # What is printed says all: nobody sees the page here.
            view = self._import_quietly("python_model_view").remove_colours(text)
        if nondescript and view.strip():
            nondescript, text = False, view
        if view is not None:
            self._flush()
            self._channel.send("view", placed=True, content=view, table=table)
        if not nondescript:
            print(text)
        if rich:
            self._send(*rich)
        if view is not None:
            self._flush()
            self._channel.send("view_end", placed=True)

    def _make_drawn_text(self, value, bundle):
        """Make what the model gets for a value that the program draws, such as a formula of SymPy."""
        if self.formatters is None or self.kept is not None or self._channel._owner != os.getpid():
            return None
        if self.formatters.data("image/png", value) is None:
            return None
        text = bundle.get("text/plain")
        text = text if isinstance(text, str) else self.make_text(value, whole=False)
        return None if _is_nondescript(text) else text

    def display(
        self,
        *values,
        include=None,
        exclude=None,
        display_id=None,
        raw=False,
        update=False,
        clear=False,
        **_options,
    ):
        """Show each of the values as well as it can be shown; with `raw` they are dictionaries of forms.

        With `update`, an image or a text takes the place of the one that this cell showed under the id.
        `include` and `exclude` are types; a value that has no other form is not shown.
        """
        if update and display_id is None:
            raise TypeError("display_id required for update_display")
        displays = self._import_quietly("python_display") if raw or clear or display_id else None
        if clear:
            displays.clear_output()
        handle = None
        if display_id and not update:
            handle = displays.DisplayHandle(self, None if display_id is True else display_id)
            if display_id is not True:
                self._times[display_id] = self._times.get(display_id, 0) + 1
        name = handle.display_id if handle else display_id
        before = self._key, self._updates
        self._key = "{}/{}".format(self._times.get(name, 0), name) if name else None
        self._updates = update
        try:
            for value in values:
                if raw:
                    figure = None
                    if any(library in sys.modules for library in _PLOTS):
                        figure = self._import_quietly("python_plots").find_figure(value)
                    value = displays.Bundle(value) if figure is None else figure
                elif include or exclude:
                    displays = displays or self._import_quietly("python_display")
                    value = displays.choose_forms(self, value, include, exclude)
                    if value is None:
                        continue
                self.result(value)
        finally:
            self._key, self._updates = before
        return handle

    def update_display(self, value, *, display_id, **options):
        """Show the value that takes the place of an earlier one."""
        self.display(value, display_id=display_id, update=True, **options)

    def show_text(self, text, images):
        """Show a text, and images for the person: the model gets the text only."""
        self._flush()
        self._channel.send("view", placed=True, content=text, table=None)
        print(text)
        for image in images:
            self._send("base64.png", _encode_base64(image.png()))
        self._flush()
        self._channel.send("view_end", placed=True)

    def figure(self, figure):
        """Show a figure of matplotlib."""
        import io

        data = io.BytesIO()
        options = dict(self.figure_options, format="png")
        if self.is_fine:
            options.setdefault("dpi", 2 * figure.dpi)
        figure.savefig(data, **options)
        self._send("base64.png", _encode_base64(data.getvalue()))
        # A change from now on makes it stale again, and worth showing again.
        figure.stale = False
        self._shown.add(figure)

    def figures(self, close=None):
        """Show, then close, every open figure; an unchanged one only once.

        `close` is what `plt.show` is given, which closes as Jupyter's does: also for `plt.show(figure)`.
        """
        closes = self.closes_figures if close is None else close
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        plot = sys.modules.get("matplotlib.pyplot")
        if helpers is None or plot is None:
            return
        for manager in list(helpers.Gcf.get_all_fig_managers()):
            figure = manager.canvas.figure
            try:
                if not _is_empty(figure) and (figure.stale or figure not in self._shown):
                    self.figure(figure)
            finally:
                if closes:
                    plot.close(figure)

    @staticmethod
    def choose_backend():
        """Have figures shown in the conversation again, after a program chose another way."""
        matplotlib = sys.modules.get("matplotlib")
        if matplotlib is not None:
            matplotlib.use("module://" + _FIGURES)

    def finish(self):
        """Show the figures that the program left open, at the end of a cell."""
        self._values = 0
        matplotlib = sys.modules.get("matplotlib")
        if matplotlib is None or os.getpid() != self._channel._owner:
            return
        # Read past the mapping's own look-up, which would choose a backend where none was chosen yet.
        if str(dict.get(matplotlib.rcParams, "backend")).endswith(_FIGURES):
            self.figures()

    def _patch_display(self, display):
        # IPython's own shows only what it is, where no kernel of its runs.
        display.display = self.display
        display.update_display = self.update_display
        displays = self._import_quietly("python_display")
        display.clear_output = displays.clear_output
        display.publish_display_data = displays.make_publisher(self)

    def _add_viewer(self, image_show):
        shows = self

        class Viewer(image_show.Viewer):
            def show(self, image, **options):
                shows.result(image)
                return 1

        image_show.register(Viewer, 0)

    def _send(self, format, content):
        self._flush()
        if self.kept is not None:
            mime = {"html": "text/html"}.get(format) or format.replace("base64.", "image/")
            self.kept.append(self._import_quietly("python_captured").RichOutput(self, {mime: content}))
            return
        if self._channel._owner == os.getpid():
            self._channel.send("display", placed=True, format=format, content=content, key=self._key)
        else:
            print("<{}>".format(format))

    def _view(self, value, text, html):
        """Return what the model gets in place of what is shown; None for the same."""
        if self.kept is not None or self._channel._owner != os.getpid():
            return None
        views = self._import_quietly("python_model_view")
        view = views.view_of(value, text)
        if view is None and html:
            bundle = self.make_bundle(value)
            for mime, method in (("text/markdown", "_repr_markdown_"), ("text/latex", "_repr_latex_")):
                form = bundle.get(mime) or self.call(value, method)
                if isinstance(form, str) and form.strip():
                    return form
            view = views.convert_html(html[1])
        return view

    def _display_itself(self, value):
        """Return whether the value has a method that displays it, and that one did."""
        if isinstance(value, type) or not callable(getattr(type(value), "_ipython_display_", None)):
            return False
        try:
            value._ipython_display_()
        except NotImplementedError:
            # What IPython too takes for "show me in another way".
            return False
        return True

    def make_text(self, value, whole):
        """Return the text of a value as it prints itself; with `whole` also its Markdown, LaTeX or JSON."""
        own = self.formatters.own_printer() if self.formatters is not None else None
        plain = own is None and self.float_format is None and type(value) in _PLAIN
        if plain or not self.is_pretty:
            return repr(value)
        text = None
        try:
            text = self._import_quietly("python_pretty").format_value(value, own, self.float_format)
        except Exception:
            pass
        if text is None:
            # Where a method of its own fails, there is still its repr. Its error is shown without the first.
            text = repr(value)
        if not whole or not _is_nondescript(text):
            return text
        for method in ("_repr_markdown_", "_repr_latex_", "_repr_json_"):
            form = self.call(value, method)
            form = form[0] if isinstance(form, tuple) and form else form
            if isinstance(form, (dict, list)):
                import json

                form = json.dumps(form, indent=2, ensure_ascii=False, default=str)
            if isinstance(form, str) and form.strip():
                return form
        return text

    def _table(self, value):
        """Return the first and last rows of a table, as JSON; None for other values."""
        if self.kept is not None or self._channel._owner != os.getpid():
            return None
        if not _may_be_records(value) and not any(item.__name__ in _FRAMES for item in type(value).__mro__):
            return None
        names = vars(sys.modules["__main__"])
        return self._import_quietly("python_tables").inline(value, names)

    def make_bundle(self, value):
        """Return the forms that a value gives of itself all at once, by their types; none for most values."""
        if isinstance(value, type) or not hasattr(type(value), "_repr_mimebundle_"):
            return {}
        place = id(value), "_repr_mimebundle_"
        try:
            if self._returned is None:
                bundle = value._repr_mimebundle_(include=None, exclude=None)
            else:
                if place not in self._returned:
                    self._returned[place] = value, value._repr_mimebundle_(include=None, exclude=None)
                bundle = self._returned[place][1]
        except TypeError:
            # Some take no arguments.
            bundle = self.call(value, "_repr_mimebundle_")
        except Exception as error:
            self._note_problem(error)
            return {}
        if isinstance(bundle, tuple):
            bundle = bundle[0] if bundle else None
        return bundle if isinstance(bundle, dict) else {}

    def _find_richest(self, value, bundle):
        """Return the richest form of a value: (format, content), or None when text is all there is."""
        for mime, method, format in (
            ("image/png", "_repr_png_", "base64.png"),
            ("image/jpeg", "_repr_jpeg_", "base64.jpeg"),
            ("text/html", "_repr_html_", "html"),
            ("image/svg+xml", "_repr_svg_", "html"),
        ):
            data = bundle.get(mime)
            if self.formatters is not None:
                data = self.formatters.data(mime, value) or data
            if data is None:
                data = self.call(value, method)
            if isinstance(data, tuple):
                data = data[0] if data else None
            if not data:
                continue
            if isinstance(data, bytes):
                data = _encode_base64(data)
            if isinstance(data, str):
                return format, "".join(data.split()) if format != "html" else data
        return None

    def _is_plot(self, value):
        """Return whether it is a figure of a library whose figures are pages."""
        if isinstance(value, type):
            return False
        libraries = (item.__module__.partition(".")[0] for item in type(value).__mro__)
        if not any(library in _PLOTS for library in libraries):
            return False
        return bool(self._import_quietly("python_plots").find_library(value))

    @staticmethod
    def _is_figure(value):
        figure = sys.modules.get("matplotlib.figure")
        return figure is not None and isinstance(value, figure.Figure)

    def call(self, value, method):
        """Return a form of a value, from one of its methods; None without it.

        While the value is shown, each of its methods is called once.
        """
        if isinstance(value, type) or not hasattr(type(value), method):
            return None
        known = {} if self._returned is None else self._returned
        place = id(value), method
        try:
            if place not in known:
                known[place] = value, getattr(value, method)()
            return known[place][1]
        except Exception as error:
            # A value that cannot show itself in one way still has the others.
            self._note_problem(error)
            return None

    def _note_problem(self, error):
        """Keep why a form of the value cannot be had, in a line."""
        try:
            self._problem = "{}: {}".format(type(error).__name__, error).partition("\n")[0][:300]
        except Exception:
            self._problem = type(error).__name__


def _may_be_records(value):
    """Return whether it is worth a closer look; costs the same for any number of records."""
    if type(value).__name__ not in _RECORDS or not isinstance(value, (list, dict)) or not value:
        return False
    first = value[0] if isinstance(value, list) else next(iter(dict.values(value)))
    return type(first) not in _PLAIN


def _is_empty(figure):
    """Return whether a figure of matplotlib has nothing but its background."""
    return len(figure.get_children()) <= 1


def _encode_base64(data):
    return binascii.b2a_base64(data, newline=False).decode()


def _is_nondescript(text):
    """Return whether it is what `object` says of itself, which adds nothing to an image or a table."""
    is_object = " object" in text or " at 0x" in text
    return is_object and text.startswith("<") and text.endswith(">") and "\n" not in text


def _show_all_columns(pandas):
    """Break a table into groups of columns as wide as the window; none is left out."""
    try:
        if pandas.get_option("display.max_columns") in (0, 20):
            pandas.set_option("display.max_columns", 200)
    except Exception:
        # A module of the program's own may have the same name.
        pass


def _print_all_columns(polars):
    """Let `print` of a polars table leave no column out; settings of the program's own stay."""
    if "POLARS_FMT_MAX_COLS" in os.environ or "POLARS_TABLE_WIDTH" in os.environ:
        return
    try:
        polars.Config.set_tbl_cols(200)
        # With fewer characters, the names of columns would be broken into pieces.
        polars.Config.set_tbl_width_chars(4000)
    except (AttributeError, TypeError, ValueError):
        # A module of the program's own may have the same name.
        pass


def _choose_backend(matplotlib):
    backend = os.environ.get("MPLBACKEND", "")
    # A kernel of Jupyter names its own backend for all that it starts. That one works only in the kernel.
    if not backend or backend.startswith(("module://matplotlib_inline", "module://ipykernel")):
        matplotlib.rcParams["backend"] = "module://" + _FIGURES


class _Backend:
    """The backend itself: drawn by Agg, shown by us."""

    def __init__(self, shows):
        self._shows = shows

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        from matplotlib.backend_bases import FigureManagerBase
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        shows = self._shows

        class FigureManager(FigureManagerBase):
            def show(self):
                shows.figure(self.canvas.figure)

            @classmethod
            def pyplot_show(cls, close=None, block=None):
                shows.figures(close)

        class FigureCanvas(FigureCanvasAgg):
            manager_class = FigureManager

        module.FigureCanvas = FigureCanvas
        module.FigureManager = FigureManager
        module.show = FigureManager.pyplot_show
