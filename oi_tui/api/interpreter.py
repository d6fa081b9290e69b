"""The Python API: Open Interpreter's attributes and methods, on the engine of the application."""

import inspect
import warnings
import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from oi_tui import log, paths, profiles
from oi_tui.api.computer import ApiComputer
from oi_tui.api.llm_settings import LlmSettings
from oi_tui.api.model import ApiModel
from oi_tui.api.model_reply import ask_as_openai, reply_chunks
from oi_tui.api.notebook import NotebookDisplay, NotebookQuestion
from oi_tui.api.settings import ApiSettings, SettingGroup
from oi_tui.api.terminal import NoInputError, OnInput, ask_approval
from oi_tui.api.threads import BackgroundTurn
from oi_tui.api.turns import OnApproval, Prompt, TurnError, Turns
from oi_tui.engine.events import Event
from oi_tui.engine.llm import request_log
from oi_tui.engine.llm.base import Llm
from oi_tui.engine.models import local_servers
from oi_tui.engine.open_interpreter.chunks import Chunk
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.speech import Voice
from oi_tui.system.extras import need_extra
from oi_tui.system.host_program import require_python

if TYPE_CHECKING:
    from oi_tui.api.server import Server

__all__ = ["LlmSettings", "OpenInterpreter", "TurnError"]

