"""Imports modules as they were found before the program changed the search path or the finders."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
#: Where our modules are: names are distinct across these folders, since imports know no package here.
_FOLDERS = [_HERE, *(os.path.join(_HERE, name) for name in ("notebook", "objects", "values"))]
#: The search path before a program changed it, behind our modules and the standard library.
_sound = {
    "path": [*_FOLDERS, os.path.dirname(os.__file__), *(entry for entry in sys.path if entry != _HERE)],
}


def remember_finders():
    """Keep the finders as they are now."""
    _sound.update(meta_path=sys.meta_path[:], path_hooks=sys.path_hooks[:])


def restore_path():
    """Give the program its search path back."""
    sys.path = _sound["path"][len(_FOLDERS) :]


def import_quietly(name):
    """Import a module of ours or of the standard library, even if the program or its files replaced it."""
    if sys.modules.get(name) is not None:
        return sys.modules[name]
    current = {item: getattr(sys, item, value) for item, value in _sound.items()}
    vars(sys).update({item: value[:] for item, value in _sound.items()})
    try:
        return __import__(name)
    finally:
        vars(sys).update(current)
