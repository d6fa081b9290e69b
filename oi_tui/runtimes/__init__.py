"""Programming languages that run on pseudo-terminals and remember."""

from oi_tui.runtimes.computer import Computer

__all__ = ["Computer"]
