"""The conversation in progress: its session and file, and the change to another one."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.rerun import note_for_model
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.skills import SkillLibrary
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.records import make_copy_title, make_title
from oi_tui.engine.storage.store import Store
from oi_tui.engine.storage.undo_history import UndoHistory
from oi_tui.file_changes.snapshots import Snapshots
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.messages import Message
from oi_tui.runtimes.remote import left_targets
from oi_tui.services.languages import LanguageService
from oi_tui.services.live_names import describe_memories
from oi_tui.services.mcp import McpService
from oi_tui.services.model import ModelService
from oi_tui.services.variable_keeper import VariableKeeper
from oi_tui.text import clean_line, escape_controls


class CurrentConversation:
    """Makes sessions: there is always one, `session`, and one file that it is saved in."""

    def __init__(
        self,
        profile: Profile,
        store: Store,
        snapshots: Snapshots,
        model: ModelService,
        languages: LanguageService,
        mcp: McpService,
        skills: SkillLibrary,
        saved: tuple[Journal, Sequence[Message]] | None = None,
    ) -> None:
        """Begin a conversation, or go on with `saved`."""
        self.store = store
        self._profile = profile
        self._model = model
        self._languages = languages
        self._mcp = mcp
        self._skills = skills
        self._watcher = FileWatcher(snapshots, languages.computer.cwd)
        self._rescued = ""
        #: Whether messages of this conversation, or of one before it, could be written nowhere at its end.
        self.is_lost = False
        #: The messages and runs from before the languages last forgot everything, by id.
        self.forgotten: frozenset[str] = frozenset()
        #: What the model is told of that; "" where nothing was lost.
        self._lost = ""
        journal, messages = saved or (None, ())
        self.session = self._open_session(messages, journal)
        self._note_lost()

    def apply(self, profile: Profile) -> None:
        """Use other settings from the next request on."""
        self._profile = self.session.profile = profile
        self._journal.use_model(profile.model)

    def begin(self, messages: Sequence[Message] = ()) -> Session:
        """End the conversation at work and begin another one; it is saved once there is something in it."""
        self._leave()
        self._open(_make_first_title(messages), messages)
        self._forget()
        return self.session

    def branch(self, messages: Sequence[Message]) -> Session:
        """Continue in a copy with these messages of the current conversation, which does not change.

        The languages are kept: what they remember is what they remember now.
        """
        title = make_copy_title(self._journal.title)
        self.session.close()
        self._close_journal()
        return self._open(title, messages)

    def replace(self, messages: Sequence[Message]) -> Session:
        """Continue in another conversation, which has these messages; the languages are kept."""
        self.session.close()
        self._close_journal()
        return self._open(_make_first_title(messages), messages)

    def resume(self, id: str) -> Session:
        """End the conversation at work and go on with a saved one. Raises StoreError where that fails."""
        journal, messages = self.store.open(id)
        self._leave()
        self.session = self._open_session(messages, journal)
        self._forget()
        return self.session

    def reset_languages(self) -> None:
        """End all languages; their variables are lost."""
        self._languages.reset()
        self._forget()

    @property
    def id(self) -> str:
        """The id under which the conversation is saved."""
        return self._journal.id

    @property
    def is_saved(self) -> bool:
        """Whether the conversation has a file."""
        return self._journal.path is not None

    @property
    def title(self) -> str:
        """The title of the conversation, where that is not its first words; else ""."""
        if given_title := self.store.given.get(self._journal.id):
            return given_title
        title, first_words = self._journal.title, _make_first_title(self.session.messages)
        return title if first_words and title != first_words else ""

    @property
    def taken_back(self) -> tuple[UndoHistory, ...]:
        """The messages removed from the conversation, step by step, also before it was opened."""
        return self._journal.taken_back

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about how the conversation was stored."""
        return (*filter(None, (self._rescued,)), *self._journal.notices)

    def describe_left(self, returning_to: str = "") -> tuple[str, ...]:
        """Say what this conversation left running, except on the target that is being returned to."""
        return tuple(
            f"Left running: {escape_controls(left_target.describe())}. "
            f"{left_targets.describe_way_back(clean_line(left_target.target, 200))}."
            for left_target in left_targets.list_for_conversation(self.id)
            if left_target.target != returning_to
        )

    def save_variables(self) -> None:
        """Save the variables with the conversation, if the settings say so, before the languages end."""
        ran = any(message.is_cell and message.seconds is not None for message in self.session.messages)
        if self._profile.keep_variables and self.is_saved and ran:
            keeper = VariableKeeper(self.store.variables, self._languages.computer)
            keeper.save(self.id, self._profile.keep_variables)

    def close(self) -> str:
        """Close the file. Returns what became of unsaved messages, or ""."""
        self._close_journal()
        return self._rescued

    def _leave(self) -> None:
        self.session.close()
        self.save_variables()
        self._languages.reset_for_conversation()
        self._close_journal()

    def _open(self, title: str, messages: Sequence[Message]) -> Session:
        self.session = self._open_session(messages, self._make_journal(title, messages))
        if messages:
            self._journal.save()
        return self.session

    def _forget(self) -> None:
        self.forgotten = frozenset(message.id for message in self.session.messages)
        self._note_lost()

    def _note_lost(self) -> None:
        """Note what the languages do not remember of the conversation."""
        # What was left running on a target has its variables still.
        leftovers = left_targets.list_for_conversation(self.id)
        self._lost = "" if leftovers else note_for_model(self.session.messages)

    def _list_notes(self) -> Sequence[str]:
        skills = self._skills.write_notes(sandboxed=self._languages.computer.sandbox)
        return (*self._languages.write_notes(), *skills, *filter(None, (self._lost,)))

    def _open_session(self, messages: Sequence[Message], journal: Journal | None = None) -> Session:
        self._journal = journal or self._make_journal()
        computer = self._languages.computer
        return Session(
            self._profile,
            self._model.logged,
            computer,
            self._journal,
            messages,
            outputs=paths.data() / "outputs",
            facts=self._model.facts,
            watcher=self._watcher if self._profile.file_snapshots else None,
            earlier=self._languages.earlier,
            notes=self._list_notes,
            live_names=self._describe_variables,
            tools=self._mcp.tools,
            cells_reach_model=self._languages.cells_reach_model,
        )

    def _describe_variables(self) -> str:
        return describe_memories(self._languages.computer.inspector.read_memories())

    def _make_journal(self, title: str = "", messages: Sequence[Message] = ()) -> Journal:
        make = self.store.create if self._profile.conversation_history else self.store.create_unsaved
        cwd = self._languages.computer.cwd
        return make(cwd=cwd, model=self._profile.model, title=title, messages=messages)

    def _close_journal(self) -> None:
        """Close the file; a conversation that cannot be saved where it belongs is put somewhere else."""
        journal = self._journal
        journal.close()
        self._rescued = ""
        if journal.trouble is None or not journal.messages:
            return
        problem = journal.trouble.partition(". ")[0]
        failures = []
        for find_folder in (tempfile.gettempdir, Path.home, Path.cwd):
            try:
                path = journal.rescue(Path(find_folder()))
            except (OSError, RuntimeError) as error:
                why = paths.explain_no_room(error) or getattr(error, "strerror", None) or str(error)
                failures.append(why)
            else:
                folder = paths.shorten(self.store.folder)
                self._rescued = (
                    f"{problem}. The conversation is in {path}; move that file to {folder} to open it."
                )
                return
        self.is_lost = True
        self._rescued = f"{problem}. It could not be written elsewhere either: {failures[0]}."


def _make_first_title(messages: Sequence[Message]) -> str:
    """Return a title made of the first request, or ""."""
    return next((make_title(message) for message in messages if message.role == "user"), "")
