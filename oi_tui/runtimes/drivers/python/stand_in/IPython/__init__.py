"""Stands in for IPython in a Python without it: what the code of notebooks imports from it.

The version is that of the IPython with these names and arguments; `+oi.tui` says that it is this module.
"""

# mypy: ignore-errors
from __future__ import annotations

from IPython import display
from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell

__all__ = ["InteractiveShell", "display", "get_ipython", "version_info"]
__version__ = "9.0.0+oi.tui"
version_info = (9, 0, 0, "oi-tui")
