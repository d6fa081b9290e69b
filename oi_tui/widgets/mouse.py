"""Whether the terminal reports the mouse."""

import os
from collections.abc import Mapping

from textual.app import App


def is_mouse_wanted(setting: bool, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether to use the mouse from the start, where the setting says so.

    GNU screen (4.9.0) takes an escape for the beginning of a mouse report once a program uses the mouse, and
    keeps it until another key comes. Escape stops programs there, so the mouse waits for `%mouse on`.
    """
    return setting and not ("STY" in environment and "TMUX" not in environment)


def use_mouse(app: App[str], on: bool) -> None:
    """Turn mouse reports on, or leave the mouse to the terminal, which can then select text itself."""
    driver = app._driver
    if driver is None or getattr(driver, "_mouse", None) in (None, on):
        return
    # A driver that uses no mouse ignores calls about it.
    if on:
        driver._mouse = True
        driver._enable_mouse_support()  # type: ignore[attr-defined]
    else:
        driver._disable_mouse_support()  # type: ignore[attr-defined]
        driver._mouse = False
