"""The field for input to a running program."""

import re
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from oi_tui.messages import InputRequested
from oi_tui.text import clean_line
from oi_tui.widgets.field import LONGEST_PASTE, Field
from oi_tui.widgets.truncate import cut_beginning

_LINE_ENDS = re.compile("\r\n|\r|\n")


class _Line(Field):
    """Takes lines as fast as they come: an enter sends what was typed before it, and nothing else."""

    def on_key(self, event: events.Key) -> None:
        """Send the line at once. As a binding, enter would wait while the keys after it are taken."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self._send(self.value)

    def on_paste(self, event: events.Paste) -> None:
        """Send the whole lines of a paste of several, as a terminal does. A single line waits for enter."""
        *whole, rest = _LINE_ENDS.split(event.text)
        if len(whole) > 1 or (whole and rest):
            event.stop()
            event.prevent_default()
            self.replace(whole[0], *self.selection)
            self._send("\n".join((self.value, *whole[1:])))
            self.insert_text_at_cursor(rest[:LONGEST_PASTE])
        else:
            super().on_paste(event)

    def _send(self, text: str) -> None:
        self.value = ""
        self.post_message(StdinBar.Typed(text))


class StdinBar(Widget):
    """Shows what the program asks and takes a line for it.

    A masked line is shown as dots, and kept nowhere once it was sent.
    """

    @dataclass
    class Typed(Message):
        """A line for the program, or several, without the last newline."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.masked = False
        self._language = self._prompt = ""
        #: The field was given the keyboard, which Textual does a moment later.
        self._focus_comes = False

    def compose(self) -> ComposeResult:
        """Mount the question and the field."""
        yield Static(id="asked", markup=False)
        yield _Line(id="typed", select_on_focus=False)

    @property
    def has_keyboard(self) -> bool:
        """Whether keys go here, or will in a moment: questions may follow each other that fast."""
        return self._focus_comes or self.screen.focused is self.query_one(Input)

    def ask(self, language: str, request: InputRequested) -> None:
        """Show what the program waits for; what was typed ahead stays, but is not brought to light."""
        field = self.query_one(Input)
        if self.masked and not request.masked:
            field.value = ""
        self.masked = request.masked
        field.password = request.masked
        field.placeholder = "hidden; not saved" if request.masked else "type a line; enter sends it"
        self._language = clean_line(language, 20)
        self._prompt = clean_line(request.prompt[-2000:], 500).strip()
        self._show_question()
        self.display = True

    def on_resize(self) -> None:
        """Show as much of the question as fits."""
        self._show_question()

    def _show_question(self) -> None:
        text = f"{self._language} asks: " if self._prompt else f"{self._language} is waiting for "
        room = max(10, self.app.size.width - cell_len(text) - 8)
        # What is asked for, and the answers that are possible, stand at the end.
        question = cut_beginning(self._prompt or "a line of input", room)
        words = Content.assemble((text, "$text-muted"), (question, "$text-warning bold"))
        self.query_one("#asked", Static).update(words)

    def dismiss(self, *, ended: bool = True) -> None:
        """Hide the field: the program no longer waits. Unless it ended, what was typed ahead stays."""
        if ended or self.masked:
            self.query_one(Input).value = ""
        self.display = self._focus_comes = False

    def focus_field(self) -> None:
        """Focus the field."""
        self._focus_comes = True
        self.query_one(Input).focus()

    def on_descendant_focus(self) -> None:
        """Note that keys go here now."""
        self._focus_comes = False

    def on_key(self, event: events.Key) -> None:
        """End of input, as in any terminal."""
        if event.key == "ctrl+d":
            event.stop()
            self.post_message(self.Typed("\x04"))
