"""The chat screen: prompt and two lines in the first frame, the rest right after it."""

import asyncio
import contextlib
import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from oi_tui import commands, paths
from oi_tui.commands import COMMANDS, Command, CommandError
from oi_tui.input.history import PromptHistory
from oi_tui.screens.base import BaseScreen
from oi_tui.screens.chat import status
from oi_tui.text import clean_line
from oi_tui.widgets.idle import find_last_key, find_last_other_key
from oi_tui.widgets.prompt.completion_list import Completions
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.status_bar import StatusBar
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from oi_tui.screens.chat.commands.chat import ChatCommands
    from oi_tui.screens.chat.home import Home
    from oi_tui.screens.chat.view import ChatView
    from oi_tui.workspace import Workspace

#: A second ctrl+c within this many seconds leaves.
TWICE = 2.0
#: The field for an API key opens only after the keyboard was idle for so long, in seconds.
_QUIET = 0.5
#: What the chat view is made of.
_VIEW = (
    "oi_tui.workspace",
    "oi_tui.screens.chat.view",
    "oi_tui.screens.chat.commands.chat",
    "oi_tui.screens.chat.home",
    "oi_tui.screens.chat.body",
)


def _import_view() -> None:
    """Import what `ChatScreen.mount_view` does, which says what is wrong where that fails."""
    with contextlib.suppress(Exception):
        for name in _VIEW:
            importlib.import_module(name)


