"""Programming languages that run on pseudo-terminals and keep their variables."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oi_tui.runtimes.computer import Computer

__all__ = ["Computer"]


def __getattr__(name: str) -> Any:
    # Imported when it is used. Where a thread imports this package and another one a module in it, each would
    # wait for the other, and get a half of it, if the package itself imported its modules.
    if name == "Computer":
        from oi_tui.runtimes.computer import Computer

        return Computer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
