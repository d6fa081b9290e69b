"""The lines of the Agent Client Protocol, when the program ends before the editor does."""

import asyncio
import os
import threading
import warnings

import pytest

from oi_tui.acp.transport import LineTransport

pytestmark = pytest.mark.needs("acp")


@pytest.mark.parametrize("line", [b'{"jsonrpc":"2.0","id":1,"method":"x"}\n', b"no JSON\n", b""])
def test_a_message_after_the_end_is_dropped_without_a_warning(line: bytes) -> None:
    reading, writing = os.pipe()
    before = set(threading.enumerate())

    async def begin() -> None:
        LineTransport(os.fdopen(reading, "rb"), 1)

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        asyncio.run(begin())
        (reader,) = (item for item in set(threading.enumerate()) - before if "_read" in item.name)
        os.write(writing, line)
        os.close(writing)
        reader.join(20)
        assert not reader.is_alive()
    assert [str(item.message) for item in shown if item.category is RuntimeWarning] == []
