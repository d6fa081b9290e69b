"""The Python API: `from oi_tui import OpenInterpreter`."""
