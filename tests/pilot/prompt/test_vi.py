"""The keys of vi in the conversation: what its escape and its commands do there."""

from oi_tui.engine.llm.base import Text
from tests.fakes import Gate, call
from tests.pilot.test_chat import sitting


async def test_code_is_edited_and_a_run_stopped_with_the_keys_of_vi() -> None:
    gate = Gate()
    async with sitting([call("first")], [gate, Text("ok")], editing="vi") as desk:
        panel, conversation = desk.bench.approval, desk.bench.conversation
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("e")
        await desk.until(lambda: conversation.editing)
        assert ":q! cancel" in str(desk.chat._status.right)
        await desk.until(lambda: str(panel.border_subtitle) == "NORMAL · Ln 1, Col 1")
        await desk.pilot.press("escape", "escape", "A", "x", "escape", "colon", "q", "enter")
        # What was changed is not dropped by a plain :q.
        await desk.until(lambda: len(desk.app._notifications) > 0)
        assert conversation.editing
        await desk.pilot.press("colon", "q", "exclamation_mark", "enter")
        await desk.until(lambda: not conversation.editing)
        assert panel.code == "first"
        await desk.asked()
        await desk.pilot.press("e")
        await desk.until(lambda: conversation.editing)
        await desk.pilot.press("c", "w", *"second", "escape", *"ZZ")
        await desk.until(lambda: not conversation.editing)
        assert panel.code == "second"
        await desk.asked()
        await desk.pilot.press("y")
        await desk.until(lambda: desk.chat.prompt.has_focus and not panel.display)
        assert "esc esc stop" in str(desk.chat._status.right)
        assert "INSERT" in str(desk.chat._status.left)
        await desk.pilot.press("escape")
        await desk.until(lambda: "NORMAL" in str(desk.chat._status.left))
        assert desk.bench.busy
        await desk.pilot.press("escape")
        await desk.until(lambda: not desk.bench.busy)
