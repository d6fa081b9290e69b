"""ctrl+c in plain mode stops what is in progress; the session goes on."""

import os
import signal
from contextlib import closing

from oi_tui.engine.settings.profile import Profile
from oi_tui.plain.conversation import PlainConversation
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.wakeup import Wakeup
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, Targets


class SlowTargets(Targets):
    """The person presses ctrl+c while a target connects."""

    def use(self, spelling: str, stopped: object = None, *, ask: object = None) -> None:
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_during_a_command_stops_the_command_only() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"%target ssh:slow\nhello\n")
    os.close(writing)
    notes: list[str] = []
    computer = Computer()
    computer.targets = SlowTargets()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with closing(Wakeup()) as alarm, closing(Workspace(Profile(), llm=Llm(), computer=computer)) as space:
            handler = PlainEventHandler(notes.append, notes.append, lambda _: "", echoes=False)
            keyboard = StdinReader(alarm, reading)
            PlainConversation(space, handler, keyboard, alarm, seen=False).converse()
            messages = [message.content for message in space.session.messages if message.role == "user"]
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(reading)
    assert "Stopped." in "".join(notes)
    assert messages == ["hello"]
