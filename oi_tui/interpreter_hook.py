"""Lets all Python programs of an environment find oi-tui as `interpreter`.

`python -m oi_tui.interpreter_hook install` does so, and `remove` takes it back.
"""

import argparse
import importlib.util
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from oi_tui.interpreter_module import Finder

_HOOK = "oi_tui_interpreter.pth"


def main(arguments: Sequence[str] | None = None) -> str:
    """Install or remove the hook of this environment. Returns what was done, in a sentence."""
    parser = argparse.ArgumentParser(prog="python -m oi_tui.interpreter_hook", allow_abbrev=False)
    parser.add_argument("action", choices=("install", "remove"))
    hook = Path(sysconfig.get_paths()["purelib"]) / _HOOK
    if parser.parse_args(arguments).action == "remove":
        hook.unlink(missing_ok=True)
        return f"{hook} is removed."
    hook.write_text("import oi_tui.interpreter_module\n", encoding="utf-8")
    spec = importlib.util.find_spec("interpreter")
    if spec and not isinstance(spec.loader, Finder):
        return f"{hook} is written, but `import interpreter` still finds {spec.origin}. Uninstall that first."
    return f"{hook} is written: `import interpreter` now finds oi-tui in this environment."


if __name__ == "__main__":
    print(main())  # noqa: T201
