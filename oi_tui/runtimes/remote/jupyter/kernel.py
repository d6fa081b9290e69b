"""A Jupyter kernel as a target: that of an open notebook, or one behind a Jupyter server."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from oi_tui.messages import (
    CLEAR_OUTPUT,
    Displayed,
    InputReceived,
    InputRequested,
    Printed,
    Report,
    RunEnded,
    Started,
    Starting,
    Stopping,
    VariablesLost,
)
from oi_tui.runtimes.completions import CompletionSet
from oi_tui.runtimes.language import Language, Start
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.remote.jupyter.kernel_client import (
    FileClient,
    KernelClient,
    Message,
    belongs_to,
    receive_arrived,
    request_info,
)
from oi_tui.runtimes.remote.target import Target
from oi_tui.runtimes.variables import Detail, Memory

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.askpass import Ask
    from oi_tui.runtimes.remote.connecting import StopSignal
    from oi_tui.runtimes.remote.files import TargetFiles
    from oi_tui.runtimes.remote.jupyter.jupyter_server import FindToken
    from oi_tui.runtimes.remote.link import LeftRun

#: How long it is waited for what belongs to a reply that has come, in seconds.
_REST = 2.0
_GLANCE = 0.05
#: After a second interrupt so long is waited before the run is left to itself, in seconds.
_LEFT = 1.5
_SECOND = 2
#: After an interrupt so long is waited for the end before the kernel is asked for it, in seconds.
_PROBE = 0.5
#: So long at most a run that was interrupted waits for the kernel to have taken the interrupt, in seconds.
_TAKEN = 0.5
_IMAGES = {"image/png": "base64.png", "image/jpeg": "base64.jpeg"}
_ABORTED = ("aborted", "abort")
#: Of a run whose reply was lost with a connection.
_UNKNOWN = "unknown"
_STATES: dict[str, Any] = {
    "ok": "finished",
    "error": "failed",
    "aborted": "interrupted",
    "abort": "interrupted",
}


class KernelTarget:
    """A kernel at work. Made, it is connected. Raises TargetError where it cannot be.

    A kernel that ran already belongs to whoever started it: it goes on when the connection ends, with its
    variables. One that was started for us ends with us.
    """

    def __init__(
        self,
        target: Target,
        *,
        on_loss: Callable[[VariablesLost], None],
        find_token: "FindToken | None" = None,
        ask: "Ask | None" = None,
        stopped: "StopSignal | None" = None,
    ) -> None:
        self.spelling = target.spelling
        #: A kernel runs code; its protocol knows no files.
        self.files: TargetFiles | None = None
        self._on_loss = on_loss
        self.client = _connect(target, find_token, ask, stopped)
        self.title = self.client.title
        self._info = request_info(self.client, stopped)
        self.language = self._find_language()
        #: A kernel that was there before is shared with whoever started it, and never reset.
        self.past = () if self.client.owned else (self.language.name,)

    def _find_language(self) -> Language:
        """Ours of that name, so that code is reviewed as usual; else one that only has a name."""
        about = self._info or {}
        info = about.get("language_info")
        info = info if isinstance(info, dict) else {}
        name = str(info.get("name") or "code").lower()[:40]
        language = next((item for item in LANGUAGES if name == item.name or name in item.aliases), None)
        self.version = str(info.get("version", ""))[:40]
        if language:
            return language
        return Language(
            name=name,
            title=name.capitalize(),
            hint="The kernel has it.",
            find=lambda _: None,
            describe=lambda _: name,
            start=lambda *_: Start(()),
        )

    @property
    def where(self) -> str:
        """The kernel in words."""
        return self.client.where

    @property
    def folder(self) -> str:
        """Not known: a kernel does not say where it runs."""
        return ""

    @property
    def languages(self) -> Sequence[Language]:
        """The one language of the kernel."""
        return (self.language,)

    @property
    def note(self) -> str:
        """What the model should know."""
        if self.client.owned:
            return (
                f"Code does not run on the user's machine. It runs in a Jupyter kernel "
                f"({self.language.title} {self.version}) {self.client.where}. "
                "Files of the user's own machine are not there."
            )
        return (
            f"Code runs in a Jupyter kernel ({self.language.title} {self.version}) that the user shares "
            "with a notebook. Its variables are the user's own work: do not overwrite or delete them unasked."
        )

    def find_program(self, language: str) -> str | None:
        """Return the kernel, for its language."""
        return self.client.program if language == self.language.name else None

    def describe(self, language: Language) -> str:
        """`Python 3.11.7 (Jupyter kernel)`."""
        return f"{language.title} {self.version} (Jupyter kernel)"

    def runtime(self, language: Language) -> "KernelRuntime":
        """Return the language of the kernel."""
        return KernelRuntime(language, self.client)

    #: Nothing of ours is left in a kernel.
    is_used = False
    left_languages: Sequence[str] = ()
    left_runs: "tuple[LeftRun, ...]" = ()

    def detach(self) -> str:
        """Say what becomes of the kernel."""
        if self.client.owned:
            return (
                f"{self.title} was started for this conversation and ends with it. To keep a kernel, start "
                "it on its server, and connect to it by its id."
            )
        return f"{self.title} keeps running when you quit, with its variables: there is nothing to detach."

    def resize(self, columns: int, rows: int) -> None:
        """Do nothing: a kernel has no terminal."""

    def close(self) -> None:
        """Leave the kernel, which continues unless it was started for us."""
        self.client.close()


class KernelRuntime:
    """The language of a kernel. `run` is for one thread at a time, all else for any."""

    def __init__(self, language: Language, client: KernelClient) -> None:
        self.language = language
        self._client = client
        self._used = False
        #: What the kernel was asked after an interrupt, to know whether the run is over.
        self._probe: str | None = None
        #: Why it may not be known how the run ended: a connection was cut.
        self._unsure = ""
        self._typed = ""
        self._asked = False
        self._running = False
        self._pressed = 0
        self._pressed_at = 0.0
        #: Whether the run before was interrupted: a kernel that took that late may lose this one's answer.
        self._after_interrupt = False
        self._steps: queue.Queue[Report] = queue.Queue()
        self._lock = threading.Lock()

    def run(
        self,
        code: str,
        stopped: threading.Event,
        number: int | None = None,  # noqa: ARG002 -- as the interface has it
    ) -> Generator[Report, None, None]:
        """Run code; its reports as they come, `RunEnded` last. Closed early, the run is interrupted first."""
        began = time.monotonic()
        if stopped.is_set():
            yield RunEnded("interrupted", 0.0)
            return
        self._after_interrupt = self._pressed > 0
        self._pressed, self._typed, self._asked, self._probe, self._unsure = 0, "", False, None, ""
        fresh, self._used = not self._used, True
        if fresh:
            yield Starting()
        self._running = True
        if fresh:
            yield Started()
        reports = self._yield_reports(code, began, stopped)
        ended = False
        try:
            for report in reports:
                ended = isinstance(report, RunEnded)
                yield report
        except BaseException:
            self.interrupt()
            raise
        finally:
            until = time.monotonic() + _LEFT
            while not ended and time.monotonic() < until:
                ended = isinstance(next(reports, RunEnded("lost", 0.0)), RunEnded)
            self._running = False

    def _execute(self, code: str, stopped: threading.Event) -> str | None:
        """Run code once the kernel takes it. Returns the number of the request; None if stopped by then."""
        if not self._pressed:
            self._client.get_ready()
        return None if stopped.is_set() or self._pressed else self._client.execute(code)

    def _yield_reports(self, code: str, began: float, stopped: threading.Event) -> Iterator[Report]:
        """Yield what the kernel says of this run, until it says that it is idle again
        and how the run ended.
        """
        id_ = self._execute(code, stopped)
        if id_ is None:
            yield from self._take_steps()
            self._await_interrupt()
            yield RunEnded("interrupted", time.monotonic() - began)
            return
        reply: Message | None = None
        idle = False
        replied_at = 0.0
        while not (reply and (idle or time.monotonic() - replied_at > _REST)):
            for message in receive_arrived(self._client.read_output, _GLANCE):
                if belongs_to(message, id_):
                    idle = idle or message["content"].get("execution_state") == "idle"
                    yield from _report_output(message)
            yield from self._make_notes()
            yield from self._answer_questions(id_)
            yield from self._take_steps()
            if reply is None:
                reply = self._reply(id_, began)
                replied_at = time.monotonic()
                if (
                    reply
                    and reply["content"].get("status") in _ABORTED
                    and (again := self._execute(code, stopped))
                ):
                    # Code that was waiting in the kernel failed, which clears what waits behind it.
                    id_, reply, idle = again, None, False
            if why := self._explain_gone():
                yield RunEnded("lost", time.monotonic() - began, why)
                return
        if self._asked:
            yield InputReceived()
        self._await_interrupt()
        content = reply["content"]
        if content.get("status") == _UNKNOWN:
            yield RunEnded("lost", time.monotonic() - began, str(content.get("reason", "")))
            return
        state: Any = "interrupted" if self._pressed else _STATES.get(str(content.get("status")), "failed")
        yield from _report_payload(content)
        reason = _name_error(content) if state == "failed" else None
        yield RunEnded(state, time.monotonic() - began, reason)

    def _take_steps(self) -> Iterator[Report]:
        """Yield the steps of a stop that were not reported yet."""
        with contextlib.suppress(queue.Empty):
            while True:
                yield self._steps.get_nowait()

    def _await_interrupt(self) -> None:
        """Wait a moment for an interrupt that is on its way, which would hit what the kernel runs next."""
        until = time.monotonic() + _TAKEN
        while self._pressed and self._client.is_interrupting() and time.monotonic() < until:
            time.sleep(0.005)

    def _reply(self, id_: str, began: float) -> Message | None:
        """Return how the run ended, where the kernel has reported it.

        An interrupt that comes when the code has just ended takes the kernel's answer with it. So after one
        it is asked something else: it answers one request after the other, and when that answer comes first,
        the run is over.
        """
        if why := self._client.explain_loss():
            self._unsure = why
            self._probe = self._client.ask_info()
        if self._probe is None and self._pressed and time.monotonic() - self._pressed_at > _PROBE:
            self._probe = self._client.ask_info()
        if self._probe is None and self._after_interrupt and time.monotonic() - began > _PROBE:
            self._unsure = "an earlier interrupt reached the kernel late"
            self._probe = self._client.ask_info()
        for message in receive_arrived(self._client.read_reply, 0):
            if belongs_to(message, id_):
                return message
            if self._probe and belongs_to(message, self._probe):
                if self._pressed or not self._unsure:
                    return {"content": {"status": _ABORTED[0]}}
                reason = (
                    f"{self._unsure}, and how the code ended is not known; the kernel keeps its variables"
                )
                return {"content": {"status": _UNKNOWN, "reason": reason}}
        return None

    def _make_notes(self) -> Iterator[Report]:
        """Yield what happened to the connection, in lines between the output."""
        for note in self._client.pop_notes():
            yield Printed(f"\r\noi-tui: {note}\r\n")

    def _explain_gone(self) -> str | None:
        """Return why the run is not waited for any longer, in a sentence; None while it is."""
        if self._pressed > 1 and time.monotonic() - self._pressed_at > _LEFT:
            if self._client.owned:
                self._client.restart()
                return (
                    "it did not react to the interrupt; the kernel was restarted, and its variables are lost"
                )
            where = self._client.where
            return f"it did not react to the interrupt and still runs {where}; restart the kernel there"
        why = self._client.explain_end()
        return f"{why} ({self._client.where})" if why else None

    def _answer_questions(self, id_: str) -> Iterator[Report]:
        for message in receive_arrived(self._client.read_question, 0):
            if message["msg_type"] == "input_request" and belongs_to(message, id_):
                content = message["content"]
                self._asked = True
                yield InputRequested(str(content.get("prompt", "")), masked=bool(content.get("password")))
        with self._lock:
            line, end, rest = self._typed.partition("\n")
            answered = self._asked and bool(end)
            if answered:
                self._typed, self._asked = rest, False
        if answered:
            self._client.send_input(line)
            yield InputReceived()

    def send_input(self, text: str) -> None:
        """Type to the program; a kernel takes whole lines."""
        with self._lock:
            self._typed += text

    def interrupt(self) -> None:
        """Interrupt the run; a second time, leave it to itself, or restart a kernel that is ours."""
        if not self._running:
            return
        self._pressed += 1
        if self._pressed > _SECOND:
            # Whoever goes on pressing is not made to wait longer.
            return
        self._pressed_at = time.monotonic()
        self._client.interrupt()
        stake = (
            "the variables of the kernel, which is restarted"
            if self._client.owned
            else "nothing: the run is left to itself, and the kernel keeps its variables"
        )
        self._steps.put(
            Stopping("interrupt", None, stake) if self._pressed == 1 else Stopping("terminate", _LEFT, stake)
        )

    def read_memory(self) -> Memory:
        """Return nothing: a kernel tells no variables without running code in it."""
        return Memory(self.language.name, "silent")

    def inspect(self, name: str) -> Detail | None:  # noqa: ARG002 -- as the interface has it
        """Return nothing: a kernel tells no variables without running code in it."""
        return None

    def complete(self, before: str) -> CompletionSet | None:  # noqa: ARG002 -- as the interface has it
        """Report nothing."""
        return None

    def resize(self, columns: int, rows: int) -> None:
        """Do nothing: a kernel has no terminal."""

    def reset(self) -> None:
        """Stop a run. A kernel that others use keeps its variables."""
        self.interrupt()
        self._client.restart()

    def close(self) -> None:
        """Stop a run in progress; the kernel keeps running."""
        self.interrupt()


def _connect(
    target: Target, find_token: "FindToken | None", ask: "Ask | None", stopped: "StopSignal | None"
) -> KernelClient:
    """Return the kernel that the target names, by an address or a file. Raises TargetError."""
    if not target.is_address:
        return FileClient(target.place)
    from oi_tui.runtimes.remote.jupyter.kernel_gateway import GatewayClient

    return GatewayClient(target.place, find_token=find_token, ask=ask, stopped=stopped)


def _report_output(message: Message) -> Iterator[Report]:
    """Yield what a message of the kernel's output shows; text ends its lines as a terminal does."""
    content = message["content"]
    match message["msg_type"]:
        case "stream":
            yield _to_printed(str(content.get("text", "")))
        case "clear_output":
            # With `wait` too: the screen draws this and what follows as one.
            yield Printed(CLEAR_OUTPUT)
        case "error":
            traceback = content.get("traceback")
            if traceback and isinstance(traceback, list):
                yield _to_printed("\n".join(map(str, traceback)) + "\n")
        case "display_data" | "execute_result" | "update_display_data":
            data = content.get("data")
            if not isinstance(data, dict):
                return
            view = str(data["text/plain"]) if "text/plain" in data else None
            image = next((kind for kind in _IMAGES if kind in data), None)
            if image:
                yield Displayed(_IMAGES[image], str(data[image]).replace("\n", ""))
            elif view is not None:
                yield _to_printed(view + "\n")


def _report_payload(content: Message) -> Iterator[Report]:
    """Yield what a reply brings beside the output: help (`print?`), and code for a cell (`%load`)."""
    payload = content.get("payload")
    for item in payload if isinstance(payload, list) else ():
        if isinstance(item, dict) and item.get("source") in ("page", "set_next_input"):
            data = item.get("data")
            text = data.get("text/plain") if isinstance(data, dict) else item.get("text")
            if isinstance(text, str):
                yield _to_printed(text.rstrip("\n") + "\n")


def _name_error(content: Message) -> str | None:
    """Return the error of a reply in a line, such as `ValueError: oops`;
    shells give their exit status alone.
    """
    name, value = (str(content.get(field) or "").strip() for field in ("ename", "evalue"))
    if not name and value.isdecimal():
        return f"exit status {value}"
    return ": ".join(filter(None, (name, value))).partition("\n")[0][:300] or None


def _to_printed(text: str) -> Printed:
    return Printed(text.replace("\r\n", "\n").replace("\n", "\r\n"))
