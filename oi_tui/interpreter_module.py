"""The module `interpreter`, for scripts that were written for Open Interpreter.

    import oi_tui.interpreter_module
    from interpreter import interpreter, OpenInterpreter

An installed Open Interpreter is found first, so that nothing of it is replaced. So that scripts need no
change at all, `python -m oi_tui.interpreter_hook install` has the environment's Python import this module
at each start; `remove` takes that back.
"""

# Installed as a hook, this is imported at each start of Python: whatever is not cheap is imported later.
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

#: The modules of Open Interpreter that scripts import from.
_NAMES = ("interpreter", "interpreter.core", "interpreter.core.core")


class Finder:
    """Finds `interpreter` where nothing else does."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of the modules of Open Interpreter."""
        if fullname not in _NAMES:
            return None
        package = any(name.startswith(f"{fullname}.") for name in _NAMES)
        return ModuleSpec(fullname, self, is_package=package)  # type: ignore[arg-type]

    def create_module(self, _spec: ModuleSpec) -> None:
        """Have Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module; its names are looked up when they are asked for."""
        module.__doc__ = "Open Interpreter's Python interface, by oi-tui."
        module.__getattr__ = _attribute  # type: ignore[method-assign]


def _attribute(name: str) -> object:
    import oi_tui

    if name.startswith("_") or name in ("core", "terminal_interface"):
        raise AttributeError(name)
    return getattr(oi_tui, name)


def provide() -> None:
    """Let `import interpreter` work from now on, behind whatever else is found."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())


provide()
