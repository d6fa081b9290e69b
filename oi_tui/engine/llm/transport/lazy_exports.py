"""Loads the types and resources of OpenAI's library one by one, each when it is first used.

Its packages import all of their modules to export their names: nine hundred modules, of which a conversation
needs a quarter, and a fifth of what it takes to load LiteLLM. A package is left as it is if its file does
anything but import names from its own modules.
"""

import ast
import importlib
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_PACKAGES = ("openai.types", "openai.resources")

#: For each exported name its module, relative to the package, and its name there; "" stands for the module.
Exports = dict[str, tuple[str, str]]


def install() -> None:
    """Load those packages so from now on, in this process."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def read_exports(source: str) -> Exports | None:
    """Return the names that the file of a package exports; None if it does anything else."""
    exports: Exports = {}
    for statement in ast.parse(source).body:
        match statement:
            case ast.ImportFrom(module="__future__") | ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                continue
            case ast.ImportFrom(module=None, level=1, names=aliases):
                names = {alias.asname or alias.name: (f".{alias.name}", "") for alias in aliases}
            case ast.ImportFrom(module=str(module), level=1, names=aliases):
                names = {alias.asname or alias.name: (f".{module}", alias.name) for alias in aliases}
                if module.partition(".")[0] in names:
                    # The import of the module would put the module itself in place of this name.
                    return None
            case _:
                return None
        exports |= names
    return None if "*" in exports else exports


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PACKAGES):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec and spec.submodule_search_locations and isinstance(spec.loader, InspectLoader):
            # None where only compiled files are installed.
            source = spec.loader.get_source(fullname)
            exports = read_exports(source) if source else None
            if exports is not None:
                spec.loader = _Loader(exports)
        return spec


class _Loader(Loader):
    """Makes a package whose modules are imported when their names are first asked for."""

    def __init__(self, exports: Exports) -> None:
        self._exports = exports

    def exec_module(self, module: ModuleType) -> None:
        def load(name: str) -> Any:
            if name not in self._exports:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            source, original = self._exports[name]
            value = importlib.import_module(source, module.__name__)
            if original:
                value = getattr(value, original)
            setattr(module, name, value)
            return value

        module.__dict__["__getattr__"] = load
        module.__dict__["__all__"] = list(self._exports)
