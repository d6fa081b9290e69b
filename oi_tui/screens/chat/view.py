"""The chat view: the conversation, the approval panel, and the input of programs.

Data flows one way. A turn works in a thread and posts `EventsArrived`. `handle_event` passes its events on:

    Session -> TurnWorker (thread) -> EventsArrived -> handle_event -+-> Conversation   shows it
                                                                     +-> followers      act on it
                                                                     +-> TurnControl    goes on afterwards

What a person decides goes the other way: a widget posts a message, and its handler here calls the session.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.message import Message as Notification
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker

from oi_tui import log
from oi_tui.engine.events import Event, MessageRecorded, Noticed, TurnEnded
from oi_tui.engine.message_log import SAVES_AGAIN
from oi_tui.engine.session import Session
from oi_tui.input.mentions import expand
from oi_tui.messages import Message
from oi_tui.screens.chat.completer import Completer
from oi_tui.screens.chat.focus import find_focused_part, focus_next
from oi_tui.screens.chat.interfaces import BEFORE_END, Follower
from oi_tui.screens.chat.sidebar import SidebarControl
from oi_tui.screens.chat.turn.approval_control import ApprovalControl
from oi_tui.screens.chat.turn.foreground import Foreground
from oi_tui.screens.chat.turn.host_cells import HostCells
from oi_tui.screens.chat.turn.narrator import Narrator
from oi_tui.screens.chat.turn.program_input import ProgramInputControl
from oi_tui.screens.chat.turn.progress import TurnProgress
from oi_tui.screens.chat.turn.queued_prompts import QueuedPrompts
from oi_tui.screens.chat.turn.takeover_question import TakeoverQuestion
from oi_tui.screens.chat.turn.turn_control import TurnControl
from oi_tui.screens.chat.turn.unmasked_question import UnmaskedQuestion
from oi_tui.terminal.clipboard import copy
from oi_tui.terminal.external_editor import edit_outside
from oi_tui.text import clean_line, clean_text
from oi_tui.turn_worker import TurnWorker
from oi_tui.widgets.approval.panel import ApprovalPanel
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.conversation.draw_timer import FLUSH
from oi_tui.widgets.conversation.find_bar import FindBar
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.editor.find_replace_bar import FindReplaceBar
from oi_tui.widgets.editor.text_area import StableTextArea
from oi_tui.widgets.idle import looks_away
from oi_tui.widgets.key_hints import press
from oi_tui.widgets.log_panel import LogPanel
from oi_tui.widgets.motion import use_motion
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.prompt.queue import PromptQueue
from oi_tui.widgets.prompt.stdin_bar import StdinBar
from oi_tui.widgets.timer import schedule
from oi_tui.workspace import Workspace

#: How often changes without an event are looked for while the clock ticks, in seconds.
_TICK = 0.25


class ChatView(Widget):
    """Maps the events of a session to widgets, and the decisions of a person to the session.

    `turns` runs the turns of the session, and `progress` knows what the present one does.
    """

    @dataclass
    class EventsArrived(Notification):
        """The turn has events to take."""

        turn: TurnWorker

    class AttentionRequested(Notification):
        """The person looks elsewhere, and something wants them: `why`."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class ApiKeyRequested(Notification):
        """The model was not reached because there is no valid API key."""

    class TakenOver(Notification):
        """The person moved the mouse while code used it."""

    class UnmaskedRequested(Notification):
        """Code wants a screenshot that may show passwords."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class CellEnded(Notification):
        """Code has run: variables may have other values."""

    class Changed(Notification):
        """Something that the first and the last line tell of is different now."""

        def can_replace(self, message: Notification) -> bool:
            """Return whether the other message is of this kind: one of them is enough."""
            return isinstance(message, type(self))

    def __init__(self, workspace: Workspace, prompt: Prompt) -> None:
        super().__init__(id="chat-view")
        self.workspace = workspace
        self.prompt = prompt
        self.progress = TurnProgress(lambda: self.post_message(self.Changed()))
        prompt.multi_line = workspace.profile.multi_line
        prompt.use_vi(workspace.profile.editing == "vi")
        self.conversation = Conversation(id="conversation", saved_as=workspace.save_image)
        self.approval = ApprovalPanel(id="approval")
        self.input_line = StdinBar(id="input")
        self.find_line = FindBar(self.conversation, id="find")
        self.replace_line = FindReplaceBar(self.conversation.cell_editor.code_editor, id="replace")
        self.conversation.cell_editor.code_editor.use_vi(workspace.profile.editing == "vi")
        self.conversation.cell_editor.on_closed = self.replace_line.dismiss
        self.foreground = Foreground(self)
        self.sidebar = SidebarControl(self, workspace, lambda: self.turns.tokens)
        self.completer = Completer(self, workspace.computer, workspace.mcp.resources)
        self.conversation.cell_editor.code_editor.completion.is_available = self.completer.can_complete
        self.log_panel = LogPanel(log.recent, id="log")
        self.questions = ApprovalControl(
            self,
            self.approval,
            self.conversation,
            prompt,
            workspace,
            doing=self.progress.note,
            call_back=self._call_back,
        )
        self._input = ProgramInputControl(
            self.input_line, prompt, self.conversation, self.progress, self._call_back
        )
        self._narrator = Narrator(workspace)
        self.host_cells = HostCells(self)
        self._takeover = TakeoverQuestion(self, lambda: self.post_message(self.TakenOver()))
        self._unmasked = UnmaskedQuestion(self, lambda why: self.post_message(self.UnmaskedRequested(why)))
        self._queue_bar = PromptQueue(id="queue")
        self.queued = QueuedPrompts(self._queue_bar, prompt, lambda text: self.notify(text, markup=False))
        #: Takes what was queued, when its turn has come.
        self.dispatch: Callable[[str], object] = self.send
        self._is_taking_queued = False
        self.turns = turns = TurnControl(
            self, workspace, prompt, self.conversation, self.progress, self.queued
        )
        #: When events that can wait are taken next, and the timer for it.
        self._next_frame = 0.0
        self._frame: asyncio.TimerHandle | None = None
        #: Ticks only during a turn, and while saving fails.
        self._clock: Timer | None = None
        turns.wake = lambda worker: self.post_message(self.EventsArrived(worker))
        turns.show = self.show
        turns.send_queued = self._send_queued
        turns.call_back = self._call_back
        turns.ask_for_key = lambda: self.post_message(self.ApiKeyRequested())
        #: Each gets every event of a turn, in this order: the first two know what the others ask for.
        self._followers: tuple[Follower, ...] = (
            self.turns,
            self.progress,
            self._narrator,
            self.questions,
            self.completer,
            self._input,
            self.foreground,
            self.sidebar,
            self._takeover,
            self.host_cells,
            self._unmasked,
        )

    def compose(self) -> ComposeResult:
        """Mount the parts, from top to bottom."""
        yield self.conversation
        yield self.log_panel
        yield self._queue_bar
        yield self.approval
        yield self.input_line
        yield self.find_line
        yield self.replace_line

    def on_mount(self) -> None:
        """Show what there is, and what ended before anybody could look."""
        profile = self.workspace.profile
        self.log_panel.display = profile.verbose or profile.debug
        use_motion(self.app, profile.motion)
        self.show_session()
        self._clock = self.set_interval(_TICK, self._tick, pause=True)
        self.workspace.computer.watch_losses(lambda: self.call_later(self._report_changes))
        self._report_changes()

    @property
    def session(self) -> Session:
        """The conversation at work."""
        return self.workspace.session

    @property
    def busy(self) -> bool:
        """Whether a turn is at work."""
        return self.turns.busy

    # -- what a person does ------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Send a message; while a turn is at work it waits its turn."""
        if self.busy:
            self.queued.add(text)
        else:
            self.send(text)

    def send(self, prompt: str | None) -> None:
        """Begin a turn; None lets the model go on."""
        self.show_end()
        # A message that was queued comes while the person searches: that goes on.
        if not self.find_line.has_focus_within:
            self.find_line.dismiss()
        if prompt is None:
            self.start(self.session.turn(None), with_model=True)
            return
        computer = self.workspace.computer
        text = self.prompt.expand_pastes(prompt).rstrip()
        # What languages remember takes a moment to learn, so it is asked for by the turn itself.
        self.start(
            self.session.turn(
                lambda: expand(
                    text,
                    computer.cwd,
                    computer.inspector,
                    self.workspace.mcp.read_resource,
                    elsewhere=computer.where,
                    files=computer.targets.files_on(),
                ),
                typed=self.prompt.remove_pastes(prompt),
            ),
            with_model=True,
        )

    def _send_queued(self, text: str) -> None:
        """Carry out what was queued."""
        self._is_taking_queued = True
        try:
            self.dispatch(text)
        finally:
            self._is_taking_queued = False

    def show_end(self) -> None:
        """Go to the end for what a person just sent; what was queued leaves them where they read by now."""
        if not self._is_taking_queued:
            self.conversation.scroll_end()

    def start(self, events: Iterator[Event], *, with_model: bool = False) -> None:
        """Work through a session's events in a thread; `with_model`: the model has a part in them."""
        self.turns.start(events, with_model=with_model)
        self._run_clock()

    def stop(self) -> None:
        """Leave the editor, else stop what is in progress, else go to the prompt."""
        self._narrator.stop_speaking()
        if self.conversation.cell_editor.is_open:
            self.questions.cancel_edit()
        elif self.busy:
            self.session.interrupt()
        else:
            self.prompt.focus()
            self.find_line.dismiss()

    def focus_next(self) -> None:
        """Go to what waits for an answer, else between prompt, conversation and sidebar."""
        focus_next(self)

    @property
    def focused_part(self) -> str:
        """The part that has the focus, as `status` names it; "" for any other."""
        return find_focused_part(self)

    def edit_outside(self) -> None:
        """Edit the code in question, or the prompt, in the person's own editor."""
        if not self.questions.edit_outside():
            self.prompt.load_text(edit_outside(self.app, self.prompt.expand_pastes(self.prompt.text), ".md"))
            self.prompt.move_cursor(self.prompt.document.end)

    @on(Completer.OffersReady)
    def handle_offers_ready(self, event: Completer.OffersReady) -> None:
        """Show the completions, if the prompt still has the text they are for."""
        event.stop()
        if event.query.kind == "code":
            self.conversation.cell_editor.code_editor.completion.offer(event.query, event.offers, event.note)
        else:
            self.prompt.offer(event.query, event.offers, event.note)

    @on(CodeEditor.CompletionsRequested)
    def handle_completions_requested(self, event: CodeEditor.CompletionsRequested) -> None:
        """Look for what completes the code."""
        event.stop()
        self.completer.ask(event.query)

    # -- approval and input --------------------------------------------------------------------

    @on(ApprovalPanel.Armed)
    def handle_armed(self) -> None:
        """Focus the question, which can be answered from now on."""
        self.questions.focus_panel()

    @on(ApprovalPanel.KeysPassedOn)
    def handle_keys_passed_on(self, event: ApprovalPanel.KeysPassedOn) -> None:
        """Pass keys that answer nothing on to the prompt."""
        self.prompt.focus()
        self.prompt.insert(clean_text(event.text))

    @on(ApprovalPanel.Answered)
    def handle_answered(self, event: ApprovalPanel.Answered) -> None:
        """Pass the answer to the session that asked."""
        event.request.reply(event.value)
        self.prompt.focus()

    @on(ApprovalPanel.EditRequested)
    def handle_edit_requested(self, event: ApprovalPanel.EditRequested) -> None:
        """Open the code for editing, where it stands."""
        self.questions.edit(event.request)

    @on(ApprovalPanel.EditorClicked)
    def handle_editor_clicked(self, event: ApprovalPanel.EditorClicked) -> None:
        """Give the keyboard to the editor, and press the key there whose hint was clicked."""
        self.conversation.cell_editor.code_editor.focus()
        if event.key:
            press(self.app, event.key)

    @on(CodeEditor.SelectionChanged)
    def handle_caret_moved(self, event: CodeEditor.SelectionChanged) -> None:
        """Say where the caret is in the code."""
        if event.text_area is self.conversation.cell_editor.code_editor:
            self.questions.show_caret()

    @on(StableTextArea.ViChanged)
    def handle_vi_changed(self, event: StableTextArea.ViChanged) -> None:
        """Say which mode the editor is in."""
        if event.text_area is self.conversation.cell_editor.code_editor:
            event.stop()
            self.questions.show_caret()

    @on(CodeEditor.ViCommand)
    def handle_vi_command(self, event: CodeEditor.ViCommand) -> None:
        """Finish or cancel editing, by the names that vi has for it."""
        event.stop()
        self.questions.run_vi_command(event.line)

    @on(StdinBar.Typed)
    def handle_typed(self, event: StdinBar.Typed) -> None:
        """Type the line to the program."""
        self.session.send_input(event.text if event.text == "\x04" else event.text + "\n")

    @on(Conversation.Copied)
    def handle_copied(self, event: Conversation.Copied) -> None:
        """Copy what the focused block was asked for."""
        self.copy(event.text, f"{clean_line(event.what)}: ")

    def copy(self, text: str, what: str = "") -> None:
        """Put text on the clipboard and say by which way."""
        self.notify(what + copy(text, self.app), timeout=2, markup=False)

    def _tick(self) -> None:
        self._report_changes()
        self.post_message(self.Changed())

    def _run_clock(self) -> None:
        """Let the clock tick while a turn is at work, or saving fails."""
        if self._clock is None:
            return
        if self.busy or self.session.fails_to_save:
            self._clock.resume()
        else:
            self._clock.pause()

    @on(Worker.StateChanged)
    def handle_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show what work beside the turns has changed, such as the title of the conversation."""
        if event.worker.is_finished:
            self.post_message(self.Changed())

    def _report_changes(self) -> None:
        """Report changes that come without an event: hidden lines of the code, and whether saving works."""
        if self.session.saves_again():
            self.show(Noticed(SAVES_AGAIN))
        for event in self.session.report_losses():
            self.show(event)
        self.questions.note_hidden()
        self._run_clock()

    # -- what the session tells ----------------------------------------------------------------

    @on(TakenOver)
    def handle_taken_over(self) -> None:
        """Ask whether the model may go on."""
        self._takeover.open()

    @on(UnmaskedRequested)
    def handle_unmasked_requested(self, event: UnmaskedRequested) -> None:
        """Ask whether code may have the screenshot."""
        self._unmasked.open(event.why)

    @on(EventsArrived)
    def handle_events_arrived(self, event: EventsArrived) -> None:
        """Show what has happened: at once, or with the next frame where a reply only grows."""
        event.stop()
        wait = self._next_frame - time.monotonic()
        if wait <= 0 or event.turn.is_urgent:
            self._show_events()
        elif self._frame is None:
            self._frame = schedule(self, wait, self._show_events)

    def _show_events(self) -> None:
        """Show all that has happened since the last time."""
        if self._frame is not None:
            self._frame.cancel()
            self._frame = None
        events = self.turns.pop_events()
        if not events:
            return
        self._next_frame = time.monotonic() + FLUSH
        for item in events:
            self.handle_event(item)
        self.turns.show_activity()
        self.post_message(self.Changed())

    def handle_event(self, event: Event) -> None:
        """Pass an event of a turn to every part; to `turns` last: a queued message begins the next turn."""
        self.show(event)
        for follower in self._followers:
            follower.follow(event)
        match event:
            case MessageRecorded(Message(type="code", state=state)) if state not in BEFORE_END:
                self.post_message(self.CellEnded())
        if isinstance(event, TurnEnded):
            self.turns.finish(event)
            # Nothing that the turn left behind, such as its activity, stays until the next frame.
            self.conversation.transcript.flush()
            self.host_cells.begin_next()

    def show(self, event: Event) -> None:
        """Put what happened into the conversation."""
        if self.screen.has_class("-empty"):
            self.screen.remove_class("-empty")
            self.sidebar.fit()
        self.conversation.apply(event)

    def show_session(self) -> None:
        """Show the workspace's conversation from its beginning."""
        self._narrator.stop_speaking()
        self.turns.reset()
        self.host_cells.abandon()
        self.foreground.end()
        self.approval.dismiss()
        self.input_line.dismiss()
        if self.find_line.has_focus_within:
            # What had the keyboard before belongs to the other conversation.
            self.prompt.focus()
        self.find_line.dismiss()
        self.conversation.clear()
        events = list(self.session.replay())
        # Once for all: each change gives every widget of the screen its styles again.
        self.screen.set_class(not events, "-empty")
        if events:
            self.sidebar.fit()
        for event in events:
            self.show(event)
        self.sidebar.forget()
        self.conversation.scroll_end()
        self.post_message(self.Changed())

    def _call_back(self, why: str) -> None:
        """Call the person, if they look elsewhere."""
        if looks_away(self.app):
            self.post_message(self.AttentionRequested(why))

    def on_resize(self) -> None:
        """Tell programs the new width of their output."""
        self.sidebar.fit()
        if not self.foreground.shown:
            self.resize_programs()

    def on_sidebar_moved(self) -> None:
        """Tell programs the new width of the conversation."""
        if not self.foreground.shown:
            self.call_after_refresh(self.resize_programs)

    def resize_programs(self) -> None:
        """Make programs as wide as their output is in the conversation."""
        columns, rows = self.size
        columns -= self.sidebar.columns
        self.workspace.computer.resize(max(20, columns - 6), max(5, rows - 4))

    async def on_unmount(self) -> None:
        """Let the worker end, so that leaving does not wait for it."""
        self._narrator.stop_speaking()
        self.turns.abandon()
        await self.host_cells.close()
        self._takeover.leave()
        self._unmasked.leave()
        self.completer.files.close()
        self.session.close()
