"""A line of 20 MB that does not end is seen at both ends: live, resumed, and by the model."""

from pathlib import Path

import pytest

from oi_tui.engine.events import MessageRecorded
from oi_tui.engine.output.model_output import shorten_for_model
from oi_tui.engine.reply.message_builders import RunBuilder
from oi_tui.messages import Message, Printed
from oi_tui.widgets.conversation.output import Output

SIZE = 20_000_000


@pytest.mark.parametrize("piece", [65_536, SIZE])
@pytest.mark.parametrize("end", ["", "\r\n"])
def test_a_line_of_20_megabytes_is_not_empty(tmp_path: Path, piece: int, end: str) -> None:
    code = Message(role="assistant", type="code", format="python")
    builder, live = RunBuilder(code, tmp_path), Output()
    for text in ("first", *(["x" * piece] * (SIZE // piece)), f"last{end}"):
        live.feed(text)
        list(builder.feed(Printed(text)))
    [recorded] = [event.message for event in builder.finish() if isinstance(event, MessageRecorded)]
    resumed = Output()
    resumed.feed(recorded.content)
    for shown in (live.text.plain(), resumed.text.plain(), shorten_for_model([recorded], 2_800)):
        assert shown.startswith("firstxxx")
        assert shown.rstrip().endswith("xxxlast")
    assert len(live.text.plain()) < 20_000
    assert len(recorded.content) < 200_000
