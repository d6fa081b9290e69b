"""The conversation, model and languages of a session of the server."""

import base64
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from oi_tui.computer_api import QuestionRefusedError
from oi_tui.engine import rerun
from oi_tui.engine.events import Event, Noticed
from oi_tui.engine.llm import images
from oi_tui.engine.open_interpreter.chunks import convert_messages, find_unknown_part, split_parts, to_message
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.session import Prompt
from oi_tui.engine.settings.migration import MOVED
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.listing import Summary
from oi_tui.engine.storage.search import is_worth_searching, search, split_words
from oi_tui.messages import Message
from oi_tui.runtimes.remote import left_targets
from oi_tui.services.languages import Languages
from oi_tui.workspace import Workspace

#: Saved conversations that are listed, and seconds that a search for them may take.
_MOST_SAVED = 100
_SEARCH_SECONDS = 2.0
_AGAIN = "Ask the model to run the cells again."
#: Settings whose values no client gets to see.
PRIVATE = frozenset({"llm.api_key", "llm.api_base", "mcp_servers"})


class NoAnswerError(Exception):
    """The model did not answer a question; the message says why."""


class Backend(Protocol):
    """A conversation at work. All but `turn` and `propose` may be called from any thread."""

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""

    @property
    def conversation(self) -> str:
        """The id under which the conversation is saved; "" where it is not."""

    @property
    def title(self) -> str:
        """The title of the conversation; "" where it has none."""

    @property
    def computer(self) -> Languages:
        """Runs code in the languages."""

    def turn(self, prompt: Prompt) -> Iterator[Event]:
        """Begin a turn with a message, and yield its events."""

    def propose(self, language: str, code: str) -> Iterator[Event]:
        """Ask for code of another program, and run it."""

    def ask(self, text: str) -> str:
        """Ask the model outside of the conversation; blocks while it answers. Raises NoAnswerError."""

    def scan(self, language: str, code: str) -> Findings:
        """Return what the scan finds in code."""

    def interrupt(self) -> None:
        """Stop the turn in progress."""

    def send_input(self, text: str) -> None:
        """Type to the running program."""

    def read_setting(self, name: str) -> Any:
        """Return a setting, or a group of them. Raises KeyError."""

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change settings, and replace the conversation by `messages`. Raises KeyError or ValueError."""

    def search_saved(self, words: str) -> Sequence[Summary]:
        """Return some saved conversations that contain all the words, the newest first."""

    def resume(self, id: str) -> None:
        """Continue a saved conversation. Raises StoreError."""

    def close(self) -> None:
        """End everything."""


class WorkspaceBackend:
    """A conversation of the application's own, saved where those of the screen are."""

    def __init__(self, workspace: Workspace, note_lost: Callable[[str], object] = lambda _: None) -> None:
        self._workspace = workspace
        #: Called at the end with the id of a conversation that could be saved nowhere.
        self._note_lost = note_lost
        #: Notices before the next turn: how a conversation that was opened was stored, and that it lost its
        #: variables.
        self._notices: list[Noticed] = []

    @property
    def conversation(self) -> str:
        """The id under which the conversation is saved."""
        return self._workspace.conversation.id

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""
        return self._workspace.session.messages

    @property
    def title(self) -> str:
        """The title of the conversation."""
        words = next((m.content for m in self.messages if m.role == "user" and m.type == "message"), "")
        return self._workspace.conversation.title or words

    @property
    def computer(self) -> Languages:
        """Runs code in the languages."""
        return self._workspace.computer

    def turn(self, prompt: Prompt) -> Iterator[Event]:
        """Begin a turn with a message, and yield its events."""
        notices, self._notices = self._notices, []
        yield from notices
        yield from self._workspace.session.turn(prompt)

    def propose(self, language: str, code: str) -> Iterator[Event]:
        """Ask for code of another program, and run it."""
        return self._workspace.session.propose(language, code)

    def ask(self, text: str) -> str:
        """Ask the model outside of the conversation; blocks while it answers. Raises NoAnswerError."""
        try:
            return self._workspace.side_requests.ask(text)
        except QuestionRefusedError as problem:
            raise NoAnswerError(str(problem)) from None

    def scan(self, language: str, code: str) -> Findings:
        """Return what the scan finds in code."""
        computer, earlier = self._workspace.computer, self._workspace.session.earlier
        return scan_code(computer.resolve(language) or language, code, computer.cwd, earlier)

    def interrupt(self) -> None:
        """Stop the turn in progress."""
        self._workspace.session.interrupt()

    def send_input(self, text: str) -> None:
        """Type to the running program."""
        self._workspace.session.send_input(text)

    def read_setting(self, name: str) -> Any:
        """Return a setting, or a group of them. Raises KeyError."""
        if name == "messages":
            return convert_messages(self.messages)
        return read_setting(self._workspace.profile, name)

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change settings, and replace the conversation by `messages`. Raises KeyError or ValueError."""
        settings = {key: value for key, value in changes.items() if key != "messages"}
        messages = read_messages(changes["messages"]) if "messages" in changes else None
        if settings:
            profile = apply_settings(self._workspace.profile, settings)
            self._workspace.use(profile)
            self._workspace.session.auto_run = profile.auto_run
        if messages is not None:
            self._workspace.conversation.replace(messages)
            self._notices = []

    def search_saved(self, words: str) -> Sequence[Summary]:
        """Return some saved conversations that contain all the words, the newest first."""
        store = self._workspace.store
        summaries = {item.id: item for item in store.list_summaries() if item.problem is None}
        if not is_worth_searching(words):
            return list(summaries.values())[:_MOST_SAVED]
        index = FullTextIndex(store.folder / "words.sqlite3")
        end = time.monotonic() + _SEARCH_SECONDS
        hits = search(store, words, list(summaries), lambda: time.monotonic() > end, index)
        ids = {hit.id for hit in hits if hit}
        terms = split_words(words)
        return [
            item
            for item in summaries.values()
            if item.id in ids or all(word in item.title.lower() for word in terms)
        ][:_MOST_SAVED]

    def resume(self, id: str) -> None:
        """Continue a saved conversation. Raises StoreError."""
        conversation = self._workspace.conversation
        conversation.resume(id)
        self._notices = [Noticed(notice, "warning") for notice in conversation.notices]
        if not left_targets.list_for_conversation(id):
            lost = rerun.describe_lost(self.messages, _AGAIN)
            self._notices += [Noticed(lost)] if lost else []

    def close(self) -> None:
        """End everything; the conversation is saved, or standard error says why not."""
        if unsaved := self._workspace.close():
            print(unsaved, file=sys.stderr, flush=True)  # noqa: T201
        if self._workspace.conversation.is_lost:
            self._note_lost(self.conversation)


def read_setting(profile: Profile, name: str) -> Any:
    """Return a setting by its key, or those of `llm` or `computer` together. Raises KeyError."""
    values = {item.key: getattr(profile, item.name) for item in list_settings() if item.key not in PRIVATE}
    group = {
        key.removeprefix(f"{name}."): value for key, value in values.items() if key.startswith(name + ".")
    }
    return group or values[MOVED.get(name, name)]


def apply_settings(profile: Profile, changes: Mapping[str, Any]) -> Profile:
    """Return the profile with settings changed by their keys. Raises KeyError or ProfileError."""
    names = {item.key: item.name for item in list_settings()}
    values = {}
    for key, value in flatten(changes).items():
        current_key = MOVED.get(key, key)
        if current_key not in names:
            raise KeyError(key)
        values[names[current_key]] = value
    try:
        return profile.with_changes(**values)
    except TypeError as error:
        raise ProfileError(str(error)) from None


def read_messages(given: object) -> list[Message]:
    """Return the messages of a list in Open Interpreter's format. Raises ProfileError."""
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise ProfileError("expected a list of messages", key="messages")
    parts = [part for item in given for part in split_parts(item)]
    for part in parts:
        if problem := find_unknown_part(part):
            raise ProfileError(problem, key="messages")
    return [to_message(part) for part in parts]


def flatten(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings by their whole keys: {"llm": {"model": …}} as {"llm.model": …}.

    Raises ProfileError.
    """
    values: dict[str, Any] = {}
    for key, value in changes.items():
        if key in ("llm", "computer"):
            if not isinstance(value, Mapping):
                raise ProfileError("expected an object with settings", key=key)
            values |= {f"{key}.{name}": item for name, item in value.items()}
        else:
            values[key] = value
    return values


def read_image(message: Message) -> tuple[bytes, str] | None:
    """Return the bytes and the type of a message's image; None where it has none that can be read."""
    address = images.make_data_url(message.format, message.content) if message.type == "image" else None
    if not address:
        return None
    head, _, data = address.partition(";base64,")
    try:
        return base64.b64decode(data), head.removeprefix("data:")
    except ValueError:
        return None