_F = TypeVar("_F")
_HOW_TO_APPROVE = (
    "Set auto_run=True to run code without approval, set on_approval to a function that decides, "
    "or use chat(..., stream=True, display=False) and answer each confirmation chunk."
)


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
    those of `llm` and `computer`, are attributes. `llm` of another OpenInterpreter gives this one the same
    model settings. A wrong value raises ValueError, and an unknown attribute
    AttributeError. What Open Interpreter had and oi-tui does not have is accepted with a warning.

    When `auto_run` is False, or `safe_mode` asks about risky code, code waits for a decision. The question
    appears in the terminal, or `on_approval`, a function, decides in your place. With `stream=True` and
    `display=False`, taking the chunk after a `confirmation` runs the code, and closing the stream rejects it.
    When nobody can be asked, chat() raises TurnError.

    A program that waits for input gets what `on_input` returns, else what is typed in the terminal. Without
    a terminal it gets the end of input.

    Conversations are saved unless `conversation_history` is False; `oi-tui --conversations` lists them.
    """

    _oi_title = "interpreter"
    llm: LlmSettings
    computer: ApiComputer
    if TYPE_CHECKING:
        always_apply_user_message_template: bool
        auto_run: bool
        code_output_sender: str
        code_output_template: str
        contribute_conversation: bool
        conversation_history: bool
        conversation_history_path: str
        custom_instructions: str
        debug: bool
        disable_telemetry: bool
        empty_code_output_template: str
        fast: bool
        highlight_active_line: bool
        keep_running: str
        keep_running_days: float
        local: bool
        loop: bool
        loop_breakers: list[str]
        loop_message: str
        max_output: int
        mcp_servers: tuple[str, ...]
        multi_line: bool
        offline: bool
        os: bool
        pass_environment: tuple[str, ...]
        python: str | None
        safe_mode: str
        sandbox: bool
        sandbox_disk: float | None
        sandbox_hosts: tuple[str, ...]
        sandbox_memory: float | None
        sandbox_processes: int | None
        sandbox_time: float | None
        sandbox_writable: tuple[str, ...]
        share_keys: bool
        shell: str | None
        shrink_images: bool
        speak_messages: bool
        system_message: str
        target: str
        unmasked_screen: bool
        user_message_template: str
        verbose: bool

    def __init__(
        self,
        profile: Profile | str | Path | Sequence[Chunk] | None = None,
        *,
        llm: Llm | LlmSettings | None = None,
        **settings: Any,
    ) -> None:
        require_python()
        if isinstance(profile, list | tuple):
            # Open Interpreter's first argument is the list of messages.
            settings, profile = {"messages": profile, **settings}, None
        self._oi_settings = ApiSettings(*_find_profile(profile))
        llm_settings = LlmSettings(self._oi_settings, _ModelAccess(weakref.ref(self)))
        if isinstance(llm, LlmSettings):
            llm_settings.take_over(llm)
            llm = None
        elif llm is not None and not callable(getattr(llm, "reply", None)):
            raise TypeError(f"llm must be the llm of an OpenInterpreter or have a method reply, not {llm!r}")
        self._oi_model = ApiModel(self._oi_settings, llm_settings, llm)
        computer = ApiComputer(self._oi_settings, self._oi_model)
        self._oi_turns = Turns(self._oi_settings, computer, self._oi_model)
        computer.stop_with(self._oi_turns.stop)
        self._oi_background: BackgroundTurn | None = None
        self._oi_voice = Voice()
        self._oi_question = NotebookQuestion()
        # `self.llm = ...` is refused, so that no limit is lost with the group.
        vars(self).update(llm=llm_settings, computer=computer)
        for name, value in settings.items():
            if value is None and name in ("messages", "computer"):
                # What Open Interpreter has as the default of these two.
                continue
            try:
                setattr(self, name, value)
            except AttributeError as error:
                raise TypeError(str(error)) from None
        self._oi_log()

    @property
    def messages(self) -> list[Chunk]:
        """The conversation so far, as LMC messages. You may read, change and replace it between turns.

        Messages in the form of Open Interpreter 0.1 (`message`, `code`, `output`) are read as well.
        """
        return self._oi_turns.messages

    @messages.setter
    def messages(self, messages: Iterable[Chunk]) -> None:
        self._oi_turns.messages = messages

    @property
    def last_messages_count(self) -> int:
        """How many messages there were when the last turn began."""
        return self._oi_turns.new_from

    @last_messages_count.setter
    def last_messages_count(self, count: int) -> None:
        self._oi_turns.new_from = count

    @property
    def conversation_filename(self) -> str | None:
        """The name of the conversation in the list of conversations; None before the first turn.

        With a name such as "talk.json", the messages are also written to that file in
        `conversation_history_path` after each turn, as a JSON list.
        """
        file = self._oi_turns.file
        return file.name or file.title or file.id

    @conversation_filename.setter
    def conversation_filename(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"conversation_filename must be a string, not {name!r}")
        if name != self.conversation_filename:
            # A script that gives all settings back as it read them does not begin another conversation.
            self._oi_turns.file.call(name or "")

    @property
    def on_approval(self) -> OnApproval | None:
        """A function that decides about code; None asks in the terminal.

        It gets the question, and calls its `run()`, `edit(code)` or `reject(reason)`, or returns True or
        False.
        """
        return self._oi_turns.on_approval

    @on_approval.setter
    def on_approval(self, function: OnApproval | None) -> None:
        self._oi_turns.on_approval = _require_function("on_approval", function)

    @property
    def on_input(self) -> OnInput | None:
        """A function that answers programs that wait for input; None asks in the terminal.

        It gets the request, and returns a line, or None for the end of input.
        """
        return self._oi_settings.on_input

    @on_input.setter
    def on_input(self, function: OnInput | None) -> None:
        self._oi_settings.on_input = _require_function("on_input", function)

    @property
    def responding(self) -> bool:
        """Whether a turn is in progress."""
        return self._oi_turns.is_working

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
        self, message: Prompt, display: bool, stream: Literal[True], blocking: bool = True
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
    @overload
    def chat(
        self,
        message: Prompt = None,
        display: bool = True,
        stream: bool = False,
        blocking: bool = True,
        *,
        return_messages: bool = False,
    ) -> Generator[Chunk, None, None] | list[Chunk] | None: ...
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
        them with `return_messages`). With `display`, print text, code and output meanwhile, and ask in the
        terminal about code; without it, whoever takes the chunks decides. With
        `blocking=False`, return at once; `wait()` then returns the new messages. Raises TurnError when the
        model cannot or must not be asked, and when code needs approval and nobody can give it.
        """
        if stream:
            if not display:
                return self._oi_turns.chunks(message)
            return self._oi_ask(message, display=True)
        if not blocking:
            self._oi_turns.require_none()
            self._oi_background = BackgroundTurn(
                lambda begun: self._oi_chat(message, display=display, begun=begun)
            )
            return None
        if message is None and display:
            self._oi_turns.converse(lambda words: self._oi_chat(words, display=True))
        else:
            self._oi_chat(message, display=display)
        return self.messages if return_messages else self._oi_turns.new_messages

    def achat(self, message: Prompt = None) -> AsyncGenerator[Chunk, None]:
        """Do what `chat(message, stream=True, display=False)` does,
        for asyncio. Cancelling the task stops the turn.

        >>> import asyncio
        >>> from oi_tui import OpenInterpreter
        >>> async def main():
        ...     with OpenInterpreter(model="demo", auto_run=True) as interpreter:
        ...         return [chunk async for chunk in interpreter.achat("Plot something")]
        >>> asyncio.run(main())[0]["role"]
        'assistant'
        """
        return self._oi_turns.async_streams.iterate(self._oi_turns.chunks(message), self.stop)

    def events(self, message: Prompt = None) -> Generator[Event, None, None]:
        """Work on a message and return what happens as typed events, which are frozen dataclasses.

        An `ApprovalRequested` must be answered before the next event is taken, with its `run()`,
        `edit(code)` or `reject(reason)`, unless `on_approval` does that. The last event is `TurnEnded`.

        >>> from oi_tui import OpenInterpreter
        >>> from oi_tui.engine.events import ApprovalRequested, TurnEnded
        >>> with OpenInterpreter(model="demo") as interpreter:
        ...     for event in interpreter.events("Plot something"):
        ...         if isinstance(event, ApprovalRequested):
        ...             answered = event.reject("not now", stop=True)
        ...         elif isinstance(event, TurnEnded):
        ...             print(event.outcome)
        rejected
        """
        return self._oi_turns.events(message)

    def open_events(self, message: Prompt = None) -> Generator[Event, None, None]:
        """Yield events as `events` does, but answer nothing: that may be done later, from another thread."""
        return self._oi_turns.open_events(message)

    def propose(self, language: str, code: str) -> Generator[Event, None, None]:
        """Ask for code that another program wrote, and run it; the model does not see it."""
        return self._oi_turns.propose(language, code)

    @property
    def server(self) -> "Server":
        """The server for this interpreter. Needs the extra `server`: `pip install "oi-tui[server]"`."""
        with need_extra("server", "The server", ("starlette", "uvicorn", "websockets", "h11")):
            from oi_tui.api.server import Server
        server: Server | None = vars(self).get("_oi_server")
        if server is None:
            server = vars(self)["_oi_server"] = Server(self)
        return server

    def wait(self) -> list[Chunk]:
        """Wait for the turn that `chat(blocking=False)` started. Returns its new messages.

        Raises what the turn raised, and TurnError in a notebook where the turn waits for a click.
        """
        question = self._oi_question
        if self._oi_background and not self._oi_background.wait(lambda: question.waits_for_a_click):
            raise TurnError("The code waits for your answer: click Run or Reject, then call wait() again.")
        return self._oi_turns.new_messages

    def stop(self) -> None:
        """Stop the current turn, from any thread. Variables are kept."""
        self._oi_turns.stop()
        self._oi_question.withdraw()

    def reset(self) -> None:
        """Clear the conversation and the variables of all languages. What was saved stays saved.

        A turn that is in progress in another thread is stopped. A stream that this thread reads ends.
        """
        self.stop()
        self._oi_turns.leave_stream()
        self.computer.terminate()
        self.messages = []
        self.last_messages_count = 0
        self._oi_turns.file.call("")

    def load(self, messages: Iterable[Chunk]) -> None:
        """Replace the conversation, as Open Interpreter 0.1 did."""
        self.messages = list(messages)

    def extend_config(self, config_path: str | Path) -> None:
        """Apply the settings of a profile on top of the current ones, as Open Interpreter 0.1 did."""
        profile, _ = _find_profile(config_path)
        changes = {name: getattr(profile, name) for name in profile.origins}
        self._oi_settings.change(**changes)

    def local_setup(self) -> None:
        """Use the first model that a server on this machine has, and print its name.

        Raises TurnError, with ways to get a model, if there is none.
        """
        models = local_servers.find()
        if not models:
            raise TurnError(
                "\n".join(("No server on this machine has a model.", *local_servers.list_hints()))
            )
        model = models[0]
        self._oi_settings.change(model=model.model, api_base=model.api_base)
        self.display_message(f"The model is {model.model} ({model.server} at {model.api_base}).")

    def display_message(self, message: str) -> None:
        """Print a text to the person."""
        NotebookDisplay().show({"role": "computer", "type": "message", "content": f"{message}\n"})

    def get_oi_dir(self) -> str:
        """Return the folder of the profiles and other settings.

        >>> import os
        >>> from oi_tui import OpenInterpreter
        >>> with OpenInterpreter() as interpreter:
        ...     os.path.isabs(interpreter.get_oi_dir())
        True
        """
        return str(paths.config())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} model={self.llm.model!r} messages={len(self.messages)}>"

    def close(self) -> None:
        """End all languages, and the model process if no other interpreter uses it."""
        self.stop()
        self._oi_voice.stop()
        self.computer.close()
        self._oi_model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- Turns

    def _respond_and_store(self) -> Generator[Chunk, None, None]:
        """Continue the conversation. It is internal in Open Interpreter, but scripts call it."""
        return self._oi_turns.chunks(None)

    def _oi_ask(
        self, message: Prompt, *, display: bool, begun: Callable[[], None] | None = None
    ) -> Generator[Chunk, None, None]:
        """Yield the chunks of a turn, print them with `display`, and have the person decide about code."""

        def begin() -> None:
            self._oi_question.begin_turn()
            if begun:
                begun()

        screen = NotebookDisplay()
        chunks = self._oi_turns.chunks(message, begin)
        with closing(chunks):
            for chunk in chunks:
                if display:
                    screen.show(chunk)
                yield chunk
                if chunk["type"] == "confirmation":
                    _confirm(chunks, self._oi_question, display=display)

    def _oi_chat(self, message: Prompt, *, display: bool, begun: Callable[[], None] | None = None) -> None:
        for _ in self._oi_ask(message, display=display, begun=begun):
            pass
        if self._oi_settings.profile.speak_messages:
            replies = [item for item in self._oi_turns.new_messages if item["type"] == "message"]
            self._oi_voice.say("\n".join(str(item["content"]) for item in replies))

    def _oi_apply_change(self, key: str) -> None:
        if key in ("verbose", "debug"):
            self._oi_log()

    def _oi_log(self) -> None:
        """Print what `verbose` and `debug` note, to standard error."""
        profile = self._oi_settings.profile
        request_log.set_levels(verbose=profile.verbose, debug=profile.debug)
        log.print_lines(profile.verbose or profile.debug)


