"""Starts a llamafile: downloads it if needed, and waits until it is ready."""

import threading
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from oi_tui.engine.models.download import DownloadError
from oi_tui.engine.models.llamafile import Llamafile, LlamafileError, begin
from oi_tui.screens.dialog import Dialog, DialogBox
from oi_tui.system.environment import list_secret_variables
from oi_tui.text import clean_line


class LlamafileScreen(Dialog[Llamafile | str]):
    """Shows the progress. Returns the running llamafile, or why it did not start; escape stops it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", "Stop", id="starting.stop")]

    @dataclass
    class Progressed(Message):
        """The progress in words."""

        words: str

    @dataclass
    class Finished(Message):
        """It runs, or it does not."""

        result: Llamafile | str

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self._stopped = threading.Event()
        self._result: Llamafile | None = None

    def compose(self) -> ComposeResult:
        """Mount one line."""
        with DialogBox(id="starting") as box:
            box.border_title = "Llamafile"
            box.hints = "esc stops; the download can continue later"
            yield Static(clean_line(self._source, 200), id="starting-words", markup=False)

    def on_mount(self) -> None:
        """Start in a thread."""
        self.run_worker(self._start_server, thread=True, exit_on_error=False)

    def _start_server(self) -> None:
        result: Llamafile | str = "Stopped."
        try:
            for step in begin(self._source, self._stopped, hidden=list_secret_variables()):
                if isinstance(step, Llamafile):
                    result = self._result = step
                else:
                    self.post_message(self.Progressed(step))
        except (DownloadError, LlamafileError) as error:
            result = str(error)
        if self._stopped.is_set() and isinstance(result, Llamafile):
            result.stop()
            result = "Stopped."
        self.post_message(self.Finished(result))

    @on(Progressed)
    def handle_progressed(self, event: Progressed) -> None:
        """Show it."""
        self.query_one("#starting-words", Static).update(clean_line(event.words, 200))

    @on(Finished)
    def handle_finished(self, event: Finished) -> None:
        """Leave with what came of it."""
        self._result = None
        self.dismiss(event.result)

    def action_stop(self) -> None:
        """Stop; the screen closes when it has stopped."""
        self._stopped.set()
        self.query_one("#starting-words", Static).update("Stopping ...")

    def on_unmount(self) -> None:
        """Leave nothing running when the application ends meanwhile."""
        self._stopped.set()
        if self._result is not None:
            self._result.stop()
