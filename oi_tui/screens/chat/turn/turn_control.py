"""Runs the turns of a session, one at a time, and does what follows the end of one."""

import time
from collections.abc import Callable, Iterator

from textual.widget import Widget

from oi_tui.commands import COMMANDS
from oi_tui.engine.events import Event, Noticed, TurnEnded, UsageReported
from oi_tui.screens.chat.turn.progress import TurnProgress
from oi_tui.screens.chat.turn.queued_prompts import QueuedPrompts
from oi_tui.screens.chat.turn.title_timer import TitleTimer
from oi_tui.terminal.notifications import LONG
from oi_tui.turn_worker import TurnWorker
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.workspace import Workspace

#: What a person calls the settings that a failed turn names most.
_WORDS = {"api_key": "the API key", "api_base": "the server address (api_base)"}


class TurnControl:
    """Works through the events of a turn in a thread. `busy` while there is a turn.

    `tokens` is the size of the last request and its reply. `wake` is called from the thread when there are
    events to take, `show` puts an event into the conversation, `send_queued` takes a prompt that waited,
    `call_back` calls a person who looks elsewhere, and `ask_for_key` asks for the model's API key.
    """

    def __init__(
        self,
        view: Widget,
        workspace: Workspace,
        prompt: Prompt,
        conversation: Conversation,
        progress: TurnProgress,
        queued: QueuedPrompts,
    ) -> None:
        self.busy = False
        self.tokens = 0
        self.wake: Callable[[TurnWorker], object] = lambda _: None
        self.show: Callable[[Event], object] = lambda _: None
        self.send_queued: Callable[[str], object] = lambda _: None
        self.call_back: Callable[[str], object] = lambda _: None
        self.ask_for_key: Callable[[], object] = lambda: None
        self._view = view
        self._workspace = workspace
        self._prompt = prompt
        self._conversation = conversation
        self._progress = progress
        self._queued = queued
        self._title = TitleTimer(view, workspace.side_requests, lambda: not self.busy)
        self._turn: TurnWorker | None = None
        self._began = 0.0
        self._with_model = False
        #: Notices that wait for the end of the turn.
        self._notices: list[Noticed] = []

    def start(self, events: Iterator[Event], *, with_model: bool) -> None:
        """Work through a session's events in a thread; `with_model`: the model has a part in them."""
        self.busy = True
        self._prompt.continues = False
        self._began = time.monotonic()
        self._with_model = with_model
        self._title.cancel()
        self._turn = turn = TurnWorker(events, self.wake)
        if with_model:
            self._progress.wait_for_model("thinking")
        else:
            self._progress.note("working")
        self.show_activity()
        self._view.run_worker(turn.run, thread=True, group="turn", exit_on_error=False)

    def abandon(self) -> None:
        """Ignore further events of the turn; its thread runs on to its end."""
        if self._turn:
            self._turn.abandon()
            self._turn = None

    def reset(self) -> None:
        """Begin with another conversation."""
        self.abandon()
        self.busy = self._prompt.continues = False
        self._progress.end()
        self._conversation.activity_line.show(None)
        self.tokens = 0
        self._queued.restore_all()

    def pop_events(self) -> list[Event]:
        """Return the events of the turn since the last call; none of a turn that was abandoned."""
        return self._turn.pop_events() if self._turn else []

    def queue_notice(self, notice: Noticed) -> None:
        """Show a notice, at the earliest at the end of the turn, so that it does not interrupt a reply."""
        if not self.busy:
            self.show(notice)
        elif notice not in self._notices:
            self._notices.append(notice)

    def follow(self, event: Event) -> None:
        """Note the size of requests and the end of the turn, before others act on them."""
        if isinstance(event, UsageReported):
            self.tokens = event.prompt_tokens + event.completion_tokens
        elif isinstance(event, TurnEnded):
            self.busy = False
            self._progress.end()
            self._conversation.activity_line.show(None)
            self._turn = None

    def finish(self, event: TurnEnded) -> None:
        """Do what follows the end of a turn; a queued prompt begins the next one."""
        if self._view.screen.focused is None:
            self._prompt.focus()
        if event.outcome in ("failed", "paused") or time.monotonic() - self._began > LONG:
            self.call_back(event.reason or f"The turn is {event.outcome}")
        notices, self._notices = self._notices, []
        for notice in notices:
            self.show(notice)
        if event.outcome in ("failed", "paused") and self._with_model:
            self._offer_continuing(event)
        if event.outcome == "done" and self._with_model:
            self._title.start()
        if event.outcome != "done":
            self._queued.restore_all()
        while self._queued and not self.busy:
            self.send_queued(self._queued.pop_first())

    def show_activity(self) -> None:
        """Show in the conversation what the model is doing while its answer is awaited."""
        cost = self._workspace.session.usage.totals.cost
        is_model_at_work = self.busy and self._with_model
        self._conversation.activity_line.show(
            self._progress.describe_activity(cost) if is_model_at_work else None
        )

    def _offer_continuing(self, event: TurnEnded) -> None:
        """Say which key goes on; where only a key of the model is missing, ask for that."""
        self._prompt.continues = True
        what = "tries again" if event.outcome == "failed" else "continues"
        self.show(Noticed(f"Enter {what} (%continue). {_name_remedy(event.setting)}"))
        if event.setting == "api_key":
            self.ask_for_key()


def _name_remedy(setting: str | None) -> str:
    """Return which keys lead to the setting that a failed turn names, and to another model."""
    model, settings = COMMANDS["model"].keys, COMMANDS["profile"].keys
    if setting in (None, "", "model"):
        return f"{model} chooses another model."
    return f"{settings} changes {_WORDS.get(setting, setting)}, {model} the model."
