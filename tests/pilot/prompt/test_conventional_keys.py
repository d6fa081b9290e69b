"""Keys that people know from shells and other programs, and what a key that came too early leaves behind."""

import time

import pytest
from textual.widgets import Input

from oi_tui.engine.llm.base import ErrorInfo, Text
from oi_tui.screens.models import ModelsScreen
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.widgets.conversation.blocks import NoticeBlock, ProseBlock
from oi_tui.widgets.lists.conversation_list import ConversationList
from oi_tui.widgets.prompt import prompt
from tests.fakes import Gate, call
from tests.pilot.test_chat import ChatDriver, open_chat


async def send_all(ui: ChatDriver, *texts: str) -> None:
    for text in texts:
        await ui.type(text)
        await ui.idle()


@pytest.mark.parametrize("key", ["ctrl+j", "alt+enter", "shift+enter"])
async def test_a_new_line_has_the_usual_keys(key: str) -> None:
    async with open_chat() as ui:
        await ui.type("one", key)
        await ui.pilot.press("2")
        assert ui.prompt == "one\n2"


async def test_alt_d_deletes_the_next_word() -> None:
    async with open_chat() as ui:
        await ui.type("one two", "home", "alt+d")
        assert ui.prompt.strip() == "two"


async def test_ctrl_r_searches_messages_for_what_is_typed_and_then_goes_on_to_older_ones() -> None:
    async with open_chat([Text("a")], [Text("b")], [Text("c")]) as ui:
        await send_all(ui, "plot sales", "plot costs", "hello")
        await ui.type("plot", "ctrl+r", "enter")
        assert ui.prompt == "plot costs"
        ui.chat.prompt.clear()
        await ui.type("plot", "ctrl+r", "ctrl+r", "enter")
        assert ui.prompt == "plot sales"


async def test_ctrl_r_again_where_no_message_was_found_does_nothing() -> None:
    async with open_chat([Text("a")]) as ui:
        await send_all(ui, "plot sales")
        await ui.type("zebra", "ctrl+r", "ctrl+r", "up", "down")
        assert ui.prompt == "zebra"
        await ui.pilot.press("s")
        assert ui.prompt == "zebras"


async def test_ctrl_r_with_nothing_typed_opens_the_conversations() -> None:
    async with open_chat() as ui:
        await ui.type("", "ctrl+r")
        await ui.until(lambda: isinstance(ui.app.screen, NavigatorScreen))


async def test_ctrl_d_quits_only_with_nothing_typed() -> None:
    async with open_chat() as ui:
        await ui.type("x", "home", "ctrl+d")
        assert ui.prompt == ""
        assert not ui.app._exit
        await ui.pilot.press("ctrl+d")
        await ui.until(lambda: ui.app._exit)


async def test_ctrl_d_needs_a_second_press_while_code_runs() -> None:
    async with open_chat([call("hang")], auto_run=True) as ui:
        await ui.type("go")
        await ui.until(ui.computer.running.is_set)
        await ui.pilot.press("ctrl+d")
        await ui.pilot.pause()
        assert not ui.app._exit
        await ui.pilot.press("ctrl+d")
        await ui.until(lambda: ui.app._exit)


async def test_ctrl_y_copies_the_last_code_and_redoes_what_was_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied: list[str] = []
    monkeypatch.setattr("oi_tui.screens.chat.view.copy", lambda text, _: copied.append(text) or "copied")
    async with open_chat([call("first")], [Text("ok")], auto_run=True) as ui:
        await send_all(ui, "go")
        await ui.type("", "ctrl+y")
        await ui.until(lambda: copied == ["first"])
        await ui.type("word", "ctrl+z")
        await ui.pilot.press("ctrl+y")
        assert ui.prompt == "word"
        assert copied == ["first"]


async def test_ctrl_o_opens_the_last_output_where_no_program_runs() -> None:
    async with open_chat([call("first")], [Text("ok")], auto_run=True) as ui:
        await send_all(ui, "go")
        await ui.pilot.press("ctrl+o")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))


async def test_escape_twice_clears_the_prompt_and_undo_restores_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "ESCAPES", 60.0)
    async with open_chat() as ui:
        await ui.type("some words", "escape")
        assert ui.prompt == "some words"
        assert not ui.app._notifications
        await ui.pilot.press("escape")
        assert ui.prompt == ""
        await ui.pilot.press("ctrl+z")
        assert ui.prompt == "some words"


async def test_escape_twice_with_nothing_typed_offers_an_earlier_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prompt, "ESCAPES", 60.0)
    async with open_chat([Text("a")]) as ui:
        await send_all(ui, "hello")
        await ui.type("", "escape", "escape")
        transcript = ui.view.conversation.transcript
        await ui.until(lambda: transcript.has_focus)


async def test_an_answer_that_was_typed_too_early_leaves_nothing_in_the_prompt() -> None:
    async with open_chat([call("first")], [Text("ok")]) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.approval.request)
        ui.chat.prompt.focus()
        await ui.pilot.press("y")
        assert ui.prompt == "y"
        await ui.asked()
        assert ui.prompt == ""
        assert ui.computer.ran == []
        assert "again" in str(ui.view.approval.border_subtitle)
        await ui.pilot.press("y")
        await ui.idle()
        assert ui.computer.ran == [("python", "first")]
        assert ui.prompt == ""


async def test_a_letter_that_stood_there_before_the_question_stays() -> None:
    gate = Gate()
    async with open_chat([gate, call("first")], [Text("ok")]) as ui:
        await ui.type("go")
        await ui.pilot.press("y")
        gate.set()
        await ui.until(lambda: ui.view.approval.armed)
        assert ui.prompt == "y"


