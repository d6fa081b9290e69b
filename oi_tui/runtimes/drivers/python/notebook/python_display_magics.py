"""Magics of notebooks about what is shown: figures, pages, text and numbers."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import re
import sys

from python_quiet_import import import_quietly

#: What %matplotlib may name: figures are shown in the conversation with each of them.
_BACKENDS = frozenset(
    "auto gtk gtk3 gtk4 inline ipympl macosx nbagg notebook osx qt qt4 qt5 qt6 tk webagg widget wx".split()
)


class DisplayMagics:
    """A part of the magics, whose driver it uses."""

    def _line_matplotlib(self, rest):
        """Shows figures in the conversation, whichever way is named; `--list` lists the ways."""
        arguments = rest.split()
        if arguments[:1] in (["-l"], ["--list"]):
            print("Available matplotlib backends: {}".format(sorted(_BACKENDS)))
            return
        name = arguments[0].strip("'\"").lower() if arguments else ""
        if name == "agg":
            # The only one that says: show nothing.
            __import__("matplotlib").use("agg")
            return
        if name and name not in _BACKENDS and not name.startswith("module://"):
            raise ValueError("%matplotlib {}: %matplotlib --list lists the names".format(arguments[0]))
        self._driver.shows.choose_backend()

    def _line_pylab(self, rest):
        """Imports numpy as np and matplotlib.pyplot as plt, with all their names; or only these two with
        `--no-import-all`.
        """
        arguments = rest.split()
        self._line_matplotlib(" ".join(argument for argument in arguments if argument != "--no-import-all"))
        exec("import numpy, numpy as np, matplotlib.pyplot as plt, matplotlib.mlab as mlab", self._names)
        exec("import matplotlib\npylab = __import__('pylab')\npyplot = plt", self._names)
        if "--no-import-all" not in arguments:
            exec("from pylab import *\nfrom numpy import *", self._names)
        print("%pylab is deprecated, use %matplotlib inline and import the required libraries.")
        print("Populating the interactive namespace from numpy and matplotlib")

    def _line_pprint(self, rest):
        """Shows containers in one line each, or broken into lines again."""
        shows = self._driver.shows
        shows.is_pretty = not shows.is_pretty
        print("Pretty printing has been turned {}".format("ON" if shows.is_pretty else "OFF"))

    def _line_precision(self, rest):
        """How floats and arrays of numpy are shown: a number of digits, or a format such as %.3e."""
        if not rest:
            form, digits = "%r", 8
        elif rest.isdecimal():
            digits = int(rest)
            form = "%.{}f".format(digits)
        else:
            try:
                rest % 3.14159
            except Exception:
                raise ValueError(
                    "Precision must be integer or format string, not {!r}".format(rest)
                ) from None
            match = re.search(r"%\d*\.?(\d*)", rest)
            form, digits = rest, int(match.group(1) or 8) if match else 8
        self._driver.shows.float_format = None if form == "%r" else form
        numpy = import_quietly("sys").modules.get("numpy")
        if numpy is not None:
            numpy.set_printoptions(precision=digits)
        return form

    def _line_config(self, rest):
        """Shows and changes options: `%config InlineBackend.figure_format = "retina"`."""
        return self._driver._get_ipython().options.command(rest)

    def _cell_html(self, rest, body):
        """Displays the lines below it as a page."""
        self._driver.shows.display({"text/html": body}, raw=True)

    _cell_HTML = _cell_html

    def _cell_svg(self, rest, body):
        """Displays the lines below it as an image."""
        self._driver.shows.display({"image/svg+xml": body}, raw=True)

    def _cell_markdown(self, rest, body):
        """Prints the lines below it."""
        print(body)

    _cell_latex = _cell_markdown

    def _cell_javascript(self, rest, body):
        """Has no effect: it would run in a notebook's page."""
        print("This was not run: there is no page for it. Cells of javascript are run.", file=sys.stderr)

    _cell_js = _cell_javascript

    def _cell_capture(self, rest, body):
        """Keeps what the lines below it print and display, in a variable if one is named."""
        import_quietly("python_captured").run(self._driver, rest.split(), body)
