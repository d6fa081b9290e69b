"""Where libraries look for `get_ipython`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

get_ipython = builtins.get_ipython
