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

_LANGUAGES = "applescript html java javascript powershell python r react ruby shell"
_START = "interpreter.terminal_interface.start_terminal_interface"
#: The modules of Open Interpreter that scripts import from. `oi_tui.api.original_modules` has their names.
_MODULES = (
    "interpreter.core.core",
    "interpreter.core.async_core",
    "interpreter.core.computer.computer",
    "interpreter.core.computer.terminal.base_language",
    *(f"interpreter.core.computer.terminal.languages.{name}" for name in _LANGUAGES.split()),
    "interpreter.core.default_system_message",
    "interpreter.core.llm.llm",
    "interpreter.core.utils.truncate_output",
    "interpreter.terminal_interface.local_setup",
    "interpreter.terminal_interface.profiles.profiles",
    _START,
    "interpreter.terminal_interface.utils.count_tokens",
    "interpreter.terminal_interface.utils.display_markdown_message",
    "interpreter.terminal_interface.utils.local_storage_path",
    "interpreter.terminal_interface.utils.oi_dir",
)
_ROOT = "interpreter"
_TITLE = "Open Interpreter's Python interface, by oi-tui."


class InterpreterFinder:
    """Finds `interpreter` where nothing else does, and the modules inside of it where it is ours."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of the modules of Open Interpreter. Raises ModuleNotFoundError for others inside of it."""
        if fullname != _ROOT and not fullname.startswith(f"{_ROOT}."):
            return None
        is_package = fullname == _ROOT or any(name.startswith(f"{fullname}.") for name in _MODULES)
        if fullname != _ROOT and not isinstance(sys.modules.get(_ROOT), _Classes):
            # The module `interpreter` of somebody else, which has no such part.
            return None
        if not is_package and fullname not in _MODULES:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: it is internal to Open Interpreter, and oi-tui has "
                "nothing of that name. `from interpreter import OpenInterpreter` has what is documented.",
                name=fullname,
            )
        return ModuleSpec(fullname, self, is_package=is_package)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make the module; its names are looked up when they are asked for."""
        if spec.name == _ROOT:
            return _ReadyInterpreter(spec.name, _TITLE)
        kind = _Inner if spec.name in _MODULES else _Classes
        return kind(spec.name, _TITLE)

    def exec_module(self, _module: ModuleType) -> None:
        """Do nothing more."""


class _Classes(ModuleType):
    """A module with the classes of the package."""

    def __getattr__(self, name: str) -> Any:
        import oi_tui

        if name == "Interpreter":
            # The class had this name until 0.1.
            from oi_tui.api.first_version import Interpreter

            return Interpreter
        if name == "BaseLanguage":
            from oi_tui.api.language_classes import BaseLanguage

            return BaseLanguage
        if name not in oi_tui.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(oi_tui, name)


class _Inner(ModuleType):
    """A module inside of Open Interpreter with the names that scripts import from it."""

    def __getattr__(self, name: str) -> Any:
        if (self.__name__, name) == (_START, "main"):
            from oi_tui.start import main

            return main
        from oi_tui.api.original_modules import NAMES

        names = NAMES.get(self.__name__, {})
        if name not in names:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return names[name]


class _ReadyInterpreter(_Classes):
    """The module `interpreter`, which in Open Interpreter 0.1 was itself the ready-made object."""

    def __getattr__(self, name: str) -> Any:
        import oi_tui

        classes = (*oi_tui.__all__, "BaseLanguage", "Interpreter")
        if name in (*classes, "core", "terminal_interface") or name.startswith("_"):
            return super().__getattr__(name)
        if name == "chat":
            # Only scripts of 0.1 call it on the module, and they expect what it yielded then.
            from oi_tui.api.first_version import add_old_keys

            return lambda *arguments, **options: add_old_keys(oi_tui.interpreter.chat(*arguments, **options))
        return getattr(oi_tui.interpreter, name)

    def __setattr__(self, name: str, value: object) -> None:
        import oi_tui

        if name.startswith("_") or isinstance(value, ModuleType) or name in oi_tui.__all__:
            super().__setattr__(name, value)
        else:
            # A setting, which must not be lost: `interpreter.auto_run = False` is one here, too.
            setattr(oi_tui.interpreter, name, value)


def provide() -> None:
    """Let `import interpreter` find ours from now on, unless another one is installed."""
    if not any(isinstance(finder, InterpreterFinder) for finder in sys.meta_path):
        sys.meta_path.append(InterpreterFinder())


provide()
