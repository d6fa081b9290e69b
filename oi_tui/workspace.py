"""The services of a running application: a model, languages, saved conversations, a profile."""

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from oi_tui import computer_api, paths
from oi_tui.custom_languages import CustomLanguages
from oi_tui.engine import protocols
from oi_tui.engine.credentials.key_source import key_place
from oi_tui.engine.credentials.keys import Secrets, provider_of
from oi_tui.engine.credentials.redaction import learn, learn_address
from oi_tui.engine.files.snapshots import Snapshots
from oi_tui.engine.files.watcher import FileWatcher
from oi_tui.engine.llm import images, request_log, titles
from oi_tui.engine.llm.base import Llm, LlmError
from oi_tui.engine.llm.question import Question
from oi_tui.engine.llm.request_log import LoggedLlm
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage_report import OverBudget
from oi_tui.engine.models import model_check
from oi_tui.engine.models.llamafile import Llamafile
from oi_tui.engine.models.model_check import CheckResult
from oi_tui.engine.models.model_info import KnownModels, ModelInfo
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.session import Session
from oi_tui.engine.settings import mcp_servers
from oi_tui.engine.settings.profile import Profile, ProfileError, conversations, save, without_effect
from oi_tui.engine.settings.setting import Value
from oi_tui.engine.skills import Skills
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.records import title_of, title_of_copy
from oi_tui.engine.storage.store import Store
from oi_tui.engine.storage.undo_history import UndoHistory
from oi_tui.engine.tools import Tool
from oi_tui.environment import held_back, is_secret
from oi_tui.messages import Loss, Message
from oi_tui.runtimes.availability import Availability
from oi_tui.runtimes.computer import Computer
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.remote.target import TargetError
from oi_tui.runtimes.sandbox.limits import Limits
from oi_tui.runtimes.tables import TableSource
from oi_tui.runtimes.variables import Detail, Memory
from oi_tui.text import one_line

if TYPE_CHECKING:
    from oi_tui.mcp_client.cells import CellTools
    from oi_tui.mcp_client.servers import McpServers


