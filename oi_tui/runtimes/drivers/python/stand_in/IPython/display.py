"""What is shown in a notebook: `display` and its like, and the objects that it is given."""

# mypy: ignore-errors
# ruff: noqa: F403
from __future__ import annotations

from IPython.core.display import *
from IPython.core.display import __all__ as _objects
from IPython.core.display_functions import *
from IPython.core.display_functions import __all__ as _functions
from IPython.lib.display import *
from IPython.lib.display import __all__ as _media

__all__ = [*_objects, *_functions, *_media]
