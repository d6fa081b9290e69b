"""The chat view: the conversation, the approval panel, and the input of programs.

Data flows one way. A turn works in a thread and posts `Happened`. `ChatView.take` hands its events to all:

    Session -> TurnWorker (thread) -> Happened -> ChatView.take -+-> Conversation   shows it
                                                                 +-> followers      act on it
                                                                 +-> ChatView       goes on after the turn

What a person decides goes the other way: a widget posts a message, and its handler here calls the session.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message as Notification
from textual.widget import Widget

from oi_tui import log
from oi_tui.commands import COMMANDS
from oi_tui.engine.events import (
    Event,
    Noticed,
    TurnEnded,
    UsageReported,
)
from oi_tui.engine.session import Session
from oi_tui.input.mentions import expand
from oi_tui.screens.chat.completer import Completer
from oi_tui.screens.chat.interfaces import Follower
from oi_tui.screens.chat.sidebar import SidebarControl
from oi_tui.screens.chat.turn.approval_control import ApprovalControl
from oi_tui.screens.chat.turn.foreground import Foreground
from oi_tui.screens.chat.turn.host_cells import HostCells
from oi_tui.screens.chat.turn.narrator import Narrator
from oi_tui.screens.chat.turn.program_input import ProgramInput
from oi_tui.screens.chat.turn.progress import Progress
from oi_tui.screens.chat.turn.queued_prompts import QueuedPrompts
from oi_tui.screens.chat.turn.takeover_question import TakeoverQuestion
from oi_tui.screens.chat.turn.unmasked_question import UnmaskedQuestion
from oi_tui.terminal.clipboard import copy
from oi_tui.terminal.external_editor import edit_outside
from oi_tui.terminal.notifications import LONG
from oi_tui.text import one_line, prose
from oi_tui.turn_worker import TurnWorker
from oi_tui.widgets.approval.panel import ApprovalPanel
from oi_tui.widgets.conversation.activity import Activity
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.conversation.find_bar import FindBar
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.editor.find_replace_bar import FindReplaceBar
from oi_tui.widgets.editor.text_area import StableTextArea
from oi_tui.widgets.idle import looks_away
from oi_tui.widgets.log_panel import LogPanel
from oi_tui.widgets.motion import use_motion
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.prompt.queue import PromptQueue
from oi_tui.widgets.prompt.stdin_bar import StdinBar
from oi_tui.widgets.timer import later
from oi_tui.workspace import Workspace

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: Nothing must have happened for so long before the model is asked for a title, in seconds.
_IDLE = 2.0


class ChatView(Widget):
    """Maps what a session tells to the widgets, and what a person decides to the session.

    `busy` while a turn is at work; `progress` says what it does. `tokens` is the size of the last request and
    its reply.
    """

    @dataclass
    class Happened(Notification):
        """The turn has events to take."""

        turn: TurnWorker

    class Called(Notification):
        """The person looks elsewhere, and something wants them: `why`."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class KeyWanted(Notification):
        """The model was not reached for want of a valid API key."""

    class TakenOver(Notification):
        """The person moved the mouse while code used it."""

    class UnmaskedWanted(Notification):
        """Code wants a picture of the screen that may show passwords."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class Changed(Notification):
        """Something that the first and the last line tell of is different now."""

    def __init__(self, workspace: Workspace, prompt: Prompt) -> None:
        super().__init__(id="chat-view")
        self.workspace = workspace
        self.prompt = prompt
        self.busy = False
        self.progress = Progress(lambda: self.post_message(self.Changed()))
        self._began = 0.0
        self.tokens = 0
        prompt.multi_line = workspace.profile.multi_line
        prompt.use_vi(workspace.profile.editing == "vi")
        self.conversation = Conversation(id="conversation", saved_as=workspace.save_picture)
        self.approval = ApprovalPanel(id="approval")
        self.input_line = StdinBar(id="input")
        self.find_line = FindBar(self.conversation, id="find")
        self.replace_line = FindReplaceBar(self.conversation.editor, id="replace")
        self.conversation.editor.use_vi(workspace.profile.editing == "vi")
        self.conversation.on_edit_ended = self.replace_line.dismiss
        self.foreground = Foreground(self)
        self.sidebar = SidebarControl(self, workspace, lambda: self.tokens)
        self.completer = Completer(self, workspace.computer, workspace.mcp.resources)
        self.conversation.editor.completion.is_available = self.completer.completes
        self.log_panel = LogPanel(log.recent, id="log")
        self.questions = ApprovalControl(
            self,
            self.approval,
            self.conversation,
            prompt,
            workspace,
            doing=self.progress.now,
            call_back=self._call_back,
        )
        self._input = ProgramInput(self.input_line, prompt, self.conversation, self.progress, self._call_back)
        self._narrator = Narrator(workspace)
        self.host_cells = HostCells(self)
        self._takeover = TakeoverQuestion(self, lambda: self.post_message(self.TakenOver()))
        self._unmasked = UnmaskedQuestion(self, lambda why: self.post_message(self.UnmaskedWanted(why)))
        #: Each gets every event of a turn, in this order: what the others ask of the progress is known first.
        self._followers: tuple[Follower, ...] = (
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
        self._queue_bar = PromptQueue(id="queue")
        self.queued = QueuedPrompts(self._queue_bar, prompt, lambda text: self.notify(text, markup=False))
        self._notices: list[Noticed] = []
        #: Takes what was queued, when its turn has come.
        self.dispatch: Callable[[str], object] = self.send
        self._turn: TurnWorker | None = None
        self._with_model = False
        self._naming: TimerHandle | None = None

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.conversation
        yield self.log_panel
        yield self._queue_bar
        yield self.approval
        yield self.input_line
        yield self.find_line
        yield self.replace_line

    def on_mount(self) -> None:
        """Show what there is, and keep telling what of the code is out of sight."""
        profile = self.workspace.profile
        self.log_panel.display = profile.verbose or profile.debug
        use_motion(self.app, profile.motion)
        self.show_session()
        self.set_interval(0.25, self._look_again)

    @property
    def session(self) -> Session:
        """The conversation at work."""
        return self.workspace.session

    # -- what a person does ------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Send a message; while a turn is at work it waits its turn."""
        if self.busy:
            self.queued.add(text)
        else:
            self.send(text)

    def keep(self, notice: Noticed) -> None:
        """Show a notice, but no earlier than at the end of the turn: it is no line inside a reply."""
        if not self.busy:
            self.show(notice)
        elif notice not in self._notices:
            self._notices.append(notice)

    def send(self, prompt: str | None) -> None:
        """Begin a turn; None lets the model go on."""
        self.conversation.scroll_end()
        self.find_line.dismiss()
        if prompt is None:
            self.start(self.session.turn(None), with_model=True)
            return
        computer = self.workspace.computer
        typed = self.prompt.full(prompt).rstrip()
        # What languages remember takes a moment to learn, so it is asked for by the turn itself.
        self.start(
            self.session.turn(
                lambda: expand(
                    typed,
                    computer.cwd,
                    computer,
                    self.workspace.mcp.read_resource,
                    elsewhere=computer.where,
                    files=computer.files_on(),
                )
            ),
            with_model=True,
        )

    def start(self, events: Iterator[Event], *, with_model: bool = False) -> None:
        """Work through a session's events in a thread; `with_model`: the model has a part in them."""
        self.busy = True
        self.prompt.continues = False
        self._began = time.monotonic()
        self._with_model = with_model
        self.workspace.side_requests.stop_naming()
        if self._naming:
            self._naming.cancel()
        self._turn = turn = TurnWorker(events, lambda turn: self.post_message(self.Happened(turn)))
        if with_model:
            self.progress.wait_for_model("thinking")
        else:
            self.progress.now("starting")
        self._show_activity()
        self.run_worker(turn.run, thread=True, group="turn", exit_on_error=False)

    def stop(self) -> None:
        """Leave the editor, else stop what is in progress, else go to the prompt."""
        self._narrator.hush()
        if self.conversation.editing:
            self.questions.cancel_edit()
        elif self.busy:
            self.session.interrupt()
        else:
            self.find_line.dismiss()
            self.prompt.focus()

    def next_place(self) -> None:
        """Go to what waits for an answer, else between prompt and conversation."""
        if self.conversation.editing:
            return
        if self.input_line.display and not self.input_line.has_focus_within:
            self.input_line.take_focus()
        elif self.approval.display and not self.approval.has_focus_within:
            self.approval.focus()
        elif self.prompt.has_focus:
            self.conversation.transcript.enter()
        elif self.conversation.has_focus_within and self.sidebar.shown:
            self.sidebar.focus()
        else:
            self.prompt.focus()

    @property
    def place(self) -> str:
        """The part that has the focus, as `status` names it; "" for any other."""
        if self.approval.has_focus_within:
            return self.approval.place
        if self.conversation.transcript.has_focus:
            return "blocks"
        if self.input_line.has_focus_within:
            return "input"
        if self.find_line.has_focus_within:
            return "finding"
        return "sidebar" if self.sidebar.has_focus else ""

    def edit_outside(self) -> None:
        """Edit the code in question, or the prompt, in the person's own editor."""
        if not self.questions.edit_outside():
            self.prompt.load_text(edit_outside(self.app, self.prompt.full(self.prompt.text), ".md"))
            self.prompt.move_cursor(self.prompt.document.end)

    @on(Completer.Found)
    def handle_found(self, event: Completer.Found) -> None:
        """Offer it, if it is still what somebody types."""
        event.stop()
        if event.query.kind == "code":
            self.conversation.editor.completion.offer(event.query, event.offers, event.note)
        else:
            self.prompt.offer(event.query, event.offers, event.note)

    @on(CodeEditor.CompletionsWanted)
    def handle_completions_wanted(self, event: CodeEditor.CompletionsWanted) -> None:
        """Look for what completes the code."""
        event.stop()
        self.completer.ask(event.query)

    # -- approval and input --------------------------------------------------------------------

    @on(ApprovalPanel.Armed)
    def handle_armed(self) -> None:
        """Let the question have the keyboard, which can be answered from now on."""
        self.questions.take_keyboard()

    @on(ApprovalPanel.KeysPassedOn)
    def handle_keys_passed_on(self, event: ApprovalPanel.KeysPassedOn) -> None:
        """Pass keys that answer nothing on to the prompt."""
        self.prompt.focus()
        self.prompt.insert(prose(event.text))

    @on(ApprovalPanel.Answered)
    def handle_answered(self, event: ApprovalPanel.Answered) -> None:
        """Hand the answer to the session that asked."""
        event.request.reply(event.value)
        self.prompt.focus()

    @on(ApprovalPanel.EditRequested)
    def handle_edit_requested(self, event: ApprovalPanel.EditRequested) -> None:
        """Open the code for editing, where it stands."""
        self.questions.edit(event.request)

    @on(CodeEditor.SelectionChanged)
    def handle_caret_moved(self, event: CodeEditor.SelectionChanged) -> None:
        """Say where the caret is in the code."""
        if event.text_area is self.conversation.editor:
            self._show_caret()

    @on(StableTextArea.ViChanged)
    def handle_vi_changed(self, event: StableTextArea.ViChanged) -> None:
        """Say which mode the editor is in."""
        if event.text_area is self.conversation.editor:
            event.stop()
            self._show_caret()

    def _show_caret(self) -> None:
        editor = self.conversation.editor
        row, column = editor.cursor_location
        self.approval.note_caret(row + 1, column + 1, editor.vi.shown if editor.vi else "")

    @on(CodeEditor.ViCommand)
    def handle_vi_command(self, event: CodeEditor.ViCommand) -> None:
        """Finish or cancel editing, by the names that vi has for it."""
        event.stop()
        match event.line.strip():
            case "w" | "wq" | "x":
                self.questions.finish_edit()
            case "q" if self.conversation.editor.modified:
                self.notify("You changed the code. :q! drops the changes, :w keeps them.", severity="warning")
            case "q" | "q!":
                self.questions.cancel_edit()
            case other:
                self.notify(
                    f"Unknown command: :{one_line(other, 40)}. There are :w, :q, :q! and :NUMBER.",
                    severity="warning",
                )

    @on(StdinBar.Typed)
    def handle_typed(self, event: StdinBar.Typed) -> None:
        """Type the line to the program."""
        self.session.send_input(event.text if event.text == "\x04" else event.text + "\n")

    @on(Conversation.Copied)
    def handle_copied(self, event: Conversation.Copied) -> None:
        """Copy what the focused block was asked for."""
        self.copy(event.text, f"{one_line(event.what)}: ")

    def copy(self, text: str, what: str = "") -> None:
        """Put text on the clipboard and say by which way."""
        self.notify(what + copy(text, self.app), timeout=2, markup=False)

    def _look_again(self) -> None:
        """Tell what changes without an event: what of the code is out of sight, and whether saving works."""
        if self.session.saves_again():
            self.show(Noticed("Saving works again."))
        for event in self.session.tell_losses():
            self.show(event)
        self.questions.note_hidden()

    # -- what the session tells ----------------------------------------------------------------

    @on(TakenOver)
    def handle_taken_over(self) -> None:
        """Ask whether the model may go on."""
        self._takeover.open()

    @on(UnmaskedWanted)
    def handle_unmasked_wanted(self, event: UnmaskedWanted) -> None:
        """Ask whether code may have the picture."""
        self._unmasked.open(event.why)

    @on(Happened)
    def handle_happened(self, event: Happened) -> None:
        """Show all that has happened since the last time."""
        event.stop()
        if event.turn is not self._turn:
            return
        for item in event.turn.take():
            self.take(item)
        self._show_activity()
        self.post_message(self.Changed())

    def take(self, event: Event) -> None:
        """Hand one event of a turn to every part. Going on is last: a queued message begins the next turn."""
        self.show(event)
        if isinstance(event, TurnEnded):
            self._end_progress()
        elif isinstance(event, UsageReported):
            self.tokens = event.prompt_tokens + event.completion_tokens
        for follower in self._followers:
            follower.follow(event)
        if isinstance(event, TurnEnded):
            self._end_turn(event)

    def _show_activity(self) -> None:
        """Say where the answer will appear that the model is waited for."""
        progress = self.progress
        if not (self.busy and self._with_model) or progress.awaited is None:
            self.conversation.wait_for(None)
            return
        model, tokens = progress.request
        words = f"{progress.doing} to {model}" if progress.doing == "connecting" else progress.doing
        facts = [model] if progress.doing == "thinking" else []
        facts += [f"{tokens:,} tokens sent"] if tokens else []
        facts += [f"${cost:.2f} so far"] if (cost := self.session.ledger.cost) else []
        activity = Activity(words, progress.awaited, progress.until, tuple(facts))
        self.conversation.wait_for(activity)

    def show(self, event: Event) -> None:
        """Put what happened into the conversation."""
        if self.screen.has_class("-empty"):
            self.screen.remove_class("-empty")
            self.sidebar.fit()
        self.conversation.apply(event)

    def show_session(self) -> None:
        """Show the workspace's conversation from its beginning."""
        self._abandon()
        self.host_cells.abandon()
        self.foreground.end()
        self.busy = self.prompt.continues = False
        self.progress.end()
        self.conversation.wait_for(None)
        self.tokens = 0
        self.queued.give_all_back()
        self.approval.dismiss()
        self.input_line.dismiss()
        self.find_line.dismiss()
        self.conversation.clear()
        events = list(self.session.replay())
        # Once for all: each change gives every widget of the screen its styles anew.
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
            self.post_message(self.Called(why))

    def _end_progress(self) -> None:
        self.busy = False
        self.progress.end()
        self.conversation.wait_for(None)
        self._turn = None

    def _end_turn(self, event: TurnEnded) -> None:
        if self.screen.focused is None:
            self.prompt.focus()
        if event.outcome in ("failed", "paused") or time.monotonic() - self._began > LONG:
            self._call_back(event.reason or f"The turn is {event.outcome}")
        notices, self._notices = self._notices, []
        for notice in notices:
            self.show(notice)
        if event.outcome in ("failed", "paused") and self._with_model:
            self._offer_continuing(event)
        if event.outcome == "done" and self._with_model:
            self._naming = later(self, _IDLE, self._think_of_title)
        if event.outcome != "done":
            self.queued.give_all_back()
        while self.queued and not self.busy:
            self.dispatch(self.queued.take_first())
        self.host_cells.begin_next()

    def _offer_continuing(self, event: TurnEnded) -> None:
        """Say which key goes on; where only a key of the model is missing, ask for that."""
        self.prompt.continues = True
        what = "tries again" if event.outcome == "failed" else "continues"
        self.show(Noticed(f"Enter {what} (%continue). {COMMANDS['model'].keys} chooses another model."))
        if event.setting == "api_key":
            self.post_message(self.KeyWanted())

    def _think_of_title(self) -> None:
        """Nobody does anything: let the model think of a title, if that is wanted."""
        if not self.busy and self.workspace.side_requests.is_title_wanted:
            name = self.workspace.side_requests.name_conversation
            self.run_worker(name, thread=True, group="title", exit_on_error=False)

    def on_resize(self) -> None:
        """Programs learn how wide the output is."""
        self.sidebar.fit()
        if not self.foreground.shown:
            self.tell_size()

    def on_sidebar_moved(self) -> None:
        """The conversation has another width."""
        if not self.foreground.shown:
            self.call_after_refresh(self.tell_size)

    def tell_size(self) -> None:
        """Programs are as wide as their output is in the conversation."""
        columns, rows = self.size
        columns -= self.sidebar.columns
        self.workspace.computer.resize(max(20, columns - 6), max(5, rows - 4))

    async def on_unmount(self) -> None:
        """Let the worker end, so that leaving does not wait for it."""
        self._abandon()
        await self.host_cells.close()
        self._takeover.leave()
        self._unmasked.leave()
        self.completer.files.close()
        self.session.close()

    def _abandon(self) -> None:
        self._narrator.hush()
        if self._turn:
            self._turn.abandon()
            self._turn = None
