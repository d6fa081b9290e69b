"""The environment variables of Textual whose values could end the program."""

import importlib
from collections.abc import Mapping, MutableMapping
from pathlib import Path

#: What TEXTUAL_COLOR_SYSTEM may be: the names that Rich has, and `auto`.
COLOR_SYSTEMS = ("auto", "standard", "256", "truecolor", "windows")
_CHECKED = ("TEXTUAL_COLOR_SYSTEM", "TEXTUAL_DRIVER", "TEXTUAL_LOG", "TEXTUAL_SCREENSHOT_LOCATION")


def drop_empty(environment: MutableMapping[str, str]) -> None:
    """Remove variables without a value: the shell's `NAME= oi-tui` means that they are not set."""
    for name in _CHECKED:
        if not environment.get(name, "").strip():
            environment.pop(name, None)


def find_problem(environment: Mapping[str, str], *, load_driver: bool = True) -> str:
    """Return which variable Textual could not use and what it may be; "" where all are fine.

    Without `load_driver` the driver is not imported: only how it is written is checked.
    """
    values = {name: value for name in _CHECKED if (value := environment.get(name, "").strip())}
    color_system = values.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if color_system not in COLOR_SYSTEMS:
        return f"TEXTUAL_COLOR_SYSTEM is {color_system!r}; expected one of {', '.join(COLOR_SYSTEMS)}"
    if log := values.get("TEXTUAL_LOG"):
        path = Path(log)
        if path.is_dir() or not path.absolute().parent.is_dir():
            return f"TEXTUAL_LOG is {log!r}; expected a file in a folder that exists"
    folder = values.get("TEXTUAL_SCREENSHOT_LOCATION")
    if folder and not Path(folder).is_dir():
        return f"TEXTUAL_SCREENSHOT_LOCATION is {folder!r}; expected a folder that exists"
    return _find_driver_problem(values.get("TEXTUAL_DRIVER"), load=load_driver)


def _find_driver_problem(driver: str | None, *, load: bool) -> str:
    if driver is None:
        return ""
    expected = f"TEXTUAL_DRIVER is {driver!r}; expected module:Class of a Textual driver, or no value"
    module, _, name = driver.partition(":")
    if not (name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        return expected
    if not load:
        return ""
    from textual.driver import Driver

    try:
        driver_class = getattr(importlib.import_module(module), name)
    except Exception as error:  # noqa: BLE001 -- a module may raise anything while it is imported
        return f"{expected} ({type(error).__name__}: {error})"
    return "" if isinstance(driver_class, type) and issubclass(driver_class, Driver) else expected
