"""The field for input to a running program."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from oi_tui.messages import InputRequested
from oi_tui.text import one_line
from oi_tui.widgets.truncate import cut_beginning


class StdinBar(Widget):
    """Shows what the program asks and takes a line for it.

    A masked line is shown as dots, and kept nowhere once it was sent.
    """

    @dataclass
    class Typed(Message):
        """A line for the program, without its newline."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.masked = False
        self._language = self._prompt = ""

    def compose(self) -> ComposeResult:
        """Mount the question and the field."""
        yield Static(id="asked", markup=False)
        yield Input(id="typed", select_on_focus=False)

    def on_mount(self) -> None:
        """Stop the cursor blinking: each blink redraws, which matters on a slow connection."""
        self.query_one(Input).cursor_blink = False

    def ask(self, language: str, request: InputRequested) -> None:
        """Show what the program waits for; what was typed ahead stays, but is not brought to light."""
        field = self.query_one(Input)
        if self.masked and not request.masked:
            field.value = ""
        self.masked = request.masked
        field.password = request.masked
        field.placeholder = "hidden; not saved" if request.masked else "type a line; enter sends it"
        self._language = one_line(language, 20)
        self._prompt = one_line(request.prompt[-2000:], 500).strip()
        self._tell()
        self.display = True

    def on_resize(self) -> None:
        """Show as much of the question as fits."""
        self._tell()

    def _tell(self) -> None:
        text = f"{self._language} asks: " if self._prompt else f"{self._language} is waiting for "
        room = max(10, self.app.size.width - cell_len(text) - 8)
        # What is asked for, and the answers that are possible, stand at the end.
        question = cut_beginning(self._prompt or "a line of input", room)
        words = Content.assemble((text, "$text-muted"), (question, "$text-warning bold"))
        self.query_one("#asked", Static).update(words)

    def dismiss(self) -> None:
        """Hide the field: the program no longer waits."""
        self.query_one(Input).value = ""
        self.display = False

    def take_focus(self) -> None:
        """Let the person type here."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the line on and forget it."""
        event.stop()
        text = event.value
        event.input.value = ""
        self.post_message(self.Typed(text))

    def on_key(self, event: events.Key) -> None:
        """End of input, as in any terminal."""
        if event.key == "ctrl+d":
            event.stop()
            self.post_message(self.Typed("\x04"))
