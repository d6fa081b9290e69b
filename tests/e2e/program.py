"""oi-tui in a terminal, and what a person does with it."""

import json
import os
from pathlib import Path
from typing import Any

from tests.terminal import Terminal

#: What the panel says while its keys do not answer.
GUARDED = ("stop typing", "tab to answer")


def _asks(screen: str) -> bool:
    return "Run this" in screen or "Call the tool" in screen


def _open(screen: str) -> bool:
    return _asks(screen) and not any(words in screen for words in GUARDED)


class Program(Terminal):
    """The real program, driven by its keys."""

    def say(self, text: str) -> None:
        """Type, and press enter once it stands there: an enter amid a burst of keys is a new line."""
        self.send(text)
        self.wait_for(lambda screen: text[-30:] in screen)
        self.press("enter")

    def begin(self) -> None:
        """Wait until there is a prompt to type into."""
        self.wait_for("> Type a request", 30)

    def asked(self, timeout: float = 30.0) -> str:
        """Wait until it asks whether code may run, and a key can answer."""
        return self.wait_for(_open, timeout)

    def asked_first(self, text: str) -> str:
        """Say something and wait for the question that follows."""
        self.say(text)
        return self.asked()

    def reach(self) -> None:
        """Go to the question from the prompt, where somebody was typing."""
        self.wait_for(lambda screen: _asks(screen) and "stop typing" not in screen)
        # A lone answer that came too early is taken away, and the question gets the focus by itself.
        screen = self.wait_quiet(0.3)
        if "tab to answer" in screen:
            self.press("tab")

    def answer(self, key: str) -> None:
        """Answer the question, and wait until that was understood; the next question is not open at once."""
        self.asked()
        self.press(key)
        self.wait_gone(_open)

    def idle(self, timeout: float = 30.0) -> str:
        """Wait until nothing goes on any more, and all of it is drawn."""
        self.wait_for(lambda screen: screen.split("\n")[-1].lstrip().startswith("ready"), timeout)
        return self.wait_quiet(0.15)


def messages() -> list[dict[str, Any]]:
    """The messages of every saved conversation, as they stand on disk."""
    folder = Path(os.environ["OI_TUI_HOME"]) / "data" / "conversations"
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if message := json.loads(line).get("message"):
                found[message["id"]] = message
    return list(found.values())


def decisions() -> list[str]:
    """What was decided about code, in every saved conversation."""
    return [message["decision"] for message in messages() if "decision" in message]
