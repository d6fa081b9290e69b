"""The Python API: Open Interpreter's own, on the engine that drives the screen."""

import threading
import warnings
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

from oi_tui import log, profiles
from oi_tui.api import interactive
from oi_tui.api.computer import ApiComputer
from oi_tui.api.conversation_file import ConversationFile
from oi_tui.api.event_chunks import EventChunks
from oi_tui.api.finalizers import finalize
from oi_tui.api.notebook import display as show
from oi_tui.api.settings import ApiSettings, SettingGroup
from oi_tui.api.shared_model import POOL
from oi_tui.api.terminal import NoAnswerError, OnInput, ProgramInput, approved
from oi_tui.api.threads import BackgroundTurn, iterate
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.events import ApprovalRequested, Event, Reject, Run, RunReported, TurnEnded
from oi_tui.engine.llm import request_log
from oi_tui.engine.llm.base import Llm
from oi_tui.engine.llm.request_log import LoggedLlm
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.function_model import Completions, FunctionModel
from oi_tui.engine.models.model_info import KnownModels, ModelInfo
from oi_tui.engine.open_interpreter.chunks import Chunk, to_message
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.speech import Voice
from oi_tui.messages import InputRequested

#: What `chat` accepts: words, one message, or a whole conversation that replaces the one so far.
if TYPE_CHECKING:
    from oi_tui.api.server import Server

Prompt = str | Chunk | Sequence[Chunk] | None
#: Decides about code: by calling `run`, `edit` or `reject` of the question, or by returning True or False.
OnApproval = Callable[[ApprovalRequested], object]
_T = TypeVar("_T", Event, Chunk)
_F = TypeVar("_F")
_NOT_APPROVED = "This code was not run: it needs approval, and nobody could be asked."
_HOW_TO_APPROVE = (
    "Set auto_run=True to run code without approval, set on_approval to a function that decides, "
    "or use chat(..., stream=True) and answer each confirmation chunk."
)


class TurnError(RuntimeError):
    """The turn could not be finished. The message says why and what to change."""


class LlmSettings(SettingGroup):
    """The model and how it is reached. Every attribute can be set at any time.

    >>> from oi_tui import OpenInterpreter
    >>> interpreter = OpenInterpreter()
    >>> interpreter.llm.model = "ollama_chat/llama3.1"
    >>> interpreter.llm.temperature = 0
    """

    _title = "interpreter.llm"
    _prefix = "llm."
    _own: ClassVar[frozenset[str]] = frozenset({"_settings", "_completions"})

    def __init__(self, settings: ApiSettings) -> None:
        self._settings = settings
        self._completions: Completions | None = None

    @property
    def completions(self) -> Completions | None:
        """A function that answers instead of a server.

        It gets `messages`, and those of `model`, `stream`, `tools`, `max_tokens`, `temperature` and so on
        that it has as parameters. It yields text, or chunks in OpenAI's format.
        """
        return self._completions

    @completions.setter
    def completions(self, function: Completions | None) -> None:
        if function is not None and not callable(function):
            raise TypeError(f"llm.completions must be a function, not {function!r}")
        self._completions = function


