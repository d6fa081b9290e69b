"""Open Interpreter as a full-screen terminal application."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oi_tui.api import OpenInterpreter

__version__ = "0.1.0"
__all__ = ["OpenInterpreter", "__version__"]


def __getattr__(name: str) -> object:
    """Import the Python API when it is first asked for, so that `oi-tui --help` stays quick."""
    if name == "OpenInterpreter":
        from oi_tui.api import OpenInterpreter

        return OpenInterpreter
    raise AttributeError(f"module 'oi_tui' has no attribute {name!r}")
