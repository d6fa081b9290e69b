"""Patches modules when the program first imports them."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import sys


class Imports:
    """A finder that finds what the others find, and has it prepared before the program gets it.

    `prepare` maps names of modules to what is called with the module; `makers` maps names of modules that
    exist nowhere to their specifications.
    """

    def __init__(self):
        self._prepare = {}
        self.makers = {}
        sys.meta_path.insert(0, self)

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
