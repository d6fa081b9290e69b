"""The folders of IPython's files, where they would be."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__all__ = ["get_ipython_dir"]


def get_ipython_dir():
    """Return the folder."""
    return builtins.get_ipython().ipython_dir