class _ModelAccess:
    """Asks the model of an interpreter, without keeping the interpreter alive."""

    def __init__(self, interpreter: "weakref.ref[OpenInterpreter]") -> None:
        self._interpreter = interpreter

    def load(self) -> None:
        """Start the model process."""
        if interpreter := self._interpreter():
            interpreter._oi_model.load()

    def reply(self, messages: Iterable[Chunk]) -> Iterator[Chunk]:
        """Ask for one reply to these messages."""
        interpreter = self._found()
        return reply_chunks(
            messages, interpreter._oi_settings.profile, interpreter.computer, interpreter._oi_model
        )

    def complete(self, parameters: dict[str, Any]) -> Iterator[Any]:
        """Ask the model itself, with LiteLLM's parameters."""
        interpreter = self._found()
        return ask_as_openai(parameters, interpreter._oi_settings.profile, interpreter._oi_model)

    def conversation(self) -> list[Chunk]:
        """Return the messages of the conversation so far."""
        return self._found().messages

    def _found(self) -> OpenInterpreter:
        if (interpreter := self._interpreter()) is None:
            raise ReferenceError("the OpenInterpreter of this model does not exist any more")
        return interpreter


def _require_function(name: str, value: _F) -> _F:
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function or None, not {value!r}")
    if inspect.iscoroutinefunction(value):
        raise TypeError(
            f"{name} must be a plain function, because an async one is not awaited. With achat(), it may "
            "call asyncio.run_coroutine_threadsafe(...).result()"
        )
    return value


def _find_profile(given: object) -> tuple[Profile, Path | None]:
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
    for line in (*(f"profile: {line}" for line in profile.unknown), *profile.notes):
        warnings.warn(line, stacklevel=3)
    return profile, path.parent if path else None


def _confirm(chunks: Generator[Chunk, None, None], question: NotebookQuestion, *, display: bool) -> None:
    """Answer the question that the chunks stopped at; one that nobody can answer raises TurnError."""
    why = "display=False disables questions"
    if display:
        try:
            answer = question.ask()
            if not (ask_approval() if answer is None else answer):
                chunks.close()
            return
        except NoInputError as error:
            why = f"standard input could not be read ({error})"
    chunks.throw(TurnError(f"The code was not run: it needs approval, and {why}. {_HOW_TO_APPROVE}"))