class ChatScreen(BaseScreen[None]):
    """Takes what a person types, and shows the conversation and its state.

    The chat view, with all that it imports, comes after the first frame; `Ready` is posted then. What was
    typed and sent before waits for it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                command.keys,
                f"command('{command.name}')",
                command.summary,
                id=f"command.{command.name}",
                show=False,
            )
            for command in COMMANDS.values()
            if command.keys
        ),
        Binding("ctrl+c", "copy_or_stop", "Copy, or stop; twice quits", id="chat.copy_or_stop"),
        Binding("f5", "edited", "Finish editing", id="chat.edited"),
        Binding("ctrl+enter,f6", "run_edited", "Finish editing and run", id="chat.run_edited"),
        Binding("f8", "changes", "Show your changes to the code", id="chat.changes"),
        Binding(
            "f9",
            "command('snapshot restore')",
            "Bring back the variables kept with the conversation",
            id="chat.restore_variables",
            show=False,
        ),
        Binding("ctrl+g", "edit_outside", "Edit in $EDITOR", id="chat.edit_outside"),
        Binding("tab", "next_place", "Next part of the screen", id="chat.next_place"),
        Binding("end", "follow", "Scroll to end", id="chat.follow"),
        Binding("pageup", "page(-1)", "Page up", id="chat.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="chat.page_down"),
        Binding("y", "answer('run')", "Run the code", id="answer.run", show=False),
        Binding("e", "answer('edit')", "Edit the code", id="answer.edit", show=False),
        Binding("n", "answer('reject')", "Reject the code", id="answer.reject", show=False),
        Binding("a", "answer('always')", "Run, and stop asking", id="answer.always", show=False),
    ]

    #: Below the second height no row is free; from the third on there is an empty row below the first line.
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-tiny"), (6, "-low"), (30, "-tall")]

    class Ready(Message):
        """The whole screen is mounted."""

    @dataclass
    class AttentionRequested(Message):
        """The person looks elsewhere and is wanted, in the way that the profile says."""

        mode: str
        why: str

    @dataclass
    class Titled(Message):
        """The current activity, for the window's title."""

        text: str

    def __init__(self, open_workspace: Callable[[], "Workspace"], *, resumes: bool = False) -> None:
        """`resumes`: an earlier conversation is opened first."""
        super().__init__(classes="-empty")
        self._resumes = resumes
        self._open_workspace = open_workspace
        self._chat_view: ChatView | None = None
        self._ui: ChatCommands | None = None
        self._home: Home | None = None
        self._home_state: object = None
        #: What was sent before the screen was ready.
        self._early: list[str] | None = []
        self._hint = self._title = ""
        self._is_typing = False
        self._interrupted_at = 0.0
        self._headline = StatusBar(id="headline", keeps_right=True)
        history = PromptHistory()
        self.prompt = Prompt(history.load(), remember=history.add, id="prompt")
        self._completions = Completions(id="completions")
        self._refusal = Static(id="refusal", markup=False)
        #: The command that is back in the prompt; its reason is above it until the text changes.
        self._refused = ""
        self._status = StatusBar(id="status")

    def compose(self) -> ComposeResult:
        """Mount what the user needs first."""
        yield self._headline
        yield Static(status.describe_empty(resumes=self._resumes), id="empty", markup=False)
        yield self._completions
        yield self._refusal
        with Horizontal(id="prompt-row"):
            yield Static(">", id="prompt-mark", markup=False)
            yield self.prompt
        yield self._status

    def on_mount(self) -> None:
        """Focus the prompt."""
        self.prompt.focus()
        self._headline.left = (("oi-tui", "bold"),)

    def on_unmount(self) -> None:
        """Let the threads end that wait for the person, so that leaving does not wait for them."""
        if self._ui:
            self._ui.give_up_waiting()

    def on_resize(self) -> None:
        """Fit the prompt into the new height, and move the caret of the terminal: the prompt has moved."""
        self.prompt.fit()
        self.call_after_refresh(self.prompt.place_caret)

    async def load_view(self) -> None:
        """Import the chat view beside the screen, so that keys are drawn meanwhile, and then mount it."""
        await asyncio.to_thread(_import_view)
        self.call_after_refresh(self.mount_view)

    async def mount_view(self) -> None:
        """Put the chat view in its place; to be called once the first frame is on the screen."""
        from oi_tui.screens.chat.body import ChatBody
        from oi_tui.screens.chat.commands.chat import ChatCommands
        from oi_tui.screens.chat.home import Home
        from oi_tui.screens.chat.view import ChatView

        chat_view = ChatView(self._open_workspace(), self.prompt)
        self._ui = ChatCommands(self, chat_view)
        self._home = Home()
        await self.query_one("#empty").remove()
        await self.mount(ChatBody(self, chat_view, self._home), before="#completions")
        self._chat_view = chat_view
        chat_view.dispatch = self._dispatch
        self.prompt.folder = chat_view.workspace.computer.cwd
        self.refresh_status()
        # The prompt stood elsewhere while the view took the place of the empty screen.
        self.call_after_refresh(self.prompt.place_caret)
        self.post_message(self.Ready())

    def dispatch_early(self) -> None:
        """Carry out what was sent before `Ready`. Call it after the handlers of `Ready`."""
        early, self._early = self._early or [], None
        for text in early:
            self._dispatch(text)

    @property
    def is_ready(self) -> bool:
        """Whether the whole screen is mounted."""
        return self._chat_view is not None

    @property
    def chat_view(self) -> "ChatView":
        """The conversation at work; only there once the screen is ready."""
        assert self._chat_view is not None
        return self._chat_view

    @property
    def commands(self) -> "ChatCommands":
        """The command target; available once the screen is ready."""
        assert self._ui is not None
        return self._ui

    def action_command(self, name: str) -> None:
        """Carry out a command by its name."""
        if name == "stop" and self._early == []:
            # There is nothing to stop yet, and a cleared prompt takes what is typed next.
            if self.prompt.note_escape(at_rest=True):
                self.prompt.action_clear()
            return
        self._dispatch(f"%{name}")

    def choose_command(self, command: Command) -> None:
        """Carry out a command from a list, or put it into the prompt where it needs more."""
        from oi_tui.commands import recent

        recent.add(command)
        if command.usage and not command.usage.startswith("["):
            self.prompt.put_back(f"%{command.name} ")
            self.prompt.focus()
        else:
            self.action_command(command.name)

    @on(StatusBar.FactClicked, "#headline")
    def handle_fact_clicked(self, event: StatusBar.FactClicked) -> None:
        """Show what belongs to a fact of the header: the permissions, the models, or the tokens."""
        if command := status.HEADLINE_COMMANDS[event.number]:
            self.action_command(command)

    @on(Prompt.Sent)
    def handle_sent(self, event: Prompt.Sent) -> None:
        """Carry out a command, or send a message."""
        view = self._chat_view
        if view is not None and not view.busy and commands.is_command(event.text):
            # The answer is added at the end. A search begins where somebody reads.
            view.find_line.dismiss()
            if event.text.split()[0][1:].lower() != "find":
                view.show_end()
        self._dispatch(event.text)

    @on(Prompt.LastQueuedRequested)
    def handle_last_queued_requested(self) -> None:
        """Put the last queued message back into the prompt."""
        self.chat_view.queued.restore_last()

    @on(Prompt.GlanceRequested)
    def handle_glance_requested(self) -> None:
        """Show the keys that act now; a character typed there goes into the prompt."""
        if self._chat_view is None:
            self.prompt.insert("?")
            return
        from oi_tui.screens.glance import GlanceScreen, list_groups

        self.app.push_screen(GlanceScreen(list_groups(self.chat_view)), self.type_into_prompt)

    def type_into_prompt(self, text: str | None) -> None:
        """Go to the prompt, with what was typed elsewhere."""
        self.prompt.focus()
        self.prompt.insert(text or "")

    @on(Prompt.Asked)
    def handle_asked(self, event: Prompt.Asked) -> None:
        """Find completions for a mention."""
        if self._chat_view:
            self._chat_view.completer.ask(event.query)

    @on(Prompt.Offered)
    def handle_offered(self, event: Prompt.Offered) -> None:
        """List completions; they never cover the question."""
        self._completions.set_class(bool(self._chat_view and self._chat_view.approval.display), "-beside")
        self._completions.show(event.offers, event.chosen, event.note)

    @on(Prompt.Hinted)
    def handle_hinted(self, event: Prompt.Hinted) -> None:
        """Show in the status line what can be completed."""
        self._hint = event.hint
        self.refresh_status()

    def on_descendant_focus(self) -> None:
        """Show at once the keys of what has the keyboard now."""
        self.refresh_status()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Show what was changed on the screen before."""
        # What the first frame shows was styled a moment ago, as it was mounted.
        event.refresh_styles &= self.is_ready
        self.refresh_status()

    @on(Prompt.ViChanged)
    def handle_vi_changed(self) -> None:
        """Show the mode of vi."""
        self.refresh_status()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Go back to the open question once the prompt is empty.

        Where the question has the keyboard already, the event is late: a key that is settling counts.
        """
        if event.text_area is not self.prompt:
            return
        if self.prompt.text != self._refused:
            self._refusal.display = False
        if self._is_typing != bool(self.prompt.text):
            self._is_typing = not self._is_typing
            self.refresh_status()
        if self.prompt.text or not self._chat_view:
            return
        approval = self._chat_view.approval
        if not approval.has_focus_within:
            approval.wait_for_quiet()

    def call_person(self, why: str) -> None:
        """Call a person who looks elsewhere, as the profile says."""
        view = self.chat_view
        title = status.write_title(view.session, view.progress.doing, view.workspace.conversation.title)
        self.app.post_message(
            self.AttentionRequested(view.workspace.profile.notifications, f"{why} · {title}")
        )

    def ask_for_key(self) -> None:
        """Ask for the key, once typing stops, unless something else was typed or opened by then."""
        if not self._is_untouched():
            return
        if time.monotonic() - find_last_key(self.app) > _QUIET:
            self.commands.choosing.ask_for_key(self._is_untouched, self.commands.turn.continue_turn)
        else:
            schedule(self, 0.1, self.ask_for_key)

    def _is_untouched(self) -> bool:
        """Return whether the prompt is empty, and nothing else is open or at work."""
        return self.is_active and not self.prompt.text and not self.chat_view.busy

    def action_copy_or_stop(self) -> None:
        """Copy, else stop, else empty the prompt, else quit when pressed twice."""
        now = time.monotonic()
        if self._chat_view and (selected := self.get_selected_text()):
            self.chat_view.copy(selected)
            self.clear_selection()
        elif self._chat_view and self.chat_view.busy:
            self.chat_view.session.interrupt()
        elif self.prompt.text:
            self.prompt.action_clear()
        elif self._is_second(now):
            self.app.exit()
        else:
            self._interrupted_at = now
            self.notify("ctrl+c again quits", timeout=TWICE)

    def _is_second(self, now: float) -> bool:
        """Return whether the same key was pressed just before, and no other since."""
        return now - self._interrupted_at < TWICE and find_last_other_key(self.app) < self._interrupted_at

    def action_quit_when_empty(self) -> None:
        """Quit; while something runs, only when pressed twice."""
        now = time.monotonic()
        busy = self._chat_view and self.chat_view.busy
        if not busy or self._is_second(now):
            self.app.exit()
        else:
            self._interrupted_at = now
            self.notify("ctrl+d again quits; esc only stops", timeout=TWICE)

    def action_next_place(self) -> None:
        """Go to what waits for an answer, else between prompt and conversation."""
        if self._home and self.has_class("-empty") and self.prompt.has_focus:
            self._home.focus_list()
        else:
            self.chat_view.focus_next()

    def action_follow(self) -> None:
        """Show the newest line and keep showing it."""
        self.chat_view.conversation.scroll_end()

    def action_page(self, direction: int) -> None:
        """Scroll the conversation from wherever the focus is."""
        conversation = self.chat_view.conversation
        if direction < 0:
            conversation.page_up()
        else:
            conversation.page_down()

    def action_answer(self, word: str) -> None:
        """Answer from within the conversation; the panel's guard holds there, too."""
        self.chat_view.approval.press(word)

    def action_edited(self) -> None:
        """Finish editing, and ask again."""
        self.chat_view.questions.finish_edit()

    def action_run_edited(self) -> None:
        """Finish editing, and run the code unless it is dangerous or a key follows."""
        self.chat_view.questions.finish_edit(run=True)

    def action_changes(self) -> None:
        """Show what the person changed in the code in question."""
        self.chat_view.questions.show_changes()

    def action_edit_outside(self) -> None:
        """Edit the code in question, or the prompt, in the person's own editor."""
        self.chat_view.edit_outside()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Enable answer keys only where they cannot be text; most actions need the chat view."""
        view = self._chat_view
        match action:
            case "answer":
                return bool(view and view.conversation.transcript.has_focus and view.approval.display)
            case "edited":
                return bool(view and view.conversation.cell_editor.is_open)
            case "changes":
                return bool(view and view.approval.request)
            case "next_place" | "follow" | "page" | "edit_outside":
                return view is not None
        return True

    def _dispatch(self, text: str) -> None:
        """Carry out a command, or say a message; a mistyped command goes back into the prompt."""
        if self._early is not None:
            self._early.append(text)
        elif not commands.is_command(text):
            self.chat_view.say(text)
        else:
            try:
                commands.carry_out(self.prompt.expand_pastes(text), self.commands)
            except CommandError as error:
                self._refuse(text, str(error))
            self.refresh_status()

    def _refuse(self, text: str, reason: str) -> None:
        """Put a command back into the prompt, selected so that typing replaces it, and say why above it."""
        self.prompt.put_back(text)
        if self.prompt.text == text:
            self.prompt.select_all()
        self._refused = self.prompt.text
        self._refusal.update(Content(f"! {clean_line(reason)}"))
        self._refusal.display = True

    def _show_home(self) -> None:
        """Update the home screen."""
        from oi_tui.screens.chat.home import find_facts

        view, home = self.chat_view, self._home
        if home is None or not self.has_class("-empty"):
            return
        workspace = view.workspace
        where = workspace.computer.where or paths.shorten(workspace.computer.cwd)
        home.set_state(
            status.describe_next_request(
                view.session,
                has_model=workspace.model.is_chosen,
                where=where,
                elsewhere=bool(workspace.computer.where),
            )
        )
        state = (workspace.conversation.id, workspace.profile.model, where)
        if state != self._home_state:
            self._home_state = state
            self.commands.run_then(lambda: find_facts(workspace), home.offer)

    @property
    def _place(self) -> str:
        """Return the part that has the focus and its own keys; "" for the empty prompt."""
        view = self.chat_view
        if view.conversation.cell_editor.is_open:
            return "editing in vi" if view.conversation.cell_editor.code_editor.vi else "editing"
        if self._home and self._home.has_focus_within:
            return "home"
        return view.focused_part or ("typing" if self._is_typing else "")

    def refresh_status(self) -> None:
        """Update the two status lines."""
        view = self._chat_view
        if view is None:
            return
        self._show_home()
        progress = view.progress
        doing = progress.doing if view.busy else ""
        if view.workspace.profile.terminal_title:
            title = status.write_title(view.session, doing, view.workspace.conversation.title)
            if title != self._title:
                self._title = title
                self.app.post_message(self.Titled(title))
        self.set_class(view.session.auto_run, "-auto")
        self._headline.left, self._headline.right = status.write_headline(
            view.session,
            view.turns.tokens,
            has_model=view.workspace.model.is_chosen,
            named=view.workspace.conversation.title,
        )
        vi = self.prompt.vi if self.prompt.has_focus else None
        mode = ((vi.shown, "bold"),) if vi else ()
        if self._hint:
            self._status.left, self._status.right = (*mode, (self._hint, "")), ()
        else:
            now = time.monotonic()
            remaining_seconds = None if progress.until is None else progress.until - now
            left_part, self._status.right = status.write_status(
                doing,
                now - progress.since,
                remaining_seconds,
                progress.choice,
                self._place,
                pointer=view.workspace.languages.has_pointer,
                stop="esc esc stop" if vi and vi.mode == "insert" else "esc stop",
                line=progress.line,
            )
            self._status.left = (*mode, *left_part)
