"""Keeps what code prints and displays."""

# mypy: ignore-errors
from __future__ import annotations

import builtins


class capture_output:
    """Keep what the block puts out: `with capture_output() as captured:`."""

    stdout = stderr = display = True

    def __init__(self, stdout=True, stderr=True, display=True):
        self.stdout, self.stderr, self.display = stdout, stderr, display

    def __enter__(self):
        """Begin; return what is kept."""
        self._keeping = builtins.get_ipython()._capture_output(self.stdout, self.stderr, self.display)
        return self._keeping.__enter__()

    def __exit__(self, *error):
        """End."""
        return self._keeping.__exit__(*error)
