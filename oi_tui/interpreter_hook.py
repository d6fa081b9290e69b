"""Lets all Python programs of an environment find oi-tui as `interpreter`, and has a command of that name.

Type checkers find it as well. `python -m oi_tui.interpreter_hook install` does so, `remove` takes it back.
"""

import argparse
import importlib.util
import shlex
import shutil
import site
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from oi_tui.interpreter_module import InterpreterFinder

_HOOK = "oi_tui_interpreter.pth"
#: Python runs this at each start, also after oi-tui was uninstalled.
_LINE = 'import sys; exec("try: import oi_tui.interpreter_module\\nexcept ModuleNotFoundError: pass")\n'
#: The name by which type checkers look for stubs of `interpreter`.
_STUBS = "interpreter-stubs"
_MARK = "# Written by python -m oi_tui.interpreter_hook, which also removes it."


def main(arguments: Sequence[str] | None = None) -> str:
    """Install or remove the hook of this environment. Returns what was done, in sentences."""
    parser = argparse.ArgumentParser(prog="python -m oi_tui.interpreter_hook", allow_abbrev=False)
    parser.add_argument("action", choices=("install", "remove"))
    places = _find_places()
    packages, command = Path(places["purelib"]), Path(places["scripts"]) / "interpreter"
    hook, stubs = packages / _HOOK, packages / _STUBS
    if parser.parse_args(arguments).action == "remove":
        hook.unlink(missing_ok=True)
        if _is_ours(command):
            command.unlink()
        if _is_ours(stubs / "__init__.pyi"):
            shutil.rmtree(stubs)
        return f"{hook}, its stubs and the command `interpreter` are removed."
    hook.write_text(_LINE, encoding="utf-8")
    command.parent.mkdir(parents=True, exist_ok=True)
    return f"{_describe(hook)}\n{_write_stubs(stubs)}\n{_write_command(command)}"


def _find_places() -> dict[str, str]:
    """Return the folders of the environment that oi-tui is in, or of the user (`pip install --user`)."""
    if site.ENABLE_USER_SITE and Path(__file__).is_relative_to(site.getusersitepackages()):
        return sysconfig.get_paths(sysconfig.get_preferred_scheme("user"))
    return sysconfig.get_paths()


def _describe(hook: Path) -> str:
    spec = importlib.util.find_spec("interpreter")
    if spec and not isinstance(spec.loader, InterpreterFinder):
        return f"{hook} is written, but `import interpreter` still finds {spec.origin}. Uninstall that first."
    return f"{hook} is written: `import interpreter` now finds oi-tui in this environment."


def _write_stubs(folder: Path) -> str:
    """Write what type checkers read, unless another package has that. Returns what was done."""
    from oi_tui import interpreter_stubs

    if folder.exists() and not _is_ours(folder / "__init__.pyi"):
        return f"{folder} belongs to another package and stays as it is."
    shutil.rmtree(folder, ignore_errors=True)
    interpreter_stubs.write(folder, _MARK)
    return f"{folder} is written: type checkers now know `interpreter`."


def _write_command(command: Path) -> str:
    """Write the command unless another program has the name. Returns what was done, in a sentence."""
    if command.exists() and not _is_ours(command):
        return f"The command {command} is another program and stays as it is."
    # Through a shell: the path of an interpreter may be longer than the first line of a script may be.
    command.write_text(
        f'#!/bin/sh\n{_MARK}\nexec {shlex.quote(sys.executable)} -m oi_tui "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    return f"{command} is written: the command `interpreter` starts oi-tui."


def _is_ours(file: Path) -> bool:
    try:
        return _MARK in file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


if __name__ == "__main__":
    try:
        print(main())  # noqa: T201
    except OSError as error:
        sys.exit(
            f"{error.filename} cannot be changed: {error.strerror}. "
            "Use the Python of an environment that you may write to, such as a virtual one."
        )
