"""How long output is sent over a connection, and how it is answered for."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest

from oi_tui.messages import Printed, Report, RunEnded
from oi_tui.runtimes.remote.link import Link, LinkLostError, RemoteRun
from oi_tui.runtimes.remote.outbox import Outbox, Stream
from oi_tui.runtimes.remote.wire import WINDOW, Frame, FrameReader, unpack_reports

#: Three bytes each.
TEXT = "€" * 300_000


class Receiver:
    """The other end of a stream, which answers only when it is told to."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._frames = FrameReader()

    def read(self, most: int) -> list[tuple[Frame, int]]:
        """Return the next messages, at least one, with their sizes in the window."""
        messages: list[tuple[Frame, int]] = []
        while not messages:
            messages = [
                (message, size + 4) for message, size in self._frames.read(os.read(self._source, most))
            ]
        return messages


@contextmanager
def connect() -> Iterator[tuple[Outbox, Receiver]]:
    source, sink = os.pipe()
    nobody = os.pipe()
    stream = Stream(nobody[0], sink)
    try:
        yield Outbox(stream), Receiver(source)
    finally:
        stream.close()
        os.close(nobody[1])
        os.close(source)


def test_long_output_arrives_whole_in_pieces_that_end_between_characters() -> None:
    with connect() as (box, receiver):
        sender = threading.Thread(target=box.send_report, args=(7, Printed(TEXT, "view", "table")))
        sender.start()
        reports: list[Report] = []
        while sum(len(report.text) for report in reports if isinstance(report, Printed)) < len(TEXT):
            for message, size in receiver.read(1 << 20):
                assert size <= WINDOW // 2
                reports += unpack_reports(message)
                box.note_taken(size)
        sender.join(10)
        assert not sender.is_alive()
    assert "".join(report.text for report in reports if isinstance(report, Printed)) == TEXT
    assert {(report.view, report.table) for report in reports if isinstance(report, Printed)} == {
        ("view", "table")
    }


def test_empty_output_is_sent_once() -> None:
    with connect() as (box, receiver):
        box.send_report(7, Printed("", "view"))
        box.send_report(7, RunEnded("finished", 0.5))
        messages: list[Frame] = []
        while len(messages) < 2:
            messages += [message for message, _ in receiver.read(1 << 16)]
    assert [unpack_reports(message) for message in messages] == [
        [Printed("", "view")],
        [RunEnded("finished", 0.5)],
    ]


def test_four_pieces_of_long_output_are_on_their_way_before_one_is_taken() -> None:
    with connect() as (box, receiver):
        sender = threading.Thread(target=box.send_report, args=(7, Printed(TEXT)))
        sender.start()
        sizes: list[int] = []
        while len(sizes) < 4:
            sizes += [size for _, size in receiver.read(1 << 16)]
        assert sum(sizes) <= WINDOW
        assert sender.is_alive()
        box.leave(box._stream)  # type: ignore[arg-type] # so that the sender ends
        sender.join(10)
        assert not sender.is_alive()


class AnswerLog:
    """Stands in for the connection, and keeps what is sent."""

    lost: str | None = None

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def answer_for(self, size: int) -> None:
        self.sizes.append(size)


def test_one_answer_is_sent_for_all_reports_that_have_come() -> None:
    link = AnswerLog()
    run = RemoteRun(cast(Link, link), 7, "shell")
    for number in range(5):
        run.arrived.put(([Printed(str(number))], 10))
    run.arrived.put(None)
    assert run.read_reports(1) == [Printed(str(number)) for number in range(5)]
    assert link.sizes == [50]


def test_the_loss_of_the_connection_is_seen_after_the_reports_before_it() -> None:
    link = AnswerLog()
    run = RemoteRun(cast(Link, link), 7, "shell")
    run.arrived.put(([Printed("last")], 10))
    run.arrived.put(None)
    assert run.read_reports(1) == [Printed("last")]
    link.lost = "it was cut"
    with pytest.raises(LinkLostError, match="it was cut"):
        run.read_reports(1)


def test_a_run_that_nothing_reaches_any_more_ends_with_the_connection() -> None:
    link = AnswerLog()
    run = RemoteRun(cast(Link, link), 7, "shell")
    assert run.read_reports(0) is None
    link.lost = "it was cut"
    with pytest.raises(LinkLostError, match="it was cut"):
        run.read_reports(0)
