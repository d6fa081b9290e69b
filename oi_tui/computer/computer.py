"""The `computer` object: every tool by its name, made at its first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from oi_tui.computer.errors import ComputerError

if TYPE_CHECKING:
    from oi_tui.computer.ai import Ai
    from oi_tui.computer.browser import Browser
    from oi_tui.computer.calendars import Calendar
    from oi_tui.computer.clipboard import Clipboard
    from oi_tui.computer.contacts import Contacts
    from oi_tui.computer.display import Display
    from oi_tui.computer.docs import Docs
    from oi_tui.computer.files import Files
    from oi_tui.computer.keyboard import Keyboard
    from oi_tui.computer.mail import Mail
    from oi_tui.computer.mouse import Mouse
    from oi_tui.computer.skills import Skills
    from oi_tui.computer.sms import SMS
    from oi_tui.computer.system import Os
    from oi_tui.computer.terminal import Terminal
    from oi_tui.computer.vision import Vision

#: The tools, with module and class; in the order in which they are documented.
TOOLS = {
    "display": ("display", "Display"),
    "mouse": ("mouse", "Mouse"),
    "keyboard": ("keyboard", "Keyboard"),
    "clipboard": ("clipboard", "Clipboard"),
    "os": ("system", "Os"),
    "browser": ("browser", "Browser"),
    "files": ("files", "Files"),
    "docs": ("docs", "Docs"),
    "terminal": ("terminal", "Terminal"),
    "ai": ("ai", "Ai"),
    "vision": ("vision", "Vision"),
    "skills": ("skills", "Skills"),
    "mail": ("mail", "Mail"),
    "calendar": ("calendars", "Calendar"),
    "contacts": ("contacts", "Contacts"),
    "sms": ("sms", "SMS"),
}


class Computer:
    """The computer that this code runs on.

    Each tool is an attribute: `computer.mouse`, `computer.files`. Nothing is started or imported before a
    tool is used.
    """

    if TYPE_CHECKING:
        ai: Ai
        browser: Browser
        calendar: Calendar
        clipboard: Clipboard
        contacts: Contacts
        display: Display
        docs: Docs
        files: Files
        keyboard: Keyboard
        mail: Mail
        mouse: Mouse
        os: Os
        skills: Skills
        sms: SMS
        terminal: Terminal
        vision: Vision

    def __getattr__(self, name: str) -> Any:
        if name not in TOOLS:
            known = ", ".join(TOOLS)
            raise AttributeError(f"computer has no {name!r}; it has: {known}")
        tool = class_of(name)(self)
        setattr(self, name, tool)
        return tool

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *TOOLS})

    def __repr__(self) -> str:
        return "<computer: " + ", ".join(TOOLS) + ">"

    @property
    def languages(self) -> list[str]:
        """The languages that `run` can use here."""
        return self.terminal.languages

    def run(self, language: str, code: str, stream: bool = False, display: bool = False) -> Any:
        """Run code in another language; see `computer.terminal.run`."""
        return self.terminal.run(language, code, stream=stream, display=display)

    def exec(self, code: str) -> Any:
        """Run a shell command; see `computer.terminal.run`."""
        return self.terminal.run("shell", code)

    def stop(self) -> None:
        """End what `run` started."""
        self.terminal.stop()

    def terminate(self) -> None:
        """End what `run` started."""
        self.terminal.terminate()

    def screenshot(self, *args: Any, **options: Any) -> Any:
        """Take a picture of the screen; see `computer.display.screenshot`."""
        return self.display.screenshot(*args, **options)

    def view(self, *args: Any, **options: Any) -> Any:
        """Look at the screen; see `computer.display.view`."""
        return self.display.view(*args, **options)


def class_of(name: str) -> Any:
    """Return the class of a tool."""
    module, class_name = TOOLS[name]
    return getattr(importlib.import_module(f"oi_tui.computer.{module}"), class_name)


class Tool:
    """A part of the computer object."""

    def __init__(self, computer: Computer) -> None:
        self._computer = computer

    def __repr__(self) -> str:
        names = [name for name in dir(self) if not name.startswith("_")]
        return f"<computer.{type(self).__name__.lower()}: {', '.join(names)}>"


def cannot(what: str, why: str) -> ComputerError:
    """Return the error for a thing that cannot be done here."""
    return ComputerError(f"{what} cannot be used here: {why}")
