"""A Jupyter kernel that somebody else started, such as the one of an open notebook, as a place for code."""

import contextlib
import json
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oi_tui import paths
from oi_tui.messages import (
    Displayed,
    InputReceived,
    InputRequested,
    Loss,
    Printed,
    Report,
    RunEnded,
    Started,
    Starting,
    Stopping,
)
from oi_tui.runtimes.language import Language, Start
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.remote.target import Target, TargetError
from oi_tui.runtimes.variables import Detail, Memory

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

    from oi_tui.runtimes.remote.files import PlaceFiles
    from oi_tui.runtimes.remote.link import Stopped

Message = Mapping[str, Any]
#: How long the kernel may take to answer when it is reached, in seconds; it may be busy.
_PATIENCE = 20.0
#: How long it is waited for what belongs to a reply that has come, in seconds.
_REST = 2.0
_GLANCE = 0.05
#: So long the kernel's heart may stand still before it counts as dead, in seconds.
_HEART = 10.0
#: After a second interrupt so long is waited before the run is left to itself, in seconds.
_LEFT = 1.5
#: After an interrupt so long is waited for the end before the kernel is asked for it, in seconds.
_PROBE = 0.5
_IMAGES = {"image/png": "base64.png", "image/jpeg": "base64.jpeg"}
_MISSING = 'The target kernel: needs another package: pip install "oi-tui[kernel]"'
_ABORTED = ("aborted", "abort")
_STATES: dict[str, Any] = {
    "ok": "finished",
    "error": "failed",
    "aborted": "interrupted",
    "abort": "interrupted",
}


class KernelPlace:
    """A kernel that runs already. Made, it is connected. Raises TargetError where it cannot be.

    The kernel belongs to whoever started it: it goes on when the connection ends, with its variables.
    """

    def __init__(
        self, target: Target, *, on_loss: Callable[[Loss], None], stopped: "Stopped | None" = None
    ) -> None:
        self.spelling = target.spelling
        #: A kernel runs code; its protocol knows no files.
        self.files: PlaceFiles | None = None
        self.title = "the kernel"
        self._file = _connection_file(target)
        self._on_loss = on_loss
        self.client = self._connect(stopped or threading.Event())
        self._lock = threading.Lock()
        self.language = self._language()

    def _connect(self, stopped: "Stopped") -> "BlockingKernelClient":
        try:
            from jupyter_client.blocking.client import BlockingKernelClient
        except ModuleNotFoundError:
            raise TargetError(_MISSING) from None
        client = BlockingKernelClient(connection_file=str(self._file))
        try:
            client.load_connection_file()
            client.start_channels()
        except (OSError, ValueError, KeyError) as error:
            raise TargetError(
                f"{paths.short(self._file)} is no connection file of a kernel: {error}"
            ) from None
        self._info = _answer_of(client, client.kernel_info(), stopped)
        if self._info is None:
            client.stop_channels()
            raise TargetError(
                "Connecting was stopped."
                if stopped.is_set()
                else f"The kernel of {self._file.name} does not answer; it has ended, or it is busy."
            )
        return client

    def _language(self) -> Language:
        """Ours of that name, so that code is reviewed as usual; else one that only has a name."""
        about = self._info or {}
        info = about.get("language_info") or {}
        name = str(info.get("name") or "code").lower()[:40]
        known = next((item for item in LANGUAGES if name == item.name or name in item.aliases), None)
        self.version = str(info.get("version", ""))[:40]
        if known:
            return known
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
        return f"in the kernel of {self._file.name}"

    @property
    def languages(self) -> Sequence[Language]:
        """The one language of the kernel."""
        return (self.language,)

    @property
    def note(self) -> str:
        """What the model should know."""
        return (
            f"Code runs in a Jupyter kernel ({self.language.title} {self.version}) that the user shares "
            "with a notebook. Its variables are the user's own work: do not overwrite or delete them unasked."
        )

    def program(self, language: str) -> str | None:
        """The kernel, for its language."""
        return str(self._file) if language == self.language.name else None

    def describe(self, language: Language) -> str:
        """`Python 3.11.7 (Jupyter kernel)`."""
        return f"{language.title} {self.version} (Jupyter kernel)"

    def runtime(self, language: Language) -> "KernelRuntime":
        """The language of the kernel."""
        return KernelRuntime(language, self.client, self.where)

    def resize(self, columns: int, rows: int) -> None:
        """A kernel has no terminal."""

    def close(self) -> None:
        """Leave the kernel, which goes on."""
        self.client.stop_channels()


