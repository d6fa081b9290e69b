"""Whether the terminal reports the mouse."""

from textual.app import App


def use_mouse(app: App[str], on: bool) -> None:
    """Let the terminal tell of the mouse, or leave it to the terminal, which can then select text itself."""
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
