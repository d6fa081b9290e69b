"""Programming languages that run on pseudo-terminals and keep their variables."""

from oi_tui.runtimes.computer import Computer

__all__ = ["Computer"]
