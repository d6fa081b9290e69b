"""Shows the sidebar where there is room, and updates it while it is shown."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.widget import Widget

from oi_tui.actions.restore_files import list_change_sets
from oi_tui.engine.events import Event, FilesChanged, MessageRecorded, TurnEnded, UsageReported
from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.messages import Message
from oi_tui.runtimes.variables import Memory, merge_newer
from oi_tui.workspace import Workspace

if TYPE_CHECKING:
    from oi_tui.widgets.sidebar.rows import SidebarFacts, SidebarRow
    from oi_tui.widgets.sidebar.sidebar import Sidebar

#: From this many columns on the sidebar stands beside the conversation; below that it is a drawer over it.
WIDE = 140
#: States of code that has not run yet, or runs.
_UNFINISHED = (None, "writing", "queued", "running", "waiting")


class SidebarControl:
    """Shows and hides the sidebar. While it is hidden nothing is computed for it.

    Variables and files are learnt in a thread, once code has run; the rest is already known.
    """

    def __init__(self, view: Widget, workspace: Workspace, tokens: Callable[[], int]) -> None:
        """Stand in the `view`. `tokens` is the size of the last request and its reply."""
        self._view = view
        self._workspace = workspace
        self._tokens = tokens
        self._sidebar: Sidebar | None = None
        self._drawer = False
        self._memories: tuple[Memory, ...] = ()
        self._change_sets: tuple[tuple[int, ChangeSet], ...] = ()
        #: Whether code has run since variables and files were learnt.
        self._outdated = True
        self._asking = self._again = False

    @property
    def shown(self) -> bool:
        """Whether it is on the screen."""
        return self._sidebar is not None and self._sidebar.display

    @property
    def columns(self) -> int:
        """The columns that it takes from the conversation."""
        return self._sidebar.outer_size.width if self._sidebar and self.shown and self._is_wide else 0

    @property
    def _is_wide(self) -> bool:
        return self._view.app.size.width >= WIDE

    @property
    def has_focus(self) -> bool:
        """Whether it has the keyboard."""
        return self._sidebar is not None and self._sidebar.has_focus

    def focus(self) -> None:
        """Give it the keyboard."""
        if self._sidebar:
            self._sidebar.focus()

    def switch(self, on: bool | None) -> None:
        """Show or hide it: beside the conversation, now and at the next start; else as a drawer."""
        if self._is_wide:
            self._save_shown(not self._workspace.profile.sidebar if on is None else on)
        else:
            self._drawer = not self._drawer if on is None else on
        is_wanted = self._wanted
        if is_wanted and self._view.screen.has_class("-empty"):
            self._drawer = False
            self._view.notify("The sidebar opens with the first message.", timeout=3)
        self.fit()
        if is_wanted and self._drawer:
            self._view.call_after_refresh(self.focus)

    def close_drawer(self) -> bool:
        """Close the drawer; whether there was one."""
        was_open, self._drawer = self._drawer, False
        self.fit()
        return was_open and not self._is_wide

    def _save_shown(self, on: bool) -> None:
        self._workspace.use(self._workspace.profile.with_changes(sidebar=on))
        if problem := self._workspace.save_settings(sidebar=on):
            self._view.notify(problem, severity="warning", markup=False)

    @property
    def _wanted(self) -> bool:
        return self._workspace.profile.sidebar if self._is_wide else self._drawer

    def fit(self) -> None:
        """Show or hide it, depending on the screen and the settings."""
        wide = self._is_wide
        self._drawer = self._drawer and not wide
        is_wanted = self._wanted and not self._view.screen.has_class("-empty")
        if is_wanted and self._sidebar is None:
            self._mount()
        if self._sidebar is None:
            return
        self._sidebar.set_class(not wide, "-drawer")
        if is_wanted != self._sidebar.display:
            self._display(self._sidebar, is_wanted)

    def _mount(self) -> None:
        from oi_tui.widgets.sidebar.sidebar import Sidebar

        self._sidebar = Sidebar()
        self._sidebar.display = False
        self._view.mount(self._sidebar)

    def _display(self, sidebar: "Sidebar", wanted: bool) -> None:
        focused = sidebar.has_focus
        sidebar.display = wanted
        if wanted:
            self._update()
        elif focused:
            sidebar.post_message(sidebar.FocusReturned())
        sidebar.post_message(sidebar.Moved())

    # -- what it shows

    def follow(self, event: Event) -> None:
        """Note what has to be read again after an event."""
        match event:
            case MessageRecorded(Message(type="code", state=state)):
                self._outdated = self._outdated or state not in _UNFINISHED
                self._update()
            case FilesChanged():
                self._outdated = True
                self._update()
            case UsageReported() | TurnEnded() | MessageRecorded(Message(type="message")):
                self._update()

    def forget(self) -> None:
        """Show another conversation, or other languages."""
        self._memories, self._change_sets = (), ()
        self._outdated = True
        self.fit()
        self._update()

    def mention_variable(self, row: "SidebarRow") -> str:
        """Write the variable of the row as the prompt mentions it."""
        from oi_tui.screens.variables import mention_variable

        return mention_variable(row.language, row.name, self._memories)

    def _update(self) -> None:
        """Show what is known, and ask for the rest if code has run."""
        if not self.shown or self._sidebar is None:
            return
        self._sidebar.show(self._collect_facts())
        if not self._outdated:
            return
        self._again = self._asking
        if not self._asking:
            self._asking, self._outdated = True, False
            self._view.run_worker(self._learn, thread=True, group="sidebar", exit_on_error=False)

    def _learn(self) -> None:
        """Read variables and changed files; called in a thread."""
        memories = tuple(self._workspace.computer.inspector.read_memories())
        change_sets = tuple(list_change_sets(self._workspace))
        self._view.app.call_later(self._show_result, memories, change_sets)

    def _show_result(
        self, memories: tuple[Memory, ...], change_sets: tuple[tuple[int, ChangeSet], ...]
    ) -> None:
        """Show what was read; keep the old variables of a busy language."""
        busy = any(memory.state == "busy" for memory in memories)
        self._memories = merge_newer(self._memories, memories)
        self._change_sets = change_sets
        self._asking = False
        self._outdated = self._outdated or busy
        if self._again:
            self._again = False
            self._update()
        elif self.shown and self._sidebar:
            self._sidebar.show(self._collect_facts())

    def _turn(self) -> tuple[list[Message], list[tuple[int, Message]]]:
        """Return the messages since the last one of the person, and their code with the numbers
        of the cells.
        """
        messages: list[Message] = []
        codes: list[tuple[int, Message]] = []
        number = 0
        for message in self._workspace.session.messages:
            if message.role == "user" and message.type != "code":
                messages, codes = [], []
            messages.append(message)
            if message.type == "code" and message.role != "computer":
                number += 1
                codes.append((number, message))
        return messages, codes

    def _collect_facts(self) -> "SidebarFacts":
        from oi_tui.widgets.sidebar.plan import find_plan
        from oi_tui.widgets.sidebar.rows import SidebarFacts

        session = self._workspace.session
        totals = session.usage.totals
        messages, codes = self._turn()
        facts = SidebarFacts(
            self._memories,
            tuple(codes),
            find_plan(messages),
            self._change_sets,
            self._tokens(),
            session.window,
        )
        return replace(facts, requests=totals.requests, price=totals.price if totals.requests else "")
