"""Open Interpreter as a full-screen terminal application."""

import sys
from typing import TYPE_CHECKING

from oi_tui.version import __version__

if TYPE_CHECKING:
    from oi_tui.api.async_interpreter import AsyncInterpreter
    from oi_tui.api.interpreter import OpenInterpreter
    from oi_tui.api.turns import TurnError

    interpreter: OpenInterpreter

#: Code runs on pseudo-terminals, which Windows does not have.
_WINDOWS = (
    "oi-tui runs on Linux and macOS, not on Windows itself: install WSL (wsl --install) and start it there."
)
__all__ = ["AsyncInterpreter", "OpenInterpreter", "TurnError", "__version__", "interpreter"]


def find_system_problem() -> str | None:
    """Return why the program cannot run on this system, in a sentence; None where it can."""
    return _WINDOWS if sys.platform == "win32" else None


def __getattr__(name: str) -> object:
    """Import the Python API when it is first asked for, so that `oi-tui --help` stays quick.

    `interpreter` is one OpenInterpreter for the whole program, made when it is first asked for.
    `AsyncInterpreter` takes and gives chunks, for a connection of the program's own. `TurnError` is what
    `chat` raises.
    """
    if name in ("AsyncInterpreter", "OpenInterpreter", "TurnError", "interpreter"):
        if problem := find_system_problem():
            raise ImportError(problem)
        from oi_tui.api.interpreter import OpenInterpreter

        if name == "interpreter":
            return globals().setdefault(name, OpenInterpreter())
        if name == "AsyncInterpreter":
            from oi_tui.api.async_interpreter import AsyncInterpreter

            return AsyncInterpreter
        if name == "TurnError":
            from oi_tui.api.turns import TurnError

            return TurnError
        return OpenInterpreter
    raise AttributeError(f"module 'oi_tui' has no attribute {name!r}")
