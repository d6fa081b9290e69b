"""The chat view: the conversation, the approval panel, and the input of programs."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message as Notification
from textual.widget import Widget

from oi_tui import log
from oi_tui.commands import COMMANDS, is_command
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageRecorded,
    Noticed,
    RunReported,
    TurnEnded,
    UsageReported,
)
from oi_tui.engine.review.permissions import offers
from oi_tui.engine.review.scanner import look_through
from oi_tui.engine.session import Session
from oi_tui.engine.speech import Voice
from oi_tui.input.mentions import expand
from oi_tui.messages import InputReceived, InputRequested, Message
from oi_tui.screens.chat.completer import Completer
from oi_tui.screens.chat.foreground import Foreground
from oi_tui.screens.chat.progress import Progress
from oi_tui.screens.chat.sidebar import SidebarControl
from oi_tui.screens.diff import DiffScreen
from oi_tui.terminal.clipboard import copy
from oi_tui.terminal.external_editor import edit_outside
from oi_tui.terminal.notifications import LONG
from oi_tui.text import one_line, prose
from oi_tui.turn_worker import TurnWorker
from oi_tui.widgets.approval.panel import ApprovalPanel
from oi_tui.widgets.conversation.activity import Activity
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.conversation.find_bar import FindBar
from oi_tui.widgets.editor.find_replace_bar import FindReplaceBar
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
        self._voice = Voice()
        prompt.multi_line = workspace.profile.multi_line
        self.conversation = Conversation(id="conversation", saved_as=workspace.save_picture)
        self.approval = ApprovalPanel(id="approval")
        self.input_line = StdinBar(id="input")
        self.find_line = FindBar(self.conversation, id="find")
        self.replace_line = FindReplaceBar(self.conversation.editor, id="replace")
        self.conversation.on_edit_ended = self.replace_line.dismiss
        self.foreground = Foreground(self)
        self.sidebar = SidebarControl(self, workspace, lambda: self.tokens)
        self.completer = Completer(self, workspace.computer, workspace.mcp.resources)
        self.log_panel = LogPanel(log.recent, id="log")
        self._waiting = PromptQueue(id="queue")
        self._notices: list[Noticed] = []
        #: Takes what was queued, when its turn has come.
        self.dispatch: Callable[[str], object] = self.send
        self._turn: TurnWorker | None = None
        self._with_model = False
        #: Whether something stood in the prompt before the question came.
        self._typed_before = False
        self._naming: TimerHandle | None = None

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.conversation
        yield self.log_panel
        yield self._waiting
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
            self.queue(text)
        else:
            self.send(text)

    def queue(self, text: str) -> None:
        """Let a message, or a command that runs code, wait for the end of the turn."""
        self._waiting.add(text)
        self.prompt.queue_waits = True

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
                    typed, computer.cwd, computer, self.workspace.mcp.read_resource, elsewhere=computer.where
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
        self._voice.hush()
        if self.conversation.editing:
            self.conversation.cancel_edit()
            self._ask_again(self.approval.code)
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

    def edited(self, *, run: bool = False) -> None:
        """The code is as it should be; ask again. With `run` it runs once the keyboard is quiet."""
        if run and not self.conversation.editing:
            return
        self._ask_again(self.conversation.finish_edit(), run=run)

    def show_changes(self) -> None:
        """Show how the code in question, as it stands now, differs from the model's."""
        request = self.approval.request
        if request is not None:
            editor = self.conversation.editor
            code = editor.code if self.conversation.editing else self.approval.code
            name = one_line(request.message.format or "", 30)
            self.app.push_screen(
                DiffScreen(f"Your changes to this {name} code", request.message.content, code)
            )

    def edit_outside(self) -> None:
        """Edit the code in question, or the prompt, in the person's own editor."""
        request = self.approval.request
        if request is None:
            self.prompt.load_text(edit_outside(self.app, self.prompt.full(self.prompt.text), ".md"))
            self.prompt.move_cursor(self.prompt.document.end)
            return
        code = self.conversation.finish_edit() if self.conversation.editing else self.approval.code
        code = edit_outside(self.app, code, f".{request.message.format or 'txt'}")
        self.conversation.show_code(request.message.id, code)
        self._ask_again(code)

    def give_last_queued_back(self) -> None:
        """Give the message that waits last back for editing."""
        if self._waiting:
            self.prompt.put_back(self._waiting.take_last())
            self.prompt.queue_waits = bool(self._waiting)

    @on(Completer.Found)
    def handle_found(self, event: Completer.Found) -> None:
        """Offer it, if it is still what somebody types."""
        event.stop()
        self.prompt.offer(event.query, event.offers, event.note)

    # -- approval and input --------------------------------------------------------------------

    @on(ApprovalPanel.Armed)
    def handle_armed(self) -> None:
        """Give the panel the keyboard, unless somebody is in the middle of something."""
        if self.approval.is_answer(self.prompt.text) and not self._typed_before:
            # An answer that was typed too early; undo brings it back where it was meant as text.
            self._typed_before = True
            self.prompt.action_clear()
            self.approval.ask_for_key_again()
        if self.screen.focused is None or (self.prompt.has_focus and not self.prompt.text):
            self.approval.focus()

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
        self.approval.note_edit()
        self.conversation.edit(event.request.message.id)
        self.progress.now("editing")

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

    def _ask_again(self, code: str, *, run: bool = False) -> None:
        request = self.approval.request
        if request is not None:
            self._ask(request, code)
            if run:
                self.approval.run_when_quiet()
        self.prompt.focus()

    def _ask(self, request: ApprovalRequested, code: str | None = None) -> None:
        self.progress.now("waiting for your approval")
        language = request.message.format or ""
        computer = self.workspace.computer
        folder = str(computer.cwd).replace(str(computer.cwd.home()), "~", 1)
        walls = " · sandbox on" if computer.sandbox else ""
        self.conversation.reveal(request.message.id)
        shown = request.message.content if code is None else code
        resolved = computer.resolve(language) or language
        findings = look_through(resolved, shown, computer.cwd, self.session.earlier)
        self.conversation.flag(request.message.id, findings.lines)
        self._typed_before = bool(self.prompt.text)
        self.approval.ask(
            request,
            where=f"{computer.describe(language)} · {one_line(computer.where, 300) or folder}{walls}",
            code=code,
            findings=findings,
            offers=offers(resolved, shown, computer.cwd, self.session.earlier),
        )

    def _look_again(self) -> None:
        """Tell what changes without an event: what of the code is out of sight, and whether saving works."""
        if self.session.saves_again():
            self.show(Noticed("Saving works again."))
        for event in self.session.tell_losses():
            self.show(event)
        if self.approval.request:
            self.approval.note_hidden(self.conversation.hidden_below(self.approval.request.message.id))

    # -- what the session tells ----------------------------------------------------------------

    @on(Happened)
    def handle_happened(self, event: Happened) -> None:
        """Show all that has happened since the last time."""
        event.stop()
        if event.turn is not self._turn:
            return
        for item in event.turn.take():
            self.show(item)
            self._follow(item)
            self.foreground.follow(item)
            self.sidebar.follow(item)
        self._show_activity()
        self.post_message(self.Changed())

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
        self.foreground.end()
        self.busy = self.prompt.continues = False
        self.progress.end()
        self.conversation.wait_for(None)
        self.tokens = 0
        self._give_queue_back()
        self.approval.dismiss()
        self.input_line.dismiss()
        self.find_line.dismiss()
        self.conversation.clear()
        self.screen.add_class("-empty")
        for event in self.session.replay():
            self.show(event)
        self.sidebar.forget()
        self.conversation.scroll_end()
        self.post_message(self.Changed())

    def _follow(self, event: Event) -> None:
        self.progress.follow(event)
        match event:
            case MessageRecorded(Message(role="assistant", type="message", content=words)):
                if self.workspace.profile.speak_messages:
                    self._voice.say(words)
            case ApprovalRequested():
                self._ask(event)
                self._call_back(f"Run this {event.message.format or ''} code?")
            case MessageRecorded(Message(type="code", state="running")):
                self.approval.dismiss()
            case MessageRecorded(Message(type="code", state=state)) if state not in ("queued", "writing"):
                self.completer.forget()
                self._end_input()
            case RunReported(_, InputRequested() as request):
                self.input_line.ask(self.progress.language, request)
                if not (self.prompt.text or self.conversation.has_focus_within):
                    self.input_line.take_focus()
                self._call_back(self.progress.doing)
            case RunReported(_, InputReceived()):
                self._end_input()
            case UsageReported():
                self.tokens = event.prompt_tokens + event.completion_tokens
            case TurnEnded():
                self._end_turn(event)

    def _end_input(self) -> None:
        if self.input_line.display:
            focused = self.input_line.has_focus_within
            self.input_line.dismiss()
            if focused:
                self.prompt.focus()

    def _call_back(self, why: str) -> None:
        """Call the person, if they look elsewhere."""
        if looks_away(self.app):
            self.post_message(self.Called(why))

    def _end_turn(self, event: TurnEnded) -> None:
        self.busy = False
        self.progress.end()
        self.conversation.wait_for(None)
        self._turn = None
        if self.conversation.editing:
            self.conversation.cancel_edit()
        focused = self.approval.has_focus_within
        self.approval.dismiss()
        self._end_input()
        if focused or self.screen.focused is None:
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
            self._give_queue_back()
        while self._waiting and not self.busy:
            text = self._waiting.take_first()
            self.prompt.queue_waits = bool(self._waiting)
            self.dispatch(text)

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

    def _give_queue_back(self) -> None:
        if self._waiting:
            texts = self._waiting.take_all()
            # One text of both would hand the messages to a shell. History has the commands.
            self.prompt.put_back("\n".join(text for text in texts if not is_command(text)))
            for text in filter(is_command, texts):
                self.notify(f"Not run: {one_line(text, 60)} (press up to get it back)", markup=False)
            self.prompt.queue_waits = False

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

    def on_unmount(self) -> None:
        """Let the worker end, so that leaving does not wait for it."""
        self._abandon()
        self.completer.files.close()
        self.session.close()

    def _abandon(self) -> None:
        self._voice.hush()
        if self._turn:
            self._turn.abandon()
            self._turn = None
