"""Shows the input field when a running program waits for input."""

from collections.abc import Callable

from oi_tui.engine.events import Event, MessageRecorded, RunReported, TurnEnded
from oi_tui.messages import InputReceived, InputRequested, Message
from oi_tui.screens.chat.interfaces import BEFORE_END
from oi_tui.screens.chat.turn.progress import TurnProgress
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.prompt.stdin_bar import StdinBar


class ProgramInputControl:
    """Shows the line for a program's input while the program waits for it.

    It gets the keyboard where nobody is in the middle of something. `call_back` calls a person who looks
    elsewhere.
    """

    def __init__(
        self,
        bar: StdinBar,
        prompt: Prompt,
        conversation: Conversation,
        progress: TurnProgress,
        call_back: Callable[[str], object],
    ) -> None:
        self._bar = bar
        self._prompt = prompt
        self._conversation = conversation
        self._progress = progress
        self._call_back = call_back

    def follow(self, event: Event) -> None:
        """Ask when a program asks; the end of its code ends the question, too."""
        match event:
            case RunReported(_, InputRequested() as request):
                self._bar.ask(self._progress.language, request)
                if not (self._prompt.text or self._conversation.has_focus_within):
                    self._bar.focus_field()
                self._call_back(self._progress.doing)
            case RunReported(_, InputReceived()):
                self._end(ended=False)
            case TurnEnded():
                self._end()
            case MessageRecorded(Message(type="code", state=state)) if state not in BEFORE_END:
                self._end()

    def _end(self, *, ended: bool = True) -> None:
        focused = self._bar.has_keyboard
        self._bar.dismiss(ended=ended)
        if focused:
            self._prompt.focus()
