"""The messages of a conversation in progress."""

from typing import cast

import pytest

from oi_tui.engine.message_log import MessageLog
from oi_tui.engine.protocols import NullRecorder
from oi_tui.messages import Message


def test_the_number_of_a_cell_can_be_read_while_cells_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = [Message(role="assistant", type="code", format="python", content=str(n)) for n in range(3)]
    log = MessageLog(NullRecorder(), cells)
    numbers: list[int] = []
    is_cell = cast(property, Message.is_cell).fget
    assert is_cell

    def read_number(message: Message) -> bool:
        numbers.append(log.number(cells[-1].id))
        return bool(is_cell(message))

    monkeypatch.setattr(Message, "is_cell", property(read_number))
    log.count_cells()
    assert numbers == [3, 3, 3]
