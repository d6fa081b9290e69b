"""The Python API: Open Interpreter's own, on the engine that drives the screen."""

import threading
from collections.abc import Generator, Iterable, Iterator
from typing import Any, ClassVar, Literal, overload

from oi_tui import log
from oi_tui.api.chunks import Chunk, ChunkWriter, confirmation, from_messages, to_message
from oi_tui.api.chunks import display as show
from oi_tui.api.computer import ApiComputer
from oi_tui.api.settings import ApiSettings, SettingGroup
from oi_tui.api.terminal import NoAnswerError, ProgramInput, approved
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    Reject,
    Run,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.llm import request_log
from oi_tui.engine.llm.base import Llm
from oi_tui.engine.llm.client import ModelProcess
from oi_tui.engine.llm.request_log import LoggedLlm
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.function_model import Completions, FunctionModel
from oi_tui.engine.models.model_info import KnownModels, ModelInfo
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.messages import InputRequested, LineReached, Message

_NOT_APPROVED = "This code was not run: it needs approval, and nobody could be asked."


class TurnError(RuntimeError):
    """The turn could not be finished. The message says why and what to change."""


class LlmSettings(SettingGroup):
    """The model and how it is reached. Every attribute can be set at any time."""

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

    >>> interpreter = OpenInterpreter(auto_run=True, max_budget=0.5)
    >>> interpreter.llm.model = "ollama_chat/llama3.1"
    >>> for chunk in interpreter.chat("How large is this folder?", stream=True): ...

    Its attributes, and those of `llm` and `computer`, are the settings of a profile. A wrong value raises
    ValueError. An unknown attribute, and one that has no effect here, raises AttributeError.

    When `auto_run` is False, or `safe_mode` asks about risky code, code waits for a decision. With
    `stream=True`, taking the chunk after a `confirmation` runs the code, and closing the stream rejects it.
    Without it, the question appears in the terminal. When nobody can be asked, chat() raises TurnError.

    A program that waits for input gets what is typed in the terminal. Without a terminal it gets the end of
    input.
    """

    _title = "interpreter"
    _own: ClassVar[frozenset[str]] = frozenset(
        {"_settings", "_process", "_known", "_account", "_turn", "_messages"}
    )
    llm: LlmSettings
    computer: ApiComputer

    def __init__(self, profile: Profile | None = None, *, llm: Llm | None = None, **settings: Any) -> None:
        if not isinstance(profile, Profile | None):
            raise TypeError(f"the profile must be a Profile, not {type(profile).__name__}")
        profile = profile or Profile()
        self._settings = ApiSettings(profile)
        self._messages: list[Chunk] = []
        self._process = llm or ModelProcess(keys=Secrets().key_for, program=profile.completions)
        table = self._process.facts if isinstance(self._process, ModelProcess) else lambda _model: ModelInfo()
        self._known = KnownModels(table)
        self._account = UsageTracker()
        self._turn = threading.Lock()
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
        """The conversation so far, as LMC messages. You may read, change and replace it between turns."""
        return self._messages

    @messages.setter
    def messages(self, messages: Iterable[Chunk]) -> None:
        found = list(messages)
        if wrong := [item for item in found if not isinstance(item, dict)]:
            raise TypeError(f"messages must be dictionaries, not {wrong[0]!r}")
        self._messages = found

    @overload
    def chat(self, message: str | Chunk | None = None, *, stream: Literal[True]) -> Iterator[Chunk]: ...
    @overload
    def chat(
        self, message: str | Chunk | None = None, *, display: bool = True, stream: Literal[False] = False
    ) -> list[Chunk]: ...
    def chat(
        self, message: str | Chunk | None = None, *, display: bool = True, stream: bool = False
    ) -> Iterator[Chunk] | list[Chunk]:
        """Send a message and let the model work on it.

        With `stream`, return an iterator of chunks. Otherwise return the new messages at the end, and with
        `display` print text, code and output meanwhile. Raises TurnError when the model cannot or must not
        be asked, and when code needs approval and nobody can give it.
        """
        if stream:
            return self._stream(message)
        before = len(self.messages)
        chunks = self._stream(message)
        for chunk in chunks:
            if display:
                show(chunk)
            if chunk["type"] == "confirmation":
                _confirm(chunks, display=display)
        return self.messages[before + (message is not None) :]

    def reset(self) -> None:
        """Clear the conversation and the variables of all languages."""
        self.computer.terminate()
        self.messages = []

    def close(self) -> None:
        """End the model process and all languages."""
        self.computer.runtimes.close()
        if isinstance(self._process, ModelProcess):
            self._process.close()

    def __enter__(self) -> "OpenInterpreter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stream(self, message: str | Chunk | None) -> Generator[Chunk, None, None]:
        if not self._turn.acquire(blocking=False):
            raise TurnError(
                "Another chat() of this OpenInterpreter is running. "
                "Wait for its end, close its stream, or use a second OpenInterpreter."
            )
        try:
            yield from self._one_turn(message)
        finally:
            self._turn.release()

    def _one_turn(self, message: str | Chunk | None) -> Generator[Chunk, None, None]:
        session = self._begin()
        prompt = to_message(message) if isinstance(message, dict) else message
        writer = ChunkWriter()
        kinds: dict[str, Message] = {}
        program_input = ProgramInput(session.send_input)
        turn = session.turn(prompt)
        try:
            for event in turn:
                yield from self._chunks(event, writer, kinds, program_input)
                if isinstance(event, TurnEnded) and (
                    event.outcome == "failed" or event.setting == "max_budget"
                ):
                    raise TurnError(event.reason)
        except (GeneratorExit, TurnError):
            # Whoever closes the stream at the question rejects it; the turn then comes to its own end.
            session.interrupt()
            for _ in turn:
                pass
            raise
        finally:
            self.messages = from_messages(session.messages)

    def _begin(self) -> Session:
        self.computer.declare()
        profile = self._settings.profile
        learn(profile.api_key)
        messages = [to_message(message) for message in self.messages]
        runtimes = self.computer.runtimes
        journal = Store.unsaved(cwd=runtimes.cwd, model=profile.model)
        model: Llm = FunctionModel(self.llm.completions) if self.llm.completions else self._process
        known = model is self._process and isinstance(model, ModelProcess)
        facts = self._known.of if known else _nothing_known
        logged = LoggedLlm(model)
        return Session(profile, logged, runtimes, journal, messages, facts=facts, account=self._account)

    def _changed(self, key: str) -> None:
        if key in ("verbose", "debug"):
            self._log()

    def _log(self) -> None:
        """Print what `verbose` and `debug` note, to standard error."""
        profile = self._settings.profile
        request_log.set_levels(verbose=profile.verbose, debug=profile.debug)
        log.print_lines(profile.verbose or profile.debug)

    def _chunks(
        self, event: Event, writer: ChunkWriter, kinds: dict[str, Message], program_input: ProgramInput
    ) -> Iterator[Chunk]:
        match event:
            case MessageStarted(message):
                kinds[message.id] = message
            case MessageGrew(id, text) if (known := kinds.get(id)) and known.type == "console":
                yield from writer.output(text)
            case MessageGrew(id, text) if (known := kinds.get(id)) and known.type != "reasoning":
                yield from writer.piece(known.role, known.type, known.format, text)
            case MessageRecorded(Message(type="image") as message):
                yield from writer.piece("computer", "image", message.format, message.content)
            case ApprovalRequested(message):
                yield from writer.end()
                try:
                    yield confirmation(message)
                except TurnError:
                    event.reply(Reject(_NOT_APPROVED, stop=True, by_person=False))
                    raise
                event.reply(Run(message.content))
            case RunReported(id, InputRequested() as request):
                if told := program_input.answer(request, id):
                    yield from writer.notice(told)
            case MessageRecorded(Message(type="code", state="running")):
                yield from writer.end()
                yield from writer.start("computer", "console", None)
            case RunReported(_, LineReached(int() as line)):
                yield from writer.piece("computer", "console", "active_line", line)
            case MessageRecorded(Message(type="code", seconds=float())):
                yield from writer.piece("computer", "console", "active_line", None)
                yield from writer.end()
            case Noticed(text):
                yield from writer.notice(text)
            case TurnEnded("paused", str(reason), setting) if setting != "max_budget":
                yield from writer.notice(reason)
            case TurnEnded():
                yield from writer.end()


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
    chunks.throw(
        TurnError(
            f"The code was not run: it needs approval, and {why}. Set auto_run=True to run code without "
            "approval, or use chat(..., stream=True) and answer each confirmation chunk."
        )
    )