class Languages(protocols.Computer, Protocol):
    """Runs code, and reports what the user wants to know."""

    def describe(self, language: str) -> str:
        """The program that runs the language, in a few words."""

    def standings(self) -> Sequence[Availability]:
        """The availability of every language; asks their programs, which takes a moment."""

    def memories(self) -> tuple[Memory, ...]:
        """The variables of each language; may take a moment."""

    def look_at(self, language: str, name: str) -> Detail | None:
        """The value of one variable, as far as it is reported."""

    def table(self, language: str, name: str) -> TableSource:
        """A table that a language remembers. Raises TableError where it cannot be asked."""

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs how much room their output has."""

    @property
    def sandbox(self) -> bool:
        """Whether programs are held in the working directory."""

    @property
    def limits(self) -> str | None:
        """The sandbox limits in words; None where the sandbox is off."""

    @property
    def hosts(self) -> Sequence[str]:
        """The hosts that programs in the sandbox reach."""

    def allow_host(self, host: str) -> str | None:
        """Let programs in the sandbox reach a host. Returns why that cannot be done, else None."""

    def forget_hosts(self) -> None:
        """Allow only the hosts of the settings again."""

    def why_nothing_runs(self) -> str | None:
        """Return why the sandbox, if it is on, does not work; may take a moment."""

    def why_no_sandbox(self) -> str | None:
        """Return why the sandbox would not work if it were turned on; may take a moment."""

    @property
    def target(self) -> str:
        """Where code runs, as a person types it."""

    def use_target(self, spelling: str) -> None:
        """Run code there from now on; blocks while the connection is made. Raises TargetError, and stays."""

    def use_startup(self, startup: Sequence[tuple[str, str]]) -> None:
        """Run this code, each piece with its language, when languages start."""

    def use_sandbox(self, on: bool, private: Sequence[Path]) -> None:
        """Hold programs there from now on, where nothing of ours can be seen, or do not."""


class Workspace:
    """Introduces the parts to each other, and makes sessions of them.

    `session` is the conversation at work; there is always one. The languages are shared: they belong to the
    conversation, so that beginning or opening another one lets them forget.
    """

    def __init__(
        self,
        profile: Profile,
        profile_path: Path | None = None,
        *,
        llm: Llm | None = None,
        computer: Languages | None = None,
        lent: bool = False,
        conversation: tuple[Journal, Sequence[Message]] | None = None,
        models: ModelProcess | None = None,
        earlier: EarlierCode | None = None,
    ) -> None:
        """With `lent`, the languages belong to somebody else and are not closed. `conversation` is where to
        go on. `models` is a model process that several workspaces share; whoever made it ends it.
        `earlier` is what lent languages keep from code that ran.
        """
        self._lent = lent
        self.profile = profile
        _learn(profile)
        request_log.set_levels(verbose=profile.verbose, debug=profile.debug)
        self.profile_path = profile_path
        self.secrets = Secrets()
        #: The llamafile that was started here, if one was.
        self.llamafile: Llamafile | None = None
        self._functions: list[ModelProcess] = []
        self._mcp: McpServers | None = None
        #: MCP servers run here, also where code runs elsewhere.
        self._folder = str(Path.cwd())
        self._mcp_lock = threading.Lock()
        self._cell_tools: CellTools | None = None
        self._computer_api: computer_api.ComputerApi | None = None
        #: What running code asks the model just now.
        self._questions: set[Question] = set()
        self._shares_models = models is not None
        self.model_process = models or ModelProcess(keys=self.secrets.key_for)
        self.store = Store(conversations(profile))
        #: The names of the variables in our environment that programs do not get.
        self.held_back = () if profile.share_keys else held_back(profile.pass_environment)
        self.own_languages = CustomLanguages(
            profile.custom_languages,
            Choices(profile.python, profile.shell),
            profile_path.parent if profile_path else Path.cwd(),
            may_ask=not profile.sandbox,
        )
        #: Set where the languages are ours, so that tools of MCP servers can be among them.
        self._own_computer: Computer | None = None
        if computer is None:
            computer = self._own_computer = self._computer_of(profile)
        self.computer: Languages = computer
        #: Whoever made the workspace brought the model along, and no profile brings another.
        self._brought = llm is not None
        self._llm = llm or self.model_process
        self._logged = LoggedLlm(self._llm)
        self._answer_with(profile.completions)
        self.snapshots = Snapshots(paths.data() / "snapshots")
        self._witness = FileWatcher(self.snapshots, self.computer.cwd)
        self._known = KnownModels(self.model_process.facts)
        self._rescued = ""
        self._key_found = False
        self._naming: titles.TitleRequest | None = None
        #: Conversations whose title the model was asked for; it is asked once.
        self._asked_for_title: set[str] = set()
        #: What was said and run before the languages last forgot everything, by id.
        self.forgotten: frozenset[str] = frozenset()
        self._earlier = EarlierCode() if earlier is None else earlier
        self._note_startup()
        self.skills = Skills(self.computer.cwd)
        journal, messages = conversation or (None, ())
        self.session = self._session(messages, journal)

    def _computer_of(self, profile: Profile) -> Computer:
        return _open_computer(
            declared=self._declared(),
            python=profile.python,
            shell=profile.shell,
            hidden=self.held_back,
            active_line=profile.highlight_active_line,
            sandbox=profile.sandbox,
            private=self._private,
            passed=profile.pass_environment,
            writable=profile.sandbox_writable,
            hosts=profile.sandbox_hosts,
            limits=Limits(
                profile.sandbox_memory,
                profile.sandbox_processes,
                profile.sandbox_disk,
                profile.sandbox_time,
            ),
            startup=profile.startup,
            target=profile.target,
            share_keys=profile.share_keys,
            unlisted=lambda: self._mcp.languages() if self._mcp else (),
        )

    def _declared(self) -> tuple[Language, ...]:
        """The languages that may run; Python has the computer object where the profile wants that."""
        languages = (*LANGUAGES, *self.own_languages.languages)
        if self.profile.mcp_servers:
            from oi_tui.mcp_client.cells import CellTools

            self._cell_tools = CellTools(
                self._tools,
                lambda tool, arguments, stopped: self.mcp.call(tool, arguments, stopped),
                lambda: self.session.callable_tools,
                lambda pid: self._own_computer is not None and self._own_computer.is_running(pid),
                lambda: bool(self.profile.mcp_servers) and not self.profile.sandbox,
            )
            languages = self._cell_tools.given_to(languages)
        if not computer_api.wanted(self.profile):
            return languages
        self._computer_api = computer_api.ComputerApi(
            self.ask_model, self._stop_turn, os_mode=self.profile.os
        )
        return self._computer_api.given_to(languages)

    @property
    def mcp(self) -> "McpServers":
        """The MCP servers of the profile."""
        with self._mcp_lock:
            if self._mcp is None:
                # Loaded where there are such servers only.
                from oi_tui.mcp_client.servers import McpServers

                self._mcp = McpServers(self.profile, self._folder, self._say_of_servers, secrets=self.secrets)
            return self._mcp

    def _say_of_servers(self, text: str) -> None:
        if self._own_computer:
            self._own_computer.note_loss(Loss("", text.rstrip(".")))

    def _tools(self) -> Sequence[Tool]:
        """The tools of MCP servers, for the model; may take a moment."""
        return self.mcp.tools() if self.profile.mcp_servers and self._own_computer else ()

    def read_resource(self, server: str, uri: str) -> str:
        """Read a resource of an MCP server for a message; blocks while the server answers.

        Returns why that failed in words, and "" where there is no such server.
        """
        if not self.profile.mcp_servers or self.mcp.find(server) is None:
            return ""
        from oi_tui.mcp_client.connection import CallError
        from oi_tui.mcp_client.resources import Resources

        try:
            return Resources(self.mcp).read(server, uri, self.session.stop_signal)
        except CallError as error:
            return f"(The resource {one_line(uri)} of {server} could not be read: {one_line(str(error))})"

    def resources(self, server: str) -> Sequence[tuple[str, str]]:
        """The addresses and names of an MCP server's resources; blocks while the server answers."""
        if not self.profile.mcp_servers or self.mcp.find(server) is None:
            return ()
        from oi_tui.mcp_client.connection import CallError
        from oi_tui.mcp_client.resources import Resources

        try:
            return Resources(self.mcp).listed(server)
        except CallError:
            return ()

    def ask_model(self, text: str, images: Sequence[str] = ()) -> str:
        """Ask the model for running code, on the account of the conversation; blocks while it answers.

        Raises computer_api.RefusedError with the reason where there is no answer.
        """
        session, profile = self.session, self.profile
        try:
            question = Question(self._llm, profile, text, images, session.account, self._facts(profile))
            self._questions.add(question)
            try:
                return question.answer()
            finally:
                self._questions.discard(question)
                session.enter(question.used)
        except (LlmError, OverBudget) as error:
            raise computer_api.RefusedError(str(error)) from None

    @property
    def code_has_pointer(self) -> bool:
        """Whether running code uses mouse and keyboard at this moment."""
        return self._computer_api is not None and self._computer_api.in_control

    def _stop_turn(self) -> None:
        """End the turn, because the person took mouse and keyboard back."""
        self.session.interrupt()

    def stop_questions(self) -> None:
        """Give up what running code asks the model."""
        for question in tuple(self._questions):
            question.cancel()

    def warm_up(self) -> None:
        """Start what takes its time, without waiting for it."""
        threading.Thread(target=self.snapshots.tidy, daemon=True).start()
        if self.profile.mcp_servers and self._own_computer:
            threading.Thread(target=lambda: self.mcp.start(), daemon=True).start()
        if self._llm is not self.model_process:
            return
        self.model_process.start()
        threading.Thread(target=self._facts, args=(self.profile,), daemon=True).start()

    def begin(self, messages: Sequence[Message] = ()) -> Session:
        """End the conversation at work and begin another one; it is saved once there is something in it."""
        self._leave()
        self._go_on(_first_words(messages), messages)
        self._forget()
        return self.session

    def branch(self, messages: Sequence[Message]) -> Session:
        """Go on in a copy that has these messages of the conversation at work, which stays as it is.

        The languages are kept: what they remember is what they remember now.
        """
        title = title_of_copy(self._journal.title)
        self.session.close()
        self._close_journal()
        return self._go_on(title, messages)

    def _go_on(self, title: str, messages: Sequence[Message]) -> Session:
        self.session = self._session(messages, self._journal_for(title, messages))
        if messages:
            self._journal.save()
        return self.session

    def resume(self, id: str) -> Session:
        """End the conversation at work and go on with a saved one. Raises StoreError where that fails."""
        journal, messages = self.store.open(id)
        self._leave()
        self.session = self._session(messages, journal)
        self._forget()
        return self.session

    def reset_languages(self) -> None:
        """Let the languages forget."""
        self.computer.reset()
        self._earlier.forget()
        self._note_startup()
        self._forget()

    def _forget(self) -> None:
        self.forgotten = frozenset(message.id for message in self.session.messages)

    @property
    def conversation_id(self) -> str:
        """The id under which the current conversation is saved."""
        return self._journal.id

    @property
    def title(self) -> str:
        """The title of the current conversation, where that is not its first words; else ""."""
        if given := self.store.given.get(self._journal.id):
            return given
        named, said = self._journal.title, _first_words(self.session.messages)
        return named if said and named != said else ""

    @property
    def taken_back(self) -> tuple[UndoHistory, ...]:
        """The messages removed from the current conversation, step by step, also before it was opened."""
        return self._journal.taken_back

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about how the conversation was stored."""
        return (*filter(None, (self._rescued,)), *self._journal.notices)

    @property
    def has_model(self) -> bool:
        """Whether somebody chose a model, or the default one has its key at hand."""
        profile = self.profile
        chosen = "model" in profile.origins or profile.api_base or profile.api_key
        at_hand = self._key_found or os.environ.get("OPENAI_API_KEY")
        return bool(chosen or at_hand or self._llm is not self.model_process)

    def look_for_key(self) -> bool:
        """Look for the model's key where keys are kept, which may take its time; whether there is a model."""
        if not self.has_model:
            self._key_found = key_place(self.profile, self.secrets).found
        return self.has_model

    @property
    def is_new(self) -> bool:
        """Whether nobody has said yet which model to use, and nothing was ever saved here."""
        told = {"model", "api_base", "api_key"} & set(self.profile.origins)
        return not told and self._llm is self.model_process and self.store.latest() is None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the settings: unknown keys, and values without effect."""
        unknown = [name for name in self.profile.languages if self.computer.resolve(name) is None]
        here = ", ".join(self.computer.languages)
        languages = (f"computer.languages: unknown language {name!r}; languages: {here}" for name in unknown)
        own = self.own_languages.problems
        names = self.skills.untrusted()
        skills = (
            f"The skill {name} of this folder is not used. %skills trust {name} shows it." for name in names
        )
        return (*self.profile.unknown, *without_effect(self.profile), *languages, *own, *skills)

    def check(self, profile: Profile) -> Iterator[CheckResult]:
        """Try a profile's model with a few tokens; blocks while the model answers."""
        yield from model_check.check(self._llm, profile, self.session.account, self._facts(profile))

    @property
    def may_name(self) -> bool:
        """Whether the model should be asked for a title of the conversation now."""
        journal, profile = self._journal, self.profile
        return (
            profile.model_titles
            and profile.model != "demo"
            and journal.path is not None
            and journal.id not in self._asked_for_title
            and not self.session.over_budget
            and titles.can_be_named(self.session.messages)
            and not self.store.is_named(journal.id)
        )

    def name_conversation(self) -> None:
        """Ask the model for a title and keep it; blocks while it answers. What fails, fails silently."""
        session, id_ = self.session, self._journal.id
        self._asked_for_title.add(id_)
        profile = self.profile
        try:
            request = titles.TitleRequest(
                self._llm, profile, session.messages, session.account, self._facts(profile)
            )
        except (LlmError, OverBudget):
            return
        self._naming = request
        title = request.title()
        self._naming = None
        if title or request.used:
            session.enter(request.used)
        with contextlib.suppress(OSError):
            if title and not self.store.is_named(id_):
                self.store.suggest_title(id_, title)

    def stop_naming(self) -> None:
        """Give up what `name_conversation` waits for; a turn is about to begin."""
        if self._naming:
            self._naming.cancel()

    def use(self, profile: Profile) -> None:
        """Go on with other settings, from the next request on.

        Raises ProfileError for another target, which has to be reached first (`use_target` of the languages).
        """
        if profile.target != self.computer.target:
            raise ProfileError("can be changed at the start or with %target only", key="target")
        if profile.completions != self.profile.completions:
            self._answer_with(profile.completions)
        self.profile = self.session.profile = profile
        _learn(profile)
        request_log.set_levels(verbose=profile.verbose, debug=profile.debug)
        self._journal.use_model(profile.model)
        self.computer.use_sandbox(profile.sandbox, self._private)
        self.computer.use_startup(profile.startup)
        self._note_startup()
        if self._mcp or profile.mcp_servers:
            self.mcp.use(profile)

    def why_no_os_mode(self) -> str | None:
        """Say in a sentence why code cannot use screen, mouse and keyboard; None where it can."""
        if self._own_computer is None:
            return "the languages of this conversation belong to another program."
        if self.computer.sandbox:
            return "programs in the sandbox reach no screen. %sandbox off turns the sandbox off."
        if self.computer.where:
            return f"code runs {one_line(self.computer.where, 100)}. %target local changes that."
        return None

    def switch_os_mode(self, on: bool) -> None:
        """Let the model use screen, mouse and keyboard, or stop that; Python begins anew. Nothing may run."""
        self.use(self.profile.with_changes("changed", os=on))
        if self._own_computer is None:
            return
        before = (self._computer_api, self._cell_tools)
        self._computer_api = self._cell_tools = None
        self._own_computer.declare(self._declared())
        for each in before:
            if each:
                each.close()

    def _note_startup(self) -> None:
        """Have the review know what the profile's own code changes in the languages."""
        for language, code in self.profile.startup:
            self._earlier.note(self.computer.resolve(language) or language, code, self.computer.cwd)

    @property
    def _private(self) -> tuple[Path, ...]:
        """Our files outside the usual folders."""
        return (self.store.folder, *((self.profile_path,) if self.profile_path else ()))

    def _answer_with(self, completions: tuple[str, str] | None) -> None:
        """Let the function of a trusted profile answer, in a process of its own; or LiteLLM again."""
        if self._brought:
            return
        self._llm = self.model_process
        if completions:
            self._llm = ModelProcess(program=completions)
            # The one before may be in the middle of a reply; all are ended when the workspace is closed.
            self._functions.append(self._llm)
        self._logged.use(self._llm)

    def run_llamafile(self, running: Llamafile | None) -> None:
        """Look after a running llamafile, and end the one before it."""
        before, self.llamafile = self.llamafile, running
        if before and before is not running:
            before.stop()

    def base_for(self, model: str) -> str | None:
        """The base to go on with when a person only names another model: ours is for our provider."""
        profile = self.profile
        provider = provider_of(model)
        bare = "/" not in profile.model
        same = provider == provider_of(profile.model) if "/" in model else provider is None or bare
        return profile.api_base if same else None

    def edit_file(self, path: Path | None) -> None:
        """Save settings into this file from now on, or nowhere."""
        self.profile_path = path

    def keep(self, **changes: Value) -> None:
        """Write settings into the profile, for the next time; what cannot be written is used all the same."""
        if self.profile_path:
            with contextlib.suppress(OSError, ProfileError):
                save(self.profile_path, changes)

    def save_picture(self, message: Message) -> str:
        """Keep a program's picture as a file of its own. Returns its path, "" when it cannot be kept."""
        if message.format == "path":
            return message.content
        path = images.keep(message, paths.data() / "outputs")
        return str(path) if path else ""

    def close(self) -> str:
        """End everything; nothing is left running. Returns what became of unsaved messages, or ""."""
        self.stop_naming()
        self.stop_questions()
        if self._computer_api:
            self._computer_api.close()
        self.session.close()
        if self._cell_tools:
            self._cell_tools.close()
        if self._mcp:
            self._mcp.close()
        if not self._lent:
            self.computer.close()
        self._close_journal()
        if not self._shares_models:
            self.model_process.close()
        self.run_llamafile(None)
        for function in self._functions:
            function.close()
        return self._rescued

    def _leave(self) -> None:
        self.session.close()
        self.computer.reset()
        self.computer.forget_hosts()
        self._earlier.forget()
        self._note_startup()
        self._close_journal()

    def _close_journal(self) -> None:
        """Let go of the file; a conversation that cannot be saved where it belongs is put somewhere else."""
        journal = self._journal
        journal.close()
        self._rescued = ""
        if journal.trouble is None or not journal.messages:
            return
        wrong = journal.trouble.partition(". ")[0]
        try:
            path = journal.rescue(Path(tempfile.gettempdir()))
        except OSError as error:
            self._rescued = f"{wrong}. It could not be written elsewhere either: {error.strerror or error}."
        else:
            folder = paths.short(self.store.folder)
            self._rescued = f"{wrong}. The conversation is in {path}; move that file to {folder} to open it."

    def _session(self, messages: Sequence[Message], journal: Journal | None = None) -> Session:
        self._journal = journal or self._journal_for()
        return Session(
            self.profile,
            self._logged,
            self.computer,
            self._journal,
            messages,
            outputs=paths.data() / "outputs",
            facts=self._facts,
            witness=self._witness if self.profile.file_snapshots else None,
            earlier=self._earlier,
            notes=lambda: self.skills.notes(sandboxed=self.computer.sandbox),
            tools=self._tools,
        )

    def _journal_for(self, title: str = "", messages: Sequence[Message] = ()) -> Journal:
        make = self.store.create if self.profile.conversation_history else self.store.unsaved
        return make(cwd=self.computer.cwd, model=self.profile.model, title=title, messages=messages)

    def count(self, model: str, texts: Sequence[str]) -> list[int] | None:
        """Count the tokens of texts for a model on this machine; None where that is not possible."""
        return self.model_process.count(model, texts) if self._llm is self.model_process else None

    def _facts(self, profile: Profile) -> ModelInfo:
        """The facts about a profile's model; none for a model that is a function."""
        return self._known.of(profile) if self._llm is self.model_process else ModelInfo()


def _open_computer(**options: Any) -> Computer:
    """The languages where the settings want them. Raises ProfileError where that place cannot be reached."""
    from oi_tui.runtimes.remote.askpass import ask_on_terminal

    try:
        # The screen is not there yet where this is made.
        return Computer(**options, ask=ask_on_terminal if sys.stdin.isatty() else None)
    except TargetError as error:
        raise ProfileError(str(error), key="target") from None


def _learn(profile: Profile) -> None:
    """Have what is secret in the profile taken out of all that is logged and exported."""
    learn(profile.api_key)
    learn_address(profile.api_base)
    for line in profile.mcp_servers:
        for name, value in mcp_servers.read(line).values.items():
            if is_secret(name, value):
                learn(value)


def _first_words(messages: Sequence[Message]) -> str:
    """A title made of the first request; "" where there is none."""
    return next((title_of(message) for message in messages if message.role == "user"), "")
