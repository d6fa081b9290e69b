"""The possible answers with their keys, also for the mouse."""

import math

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


class Clickable(Static):
    """An answer that a click asks for."""

    class Chosen(Message):
        """The person clicked the answer `word`; the button went down at `pressed`, on the monotonic clock."""

        def __init__(self, word: str, pressed: float) -> None:
            super().__init__()
            self.word = word
            self.pressed = pressed

    word = ""
    _pressed = -math.inf

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Note when the button went down."""
        self._pressed = event.time

    def on_click(self) -> None:
        """Post the answer; the panel decides whether it counts."""
        self.post_message(self.Chosen(self.word, self._pressed))


class ApprovalOption(Clickable):
    """One answer with its key."""

    def __init__(self, key: str, word: str) -> None:
        super().__init__(id=f"choice-{word}", classes="choice", markup=False)
        self._key = key
        self.word = word
        self.say(word)

    def say(self, words: str, key: str = "") -> None:
        """Put the answer in other words, or give it another key."""
        self._key = key or self._key
        self.update(Content.assemble((f" {self._key} ", "reverse bold"), f" {words}"))


class OptionLine(Clickable):
    """A permission that may be granted, with its number."""

    def __init__(self, number: int) -> None:
        super().__init__(id=f"offer-{number}", classes="offer", markup=False)
        self.word = str(number)

    def show(self, words: str) -> None:
        """Say what it is."""
        self.update(Content.assemble((f" {self.word} ", "reverse bold"), f" {words}"))
