"""Answers that are shown with their keys, for the mouse as well."""

from textual.content import Content
from textual.message import Message
from textual.widgets import Static


class Choice(Static):
    """One answer with its key. A click asks for it."""

    class Chosen(Message):
        """The person pointed at the answer `word`."""

        def __init__(self, word: str) -> None:
            super().__init__()
            self.word = word

    def __init__(self, key: str, word: str) -> None:
        super().__init__(id=f"choice-{word}", classes="choice", markup=False)
        self._key = key
        self._word = word
        self.say(word)

    def say(self, words: str, key: str = "") -> None:
        """Put the answer in other words, or give it another key."""
        self._key = key or self._key
        self.update(Content.assemble((f" {self._key} ", "reverse bold"), f" {words}"))

    def on_click(self) -> None:
        """Answer by mouse; whoever asks decides whether that counts."""
        self.post_message(self.Chosen(self._word))


class OfferLine(Static):
    """One thing that may be granted, with its number."""

    def __init__(self, number: int) -> None:
        super().__init__(id=f"offer-{number}", classes="offer", markup=False)
        self._number = number

    def show(self, words: str) -> None:
        """Say what it is."""
        self.update(Content.assemble((f" {self._number} ", "reverse bold"), f" {words}"))

    def on_click(self) -> None:
        """Answer by mouse."""
        self.post_message(Choice.Chosen(str(self._number)))
