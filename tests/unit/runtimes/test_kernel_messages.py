"""Messages of Jupyter kernels that are written wrongly."""

import json
import queue
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from oi_tui.messages import Displayed, Printed
from oi_tui.runtimes.remote.jupyter import kernel
from oi_tui.runtimes.remote.jupyter.kernel_client import FileClient
from oi_tui.runtimes.remote.jupyter.kernel_gateway import GatewayClient

GOOD = {"channel": "shell", "header": {"msg_type": "execute_reply"}, "parent_header": {}, "content": {}}
VALUES: tuple[object, ...] = ([1], 1, "x")
PARENTS: tuple[object, ...] = ([1], {"msg_id": []})
BAD: tuple[str | bytes, ...] = (
    *("", "[]", "[" * 100_000, "\0"),
    *(b"", struct.pack(">I", 0), struct.pack(">II", 1, 2**31), b"\0\0\0\1\0\0\0\x08\xff"),
    *(json.dumps(GOOD | {name: value}) for name in ("header", "content") for value in VALUES),
    *(json.dumps(GOOD | {"parent_header": value}) for value in PARENTS),
)


class Connection:
    """Sends the messages that are written wrongly, then a good one."""

    def __init__(self, closing: threading.Event) -> None:
        self._closing = closing

    def __iter__(self) -> Iterator[str | bytes]:
        yield from BAD
        yield json.dumps(GOOD | {"channel": "iopub"})
        yield json.dumps(GOOD)
        self._closing.set()

    def close(self) -> None:
        pass


def test_messages_of_a_server_that_are_none_end_no_connection() -> None:
    client: Any = object.__new__(GatewayClient)
    client._closing = threading.Event()
    client._socket = Connection(client._closing)
    client._channels = {"shell": queue.Queue(), "iopub": queue.Queue()}
    client._greetings = {"x"}
    client._read()
    messages = [client._channels["shell"].get_nowait() for _ in range(client._channels["shell"].qsize())]
    assert messages[-1] == {**GOOD, "msg_type": "execute_reply"}
    assert all(
        isinstance(message[name], dict) for message in messages for name in ("content", "parent_header")
    )


@pytest.mark.parametrize("error", [AttributeError(), RecursionError(), IndexError(), None])
def test_a_message_of_a_kernel_that_is_none_is_dropped_and_said(error: Exception | None) -> None:
    class Channel:
        def get_msg(self, timeout: float) -> object:
            if error:
                raise error
            return {"content": [timeout], "parent_header": {}}

    client: Any = object.__new__(FileClient)
    client._dropped = False
    with pytest.raises(queue.Empty):
        client._receive(Channel(), 0)
    assert client.explain_loss() == "a message of the kernel was damaged"


@pytest.mark.parametrize("value", [5, 1.5, True, "x", [], [5], {}, {"text/plain": 5}, {"image/png": 5}, None])
@pytest.mark.parametrize("kind", ["stream", "error", "display_data", "execute_result", "clear_output"])
def test_output_of_a_kernel_that_is_written_wrongly_ends_no_run(kind: str, value: object) -> None:
    content = dict.fromkeys(("text", "traceback", "data"), value)
    for report in kernel._report_output({"msg_type": kind, "content": content}):
        assert isinstance(report, Printed | Displayed)


@pytest.mark.parametrize("value", [5, True, "x", [], [5], {"x": 5}, None])
def test_a_reply_of_a_kernel_that_is_written_wrongly_names_its_error(value: object) -> None:
    content = dict.fromkeys(("ename", "evalue", "payload", "status"), value)
    assert isinstance(kernel._name_error(content), str | None)
    assert list(kernel._report_payload(content)) == []
