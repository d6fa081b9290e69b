"""Follows the output of the program in the foreground, and gives it the full screen if it draws."""

import time
from typing import TYPE_CHECKING, Any, Protocol

from textual.app import App
from textual.screen import Screen

from oi_tui.engine.events import Event, MessageGrew, MessageRecorded, MessageStarted, TurnEnded
from oi_tui.engine.session import Session
from oi_tui.messages import Message
from oi_tui.text import clean_line
from oi_tui.widgets.emulator.history import OutputHistory
from oi_tui.widgets.idle import find_last_key
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.timer import MessageQueue, schedule
from oi_tui.workspace import Workspace

if TYPE_CHECKING:
    from asyncio import TimerHandle

    from oi_tui.screens.terminal import ProgramScreen

#: A program gets or loses the whole screen after it has asked for that for so long, in seconds.
_SETTLED = 0.15
#: Its screen opens only after the keyboard was idle for so long, in seconds.
_QUIET = 0.5
_AGAIN = 0.1


class ForegroundHost(MessageQueue, Protocol):
    """The widget that a full-screen program replaces."""

    workspace: Workspace
    prompt: Prompt

    @property
    def busy(self) -> bool:
        """Whether a turn is at work."""

    @property
    def app(self) -> App[Any]:
        """The application."""

    @property
    def screen(self) -> Screen[Any]:
        """The screen of the conversation."""

    @property
    def session(self) -> Session:
        """The session that gets what is typed."""

    def resize_programs(self) -> None:
        """Resize programs to the room that their output has."""


class Foreground:
    """The running program. `open` shows its terminal; that of a full-screen program opens automatically.

    Once the person went back, it is for them to look again: in that run nothing opens by itself any more.
    """

    def __init__(self, view: ForegroundHost) -> None:
        self._view = view
        self._code: Message | None = None
        self._console = ""
        self._since = 0.0
        self._output = OutputHistory()
        self._program: ProgramScreen | None = None
        self._opened_by_itself = False
        self._left = False
        self._timer: TimerHandle | None = None

    @property
    def shown(self) -> bool:
        """Whether the program has the screen."""
        return self._program is not None

    def follow(self, event: Event) -> None:
        """Follow the events of the run."""
        match event:
            case MessageGrew(id, text) if id == self._console:
                self._feed(text)
            case MessageRecorded(Message(type="code", state="running") as code):
                self.end()
                self._code = code
                self._since = time.monotonic()
            case MessageStarted(Message(type="console", parent=str(parent), id=id)) if self._is_running(
                parent
            ):
                self._console = id
            case MessageRecorded(Message(type="code", id=id)) if self._is_running(id):
                self.end()
            case TurnEnded():
                self.end()

    def open(self) -> bool:
        """Show the terminal because the person wants it; False when nothing runs."""
        if self._code is None:
            return False
        if self._program is None:
            self._open(by_itself=False)
        return True

    def end(self) -> None:
        """Close the program's screen: the run is over."""
        self._code, self._console, self._left = None, "", False
        self._output = OutputHistory()
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._close()

    def _is_running(self, id: str) -> bool:
        return self._code is not None and self._code.id == id

    def _feed(self, text: str) -> None:
        self._output.feed(text)
        if self._program:
            self._program.view.feed(text)
        if self._timer is None and self._wants_change:
            self._timer = schedule(self._view, _SETTLED, self._change)

    @property
    def _wants_change(self) -> bool:
        if self._program is None:
            return self._output.full_screen and not self._left
        return self._opened_by_itself and not self._output.full_screen

    def _change(self) -> None:
        self._timer = None
        if not self._wants_change:
            return
        if self._program:
            self._close()
        elif self._may_interrupt:
            self._open(by_itself=True)
        else:
            self._timer = schedule(self._view, _AGAIN, self._change)

    @property
    def _may_interrupt(self) -> bool:
        """Whether the keyboard has been idle long enough to change the screen."""
        quiet = time.monotonic() - find_last_key(self._view.app) > _QUIET
        return quiet and self._view.screen.is_active and not self._view.prompt.text

    def _open(self, *, by_itself: bool) -> None:
        # The emulator is loaded when a program needs it.
        from oi_tui.screens.terminal import ProgramScreen

        assert self._code is not None
        first = next(filter(None, map(str.strip, self._code.content.splitlines())), "")
        program = self._program = ProgramScreen(
            f"{clean_line(self._code.format or '', 20)}: {clean_line(first, 200)}",
            self._since,
            typed=self._view.session.send_input,
            resized=self._view.workspace.computer.resize,
        )
        self._opened_by_itself = by_itself
        # A full-screen program has just asked what it asks; what was asked before nobody waits for.
        program.view.feed(self._output.replay(), answering=by_itself)
        self._view.app.push_screen(program, lambda back: self._go_back(program) if back else None)

    def _close(self) -> None:
        program, self._program = self._program, None
        if program is None:
            return
        program.dismiss(False)
        self._view.resize_programs()

    def _go_back(self, program: "ProgramScreen") -> None:
        if program is self._program:
            self._program = None
            self._left = True
            self._view.resize_programs()
