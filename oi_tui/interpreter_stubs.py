"""Stubs of the module `interpreter`, from which type checkers learn what is in it.

The module makes its names when they are asked for, and a type checker does not run it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from oi_tui.api.language_classes import BuiltInLanguage
from oi_tui.api.original_modules import NAMES

_ROOT = """\
from typing import Any

from oi_tui import AsyncInterpreter as AsyncInterpreter
from oi_tui import OpenInterpreter as OpenInterpreter
from oi_tui import interpreter as interpreter
from oi_tui.api.first_version import Interpreter as Interpreter
from oi_tui.api.language_classes import BaseLanguage as BaseLanguage

# As in Open Interpreter 0.1, the module has all that the ready-made interpreter has.
def __getattr__(name: str) -> Any: ...
"""
_START = {
    "interpreter.terminal_interface.start_terminal_interface": "from oi_tui.start import main as main\n"
}


def write(folder: Path, heading: str) -> None:
    """Write the stubs into a folder, each with a line at its beginning. Raises OSError."""
    modules = {name: "".join(_make_lines(names)) for name, names in NAMES.items()} | _START
    packages = {parent for module in modules for parent in _list_parents(module)}
    texts = {**dict.fromkeys(packages, ""), "interpreter": _ROOT, **modules}
    for module, text in texts.items():
        place = folder.joinpath(*module.split(".")[1:])
        path = place / "__init__.pyi" if module in packages else place.with_suffix(".pyi")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{heading}\n{text}", encoding="utf-8")


def _list_parents(module: str) -> list[str]:
    """Return the packages around a module.

    >>> _list_parents("interpreter.core.core")
    ['interpreter', 'interpreter.core']
    """
    parts = module.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts))]


def _make_lines(names: Mapping[str, object]) -> Iterator[str]:
    for name, value in names.items():
        if isinstance(value, type) and issubclass(value, BuiltInLanguage):
            # These classes are made when they are imported, and stand nowhere in the source.
            yield "from oi_tui.api.language_classes import BuiltInLanguage\n"
            yield f"class {name}(BuiltInLanguage): ...\n"
        elif isinstance(value, str):
            yield f"{name}: str\n"
        else:
            source, own = value.__module__, getattr(value, "__name__", "")
            yield f"from {source} import {own} as {own}\n"
            if own != name:
                yield f"{name} = {own}\n"
