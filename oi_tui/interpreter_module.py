"""The module `interpreter`, for scripts that were written for Open Interpreter.

    import oi_tui.interpreter_module
    from interpreter import interpreter, OpenInterpreter

An installed Open Interpreter is found first, so that nothing of it is replaced. So that scripts need no
change at all, `python -m oi_tui.interpreter_module install` has the environment's Python import this module
at each start; `remove` takes that back.
"""

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

#: The modules of Open Interpreter that scripts import from.
_NAMES = ("interpreter", "interpreter.core", "interpreter.core.core")
_HOOK = "oi_tui_interpreter.pth"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `interpreter` where nothing else does."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _NAMES:
            return None
        package = any(name.startswith(f"{fullname}.") for name in _NAMES)
        return importlib.util.spec_from_loader(fullname, self, is_package=package)

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = "Open Interpreter's Python interface, by oi-tui."
        module.__getattr__ = _attribute  # type: ignore[method-assign]


def _attribute(name: str) -> object:
    import oi_tui

    if name.startswith("_") or name in ("core", "terminal_interface"):
        raise AttributeError(name)
    return getattr(oi_tui, name)


def provide() -> None:
    """Let `import interpreter` work from now on, behind whatever else is found."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def main(arguments: Sequence[str] | None = None) -> str:
    """Install or remove the hook of this environment. Returns what was done, in a sentence."""
    parser = argparse.ArgumentParser(prog="python -m oi_tui.interpreter_module", allow_abbrev=False)
    parser.add_argument("action", choices=("install", "remove"))
    hook = Path(sysconfig.get_paths()["purelib"]) / _HOOK
    if parser.parse_args(arguments).action == "remove":
        hook.unlink(missing_ok=True)
        return f"{hook} is removed."
    hook.write_text("import oi_tui.interpreter_module\n", encoding="utf-8")
    spec = importlib.util.find_spec("interpreter")
    if spec and not isinstance(spec.loader, _Finder):
        return f"{hook} is written, but `import interpreter` still finds {spec.origin}. Uninstall that first."
    return f"{hook} is written: `import interpreter` now finds oi-tui in this environment."


provide()

if __name__ == "__main__":
    print(main())  # noqa: T201
