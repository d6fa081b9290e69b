"""What the worker sends: frames in their order, none of which is lost when the connection changes.

Frames about runs are kept until the application has taken them. While nobody is connected, they are kept as
well, the newest `KEPT` bytes of them, and what was left out is said with its size.
"""

import contextlib
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from oi_tui.messages import InputReceived, InputRequested, LineReached, Printed, Report, RunEnded
from oi_tui.runtimes.remote.wire import (
    KEPT,
    WIDEST,
    WINDOW,
    Frame,
    FrameReader,
    encode_frame,
    encode_report,
    encode_text,
    widen_pipe,
    write_waiting,
)

#: So many pieces of long output fit in the smallest window. Larger pieces would begin to be read later.
_PIECES = 4
#: A frame that waits no longer than this behind those before it passes quickly, in seconds.
_QUICK = 0.05
#: What a kept frame costs beside its bytes.
_OVERHEAD = 200


class Stream:
    """One connection: its owner reads frames, and a thread sends them."""

    def __init__(
        self,
        source: int,
        sink: int,
        frames: "FrameReader | None" = None,
        on_sent: Callable[[], None] = lambda: None,
    ) -> None:
        """`frames` has what was read already. `on_sent` is called when the last frame has gone."""
        self.source = source
        self.heard = time.monotonic()
        self._sink = sink
        self._frames = frames or FrameReader()
        self._on_sent = on_sent
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._closed = False
        widen_pipe(sink)
        threading.Thread(target=self._send, daemon=True).start()

    def read(self) -> "list[Frame] | None":
        """Return the frames that have come; None at the end.

        Raises OSError, and WireError for an invalid frame.
        """
        piece = os.read(self.source, 1 << 18)
        if not piece:
            return None
        self.heard = time.monotonic()
        return [message for message, _ in self._frames.read(piece)]

    def put(self, data: bytes) -> None:
        """Send a frame when those before it have gone."""
        self._waiting.put(data)

    def close(self) -> None:
        """Stop reading, and close the other direction when everything is sent or cannot be sent."""
        if not self._closed:
            self._closed = True
            os.close(self.source)
            self._waiting.put(None)

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            write_waiting(self._waiting, self._sink, encode_frame({"is": "beat"}))
        # Where the writing failed, whoever reads sees the end as well.
        with contextlib.suppress(OSError):
            os.close(self._sink)
        self._on_sent()


class _WaitingFrame:
    """A frame that waits to be sent: what it reports of which run; None for other frames.

    The text of output is in its bytes only, with `text_size` of them.
    """

    __slots__ = ("data", "report", "run", "sent_at", "text_size")

    def __init__(self, data: bytes, run: int, report: "Report | None", text_size: int = 0) -> None:
        self.data = data
        self.run = run
        self.report = report
        self.text_size = text_size
        self.sent_at = 0.0

    @property
    def size(self) -> int:
        """How much it takes of the window; only reports do."""
        return len(self.data) if self.report is not None else 0

    @property
    def cost(self) -> int:
        """How much it takes of what may be kept."""
        return len(self.data) + _OVERHEAD

    @property
    def can_go(self) -> bool:
        """Whether it may be left out where there is too much: not the end of a run, and no list of files."""
        return self.report is not None and not isinstance(self.report, RunEnded)


