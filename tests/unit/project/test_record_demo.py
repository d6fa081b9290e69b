"""The recording of the demo is a cast that players can read."""

import json
import sys

from tests.record_demo import Recorder, cast
from tests.terminal import Terminal


def test_a_cast_has_a_header_and_an_event_for_each_piece() -> None:
    euro = "€".encode()
    pieces = [(10.0, b"one\r\n"), (10.5, b"two " + euro[:1]), (60.0, euro[1:] + b"\x1b[0m")]
    header, *events = (json.loads(line) for line in cast(pieces, 80, 24))
    assert (header["version"], header["width"], header["height"]) == (2, 80, 24)
    # A character that was cut in two is whole, and long pauses are shortened.
    assert events == [[0.0, "o", "one\r\n"], [0.5, "o", "two "], [2.5, "o", "€\x1b[0m"]]


def test_the_recorder_keeps_every_byte_in_order() -> None:
    code = "import time\nfor n in range(3):\n    print('line', n, flush=True)\n    time.sleep(0.05)"
    with Terminal(command=(sys.executable, "-c", code)) as terminal:
        recorder = Recorder(terminal)
        assert terminal.wait_exit() == 0
        pieces = recorder.finish()
        assert b"".join(data for _, data in pieces) == bytes(terminal.raw)
    assert [at for at, _ in pieces] == sorted(at for at, _ in pieces)