class OpenInterpreter(SettingGroup):
    """A conversation that writes and runs code.

    >>> from oi_tui import OpenInterpreter
    >>> interpreter = OpenInterpreter(auto_run=True, max_budget=0.5)
    >>> interpreter.llm.model = "demo"
    >>> messages = interpreter.chat("Plot something", display=False)
    >>> messages[0]["role"]
    'assistant'
    >>> interpreter.close()

    `profile` is the name or the path of a profile; without it the default profile is used. Its settings, and
    those of `llm` and `computer`, are attributes. A wrong value raises ValueError, and an unknown attribute
    AttributeError. What Open Interpreter had and oi-tui does not have is accepted with a warning.

    When `auto_run` is False, or `safe_mode` asks about risky code, code waits for a decision. With
    `stream=True`, taking the chunk after a `confirmation` runs the code, and closing the stream rejects it.
    Without it, the question appears in the terminal. `on_approval`, a function, decides in your place. When
    nobody can be asked, chat() raises TurnError.

    A program that waits for input gets what `on_input` returns, else what is typed in the terminal. Without
    a terminal it gets the end of input.

    Conversations are saved unless `conversation_history` is False; `oi-tui --conversations` lists them.
    """

    _title = "interpreter"
    _own: ClassVar[frozenset[str]] = frozenset(
        {
            "_settings",
            "_brought",
            "_program",
            "_known",
            "_account",
            "_turn",
            "_messages",
            "_session",
            "_file",
            "_lease",
            "_background",
            "_voice",
            "last_messages_count",
            "_on_approval",
        }
    )
    llm: LlmSettings
    computer: ApiComputer
    #: How many messages there were when the last turn began.
    last_messages_count: int

    def __init__(
        self,
        profile: Profile | str | Path | Sequence[Chunk] | None = None,
        *,
        llm: Llm | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(profile, list | tuple):
            # Open Interpreter's first argument is the list of messages.
            settings, profile = {"messages": profile, **settings}, None
        self._settings = ApiSettings(*_profile(profile))
        self._messages: list[Chunk] = []
        self.last_messages_count = 0
        self._on_approval: OnApproval | None = None
        self._brought = llm
        self._program: ModelProcess | None = None
        if llm is None and (program := self._settings.profile.completions):
            self._brought = self._program = ModelProcess(program=program)
        self._known = KnownModels(self._facts_of)
        self._account = UsageTracker()
        self._turn = threading.Lock()
        self._session: Session | None = None
        self._file = ConversationFile()
        self._background: BackgroundTurn | None = None
        self._voice = Voice()
        #: Names this interpreter to the pool of model processes; `id` may name another one later.
        self._lease = object()
        finalize(self, partial(POOL.release, self._lease))
        # `self.llm = ...` is refused, so that no limit is lost with the group.
        vars(self).update(llm=LlmSettings(self._settings), computer=ApiComputer(self._settings))
        for name, value in settings.items():
            try:
                setattr(self, name, value)
            except AttributeError as error:
                raise TypeError(str(error)) from None
        self._log()

    @property
    def messages(self) -> list[Chunk]:
        """The conversation so far, as LMC messages. You may read, change and replace it between turns.

        Messages in the form of Open Interpreter 0.1 (`message`, `code`, `output`) are read as well.
        """
        return self._messages

    @messages.setter
    def messages(self, messages: Iterable[Chunk]) -> None:
        self._messages = _checked(messages)

    @property
    def conversation_filename(self) -> str | None:
        """The name of the conversation in the list of conversations; None before the first turn."""
        return self._file.title or self._file.id

    @conversation_filename.setter
    def conversation_filename(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"conversation_filename must be a string, not {name!r}")
        self._file.forget()
        self._file.title = Path(name).name.removesuffix(".json") if name else ""

    @property
    def on_approval(self) -> OnApproval | None:
        """A function that decides about code; None asks in the terminal.

        It gets the question, and calls its `run()`, `edit(code)` or `reject(reason)`, or returns True or
        False.
        """
        return self._on_approval

    @on_approval.setter
    def on_approval(self, function: OnApproval | None) -> None:
        self._on_approval = _function("on_approval", function)

    @property
    def on_input(self) -> OnInput | None:
        """A function that answers programs that wait for input; None asks in the terminal.

        It gets the request, and returns a line, or None for the end of input.
        """
        return self._settings.on_input

    @on_input.setter
    def on_input(self, function: OnInput | None) -> None:
        self._settings.on_input = _function("on_input", function)

    @property
    def responding(self) -> bool:
        """Whether a turn is in progress."""
        return self._turn.locked()

    @overload
    def chat(
        self,
        message: Prompt = None,
        display: bool = True,
        stream: Literal[False] = False,
        blocking: Literal[True] = True,
        *,
        return_messages: bool = False,
    ) -> list[Chunk]: ...
    @overload
    def chat(
        self, message: Prompt = None, display: bool = True, *, stream: Literal[True], blocking: bool = True
    ) -> Generator[Chunk, None, None]: ...
    @overload
    def chat(
        self,
        message: Prompt = None,
        display: bool = True,
        stream: Literal[False] = False,
        *,
        blocking: Literal[False],
    ) -> None: ...
    def chat(
        self,
        message: Prompt = None,
        display: bool = True,
        stream: bool = False,
        blocking: bool = True,
        *,
        return_messages: bool = False,
    ) -> Generator[Chunk, None, None] | list[Chunk] | None:
        """Send a message and let the model work on it. Without a message, start an interactive session.

        `message` is a text, a message, or a list of messages that replaces the conversation. A list whose
        last message is code runs that code first; so does `None` with `display=False`.

        With `stream`, return an iterator of chunks. Otherwise return the new messages at the end (all of
        them with `return_messages`), and with `display` print text, code and output meanwhile. With
        `blocking=False`, return at once; `wait()` then returns the new messages. Raises TurnError when the
        model cannot or must not be asked, and when code needs approval and nobody can give it.
        """
        if stream:
            return self._stream(message)
        if not blocking:
            self._require_no_turn()
            self._background = BackgroundTurn(lambda: self._chat(message, display=display))
            return None
        if message is None and display:
            self._converse()
        else:
            self._chat(message, display=display)
        return self.messages if return_messages else self._new_messages()

    def achat(self, message: Prompt = None) -> AsyncIterator[Chunk]:
        """Like `chat(message, stream=True)` for asyncio. Cancelling the task stops the turn.

        >>> import asyncio
        >>> from oi_tui import OpenInterpreter
        >>> async def main():
        ...     with OpenInterpreter(model="demo", auto_run=True) as interpreter:
        ...         return [chunk async for chunk in interpreter.achat("Plot something")]
        >>> asyncio.run(main())[0]["role"]
        'assistant'
        """
        return iterate(self._stream(message), self.stop)

    def events(self, message: Prompt = None) -> Generator[Event, None, None]:
        """Work on a message and return what happens as typed events, which are frozen dataclasses.

        An `ApprovalRequested` must be answered before the next event is taken, with its `run()`,
        `edit(code)` or `reject(reason)`, unless `on_approval` does that. The last event is `TurnEnded`.

        >>> from oi_tui import OpenInterpreter
        >>> from oi_tui.engine.events import ApprovalRequested
        >>> with OpenInterpreter(model="demo") as interpreter:
        ...     for event in interpreter.events("Plot something"):
        ...         if isinstance(event, ApprovalRequested):
        ...             answered = event.reject("not now", stop=True)
        >>> event.outcome
        'rejected'
        """
        return self._guarded(lambda: self._events(message))

    def open_events(self, message: Prompt = None) -> Generator[Event, None, None]:
        """Like `events`, but nothing is answered: that may be done later, from another thread."""
        return self._guarded(lambda: self._turn_events(message))

    def propose(self, language: str, code: str) -> Generator[Event, None, None]:
        """Ask for code that another program wrote, and run it; the model does not see it."""
        return self._guarded(lambda: self._worked(lambda session: session.propose(language, code)))

    @property
    def server(self) -> "Server":
        """The server for this interpreter. Needs the extra `server`: `pip install "oi-tui[server]"`."""
        try:
            from oi_tui.api.server import Server
        except ModuleNotFoundError as missing:
            why = f'The server needs more packages: pip install "oi-tui[server]" ({missing.name} is missing)'
            raise ImportError(why) from None

        found: Server | None = vars(self).get("_server")
        if found is None:
            found = vars(self)["_server"] = Server(self)
        return found

    def wait(self) -> list[Chunk]:
        """Wait for the turn that `chat(blocking=False)` started. Returns its new messages.

        Raises what the turn raised.
        """
        if self._background:
            self._background.wait()
        return self._new_messages()

    def stop(self) -> None:
        """Stop the current turn, from any thread. Variables are kept."""
        if session := self._session:
            session.interrupt()

    def reset(self) -> None:
        """Clear the conversation and the variables of all languages. What was saved stays saved."""
        self.computer.terminate()
        self.messages = []
        self.last_messages_count = 0
        self._file.forget()
        self._file.title = ""

    def load(self, messages: Iterable[Chunk]) -> None:
        """Replace the conversation, as Open Interpreter 0.1 did."""
        self.messages = list(messages)

    def extend_config(self, config_path: str | Path) -> None:
        """Apply the settings of a profile on top of the current ones, as Open Interpreter 0.1 did."""
        found, _ = _profile(config_path)
        changes = {name: getattr(found, name) for name in found.origins}
        self._settings.profile = self._settings.profile.with_changes(**changes)

    def display_message(self, message: str) -> None:
        """Print a text to the person."""
        show({"role": "computer", "type": "message", "content": f"{message}\n"})

    def close(self) -> None:
        """End all languages, and the model process if no other interpreter uses it."""
        self.stop()
        self._voice.hush()
        self.computer.close()
        POOL.release(self._lease)
        if self._program:
            self._program.close()

    def __enter__(self) -> "OpenInterpreter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- Turns

    def _chat(self, message: Prompt, *, display: bool) -> None:
        chunks = self._stream(message)
        for chunk in chunks:
            if display:
                show(chunk)
            if chunk["type"] == "confirmation":
                _confirm(chunks, display=display)
        if self._settings.profile.speak_messages:
            said = [item for item in self._new_messages() if item["type"] == "message"]
            self._voice.say("\n".join(str(item["content"]) for item in said))

    def _converse(self) -> None:
        """Hold a conversation with whoever sits at the terminal."""
        self._require_no_turn()
        before = len(self.messages)
        journal, messages = self._opened()
        profile, runtimes = self._settings.profile, self.computer.runtimes
        if interactive.is_possible():
            with self._turn:
                model = self._brought or self._completing()
                found = interactive.run(profile, model, runtimes, (journal, messages), self.computer.earlier)
                self.messages = self._file.note(found)
        else:
            for words in interactive.lines():
                self._chat(words, display=True)
        self.last_messages_count = before

    def _new_messages(self) -> list[Chunk]:
        return self.messages[self.last_messages_count :]

    def _require_no_turn(self) -> None:
        if self._turn.locked():
            raise TurnError(
                "Another chat() of this OpenInterpreter is running. "
                "Wait for its end, close its stream, or use a second OpenInterpreter."
            )

    def _guarded(self, work: Callable[[], Iterator[_T]]) -> Generator[_T, None, None]:
        """Do the work unless another turn is in progress. Raises TurnError."""
        if not self._turn.acquire(blocking=False):
            self._require_no_turn()
        try:
            yield from work()
        finally:
            self._turn.release()

    def _stream(self, message: Prompt) -> Generator[Chunk, None, None]:
        return self._guarded(lambda: self._chunks(message))

    def _chunks(self, message: Prompt) -> Iterator[Chunk]:
        with closing(self._turn_events(message)) as events:
            yield from self._translated(events)

    def _translated(self, events: Iterator[Event]) -> Iterator[Chunk]:
        translated = EventChunks(self._program_input())
        for event in events:
            decided = isinstance(event, ApprovalRequested) and event.answered
            for chunk in () if decided else translated.of(event):
                try:
                    yield chunk
                except TurnError:
                    if isinstance(event, ApprovalRequested):
                        event.reply(Reject(_NOT_APPROVED, stop=True, by_person=False))
                    raise
            if isinstance(event, ApprovalRequested):
                event.reply(Run(event.message.content))

    def _events(self, message: Prompt) -> Iterator[Event]:
        with closing(self._turn_events(message)) as events:
            yield from self._answered(events)

    def _answered(self, events: Iterator[Event]) -> Iterator[Event]:
        """Pass events on, and see that questions and programs that wait for input are answered."""
        program_input = self._program_input()
        for event in events:
            yield event
            if isinstance(event, ApprovalRequested) and not event.answered:
                event.reply(Reject(_NOT_APPROVED, stop=True, by_person=False))
                raise TurnError(
                    "The question was not answered: call its run(), edit(code) or reject(reason)."
                )
            if isinstance(event, RunReported) and isinstance(event.report, InputRequested):
                program_input.answer(event.report, event.id)

    def _turn_events(self, message: Prompt) -> Generator[Event, None, None]:
        """Work on a turn; its questions are put to `on_approval`. Raises TurnError where it fails."""
        prompt = self._prompt(message)
        return self._worked(lambda session: session.turn(prompt, run_last=prompt is None))

    def _worked(self, work: Callable[[Session], Iterator[Event]]) -> Generator[Event, None, None]:
        session = self._begin()
        turn = work(session)
        try:
            for event in turn:
                if isinstance(event, ApprovalRequested) and self.on_approval:
                    self._decide(event, self.on_approval)
                yield event
                if isinstance(event, TurnEnded) and (
                    event.outcome == "failed" or event.setting == "max_budget"
                ):
                    raise TurnError(event.reason)
        finally:
            # Whoever closes the stream at the question rejects it; the turn then comes to its own end.
            session.interrupt()
            for _ in turn:
                pass
            self.messages = self._file.note(session.messages)
            self._session = None

    def _decide(self, question: ApprovalRequested, decide: OnApproval) -> None:
        """Have a function decide. Raises what it raises, and TurnError where it does not decide."""
        try:
            answer = decide(question)
            if isinstance(answer, bool) and not question.answered:
                _ = question.run() if answer else question.reject()
            if not question.answered:
                raise TurnError(
                    "on_approval did not decide: call run(), edit(code) or reject(reason) of the question, "
                    "or return True or False."
                )
        finally:
            question.reply(Reject(_NOT_APPROVED, stop=True, by_person=False))

    def _program_input(self) -> ProgramInput:
        return ProgramInput(lambda text: self.computer.runtimes.send_input(text), self.on_input)

    def _prompt(self, message: Prompt) -> Any:
        """Apply what `chat` was given. Returns the message of the person, None where there is no new one."""
        if isinstance(message, list | tuple):
            self.messages = list(message)
        elif not isinstance(message, str | dict | None):
            raise TypeError(
                f"chat() takes a text, a message or a list of messages, not {type(message).__name__}"
            )
        is_new = isinstance(message, str | dict)
        self.last_messages_count = len(self.messages) + is_new
        return to_message(message) if isinstance(message, dict) else message if is_new else None

    def _opened(self) -> Any:
        self.computer.declare()
        return self._file.open(self.messages, self._settings.profile, self.computer.runtimes.cwd)

    def _begin(self) -> Session:
        profile = self._settings.profile
        journal, messages = self._opened()
        learn(profile.api_key)
        model: Llm = self._completing() or self._brought or POOL.lease(self._lease)
        facts = self._known.of if isinstance(model, ModelProcess) else _nothing_known
        runtimes = self.computer.runtimes
        self._session = Session(
            profile,
            LoggedLlm(model),
            runtimes,
            journal,
            messages,
            facts=facts,
            account=self._account,
            earlier=self.computer.earlier,
        )
        return self._session

    def _completing(self) -> Llm | None:
        return FunctionModel(self.llm.completions) if self.llm.completions else None

    def _facts_of(self, model: str) -> ModelInfo | None:
        process = self._brought or POOL.lease(self._lease)
        return process.facts(model) if isinstance(process, ModelProcess) else ModelInfo()

    def _changed(self, key: str) -> None:
        if key in ("verbose", "debug"):
            self._log()

    def _log(self) -> None:
        """Print what `verbose` and `debug` note, to standard error."""
        profile = self._settings.profile
        request_log.set_levels(verbose=profile.verbose, debug=profile.debug)
        log.print_lines(profile.verbose or profile.debug)


def _function(name: str, value: _F) -> _F:
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function or None, not {value!r}")
    return value


def _profile(given: object) -> tuple[Profile, Path | None]:
    """Return the profile that is given, named or the default one, and the folder of its file.

    Raises ProfileError or OSError.
    """
    if isinstance(given, Profile):
        return given, None
    if not isinstance(given, str | Path | None):
        raise TypeError(f"the profile must be a name, a path or a Profile, not {type(given).__name__}")
    name = str(given.absolute()) if isinstance(given, Path) else given
    profile, path = profiles.open_profile(name, write=False)
    profile = profile.with_environment()
    for line in profile.unknown:
        warnings.warn(f"profile: {line}", stacklevel=3)
    return profile, path.parent if path else None


def _checked(messages: Iterable[Chunk]) -> list[Chunk]:
    found = list(messages)
    if wrong := [item for item in found if not isinstance(item, dict)]:
        raise TypeError(f"messages must be dictionaries, not {wrong[0]!r}")
    return found


def _nothing_known(_model: object) -> ModelInfo:
    return ModelInfo()


def _confirm(chunks: Generator[Chunk, None, None], *, display: bool) -> None:
    """Answer the question that the chunks stopped at; one that nobody can answer raises TurnError."""
    why = "display=False disables questions"
    if display:
        try:
            if not approved():
                chunks.close()
            return
        except NoAnswerError as error:
            why = f"standard input could not be read ({error})"
    chunks.throw(TurnError(f"The code was not run: it needs approval, and {why}. {_HOW_TO_APPROVE}"))
