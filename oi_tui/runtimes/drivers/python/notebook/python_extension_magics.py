"""Magics of notebooks that load extensions, and read modules again."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

from python_quiet_import import import_quietly


class ExtensionMagics:
    """A part of the magics, whose driver it uses."""

    def _line_load_ext(self, rest):
        """Loads an extension: autoreload, or a module with the function load_ipython_extension."""
        if not rest:
            raise ValueError("%load_ext: name the extension")
        if rest == "autoreload":
            import_quietly("python_reload").get_reloader(self._driver)
            return
        try:
            extension = __import__("importlib").import_module(rest)
        except ImportError as error:
            if rest == "sql":
                print("The extension sql is not installed, and not needed: %sql works without it.")
                return
            raise error.with_traceback(None) from None
        load = getattr(extension, "load_ipython_extension", None)
        if load is None:
            print("The extension {} was not loaded: it has no load_ipython_extension.".format(rest))
        else:
            load(self._driver._get_ipython())

    _line_reload_ext = _line_load_ext

    def _line_autoreload(self, rest):
        """Reloads modules whose files changed, before each cell: 0 none, 1 those of %aimport, 2 all."""
        import_quietly("python_reload").get_reloader(self._driver).choose(rest)

    def _line_aimport(self, rest):
        """Imports a module that %autoreload 1 reloads."""
        import_quietly("python_reload").get_reloader(self._driver).add(rest)
