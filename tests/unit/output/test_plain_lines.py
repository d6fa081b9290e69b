"""What plain lines show of output and of notes."""

import pytest

from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted
from oi_tui.messages import Message
from oi_tui.plain.event_handler import PlainEventHandler

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("printed", "shown"), [(f"{FAMILY} ok", f"{FAMILY} ok"), ("a\u202eb\u200dc", "a⟨U+202E⟩b⟨U+200D⟩c")]
)
def test_emoji_stay_whole_and_what_hides_something_is_spelled_out(printed: str, shown: str) -> None:
    lines: list[str] = []
    handler = PlainEventHandler(lines.append, lines.append, lambda _: "", echoes=False)
    handler.print_notice(printed)
    output = Message(role="computer", type="console", format="output")
    handler.handle_event(MessageStarted(output))
    handler.handle_event(MessageGrew(output.id, f"{printed}\n"))
    assert "".join(lines).count(shown) == 2


def test_a_short_run_took_milliseconds() -> None:
    lines: list[str] = []
    handler = PlainEventHandler(lines.append, lines.append, lambda _: "", echoes=False)
    code = Message(role="user", type="code", format="shell", content="ls", seconds=0.008)
    handler.handle_event(MessageRecorded(code.replace(state="running")))
    handler.handle_event(MessageRecorded(code.replace(state="finished")))
    assert "Finished in 8 ms.\n" in "".join(lines)
