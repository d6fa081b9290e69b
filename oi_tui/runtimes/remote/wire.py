"""The protocol between the application and the worker: frames of JSON, and reports as JSON values.

Both use this module. The application trusts nothing that it receives: code that runs there can send anything.
"""

import contextlib
import fcntl
import json
import os
import queue
import struct
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Dict, get_args  # noqa: UP035

from oi_tui.messages import Displayed, Printed, Report, VariablesLost
from oi_tui.runtimes.completions import Completion, CompletionSet
from oi_tui.runtimes.remote.file_answers import FileFacts, FilePart, FileRefused, FileWords
from oi_tui.runtimes.variables import Detail, Memory, Variable

#: One message: what it is about, and the rest.
Frame = Dict[str, Any]  # noqa: UP006 -- evaluated by Python 3.8

#: How often each side sends a sign of life when it has nothing else to send, in seconds.
BEAT = 2.0
#: The silence of the worker after which the person sees a notice, in seconds.
QUIET = 4.0
#: The silence of the application after which the worker ends everything that runs there, in seconds.
SILENCE = 60.0
#: How many bytes of reports may be on their way. It bounds how late a stop is seen on a slow connection.
WINDOW = 256 * 1024
#: How many bytes of reports may be on their way on a fast connection; ssh itself holds twice as many.
WIDEST = 1024 * 1024
#: How many bytes of reports the worker keeps while no application is connected, the newest ones.
KEPT = 16 * 1024 * 1024
#: The longest frame that is taken, in bytes: images come in them.
LONGEST = 128 * 1024 * 1024
#: What the worker's program prints first. What comes before it is the other machine's greeting.
MARK = b"oi-tui-far-1"
#: Displays that name a file of the machine that they come from.
PLACES = ("path", "page")

#: How many bytes are quoted of data that is not a frame.
_QUOTED = 60
_LENGTH = struct.Struct(">I")
#: F_SETPIPE_SZ of Linux's fcntl.h, for which older Pythons have no name.
_SET_PIPE_SIZE = 1031
#: A frame that answers a request, rather than reports on a run.
_ANSWERS = (
    Variable,
    Detail,
    Memory,
    Completion,
    CompletionSet,
    VariablesLost,
    FileFacts,
    FilePart,
    FileWords,
    FileRefused,
)
_REPORTS: dict[str, type[Any]] = {kind.__name__: kind for kind in (*get_args(Report), *_ANSWERS)}
_TEXT, _MAYBE_TEXT = (str,), (str, type(None))
#: What a field may hold, by its name; what is not here is a text.
_KINDS: dict[tuple[str, str], tuple[type, ...]] = {
    ("Printed", "view"): _MAYBE_TEXT,
    ("Printed", "table"): _MAYBE_TEXT,
    ("Displayed", "view"): _MAYBE_TEXT,
    ("Displayed", "key"): _MAYBE_TEXT,
    ("ValueBegan", "key"): _MAYBE_TEXT,
    ("ValueBegan", "is_earlier"): (bool,),
    ("ValueEnded", "forms"): (dict,),
    ("LineReached", "line"): (int, type(None)),
    ("InputRequested", "masked"): (bool,),
    ("Stopping", "seconds"): (int, float, type(None)),
    ("RunEnded", "seconds"): (int, float),
    ("RunEnded", "reason"): _MAYBE_TEXT,
    ("Variable", "size"): (int, type(None)),
    ("CompletionSet", "typed"): (int,),
    ("CompletionSet", "found"): (tuple,),
    ("Memory", "variables"): (tuple,),
    ("Memory", "total"): (int,),
    ("Memory", "is_over"): (bool,),
    ("FileFacts", "size"): (int,),
    ("FileFacts", "changed"): (int,),
    ("FileFacts", "mode"): (int,),
}
#: The largest number of seconds, and the largest other number, such as a file's size or time in nanoseconds.
_MOST_SECONDS, _MOST = 1e15, 2**64
#: What the items of a list are.
_LISTS: dict[tuple[str, str], type[Any]] = {
    ("Memory", "variables"): Variable,
    ("CompletionSet", "found"): Completion,
}
_WORDS = {
    ("ValueBegan", "kind"): ("result", "display", "repeat"),
    ("Stopping", "step"): ("interrupt", "terminate", "kill"),
    ("RunEnded", "state"): ("finished", "failed", "interrupted", "lost"),
    ("FileFacts", "kind"): ("file", "folder", "other"),
    ("Memory", "state"): ("known", "unstarted", "starting", "busy", "silent"),
}


class WireError(ValueError):
    """The other side sent something that is not valid."""


def encode_frame(message: Frame, text: "bytes | memoryview | None" = None) -> bytes:
    """Encode a message: its length, a line of JSON, and the raw text, if there is one.

    It ends with a line break, because some of what passes frames on waits for one, such as srun of Slurm.
    """
    line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    parts = [line, b"\n"] if text is None else [line, b"\n", text, b"\n"]
    return b"".join((_LENGTH.pack(sum(map(len, parts))), *parts))


def encode_text(text: str) -> bytes:
    """Encode the text of a report. Halves of characters, which Python can print, stay as they are."""
    return text.encode("utf-8", "surrogatepass")


def encode_report(run: int, report: Report, text: "bytes | memoryview | None" = None) -> bytes:
    """Spell a report of a run as bytes; its text goes beside the JSON, which would take long to spell it.

    `text` is a piece of it as `encode_text` gives it; without one, all of it goes.
    """
    packed = pack(report)
    if isinstance(report, Printed):
        packed[1] = ""
        text = encode_text(report.text) if text is None else text
    return encode_frame({"is": "reports", "id": run, "reports": [packed]}, text)


