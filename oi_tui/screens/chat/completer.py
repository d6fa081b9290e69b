"""Completes mentions (variables and files), code, and targets."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import sleep

from textual.message import Message as Notification
from textual.widget import Widget
from textual.worker import get_current_worker

from oi_tui.engine.events import Event, MessageRecorded
from oi_tui.input import mentions
from oi_tui.input.file_index import FileIndex
from oi_tui.messages import Message
from oi_tui.runtimes.remote import known_targets
from oi_tui.runtimes.remote.known_targets import KnownTarget
from oi_tui.runtimes.variables import Memory, Variable, is_code, merge_newer
from oi_tui.screens.chat.interfaces import BEFORE_END
from oi_tui.services.languages import Languages
from oi_tui.text import clean_line
from oi_tui.widgets.prompt.completion import CompletionQuery
from oi_tui.widgets.prompt.completion_list import CompletionOffer

#: Variables that are offered before anything of their names is typed.
_UNASKED = 8
_MOST = 50
#: Seconds between two looks at a list of files that is being made.
_PAUSE = 0.15
#: How often a language that did not answer is asked again while an answer is wanted.
_TRIES = 40


class Completer:
    """Answers the prompt from a thread; a late answer is dropped."""

    @dataclass
    class OffersReady(Notification):
        """Offers for a query."""

        query: CompletionQuery
        offers: list[CompletionOffer]
        note: str

    def __init__(
        self, widget: Widget, computer: Languages, resources: Callable[[str], Sequence[tuple[str, str]]]
    ) -> None:
        """`widget` runs the thread, and posts the answers. `resources` lists those of a server."""
        self._resources = resources
        #: The resources of each server that was asked.
        self._known_resources: dict[str, Sequence[tuple[str, str]]] = {}
        self._widget = widget
        self._computer = computer
        self.files = FileIndex(self._computer.cwd)
        self._memories: tuple[Memory, ...] = ()
        self._outdated = True
        self._refreshing = threading.Lock()

    def follow(self, event: Event) -> None:
        """Forget what the languages remember once something ran."""
        match event:
            case MessageRecorded(Message(type="code", state=state)) if state not in BEFORE_END:
                self.forget()

    def forget(self) -> None:
        """Ask again what the languages remember, when it is needed next."""
        self._outdated = True

    def ask(self, query: CompletionQuery) -> None:
        """Look for what completes the query; `OffersReady` comes with it, and again when more is known."""
        if query.kind == "console" and not self.can_complete(query.language):
            return
        self._widget.run_worker(
            lambda: self._answer(query), thread=True, group="completions", exclusive=True, exit_on_error=False
        )

    def can_complete(self, language: str) -> bool:
        """Return whether code of the language can be completed now; does not wait."""
        return self._computer.inspector.can_complete(language)

    def _answer(self, query: CompletionQuery) -> None:
        worker = get_current_worker()
        if query.kind in ("code", "console"):
            self._complete_code(query)
            return
        if query.kind == "target":
            self._complete_target(query)
            return
        files_there = self._computer.targets.files_on()
        if files_there is None:
            self.files.refresh()
        if self._outdated and any(memory.state == "known" for memory in self._memories):
            # What is known from before is better than to wait.
            self._offer_names(query)
        self._refresh()
        # The files of this machine would mislead where code runs elsewhere.
        names = None if files_there is None else files_there.list_names(query.text)
        while not worker.is_cancelled:
            # Looked at first: a list that is finished after the offer was made is offered once more.
            listing = names is None and self.files.listing
            self._offer_names(query, names)
            if listing:
                sleep(_PAUSE)
            elif not self._wait_for_languages():
                break

    def _wait_for_languages(self) -> bool:
        """Ask languages again that gave no answer. Returns whether one has news while it is still wanted."""
        worker, before = get_current_worker(), self._memories
        for _ in range(_TRIES):
            if not self._outdated or worker.is_cancelled:
                break
            sleep(_PAUSE)
            self._refresh()
            if self._memories != before:
                return True
        return False

    def _refresh(self) -> None:
        """Ask the languages again once something ran; a key waits for what the one before it asked."""
        worker = get_current_worker()
        while not self._refreshing.acquire(timeout=_PAUSE):
            if worker.is_cancelled:
                return
        try:
            if not self._outdated:
                return
            self._outdated = False
            memories = tuple(self._computer.inspector.read_memories())
            self._memories = merge_newer(self._memories, memories)
            if any(memory.state == "busy" for memory in memories):
                self._outdated = True
        finally:
            self._refreshing.release()

    def _complete_code(self, query: CompletionQuery) -> None:
        completions = self._computer.inspector.complete(query.language, query.text)
        offers, note = [], ""
        if completions is not None:
            note = clean_line(completions.note, 300)
            offers = [
                CompletionOffer(item.text, item.text, clean_line(item.facts, 200), completions.typed)
                for item in completions.found
            ]
        if not get_current_worker().is_cancelled:
            self._widget.post_message(self.OffersReady(query, offers, note))

    def _complete_target(self, query: CompletionQuery) -> None:
        """Offer places where code can run; running containers follow when they are listed."""
        if query.language == "attach":
            self._offer_targets(query, known_targets.list_left_running())
            return
        targets = list(known_targets.list_at_once())
        self._offer_targets(query, targets)
        if query.text and ("container:".startswith(query.text) or query.text.startswith("container:")):
            self._offer_targets(query, known_targets.list_containers() + targets)

    def _offer_targets(self, query: CompletionQuery, known: Sequence[KnownTarget]) -> None:
        """Offer those that begin with what is typed before those that hold it."""
        if get_current_worker().is_cancelled:
            return
        needle = query.text.lower()
        matches = [
            item for item in known if needle in item.spelling.lower() and item.spelling.lower() != needle
        ]
        matches.sort(key=lambda item: not item.spelling.lower().startswith(needle))
        offers = [
            CompletionOffer(item.spelling, clean_line(item.spelling, 200), clean_line(item.facts, 200))
            for item in matches[:_MOST]
        ]
        self._widget.post_message(self.OffersReady(query, offers, ""))

    def _offer_names(self, query: CompletionQuery, names_there: Sequence[str] | None = None) -> None:
        """Offer variables and files: those of another machine, where its names are given."""
        if get_current_worker().is_cancelled:
            return
        variables = list(self._find_variables(query.text))
        variable_names = {name for name, _ in variables}
        offers = [offer for _, offer in variables] + list(self._find_resources(query.text))
        names = self.files.find(query.text, _MOST) if names_there is None else names_there
        for path in names:
            mention = f"./{path}" if path in variable_names else path
            end = "" if path.endswith("/") else " "
            # A path in quotes that leads on is open at its end.
            text = mentions.write_mention(mention) + end
            offers.append(CompletionOffer(text.rstrip('"') if text.endswith('/"') else text, path))
        listing = self.files.listing and names_there is None
        note = "loading files…" if listing else "" if offers else "no file or variable of this name"
        self._widget.post_message(self.OffersReady(query, offers, note if query.text or offers else ""))

    def _find_resources(self, typed: str) -> Iterator[CompletionOffer]:
        """Resources of the MCP server whose name was typed, as `docs:`."""
        server, colon, needle = typed.partition(":")
        if not colon:
            return
        if server not in self._known_resources:
            self._known_resources[server] = self._resources(server)
        for uri, name in self._known_resources[server][:_MOST]:
            if needle.lower() in f"{uri} {name}".lower():
                full = f"{server}:{uri}"
                yield CompletionOffer(f"{mentions.write_mention(full)} ", clean_line(full, 200), name)

    def _find_variables(self, typed: str) -> Iterator[tuple[str, CompletionOffer]]:
        """Variables by name: data before code, those that begin with what is typed before the others."""
        matches: list[tuple[tuple[bool, bool], str, Variable]] = []
        count = Counter(variable.name for memory in self._memories for variable in memory.variables)
        needle = typed.lower()
        for memory in self._memories:
            for variable in reversed(memory.variables):
                full = f"{memory.language}:{variable.name}".lower()
                if needle in variable.name.lower() or full.startswith(needle):
                    begins = variable.name.lower().startswith(needle)
                    matches.append(((not begins, is_code(variable)), memory.language, variable))
        matches.sort(key=lambda item: item[0])
        for _, language, variable in matches[: _MOST if typed else _UNASKED]:
            name = f"{language}:{variable.name}" if count[variable.name] > 1 else variable.name
            yield (
                variable.name,
                CompletionOffer(f"{mentions.write_mention(name)} ", name, f"{language}  {variable.summary}"),
            )
