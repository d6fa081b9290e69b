"""The server of an interpreter: `interpreter.server.run()`, as in Open Interpreter."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from oi_tui.computer import ComputerError
from oi_tui.engine.events import ApprovalRequested, Event, MessageRecorded, TurnEnded
from oi_tui.engine.open_interpreter.chunks import convert_message, to_message
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.session import Prompt
from oi_tui.engine.settings.profile import list_settings
from oi_tui.engine.storage.listing import Summary
from oi_tui.engine.storage.store import NoConversationError
from oi_tui.messages import Message
from oi_tui.server import serve
from oi_tui.server.application import Application
from oi_tui.server.backend import PRIVATE, NoAnswerError, flatten
from oi_tui.server.options import ServerOptions, read_environment
from oi_tui.services.languages import Languages
from oi_tui.text import clean_line

_KEYS = frozenset(setting.key for setting in list_settings())


class HostedInterpreter(Protocol):
    """What the server needs of an interpreter."""

    messages: Any
    computer: Any
    auto_run: bool

    def open_events(self, message: Any = None) -> Iterator[Event]:
        """Work on a message."""

    def propose(self, language: str, code: str) -> Iterator[Event]:
        """Ask for code, and run it."""

    def stop(self) -> None:
        """Stop the turn."""

    def close(self) -> None:
        """End everything."""


class InterpreterBackend:
    """An interpreter as the server's conversation. `own` says that the server made it, and closes it."""

    def __init__(self, interpreter: HostedInterpreter, *, own: bool) -> None:
        self._interpreter = interpreter
        self._own = own
        #: The messages of the turn in progress, as they stand.
        self._before: list[Message] = []
        self._recorded: dict[str, Message] | None = None

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""
        if (recorded := self._recorded) is not None:
            return [*self._before, *recorded.values()]
        return [to_message(chunk) for chunk in self._interpreter.messages]

    @property
    def conversation(self) -> str:
        """Always "": the program that owns the interpreter decides what is saved."""
        return ""

    @property
    def title(self) -> str:
        """The first words of the conversation."""
        return next((m.content for m in self.messages if m.role == "user" and m.type == "message"), "")

    @property
    def computer(self) -> Languages:
        """The languages."""
        runtimes: Languages = self._interpreter.computer.runtimes
        return runtimes

    def turn(self, prompt: Prompt) -> Iterator[Event]:
        """Work on a message, or on several."""
        if isinstance(prompt, Message):
            prompt = [prompt]
        if isinstance(prompt, Sequence) and not isinstance(prompt, str):
            *earlier, last = map(convert_message, prompt)
            self._interpreter.messages = [*self._interpreter.messages, *earlier]
            return self._follow_events(self._interpreter.open_events(last))
        return self._follow_events(self._interpreter.open_events(prompt() if callable(prompt) else prompt))

    def propose(self, language: str, code: str) -> Iterator[Event]:
        """Ask for code of another program, and run it."""
        return self._follow_events(self._interpreter.propose(language, code))

    def _follow_events(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the events. Wait for the answer to a question, and report once what ended the turn."""
        self._before, self._recorded = list(self.messages), {}
        ended = False
        try:
            for event in events:
                ended = isinstance(event, TurnEnded)
                if isinstance(event, MessageRecorded):
                    self._recorded[event.message.id] = event.message
                yield event
                if isinstance(event, ApprovalRequested):
                    event.answer.wait()
        except RuntimeError:
            if not ended:
                raise
        finally:
            self._recorded = None

    def ask(self, text: str) -> str:
        """Ask the model outside of the conversation; blocks while it answers. Raises NoAnswerError."""
        try:
            return str(self._interpreter.computer.ai.chat(text))
        except ComputerError as problem:
            raise NoAnswerError(str(problem)) from None

    def scan(self, language: str, code: str) -> Findings:
        """Return what the scan finds in code."""
        earlier = self._interpreter.computer.earlier
        return scan_code(self.computer.resolve(language) or language, code, self.computer.cwd, earlier)

    def interrupt(self) -> None:
        """Stop what is in progress."""
        self._interpreter.stop()

    def send_input(self, text: str) -> None:
        """Type to the running program."""
        self.computer.send_input(text)

    def read_setting(self, name: str) -> Any:
        """Return a setting. Raises KeyError."""
        if name == "messages":
            return self._interpreter.messages
        if name not in _KEYS or name in PRIVATE:
            raise KeyError(name)
        place, attribute = self._place(name)
        try:
            return getattr(place, attribute)
        except AttributeError:
            raise KeyError(name) from None

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change settings, and `messages`. Raises KeyError, ValueError, TypeError or AttributeError."""
        values = flatten(changes)
        if unknown := values.keys() - {*_KEYS, "messages"}:
            raise KeyError(min(unknown))
        for key, value in values.items():
            place, attribute = self._place(key)
            setattr(place, attribute, value)

    def search_saved(self, words: str) -> Sequence[Summary]:  # noqa: ARG002
        """Return nothing: the program that owns the interpreter decides what is opened."""
        return ()

    def resume(self, id: str) -> None:
        """Refuse it, for the same reason. Raises StoreError."""
        raise NoConversationError(f"There is no conversation {clean_line(id, 40)}.")

    def _place(self, key: str) -> tuple[Any, str]:
        group, dot, attribute = key.rpartition(".")
        return (getattr(self._interpreter, group) if dot else self._interpreter), attribute

    def close(self) -> None:
        """End everything that the server made."""
        if self._own:
            self._interpreter.close()


class Server:
    """Serves an interpreter, on this machine only and with a token unless the arguments change that.

    `app` is a Starlette application, to which routes can be added, and which other web servers can run. The
    check of token, Host and Origin is a part of it.
    """

    def __init__(self, interpreter: HostedInterpreter) -> None:
        self._interpreter = interpreter
        self._used = False
        self.options = ServerOptions(**read_environment())
        #: Every route of the application, also one that is added, needs the token.
        self.app = Application(self._make, self.options)
        self.app.announce = self._announce

    @property
    def token(self) -> str:
        """What clients send as `Authorization: Bearer TOKEN` or `X-API-KEY: TOKEN`."""
        return self.options.token

    @property
    def host(self) -> str:
        """The address at which `run` listens."""
        return self.options.host

    @host.setter
    def host(self, host: str) -> None:
        self.options = replace(self.options, host=host)

    @property
    def port(self) -> int:
        """The port at which `run` listens."""
        return self.options.port

    @port.setter
    def port(self, port: int) -> None:
        self.options = replace(self.options, port=port)

    def __call__(self, host: str | None = None, port: int | None = None) -> None:
        """Do the same as `run`."""
        self.run(host, port)

    def run(self, host: str | None = None, port: int | None = None) -> None:
        """Serve until ctrl+c. Raises ValueError for an address that cannot be used."""
        changes = {"host": host, "port": port}
        overrides: Any = {name: value for name, value in changes.items() if value is not None}
        options = replace(self.options, **overrides)
        listening = serve.listen(options)
        options = self.options = serve.add_port(options, listening)
        self.app.use(options)
        serve.serve(self.app, options, listening)

    def _announce(self) -> None:
        print(serve.make_greeting(self.options, auto_run=self._interpreter.auto_run), flush=True)  # noqa: T201

    def _make(self) -> InterpreterBackend:
        """Return the interpreter for the first session, another one with defaults
        for each session after it.
        """
        if not self._used:
            self._used = True
            return InterpreterBackend(self._interpreter, own=False)
        return InterpreterBackend(type(self._interpreter)(), own=True)