class KernelRuntime:
    """The language of a kernel. `run` is for one thread at a time, all else for any."""

    def __init__(self, language: Language, client: "BlockingKernelClient", where: str) -> None:
        self.language = language
        self._client = client
        self._where = where
        self._used = False
        #: What the kernel was asked after an interrupt, to know whether the run is over.
        self._probe: str | None = None
        self._typed = ""
        self._asked = False
        self._running = False
        self._pressed = 0
        self._pressed_at = 0.0
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
        self._pressed, self._typed, self._asked, self._probe = 0, "", False, None
        fresh, self._used = not self._used, True
        if fresh:
            yield Starting()
        self._running = True
        if fresh:
            yield Started()
        reports = self._reports(code, began)
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

    def _execute(self, code: str) -> str:
        """Send the code; the number of the request."""
        return str(self._client.execute(code, allow_stdin=True, store_history=True, stop_on_error=False))

    def _reports(self, code: str, began: float) -> Iterator[Report]:
        """What the kernel says of this run, until it says that it is idle again and how the run ended."""
        id_ = self._execute(code)
        reply: Message | None = None
        idle = False
        replied_at = 0.0
        while not (reply and (idle or time.monotonic() - replied_at > _REST)):
            for message in _arrived(self._client.get_iopub_msg, _GLANCE):
                if _belongs(message, id_):
                    idle = idle or message["content"].get("execution_state") == "idle"
                    yield from _report_output(message)
            yield from self._questions(id_)
            with contextlib.suppress(queue.Empty):
                while True:
                    yield self._steps.get_nowait()
            if reply is None:
                reply = self._reply(id_)
                replied_at = time.monotonic()
                if reply and reply["content"].get("status") in _ABORTED and not self._pressed:
                    # Code that was waiting in the kernel failed, which clears what waits behind it.
                    id_, reply, idle = self._execute(code), None, False
            if why := self._gone():
                yield RunEnded("lost", time.monotonic() - began, why)
                return
        if self._asked:
            yield InputReceived()
        content = reply["content"]
        state: Any = "interrupted" if self._pressed else _STATES.get(str(content.get("status")), "failed")
        reason = str(content.get("ename", ""))[:300] or None
        yield RunEnded(state, time.monotonic() - began, reason if state == "failed" else None)

    def _reply(self, id_: str) -> Message | None:
        """How the run ended, where the kernel has reported it.

        An interrupt that comes when the code has just ended takes the kernel's answer with it. So after one
        it is asked something else: it answers one request after the other, and when that answer comes first,
        the run is over.
        """
        if self._pressed and self._probe is None and time.monotonic() - self._pressed_at > _PROBE:
            self._probe = str(self._client.kernel_info())
        for message in _arrived(self._client.get_shell_msg, 0):
            if _belongs(message, id_):
                return message
            if self._probe and _belongs(message, self._probe):
                return {"content": {"status": _ABORTED[0]}}
        return None

    def _gone(self) -> str | None:
        """Why the run is not waited for any longer, in a sentence; None while it is."""
        if self._pressed > 1 and time.monotonic() - self._pressed_at > _LEFT:
            return f"it did not react to the interrupt and still runs {self._where}; restart the kernel there"
        if not self._client.is_alive():
            return f"the kernel ended, and its variables are lost ({self._where})"
        return None

    def _questions(self, id_: str) -> Iterator[Report]:
        for message in _arrived(self._client.get_stdin_msg, 0):
            if message["msg_type"] == "input_request" and _belongs(message, id_):
                content = message["content"]
                self._asked = True
                yield InputRequested(str(content.get("prompt", "")), masked=bool(content.get("password")))
        with self._lock:
            line, end, rest = self._typed.partition("\n")
            answered = self._asked and bool(end)
            if answered:
                self._typed, self._asked = rest, False
        if answered:
            self._client.input(line)
            yield InputReceived()

    def send_input(self, text: str) -> None:
        """Type to the program; a kernel takes whole lines."""
        with self._lock:
            self._typed += text

    def interrupt(self) -> None:
        """Interrupt the run; a second time, leave it to itself. The kernel is somebody else's, and stays."""
        if not self._running:
            return
        self._pressed += 1
        self._pressed_at = time.monotonic()
        # The answer is not waited for: a kernel that computes gives none.
        self._client.control_channel.send(self._client.session.msg("interrupt_request", {}))
        stake = "nothing: the run is left to itself, and the kernel keeps its variables"
        self._steps.put(
            Stopping("interrupt", None, stake) if self._pressed == 1 else Stopping("terminate", _LEFT, stake)
        )

    def memory(self) -> Memory:
        """A kernel tells no variables without running code in it."""
        return Memory(self.language.name, "silent")

    def look_at(self, name: str) -> Detail | None:  # noqa: ARG002 -- as the interface has it
        """A kernel tells no variables without running code in it."""
        return None

    def resize(self, columns: int, rows: int) -> None:
        """A kernel has no terminal."""

    def reset(self) -> None:
        """Stop a run; the variables are somebody else's, and stay."""
        self.interrupt()

    def close(self) -> None:
        """Stop a run in progress; the kernel goes on."""
        self.interrupt()


