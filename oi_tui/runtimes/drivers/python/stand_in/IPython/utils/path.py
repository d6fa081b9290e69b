"""Paths of files."""

# mypy: ignore-errors
from __future__ import annotations

import os

__all__ = ["ensure_dir_exists", "get_home_dir", "target_outdated"]


def ensure_dir_exists(path, mode=0o755):
    """Make a folder, if it is not there."""
    os.makedirs(path, mode=mode, exist_ok=True)


def get_home_dir(require_writable=False):
    """Return the home folder."""
    return os.path.expanduser("~")


def target_outdated(target, deps):
    """Return whether a file is older than one of others."""
    try:
        mtime = os.path.getmtime(target)
    except OSError:
        return True
    return any(os.path.getmtime(path) > mtime for path in deps)
