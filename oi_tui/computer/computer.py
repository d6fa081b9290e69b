"""The `computer` object: every tool by its name, made at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oi_tui.computer import bridge
from oi_tui.computer.tool import TOOLS, load_class

if TYPE_CHECKING:
    from oi_tui.computer.ai import Ai
    from oi_tui.computer.browser import Browser
    from oi_tui.computer.desktop.clipboard import Clipboard
    from oi_tui.computer.desktop.display import Display
    from oi_tui.computer.desktop.keyboard import Keyboard
    from oi_tui.computer.desktop.mouse import Mouse
    from oi_tui.computer.desktop.system import Os
    from oi_tui.computer.docs import Docs
    from oi_tui.computer.files import Files
    from oi_tui.computer.personal.calendars import Calendar
    from oi_tui.computer.personal.contacts import Contacts
    from oi_tui.computer.personal.mail import Mail
    from oi_tui.computer.personal.sms import SMS
    from oi_tui.computer.skills import Skills
    from oi_tui.computer.terminal import Terminal
    from oi_tui.computer.vision import Vision


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
            tool_names = ", ".join(TOOLS)
            raise AttributeError(f"computer has no {name!r}; it has: {tool_names}")
        tool = load_class(name)(self)
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

    def ask_model(self, text: str, images: list[str] | None = None) -> str:
        """Ask the model of the conversation; `images` are data URLs. Raises ComputerError without a reply."""
        return bridge.ask(text, images)

    def act(self, actions: Any, size: tuple[int, int] | None = None) -> Any:
        """Carry out an action, or a list: {"action": "left_click", "coordinate": [10, 20]}.

        The actions of Anthropic's computer_20250124 and computer_20251124 and of OpenAI's tool computer are
        known, with coordinates of the whole screen, or of an image of it
        with this `size`. Returns the image that the last of them asked for.
        """
        from oi_tui.computer.desktop import actions as known

        return known.act(self, actions, size)

    def screenshot(self, *args: Any, **options: Any) -> Any:
        """Take a screenshot; see `computer.display.screenshot`."""
        return self.display.screenshot(*args, **options)

    def view(self, *args: Any, **options: Any) -> Any:
        """Look at the screen; see `computer.display.view`."""
        return self.display.view(*args, **options)
