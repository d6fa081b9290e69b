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
from typing import Any

#: The modules of Open Interpreter that scripts import from.
_NAMES = (
    "interpreter",
    "interpreter.core",
    "interpreter.core.core",
    "interpreter.core.async_core",
)


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

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make the module; its names are looked up when they are asked for."""
        kind = _ReadyInterpreter if spec.name == "interpreter" else _Classes
        return kind(spec.name, "Open Interpreter's Python interface, by oi-tui.")

    def exec_module(self, _module: ModuleType) -> None:
        """Nothing is left to do."""


class _Classes(ModuleType):
    """A module with the classes of the package."""

    def __getattr__(self, name: str) -> Any:
        import oi_tui

        if name not in oi_tui.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(oi_tui, name)


class _ReadyInterpreter(_Classes):
    """The module `interpreter`, which in Open Interpreter 0.1 was itself the ready-made object."""

    def __getattr__(self, name: str) -> Any:
        import oi_tui

        if name in oi_tui.__all__ or name.startswith("_") or name in ("core", "terminal_interface"):
            return super().__getattr__(name)
        return getattr(oi_tui.interpreter, name)

    def __setattr__(self, name: str, value: object) -> None:
        import oi_tui

        if name.startswith("_") or isinstance(value, ModuleType) or name in oi_tui.__all__:
            super().__setattr__(name, value)
        else:
            # A setting, which must not be lost: `interpreter.auto_run = False` is one here, too.
            setattr(oi_tui.interpreter, name, value)


def provide() -> None:
    """Let `import interpreter` work from now on, behind whatever else is found."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())


provide()
