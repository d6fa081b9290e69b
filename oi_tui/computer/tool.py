"""The base of the computer object's tools, and their names."""

from __future__ import annotations

import importlib
from typing import Any

from oi_tui.computer.errors import ComputerError

#: The tools, with module and class; in the order in which they are documented.
TOOLS = {
    "display": ("desktop.display", "Display"),
    "mouse": ("desktop.mouse", "Mouse"),
    "keyboard": ("desktop.keyboard", "Keyboard"),
    "clipboard": ("desktop.clipboard", "Clipboard"),
    "os": ("desktop.system", "Os"),
    "browser": ("browser", "Browser"),
    "files": ("files", "Files"),
    "docs": ("docs", "Docs"),
    "terminal": ("terminal", "Terminal"),
    "ai": ("ai", "Ai"),
    "vision": ("vision", "Vision"),
    "skills": ("skills", "Skills"),
    "mail": ("personal.mail", "Mail"),
    "calendar": ("personal.calendars", "Calendar"),
    "contacts": ("personal.contacts", "Contacts"),
    "sms": ("personal.sms", "SMS"),
}


def load_class(name: str) -> Any:
    """Return the class of a tool."""
    module, class_name = TOOLS[name]
    return getattr(importlib.import_module(f"oi_tui.computer.{module}"), class_name)


class Tool:
    """A part of the computer object."""

    def __init__(self, computer: Any) -> None:
        self._computer = computer

    def _ask(self, text: str, images: list[str] | None = None) -> str:
        """Ask the model of the conversation; `images` are data URLs. Raises ComputerError without a reply."""
        return str(self._computer.ask_model(text, images))

    def __repr__(self) -> str:
        names = [name for name in dir(self) if not name.startswith("_")]
        return f"<computer.{type(self).__name__.lower()}: {', '.join(names)}>"


def cannot(what: str, why: str) -> ComputerError:
    """Return the error for an action that is not possible here."""
    return ComputerError(f"{what} cannot be used here: {why}")
