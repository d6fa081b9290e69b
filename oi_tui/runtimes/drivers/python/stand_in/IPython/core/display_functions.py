"""Functions that show values. The driver puts its own here when this module is imported."""

# mypy: ignore-errors
# ruff: noqa: F821, F822
from __future__ import annotations

import binascii
import os

__all__ = ["DisplayHandle", "clear_output", "display", "publish_display_data", "update_display"]


class DisplayHandle:
    """Shows a value, and then others in its place."""

    def __init__(self, display_id=None):
        self.display_id = display_id or binascii.hexlify(os.urandom(16)).decode("ascii")

    def __repr__(self):
        return "<DisplayHandle display_id={}>".format(self.display_id)

    def display(self, obj, **options):
        """Show a value."""
        display(obj, display_id=self.display_id, **options)

    def update(self, obj, **options):
        """Show the value that takes the place of the earlier one."""
        update_display(obj, display_id=self.display_id, **options)
