"""The keys of vi in the conversation: what its escape and its commands do there."""

from oi_tui.engine.llm.base import Text
from tests.fakes import Gate, call
from tests.pilot.test_chat import open_chat


async def test_code_is_edited_and_a_run_stopped_with_the_keys_of_vi() -> None:
    gate = Gate()
    async with open_chat([call("first")], [gate, Text("ok")], editing="vi") as ui:
        panel, conversation = ui.view.approval, ui.view.conversation
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("e")
        await ui.until(lambda: conversation.cell_editor.is_open)
        assert ":q! cancel" in str(ui.chat._status.right)
        await ui.until(lambda: str(panel.border_subtitle) == "NORMAL · Ln 1, Col 1")
        await ui.pilot.press("escape", "escape", "A", "x", "escape", "colon", "q", "enter")
        # What was changed is not dropped by a plain :q.
        await ui.until(lambda: len(ui.app._notifications) > 0)
        assert conversation.cell_editor.is_open
        await ui.pilot.press("colon", "q", "exclamation_mark", "enter")
        await ui.until(lambda: not conversation.cell_editor.is_open)
        assert panel.code == "first"
        await ui.asked()
        await ui.pilot.press("e")
        await ui.until(lambda: conversation.cell_editor.is_open)
        await ui.pilot.press("c", "w", *"second", "escape", *"ZZ")
        await ui.until(lambda: not conversation.cell_editor.is_open)
        assert panel.code == "second"
        await ui.asked()
        await ui.pilot.press("y")
        await ui.until(lambda: ui.chat.prompt.has_focus and not panel.display)
        assert "esc esc stop" in str(ui.chat._status.right)
        assert "INSERT" in str(ui.chat._status.left)
        await ui.pilot.press("escape")
        await ui.until(lambda: "NORMAL" in str(ui.chat._status.left))
        assert ui.view.busy
        await ui.pilot.press("escape")
        await ui.until(lambda: not ui.view.busy)
