"""Folders that are removed at the end."""

# mypy: ignore-errors
from __future__ import annotations

import os
from tempfile import TemporaryDirectory

__all__ = ["NamedFileInTemporaryDirectory", "TemporaryDirectory", "TemporaryWorkingDirectory"]


class NamedFileInTemporaryDirectory:
    """An open file in a folder of its own."""

    def __init__(self, filename, mode="w+b", bufsize=-1, **options):
        self._folder = TemporaryDirectory(**options)
        encoding = None if "b" in mode else "utf-8"
        self.file = open(os.path.join(self._folder.name, filename), mode, bufsize, encoding)

    def cleanup(self):
        """Remove the file."""
        self.file.close()
        self._folder.cleanup()

    def __enter__(self):
        """Return the open file."""
        return self.file

    def __exit__(self, *error):
        """Remove the file."""
        self.cleanup()


class TemporaryWorkingDirectory(TemporaryDirectory):
    """The working directory for a while."""

    def __enter__(self):
        """Go there."""
        self._before = os.getcwd()
        os.chdir(self.name)
        return super().__enter__()

    def __exit__(self, *error):
        """Go back."""
        os.chdir(self._before)
        return super().__exit__(*error)
