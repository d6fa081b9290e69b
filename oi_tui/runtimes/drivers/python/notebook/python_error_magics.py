"""Magics of notebooks about errors: how they are shown, and Python's debugger."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import sys

from python_quiet_import import import_quietly


class ErrorMagics:
    """A part of the magics, whose driver it uses."""

    def _line_tb(self, rest):
        """Shows the last error again."""
        if getattr(sys, "last_value", None) is None:
            print("There was no error.")
        else:
            self._driver._print_error(sys.last_value)

    def _line_xmode(self, rest):
        """How errors are shown: Plain, Context, Verbose (with variables) or Minimal (in one line)."""
        trouble = import_quietly("python_trouble")
        modes = ("Plain", "Context", "Verbose", "Minimal")
        mode = rest.capitalize() or modes[(modes.index(trouble.mode) + 1) % len(modes)]
        if mode not in modes and mode != "Docs":
            raise ValueError(
                "unrecognized error mode {!r}: {} and Docs are known".format(rest, ", ".join(modes))
            )
        trouble.mode = "Context" if mode == "Docs" else mode
        print("Exception reporting mode: {}".format(mode))

    def _line_debug(self, rest):
        """Looks at the place of the last error, or runs code, in Python's debugger."""
        if rest:
            self._debug(self._make_padding() + rest)
        elif getattr(sys, "last_value", None) is None:
            print("There was no error to look at.", file=sys.stderr)
        else:
            __import__("pdb").pm()

    def _cell_debug(self, rest, body):
        """Runs the lines below it in Python's debugger, step by step."""
        self._debug(body)

    def _debug(self, source):
        name = self._driver.file_name
        tree = self._driver.get_tree(name, source)
        __import__("pdb").Pdb().run(compile(tree, name, "exec"), self._names)

    def _line_pdb(self, rest):
        """Opens Python's debugger after each error: `%pdb on`, `%pdb off`; alone, the other of the two."""
        states = {"on": True, "1": True, "off": False, "0": False, "": not self.debugs_errors}
        if rest.lower() not in states:
            raise ValueError("%pdb is on or off, not {}".format(rest))
        self.debugs_errors = states[rest.lower()]
        print("Automatic pdb calling has been turned {}".format("ON" if self.debugs_errors else "OFF"))
