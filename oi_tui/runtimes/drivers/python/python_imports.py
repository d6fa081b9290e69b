"""Patches modules when the program first imports them."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys

#: Has packages for a Python in which they are not installed.
_STAND_INS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_in")


class Imports:
    """A finder that finds what the others find, and has it prepared before the program gets it.

    `prepare` maps names of modules to what is called with the module; `makers` maps names of modules that
    exist nowhere to their specifications.
    """

    def __init__(self):
        self._prepare = {}
        self.makers = {}
        sys.meta_path.insert(0, self)
        sys.meta_path.append(StandIns())

    def prepare(self, name, prepare):
        """Have the module prepared once it is imported, or now where it is here already."""
        self._prepare[name] = prepare
        if name in sys.modules:
            prepare(sys.modules[name])

    def find_spec(self, name, path=None, target=None):
        if name in self.makers:
            return self.makers[name](name)
        prepare = self._prepare.get(name)
        if prepare is None:
            return None
        spec = None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def then_prepare(module):
                execute(module)
                # Some loaders load more than one module.
                if module.__name__ == name:
                    prepare(module)

            spec.loader.exec_module = then_prepare
        return spec


class StandIns:
    """The last finder: has `IPython` where the person's Python has none."""

    def find_spec(self, name, path=None, target=None):
        top, dot, _ = name.partition(".")
        if top != "IPython" or (dot and not _is_stand_in(sys.modules.get(top))):
            return None
        if dot:
            # The other finders looked into the folders of the package.
            text = "No module named {!r}: IPython is not installed. To install it: %pip install ipython"
            raise ModuleNotFoundError(text.format(name), name=top)
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(name, [_STAND_INS])


def forget_stand_ins():
    """Have the next import look for the packages themselves, which may be installed by now."""
    if _is_stand_in(sys.modules.get("IPython")):
        for name in [name for name in sys.modules if name.partition(".")[0] == "IPython"]:
            del sys.modules[name]


def _is_stand_in(module):
    return str(getattr(module, "__file__", None)).startswith(_STAND_INS)