def _connection_file(target: Target) -> Path:
    """The file that was named, in Jupyter's own folder if it has no other. Raises TargetError."""
    path = paths.typed(target.place)
    if not path.is_absolute() and not path.exists():
        with contextlib.suppress(ImportError):
            from jupyter_core.paths import jupyter_runtime_dir

            path = Path(jupyter_runtime_dir()) / path
    try:
        if "shell_port" not in json.loads(path.read_text(encoding="utf-8")):
            raise ValueError
    except OSError as error:
        raise TargetError(f"{path}: {error.strerror or error}") from None
    except (ValueError, TypeError):
        raise TargetError(
            f"{path} is no connection file of a kernel; %connect_info in a notebook names it."
        ) from None
    return path


def _answer_of(client: "BlockingKernelClient", id_: str, stopped: "Stopped") -> Message | None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and not stopped.is_set():
        for message in _arrived(client.get_shell_msg, 0.1):
            if _belongs(message, id_):
                content: Message = message["content"]
                return content
    return None


def _arrived(receive: Callable[..., Message], seconds: float) -> Iterator[Message]:
    """The messages that are there, the first of them within so many seconds."""
    while True:
        try:
            yield receive(timeout=seconds)
        except queue.Empty:
            return
        seconds = 0


def _belongs(message: Message, id_: str) -> bool:
    return bool(message.get("parent_header", {}).get("msg_id") == id_)


def _report_output(message: Message) -> Iterator[Report]:
    """What a message of the kernel's output shows; text ends its lines as a terminal does."""
    content = message["content"]
    match message["msg_type"]:
        case "stream":
            yield _to_printed(str(content.get("text", "")))
        case "error":
            yield _to_printed("\n".join(map(str, content.get("traceback", ()))) + "\n")
        case "display_data" | "execute_result" | "update_display_data":
            data = content.get("data", {})
            view = str(data["text/plain"]) if "text/plain" in data else None
            image = next((kind for kind in _IMAGES if kind in data), None)
            if image:
                yield Displayed(_IMAGES[image], str(data[image]).replace("\n", ""))
            elif view is not None:
                yield _to_printed(view + "\n")


def _to_printed(text: str) -> Printed:
    return Printed(text.replace("\r\n", "\n").replace("\n", "\r\n"))