class FrameReader:
    """Cuts what arrives into messages, however the bytes come."""

    def __init__(self) -> None:
        self._held = bytearray()

    @property
    def rest(self) -> bytes:
        """The bytes that were read and belong to no message so far."""
        return bytes(self._held)

    def read(self, piece: "bytes | memoryview") -> Iterator[tuple[Frame, int]]:
        """Yield the messages that are complete now, each with its size.

        Raises WireError for anything else.
        """
        self._held += piece
        while len(self._held) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._held)
            if length > LONGEST:
                raise WireError(_explain_foreign(bytes(self._held[:_QUOTED]), length))
            if len(self._held) < _LENGTH.size + length:
                return
            end = _LENGTH.size + length
            try:
                message = _read(self._held, _LENGTH.size, end)
            finally:
                del self._held[:end]
            yield message, length


def _explain_foreign(data: bytes, length: int) -> str:
    """Say what may have put these bytes in the place of a message."""
    words = data.decode("ascii", "replace")
    quoted = " ".join(words.split())
    if words.isascii() and quoted.isprintable():
        return (
            f'"{quoted}" was received in place of a message; a program that a start file (.bashrc) or '
            "the command left running may print it"
        )
    return f"a message of {length} bytes; something on the way may change what passes"


def _read(data: bytearray, start: int, end: int) -> Frame:
    """Return the message of a frame; the text beside it is its entry `text`. Raises WireError."""
    line_end = data.find(b"\n", start, end)
    if line_end < 0:
        line_end = end
    try:
        message = json.loads(data[start:line_end].decode("utf-8", "surrogatepass"))
        # Long output is copied once.
        with memoryview(data) as view, view[line_end + 1 : end - 1] as text:
            words = str(text, "utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        raise WireError("a message that is not JSON") from None
    if not isinstance(message, dict):
        raise WireError("a message without a name")
    if line_end + 1 < end:
        message["text"] = words
    return message


def pack(value: object) -> list[Any]:
    """Return a report, a loss or what a language remembers, as a JSON value."""
    return [type(value).__name__, *(_pack(getattr(value, item.name)) for item in fields(value))]  # type: ignore[arg-type]


def _pack(value: object) -> object:
    return [pack(item) for item in value] if isinstance(value, tuple) else value


def unpack_reports(message: Frame) -> list[Report]:
    """Return the reports of a message. Raises WireError when they are none."""
    packed = message["reports"]
    if not isinstance(packed, list):
        raise WireError("reports were expected")
    reports = [unpack_report(item) for item in packed]
    if "text" not in message:
        return reports
    text, report = message["text"], reports[0] if len(reports) == 1 else None
    if not isinstance(text, str) or not isinstance(report, Printed):
        raise WireError("a text that belongs to no report")
    return [Printed(text, report.view, report.table)]


def unpack_report(packed: object) -> Report:
    """Return the report that the other side packed. Raises WireError if it is not valid."""
    report = unpack(packed)
    if isinstance(report, _ANSWERS):
        raise WireError("a report was expected")
    if isinstance(report, Displayed) and report.format in PLACES:
        # It names a file, and we would look for it here.
        raise WireError("a display that names a file")
    return report  # type: ignore[return-value]


def unpack(packed: object) -> object:
    """Return the value that the other side packed. Raises WireError if it is not valid."""
    if not (isinstance(packed, list) and packed and isinstance(packed[0], str) and packed[0] in _REPORTS):
        raise WireError("an unknown report")
    name, *values = packed
    kind = _REPORTS[name]
    names = [item.name for item in fields(kind)]
    if len(values) != len(names):
        raise WireError(f"a {name} with {len(values)} values")
    values_read = [_check(name, entry, value) for entry, value in zip(names, values)]  # noqa: B905
    return kind(*values_read)


def _check(name: str, field: str, value: object) -> object:
    if (name, field) in _LISTS and isinstance(value, list):
        items = tuple(map(unpack, value))
        if all(isinstance(item, _LISTS[name, field]) for item in items):
            return items
    kinds = _KINDS.get((name, field), _TEXT)
    fits = isinstance(value, kinds) and (isinstance(value, bool) <= (bool in kinds))
    if float in kinds and isinstance(value, (int, float)):
        fits = fits and is_duration(value)
    elif isinstance(value, int):
        fits = fits and abs(value) <= _MOST
    words = _WORDS.get((name, field))
    if isinstance(value, dict):
        fits = fits and all(isinstance(item, str) for item in value.values())
    if not fits or (words and value not in words):
        raise WireError(f"a {name} whose {field} is {str(value)[:40]!r}")
    return value


def is_duration(seconds: float) -> bool:
    """Return whether a time can be shown. JSON as Python reads it has numbers that are not finite."""
    return abs(seconds) <= _MOST_SECONDS


def widen_pipe(number: int) -> None:
    """Let a pipe hold as many bytes as may be on their way, where the system allows it: so that both sides
    of it wait less often for each other.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(number, _SET_PIPE_SIZE, WINDOW)


def write_waiting(waiting: "queue.SimpleQueue[bytes | None]", sink: int, beat: bytes) -> None:
    """Write the frames that come from a queue, and `beat` where none comes for a while, until None comes.

    Raises OSError where the other side is gone.
    """
    while True:
        try:
            data = waiting.get(timeout=BEAT)
        except queue.Empty:
            data = beat
        if data is None:
            return
        view = memoryview(data)
        while view:
            view = view[os.write(sink, view) :]