class Outbox:
    """Sends frames over the stream there is, and keeps those in order that must not be lost."""

    def __init__(self, stream: Stream, most: int = KEPT) -> None:
        self._stream: Stream | None = stream
        #: How many bytes are kept while nobody is connected.
        self.most = most
        self._room = threading.Condition()
        #: Bytes of reports that were sent and not taken.
        self._on_the_way = 0
        #: How many may be, and how long a frame took that had to wait for none before it, in seconds.
        self._window = WINDOW
        self._quickest = float("inf")
        #: How many frames of the order were sent.
        self._sent = 0
        #: The newest of them, which the application may not have.
        self._untaken: deque[_WaitingFrame] = deque()
        #: What each run that the application knows of waits for, and the line that it is at.
        self._states: dict[int, dict[str, Report]] = {}
        self._taken = 0
        #: Frames that wait for a stream, or for room on it.
        self._kept: deque[_WaitingFrame] = deque()
        self._kept_size = 0
        #: Of those, the ones that are older than what was left out.
        self._front: list[_WaitingFrame] = []
        #: How many bytes of each run were left out, and the last of that about its input.
        self._left_out: dict[int, int] = {}
        self._asking: dict[int, Report] = {}

    def send(self, **message: object) -> None:
        """Send what only matters to the application that is connected now."""
        with self._room:
            if self._stream:
                self._stream.put(encode_frame(message))

    def send_in_order(self, **message: object) -> None:
        """Send what must reach an application, at its place between the reports."""
        with self._room:
            self._add(_WaitingFrame(encode_frame(message), 0, None))

    def send_report(self, run: int, report: Report) -> None:
        """Send a report, and wait while too much is on its way to an application that is connected.

        Long output goes in pieces, so that one is read there while others are on their way.
        """
        if not isinstance(report, Printed):
            self._send_in_turn(_WaitingFrame(encode_report(run, report), run, report))
            return
        text, rest = encode_text(report.text), replace(report, text="")
        start = end = 0
        while end < len(text) or not end:
            start, end = end, _find_end(text, end + WINDOW // _PIECES - _OVERHEAD)
            data = encode_report(run, rest, memoryview(text)[start:end])
            self._send_in_turn(_WaitingFrame(data, run, rest, end - start))
            if not text:
                return

    def _send_in_turn(self, item: _WaitingFrame) -> None:
        with self._room:
            self._room.wait_for(lambda: self._stream is None or self._has_room(item))
            self._add(item)

    def note_taken(self, size: int) -> None:
        """Note that the application has taken `size` bytes of reports."""
        with self._room:
            was_full = self._on_the_way > self._window // 2
            self._on_the_way = max(0, self._on_the_way - size)
            self._taken += size
            if (sent_at := self._forget_taken()) is not None:
                self._adapt_window(time.monotonic() - sent_at, was_full=was_full)
            self._feed()
            self._room.notify_all()

    def list_runs(self) -> "set[int]":
        """Return the runs of which something waits here."""
        with self._room:
            runs = {item.run for item in (*self._front, *self._kept)}
            return (runs | {item.run for item in self._untaken} | set(self._left_out)) - {0}

    def leave(self, stream: Stream) -> None:
        """Keep all that comes from now on; what was sent before has been given to the stream."""
        with self._room:
            if self._stream is stream:
                self._stream = None
            self._room.notify_all()

    def skip(self, seen: "int | None") -> None:
        """Forget the first `seen` frames, which the application says that it has."""
        with self._room:
            while seen is not None and self._untaken and self._sent - len(self._untaken) < seen:
                self._note_taken(self._untaken.popleft())

    @property
    def next(self) -> int:
        """The number of the frame of the order that the next application gets first."""
        return self._sent - len(self._untaken)

    def resume(self, stream: Stream) -> None:
        """Send over this stream: the state, what may not have arrived, then what was kept."""
        with self._room:
            self._stream, self._taken = stream, 0
            self._window, self._quickest = WINDOW, float("inf")
            states = [(run, report) for run, state in self._states.items() for report in state.values()]
            for run, report in reversed(states):
                self._untaken.appendleft(_WaitingFrame(encode_report(run, report), run, report))
            self._sent += len(states)
            for item in self._untaken:
                stream.put(item.data)
            self._on_the_way = sum(item.size for item in self._untaken)
            self._feed()
            self._room.notify_all()

    # -- with the lock held

    def _has_room(self, item: _WaitingFrame) -> bool:
        return not self._kept and not self._front and not self._left_out and self._fits(item)

    def _fits(self, item: _WaitingFrame) -> bool:
        return self._on_the_way == 0 or self._on_the_way + len(item.data) <= self._window

    def _add(self, item: _WaitingFrame) -> None:
        if self._stream and self._has_room(item):
            self._send(item)
            return
        last = self._kept[-1] if self._kept else None
        if last and last.run == item.run and _is_line(last) and _is_line(item):
            self._kept.pop()
            self._kept_size -= last.cost
        self._kept.append(item)
        self._kept_size += item.cost
        while self._kept_size > self.most and self._kept:
            self._leave_out(self._kept.popleft())

    def _leave_out(self, item: _WaitingFrame) -> None:
        """Drop an old frame, if it may be dropped."""
        self._kept_size -= item.cost
        if not item.can_go:
            self._front.append(item)
            return
        # What no text shows is small, or an image.
        self._left_out[item.run] = self._left_out.get(item.run, 0) + item.text_size
        if isinstance(item.report, (InputRequested, InputReceived)):
            self._asking[item.run] = item.report

    def _note_taken(self, item: _WaitingFrame) -> None:
        """Update the state that an application with this frame has."""
        state = self._states.setdefault(item.run, {})
        if isinstance(item.report, InputRequested):
            state["input"] = item.report
        elif isinstance(item.report, InputReceived):
            state.pop("input", None)
        elif isinstance(item.report, LineReached):
            state["line"] = item.report
        if isinstance(item.report, RunEnded) or not state:
            del self._states[item.run]

    def _send(self, item: _WaitingFrame) -> None:
        assert self._stream
        self._sent += 1
        self._on_the_way += item.size
        item.sent_at = time.monotonic()
        self._untaken.append(item)
        self._stream.put(item.data)

    def _feed(self) -> None:
        """Send what was kept, as far as there is room."""
        if not self._stream:
            return
        for run in list(self._left_out):
            notice = Printed(_read_words(self._left_out.pop(run), self.most))
            self._send(_WaitingFrame(encode_report(run, notice), run, notice))
            if question := self._asking.pop(run, None):
                self._send(_WaitingFrame(encode_report(run, question), run, question))
        while self._front:
            self._send(self._front.pop(0))
        while self._kept and self._fits(self._kept[0]):
            item = self._kept.popleft()
            self._kept_size -= item.cost
            self._send(item)

    def _adapt_window(self, seconds: float, *, was_full: bool) -> None:
        """Allow more bytes in flight while frames pass quickly, and fewer when they queue."""
        self._quickest = min(self._quickest, seconds)
        if seconds - self._quickest > _QUICK:
            self._window = max(WINDOW, self._window // 2)
        elif was_full:
            self._window = min(WIDEST, self._window * 2)

    def _forget_taken(self) -> "float | None":
        """Forget frames from the oldest on, as many as the bytes that were taken stand for.

        Returns when the last of them was sent; None where none is forgotten.
        """
        sent_at = None
        while True:
            first = next((n for n, item in enumerate(self._untaken) if item.size), None)
            if first is None or self._untaken[first].size > self._taken:
                return sent_at
            sent_at = self._untaken[first].sent_at
            self._taken -= self._untaken[first].size
            for _ in range(first + 1):
                self._note_taken(self._untaken.popleft())


def _find_end(text: bytes, end: int) -> int:
    """Return where a piece of text ends, which is at most at `end`: between two characters."""
    if end >= len(text):
        return len(text)
    while text[end] & 0xC0 == 0x80:
        end -= 1
    return end


def _is_line(item: _WaitingFrame) -> bool:
    return isinstance(item.report, LineReached)


def _read_words(size: int, most: int) -> str:
    return (
        f"\r\noi-tui: {size:,} bytes of output are missing here; while nobody was connected, "
        f"the newest {most:,} bytes were kept\r\n"
    )
