"""The Python API: Open Interpreter's own, on the engine that drives the screen."""

from collections.abc import Generator, Iterator
from typing import Any, Literal, overload

from oi_tui.api_chunks import Chunk, ChunkWriter, confirmation, from_message, to_message
from oi_tui.api_chunks import display as show
from oi_tui.api_computer import ApiComputer
from oi_tui.engine.account import Account
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Run,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.function_model import Completions, FunctionModel
from oi_tui.engine.llm import Llm
from oi_tui.engine.model_client import ModelProcess
from oi_tui.engine.model_facts import KnownModels, ModelFacts
from oi_tui.engine.profile import Profile
from oi_tui.engine.secrets import Secrets
from oi_tui.engine.session import Session
from oi_tui.engine.store import Store
from oi_tui.lmc import LineReached, Message


class TurnError(RuntimeError):
    """The turn could not be finished; the message says why and what to change."""


class LlmSettings:
    """The model and how it is reached; every attribute may be set at any time."""

    def __init__(self, profile: Profile) -> None:
        self.model = profile.model
        self.api_base = profile.api_base
        self.api_key = profile.api_key
        self.api_version = profile.api_version
        self.temperature = profile.temperature
        self.context_window = profile.context_window
        self.max_tokens = profile.max_tokens
        self.max_budget = profile.max_budget
        self.supports_functions = profile.supports_functions
        self.supports_vision = profile.supports_vision
        #: A function that answers instead of a server: it gets `messages`, and of `model`, `stream`, `tools`,
        #: `max_tokens`, `temperature`, ... what it declares, and yields chunks of OpenAI's format, or text.
        self.completions: Completions | None = None

    def settings(self) -> dict[str, Any]:
        """What of it is in a profile."""
        return {name: value for name, value in vars(self).items() if name != "completions"}


class OpenInterpreter:
    """A conversation that writes and runs code.

    >>> interpreter = OpenInterpreter()
    >>> interpreter.llm.model = "ollama_chat/llama3.1"
    >>> for chunk in interpreter.chat("How large is this folder?", stream=True): ...

    Where `auto_run` is False, code waits for a decision: with `stream=True` taking the chunk after a
    `confirmation` runs the code, and closing the stream rejects it; without, the terminal is asked.
    """

    def __init__(self, profile: Profile | None = None, *, llm: Llm | None = None) -> None:
        self._profile = profile or Profile()
        program = self._profile.completions
        self._process = llm or ModelProcess(keys=Secrets().key_for, program=program)
        table = (
            self._process.facts if isinstance(self._process, ModelProcess) else lambda _model: ModelFacts()
        )
        self._known = KnownModels(table)
        self._account = Account()
        self.llm = LlmSettings(self._profile)
        self.computer = ApiComputer(self._profile)
        self.auto_run = self._profile.auto_run
        self.custom_instructions = self._profile.custom_instructions
        self.system_message = self._profile.system_message
        self.max_output = self._profile.max_output
        #: The conversation so far, as LMC messages. It may be read, changed and replaced between turns.
        self.messages: list[Chunk] = []

    @overload
    def chat(self, message: str | Chunk | None = None, *, stream: Literal[True]) -> Iterator[Chunk]: ...
    @overload
    def chat(
        self, message: str | Chunk | None = None, *, display: bool = True, stream: Literal[False] = False
    ) -> list[Chunk]: ...
    def chat(
        self, message: str | Chunk | None = None, *, display: bool = True, stream: bool = False
    ) -> Iterator[Chunk] | list[Chunk]:
        """Say something and let the model work on it.

        With `stream` the chunks come as they are made. Without, the new messages are returned at the end, and
        with `display` the words, code and output are printed meanwhile. Raises TurnError when the model
        cannot be reached.
        """
        if stream:
            return self._stream(message)
        before = len(self.messages)
        chunks = self._stream(message)
        for chunk in chunks:
            if display:
                show(chunk)
            if chunk["type"] == "confirmation" and not (display and _approved()):
                chunks.close()
        return self.messages[before + (message is not None) :]

    def reset(self) -> None:
        """Forget the conversation and what the languages remember."""
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
        session = self._begin()
        prompt = to_message(message) if isinstance(message, dict) else message
        writer = ChunkWriter()
        kinds: dict[str, Message] = {}
        turn = session.turn(prompt)
        try:
            for event in turn:
                yield from self._chunks(event, writer, kinds)
                if isinstance(event, TurnEnded) and event.outcome == "failed":
                    raise TurnError(event.reason)
        except GeneratorExit:
            # Whoever closes the stream at the question rejects; the turn then comes to its own end.
            session.interrupt()
            for _ in turn:
                pass
            raise
        finally:
            self.messages = [from_message(each) for each in session.messages]

    def _begin(self) -> Session:
        self.computer.declare()
        profile = self._profile.with_changes(
            auto_run=self.auto_run,
            custom_instructions=self.custom_instructions,
            system_message=self.system_message,
            max_output=self.max_output,
            **self.llm.settings(),
        )
        messages = [to_message(each) for each in self.messages]
        runtimes = self.computer.runtimes
        journal = Store.unsaved(cwd=runtimes.cwd, model=profile.model)
        model: Llm = FunctionModel(self.llm.completions) if self.llm.completions else self._process
        known = model is self._process and isinstance(model, ModelProcess)
        facts = self._known.of if known else _nothing_known
        return Session(profile, model, runtimes, journal, messages, facts=facts, account=self._account)

    def _chunks(self, event: Event, writer: "ChunkWriter", kinds: dict[str, Message]) -> Iterator[Chunk]:
        match event:
            case MessageStarted(message):
                kinds[message.id] = message
            case MessageGrew(id, text) if (known := kinds.get(id)) and known.type != "reasoning":
                yield from writer.piece(known.role, known.type, known.format, text)
            case MessageRecorded(Message(type="image") as message):
                yield from writer.piece("computer", "image", message.format, message.content)
            case ApprovalRequested(message):
                yield from writer.end()
                yield confirmation(message)
                event.reply(Run(message.content))
            case MessageRecorded(Message(type="code", state="running")):
                yield from writer.end()
                yield from writer.start("computer", "console", None)
            case RunReported(_, LineReached(int() as line)):
                yield from writer.piece("computer", "console", "active_line", line)
            case MessageRecorded(Message(type="code", seconds=float())):
                yield from writer.piece("computer", "console", "active_line", None)
                yield from writer.end()
            case TurnEnded():
                yield from writer.end()


def _nothing_known(_model: object) -> ModelFacts:
    return ModelFacts()


def _approved() -> bool:
    """Ask in the terminal; no terminal, no approval."""
    try:
        return input("\nRun this code? (y/n) ").strip().lower() in ("y", "yes")
    except (EOFError, OSError):
        return False
