"""Asks whether code may run, and again after it was edited."""

from collections.abc import Callable

from textual.widget import Widget

from oi_tui.engine.events import ApprovalRequested, Event, MessageRecorded, TurnEnded
from oi_tui.engine.review.permissions import list_offers
from oi_tui.engine.review.scanner import scan_code
from oi_tui.messages import Message
from oi_tui.screens.diff import DiffScreen
from oi_tui.terminal.external_editor import edit_outside
from oi_tui.text import clean_line
from oi_tui.widgets.approval.panel import ApprovalPanel
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.workspace import Workspace

_CHANGED = "You changed the code: f5 keeps the changes, esc again drops them."


class ApprovalControl:
    """Puts the question of a turn on the panel, with what the review found in the code as it stands now.

    `doing` is called with what is in progress, and `call_back` calls a person who looks elsewhere.
    """

    def __init__(
        self,
        view: Widget,
        panel: ApprovalPanel,
        conversation: Conversation,
        prompt: Prompt,
        workspace: Workspace,
        *,
        doing: Callable[[str], object],
        call_back: Callable[[str], object],
    ) -> None:
        self._view = view
        self._panel = panel
        self._conversation = conversation
        self._cell_editor = conversation.cell_editor
        self._prompt = prompt
        self._workspace = workspace
        self._doing = doing
        self._call_back = call_back
        #: Whether the prompt held text before the question came.
        self._typed_before = False
        #: The edited code when the person was warned that it would be dropped.
        self._warned_of = ""

    def follow(self, event: Event) -> None:
        """Ask when the turn asks, and take the question away when it is answered."""
        match event:
            case ApprovalRequested():
                self._ask(event)
                asker = f" for {event.asker}" if event.asker else ""
                self._call_back(f"Run this {event.message.format or ''} code{asker}?")
            case MessageRecorded(Message(type="code", state="running")):
                self._panel.dismiss()
            case TurnEnded():
                self._end()

    def focus_panel(self) -> None:
        """Focus the panel, unless the person is busy elsewhere."""
        if self._panel.is_answer(self._prompt.text) and not self._typed_before:
            # An answer that was typed too early; undo brings it back where it was meant as text.
            self._typed_before = True
            self._prompt.action_clear()
            self._panel.ask_for_key_again()
        if self._view.screen.focused is None or (self._prompt.has_focus and not self._prompt.text):
            self._panel.focus()

    def edit(self, request: ApprovalRequested) -> None:
        """Open the code for editing, where it stands."""
        self._panel.note_edit(vi=self._cell_editor.code_editor.vi is not None)
        self._conversation.edit(request.message.id)
        self._doing("editing")

    def finish_edit(self, *, run: bool = False) -> None:
        """Ask again about the edited code. With `run` it runs once the keyboard is quiet."""
        if run and not self._cell_editor.is_open:
            return
        self._close_warning()
        self._ask_again(self._cell_editor.finish(), run=run)

    def cancel_edit(self, *, drop: bool = False) -> None:
        """Ask again about the code as it was. Changes are only dropped the second time, or with `drop`."""
        editor = self._cell_editor.code_editor
        if editor.modified and not drop and editor.code != self._warned_of:
            self._warned_of = editor.code
            self._view.notify(_CHANGED, severity="warning")
            return
        self._close_warning()
        self._cell_editor.cancel()
        self._ask_again(self._panel.code)

    def _close_warning(self) -> None:
        """Close the notice about changes: it would cover the code that is asked about again."""
        if self._warned_of:
            self._warned_of = ""
            app = self._view.app
            for notice in [item for item in app._notifications if item.message == _CHANGED]:
                app._unnotify(notice)

    def run_vi_command(self, line: str) -> None:
        """Finish or cancel editing, by the names that vi has for it."""
        match line.strip():
            case "w" | "wq" | "x":
                self.finish_edit()
            case "q" if self._cell_editor.code_editor.modified:
                self._view.notify(
                    "You changed the code. :q! drops the changes, :w keeps them.", severity="warning"
                )
            case "q" | "q!":
                self.cancel_edit(drop=True)
            case other:
                self._view.notify(
                    f"Unknown command: :{clean_line(other, 40)}. There are :w, :q, :q! and :NUMBER.",
                    severity="warning",
                )

    def show_caret(self) -> None:
        """Show the caret's line and column in the edited code, and the mode of vi."""
        editor = self._cell_editor.code_editor
        row, column = editor.cursor_location
        self._panel.note_caret(row + 1, column + 1, editor.vi.shown if editor.vi else "")

    def show_changes(self) -> None:
        """Show how the code in question, as it stands now, differs from the model's."""
        request = self._panel.request
        if request is not None:
            editor = self._cell_editor.code_editor
            code = editor.code if self._cell_editor.is_open else self._panel.code
            title = f"Your changes to this {clean_line(request.message.format or '', 30)} code"
            self._view.app.push_screen(DiffScreen(title, request.message.content, code))

    def edit_outside(self) -> bool:
        """Edit the code in question in the person's own editor. False when there is no question."""
        request = self._panel.request
        if request is None:
            return False
        code = self._cell_editor.finish() if self._cell_editor.is_open else self._panel.code
        code = edit_outside(self._view.app, code, f".{request.message.format or 'txt'}")
        self._conversation.show_code(request.message.id, code)
        self._ask_again(code)
        return True

    def note_hidden(self) -> None:
        """Say what of the code in question is out of sight, which changes without an event."""
        if self._panel.request:
            self._panel.note_hidden(self._conversation.count_hidden_lines(self._panel.request.message.id))

    def _ask_again(self, code: str, *, run: bool = False) -> None:
        request = self._panel.request
        if request is not None:
            self._ask(request, code)
            if run:
                self._panel.run_when_quiet()
        self._prompt.focus()

    def _ask(self, request: ApprovalRequested, code: str | None = None) -> None:
        self._doing("waiting for your approval")
        language = request.message.format or ""
        computer, earlier = self._workspace.computer, self._workspace.session.earlier
        folder = str(computer.cwd).replace(str(computer.cwd.home()), "~", 1)
        sandbox = " · sandbox on" if computer.sandbox else ""
        self._conversation.reveal(request.message.id)
        source = request.message.content if code is None else code
        resolved = computer.resolve(language) or language
        findings = scan_code(resolved, source, computer.cwd, earlier)
        window = self._workspace.languages.acted_window
        # Another program gets no permission for later code.
        offers = (
            () if request.asker else list_offers(resolved, source, computer.cwd, earlier, window, findings)
        )
        self._conversation.flag(request.message.id, findings.lines)
        self._typed_before = bool(self._prompt.text)
        self._panel.ask(
            request,
            where=f"{computer.describe(language)} · {clean_line(computer.where, 300) or folder}{sandbox}",
            code=code,
            findings=findings,
            offers=offers,
        )

    def _end(self) -> None:
        self._cell_editor.cancel()
        focused = self._panel.has_focus_within
        self._panel.dismiss()
        if focused:
            self._prompt.focus()
