"""The home screen of an empty conversation: suggested requests, recent conversations, model and mode."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from oi_tui.input.mentions import write_mention
from oi_tui.text import clean_line
from oi_tui.widgets.lists.choice_list import ChoiceList
from oi_tui.widgets.lists.conversation_list import describe_age

if TYPE_CHECKING:
    from oi_tui.engine.storage.listing import Summary
    from oi_tui.workspace import Workspace

#: How many entries of a folder are looked at, requests are offered, and conversations are listed.
_MOST_ENTRIES, _REQUESTS, _CONVERSATIONS = 500, 3, 3
#: No text of the list is longer.
_LONGEST = 60
#: What to ask about a file, by its ending; the first match of the folder's newest files is offered first.
_ABOUT = {
    ".csv": ("summarise {}", "plot {}"),
    ".tsv": ("summarise {}", "plot {}"),
    ".xlsx": ("summarise {}", "plot {}"),
    ".parquet": ("summarise {}", "plot {}"),
    ".json": ("what is in {}?",),
    ".log": ("are there errors in {}?",),
    ".ipynb": ("explain {}",),
    ".py": ("explain {}",),
    ".pdf": ("summarise {}",),
    ".md": ("summarise {}",),
    ".txt": ("summarise {}",),
    ".png": ("describe {}",),
    ".jpg": ("describe {}",),
}
#: What can be asked in every folder.
_ANYWHERE = ("largest files here", "why is the disk full?", "which programs use the most memory?")
#: What the demo model knows.
_DEMO = ("largest files here", "plot something", "ask me something")
#: The name in letters of two rows, and the height of the screen from which on it is shown.
_LOGO = "█▀█ █    ▀█▀ █ █ █\n█▄█ █ ▀▀  █  █▄█ █"
_ROOM_FOR_LOGO = 20


def suggest_requests(folder: Path | None) -> list[str]:
    """Suggest requests about files of the folder, then others.

    None where the files are not on this machine.
    """
    names = _list_files(folder) if folder else []
    suggestions: list[str] = []
    for suffix, texts in _ABOUT.items():
        name = next((name for name in names if name.lower().endswith(suffix)), None)
        if name:
            suggestions += [text.format(write_mention(name)) for text in texts]
    return list(dict.fromkeys([*suggestions[:_REQUESTS], *_ANYWHERE]))[:_REQUESTS]


def _list_files(folder: Path) -> list[str]:
    """Return the names of visible files that fit on a line, the newest first."""
    files: list[tuple[float, str]] = []
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False):
                name = entry.name
                if name[0] != "." and len(name) <= 40 and name.isprintable() and entry.is_file():
                    files.append((entry.stat().st_mtime, name))
    except OSError:
        return [name for _, name in files]
    return [name for _, name in sorted(files, reverse=True)]


@dataclass(frozen=True)
class HomeFacts:
    """The requests and conversations that the home screen offers."""

    requests: Sequence[str]
    recent: Sequence["Summary"]


def find_facts(workspace: "Workspace") -> HomeFacts:
    """Find files and conversations; may be slow."""
    if workspace.profile.model == "demo":
        offered: Sequence[str] = _DEMO
    else:
        offered = suggest_requests(None if workspace.computer.where else workspace.computer.cwd)
    listing = workspace.store.make_listing()
    others = (item for item in listing if item.problem is None and item.id != workspace.conversation.id)
    recent = sorted(others, key=lambda item: -item.updated)[:_CONVERSATIONS]
    return HomeFacts(offered, recent)


class Home(Widget):
    """Shown instead of an empty conversation. Tab goes to its list, and enter takes what is chosen there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,escape", "leave", "Back to the prompt", id="home.leave"),
    ]

    @dataclass
    class RequestChosen(Message):
        """A request goes into the prompt, where it can be changed and sent."""

        text: str

    @dataclass
    class ConversationChosen(Message):
        """An earlier conversation is to be opened."""

        key: str

    @dataclass
    class FocusReturned(Message):
        """The keyboard goes back to the prompt, with what was typed here."""

        text: str = ""

    def __init__(self) -> None:
        super().__init__(id="home")
        self._facts = HomeFacts((), ())
        self._state = Content("")

    def compose(self) -> ComposeResult:
        """Mount the state and the list."""
        yield Static(id="home-state", markup=False)
        yield ChoiceList(id="home-list")

    def on_resize(self) -> None:
        """Hide the logo on a low screen."""
        self._show_state()

    def set_state(self, state: Content) -> None:
        """Show the model and the mode of the next request."""
        if not self._state.is_same(state):
            self._state = state
            self._show_state()

    def _show_state(self) -> None:
        state = self._state
        if self.app.size.height >= _ROOM_FOR_LOGO:
            state = Content.assemble((f"{_LOGO}\n\n", "$text-accent"), state)
        self.query_one("#home-state", Static).update(state)

    def offer(self, facts: HomeFacts) -> None:
        """List requests and conversations."""
        self._facts = facts
        choices = self.query_one(OptionList)
        choices.clear_options()
        choices.add_options(self._list_options())

    def _list_options(self) -> list[Option]:
        facts = self._facts
        rows = [_make_heading("Try   (tab chooses, ? shows keys)" if facts.requests else "")]
        rows += [Option(_make_row(text), id=f"request-{n}") for n, text in enumerate(facts.requests)]
        if facts.recent:
            apart = "\n" if facts.requests and self.app.size.height >= _ROOM_FOR_LOGO else ""
            rows.append(_make_heading(f"{apart}Continue"))
        rows += [Option(row, id=f"recent-{n}") for n, row in enumerate(_describe_conversations(facts.recent))]
        return rows

    def focus_list(self) -> None:
        """Focus the list."""
        choices = self.query_one(OptionList)
        choices.focus()
        if choices.highlighted is None:
            choices.action_first()

    def on_key(self, event: events.Key) -> None:
        """Type into the prompt from the list, too."""
        if event.is_printable and event.character:
            event.stop()
            self.post_message(self.FocusReturned(event.character))

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the prompt from the list, too."""
        event.stop()
        self.post_message(self.FocusReturned(event.text))

    def action_leave(self) -> None:
        """Go back to the prompt."""
        self.post_message(self.FocusReturned())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Use the chosen entry."""
        event.stop()
        kind, _, number = (event.option_id or "").partition("-")
        if kind == "request":
            self.post_message(self.RequestChosen(self._facts.requests[int(number)]))
        elif kind == "recent":
            self.post_message(self.ConversationChosen(self._facts.recent[int(number)].id))


def _make_heading(words: str) -> Option:
    return Option(Content.styled(words, "bold"), disabled=True)


def _make_row(text: str) -> Content:
    return Content(clean_line(text, _LONGEST))


def _describe_conversations(recent: Sequence["Summary"]) -> list[Content]:
    """Describe conversations by title and age: two may have the same title."""
    titles = [_make_row(item.title).rstrip() for item in recent]
    width = max((title.cell_length for title in titles), default=0)
    now = time.time()
    ages = [(f"   {describe_age(item.updated, now)}", "$text-muted") for item in recent]
    return [
        Content.assemble(title.pad_right(width - title.cell_length), when)
        for title, when in zip(titles, ages, strict=True)
    ]