def list_notices(ui: ChatDriver) -> list[str]:
    blocks = ui.view.conversation.transcript.blocks
    return [block.source() for block in blocks if isinstance(block, NoticeBlock)]


async def test_commands_while_the_model_writes_put_no_line_into_its_reply() -> None:
    gate = Gate()
    async with open_chat([Text("one "), gate, Text("two")]) as ui:
        await ui.type("go")
        blocks = ui.view.conversation.transcript
        await ui.until(lambda: any(isinstance(block, ProseBlock) for block in blocks.blocks))
        for command in ("%tokens", "%info"):
            await ui.type(command)
            await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
            await ui.pilot.press("escape")
            await ui.until(lambda: ui.app.screen is ui.chat)
        await ui.type("%continue")
        await ui.type("%files")
        assert list_notices(ui) == []
        assert ui.prompt == ""
        gate.set()
        await ui.idle()
        kinds = [type(block).__name__ for block in blocks.blocks]
        assert kinds[:2] == ["UserBlock", "ProseBlock"]


async def test_an_own_command_waits_for_the_end_of_the_reply() -> None:
    gate = Gate()
    async with open_chat([Text("one "), gate, Text("two")]) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.busy)
        await ui.type("! ls -la")
        assert ui.prompt == ""
        assert ui.computer.ran == []
        gate.set()
        await ui.until(lambda: ui.computer.ran == [("shell", "ls -la")])


async def test_a_stopped_turn_hands_no_message_to_the_shell() -> None:
    gate = Gate()
    async with open_chat([Text("one "), gate, Text("two")]) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.busy)
        await ui.type("! ls")
        await ui.type("delete the rest")
        await ui.pilot.press("escape")
        gate.set()
        await ui.idle()
        assert ui.prompt == "delete the rest"
        assert ui.computer.ran == []


async def test_a_conversation_that_was_found_leaves_the_keyboard_at_the_prompt() -> None:
    async with open_chat([Text("about greenhouses")]) as ui:
        await send_all(ui, "tell me")
        await ui.pilot.press("ctrl+r")
        await ui.until(lambda: isinstance(ui.app.screen, NavigatorScreen))
        await ui.pilot.press(*"greenhouses")
        rows = ui.app.screen.query_one(ConversationList)
        await ui.until(lambda: "about greenhouses" in "".join(part.text for part in rows.render_line(2)))
        await ui.pilot.press("enter")
        await ui.until(lambda: ui.view.find_line.display)
        await ui.pilot.press("n", "o", "w")
        assert ui.prompt == "now"
        await ui.pilot.press("escape")
        await ui.until(lambda: not ui.view.find_line.display)


NO_KEY = ErrorInfo("no_key", "No API key for groq.", "api_key")


async def test_a_missing_key_opens_its_hidden_field_and_the_request_goes_out_again() -> None:
    async with open_chat([NO_KEY], [Text("Here I am.")], model="groq/llama") as ui:
        await ui.type("hello")
        await ui.until(lambda: isinstance(ui.app.screen, ModelsScreen))
        await ui.until(lambda: ui.app.screen.query_one("#models-key", Input).has_focus)
        assert ui.app.screen.query_one("#models-key", Input).password
        await ui.pilot.press(*"gsk-12345678", "enter")
        await ui.until(lambda: ui.view.session.messages[-1].content == "Here I am.")
        assert [m.content for m in ui.view.session.messages] == ["hello", "Here I am."]
        assert ui.workspace.secrets.key_for("groq/llama") == "gsk-12345678"


async def test_no_field_opens_over_what_somebody_types() -> None:
    gate = Gate()
    async with open_chat([gate, NO_KEY], model="groq/llama") as ui:
        await ui.type("hello")
        await ui.until(lambda: ui.view.busy)
        await ui.pilot.press("m", "o", "r", "e")
        gate.set()
        await ui.idle()
        await ui.until(lambda: time.monotonic() - ui.app.last_key > 1)
        assert ui.app.screen is ui.chat
        assert ui.prompt == "more"


async def test_enter_alone_tries_a_failed_request_again() -> None:
    async with open_chat([ErrorInfo("refused", "Ollama is not running.", None)], [Text("Back.")]) as ui:
        await ui.type("", "enter")
        assert ui.llm.requests == []
        await ui.type("hello")
        await ui.until(lambda: any("Enter tries again" in text for text in list_notices(ui)))
        await ui.type("", "enter")
        await ui.until(lambda: ui.view.session.messages[-1].content == "Back.")
        await ui.idle()
        await ui.type("", "enter")
        assert len(ui.llm.requests) == 2


async def test_page_keys_at_the_prompt_scroll_the_conversation_and_end_returns_to_its_end() -> None:
    async with open_chat([Text("\n\n".join(f"Paragraph {number}." for number in range(60)))]) as ui:
        await send_all(ui, "go")
        transcript = ui.view.conversation.transcript
        end = transcript.max_scroll_y
        await ui.until(lambda: transcript.scroll_y == end)
        await ui.pilot.press("pageup")
        await ui.until(lambda: transcript.scroll_y < end)
        first = transcript.scroll_y
        await ui.pilot.press("pageup")
        await ui.until(lambda: transcript.scroll_y < first)
        await ui.pilot.press("pagedown")
        await ui.until(lambda: transcript.scroll_y == first)
        await ui.pilot.press("end")
        await ui.until(lambda: transcript.scroll_mode.follows_end)
        assert ui.chat.focused is ui.chat.prompt
        # A text that is longer than the prompt has pages of its own.
        await ui.type("\n".join(map(str, range(60))), "pageup")
        await ui.until(lambda: ui.chat.prompt.cursor_location[0] < 59)
        assert transcript.scroll_mode.follows_end
