"""Messages and commands that wait for the end of the turn."""

from collections.abc import Callable

from oi_tui.commands import is_command
from oi_tui.text import clean_line
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.prompt.queue import PromptQueue


class QueuedPrompts:
    """Keeps the queue, and tells the prompt whether it is empty."""

    def __init__(self, bar: PromptQueue, prompt: Prompt, notify: Callable[[str], object]) -> None:
        self._bar = bar
        self._prompt = prompt
        self._notify = notify

    def __bool__(self) -> bool:
        return bool(self._bar)

    def add(self, text: str) -> None:
        """Let a message, or a command that runs code, wait for the end of the turn."""
        self._bar.add(text)
        self._prompt.queue_waits = True

    def pop_first(self) -> str:
        """Remove and return the oldest entry."""
        text = self._bar.pop_first()
        self._prompt.queue_waits = bool(self._bar)
        return text

    def restore_last(self) -> None:
        """Put the last queued message back into the prompt."""
        if self._bar:
            self._prompt.put_back(self._bar.pop_last())
            self._prompt.queue_waits = bool(self._bar)

    def restore_all(self) -> None:
        """Put all queued messages back into the prompt; drop the commands."""
        if self._bar:
            texts = self._bar.pop_all()
            # One text of both would hand the messages to a shell. History has the commands.
            self._prompt.put_back("\n".join(text for text in texts if not is_command(text)))
            for text in filter(is_command, texts):
                self._notify(f"Not run: {clean_line(text, 60)} (press up to get it back)")
            self._prompt.queue_waits = False
