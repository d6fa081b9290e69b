"""The very beginning: what works even where the rest of the installation does not."""

import contextlib
import gc
import sys
from collections.abc import Sequence

from oi_tui import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code. A package that is missing is told of in a sentence."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        with contextlib.suppress(BrokenPipeError):
            print(f"oi-tui {__version__}", flush=True)  # noqa: T201
        return 0
    # What is made until the first frame is made to stay, and looking through it for garbage takes a tenth of
    # the time until then. The screen turns the collector on once it is ready; what has no screen, at once.
    gc.disable()
    try:
        from oi_tui.cli import main

        return main(arguments)
    except ModuleNotFoundError as missing:
        if "--doctor" in arguments:
            from oi_tui.doctor.report import run

            return run(_file(arguments))
        told = f"oi-tui: the Python package {missing.name} is missing; oi-tui --doctor says how to get it"
        print(told, file=sys.stderr)  # noqa: T201
        return 2


def _file(arguments: Sequence[str]) -> str | None:
    """The name that follows the flag, if any."""
    after = arguments[arguments.index("--doctor") + 1 :]
    return after[0] if after and not after[0].startswith("-") else None
