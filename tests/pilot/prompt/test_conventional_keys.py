"""Keys that people know from shells and other programs, and what a key that came too early leaves behind."""

import time

import pytest
from textual.widgets import Input

from oi_tui.engine.llm.base import ErrorInfo, Text
from oi_tui.screens.chat.commands import turns
from oi_tui.screens.models import ModelsScreen
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.widgets.conversation.blocks import NoticeBlock, ProseBlock
from oi_tui.widgets.lists.conversation_list import ConversationList
from tests.fakes import Gate, call
from tests.pilot.test_chat import Desk, sitting


async def words(desk: Desk, *texts: str) -> None:
    for text in texts:
        await desk.type(text)
        await desk.idle()


@pytest.mark.parametrize("key", ["ctrl+j", "alt+enter", "shift+enter"])
async def test_a_new_line_has_the_usual_keys(key: str) -> None:
    async with sitting() as desk:
        await desk.type("one", key)
        await desk.pilot.press("2")
        assert desk.prompt == "one\n2"


async def test_alt_d_deletes_the_next_word() -> None:
    async with sitting() as desk:
        await desk.type("one two", "home", "alt+d")
        assert desk.prompt.strip() == "two"


async def test_ctrl_r_searches_messages_for_what_is_typed_and_then_goes_on_to_older_ones() -> None:
    async with sitting([Text("a")], [Text("b")], [Text("c")]) as desk:
        await words(desk, "plot sales", "plot costs", "hello")
        await desk.type("plot", "ctrl+r", "enter")
        assert desk.prompt == "plot costs"
        desk.chat.prompt.clear()
        await desk.type("plot", "ctrl+r", "ctrl+r", "enter")
        assert desk.prompt == "plot sales"


async def test_ctrl_r_with_nothing_typed_opens_the_conversations() -> None:
    async with sitting() as desk:
        await desk.type("", "ctrl+r")
        await desk.until(lambda: isinstance(desk.app.screen, NavigatorScreen))


async def test_ctrl_d_quits_only_with_nothing_typed() -> None:
    async with sitting() as desk:
        await desk.type("x", "home", "ctrl+d")
        assert desk.prompt == ""
        assert not desk.app._exit
        await desk.pilot.press("ctrl+d")
        await desk.until(lambda: desk.app._exit)


async def test_ctrl_d_needs_a_second_press_while_code_runs() -> None:
    async with sitting([call("hang")], auto_run=True) as desk:
        await desk.type("go")
        await desk.until(desk.computer.running.is_set)
        await desk.pilot.press("ctrl+d")
        await desk.pilot.pause()
        assert not desk.app._exit
        await desk.pilot.press("ctrl+d")
        await desk.until(lambda: desk.app._exit)


async def test_ctrl_y_copies_the_last_code_and_redoes_what_was_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied: list[str] = []
    monkeypatch.setattr("oi_tui.screens.chat.view.copy", lambda text, _: copied.append(text) or "copied")
    async with sitting([call("first")], [Text("ok")], auto_run=True) as desk:
        await words(desk, "go")
        await desk.type("", "ctrl+y")
        await desk.until(lambda: copied == ["first"])
        await desk.type("word", "ctrl+z")
        await desk.pilot.press("ctrl+y")
        assert desk.prompt == "word"
        assert copied == ["first"]


async def test_ctrl_o_opens_the_last_output_where_no_program_runs() -> None:
    async with sitting([call("first")], [Text("ok")], auto_run=True) as desk:
        await words(desk, "go")
        await desk.pilot.press("ctrl+o")
        await desk.until(lambda: isinstance(desk.app.screen, PagerScreen))


async def test_escape_twice_clears_the_prompt_and_undo_restores_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_TWICE", 60.0)
    async with sitting() as desk:
        await desk.type("some words", "escape")
        assert desk.prompt == "some words"
        assert not desk.app._notifications
        await desk.pilot.press("escape")
        assert desk.prompt == ""
        await desk.pilot.press("ctrl+z")
        assert desk.prompt == "some words"


async def test_escape_twice_with_nothing_typed_offers_an_earlier_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_TWICE", 60.0)
    async with sitting([Text("a")]) as desk:
        await words(desk, "hello")
        await desk.type("", "escape", "escape")
        transcript = desk.bench.conversation.transcript
        await desk.until(lambda: transcript.has_focus)


async def test_an_answer_that_was_typed_too_early_leaves_nothing_in_the_prompt() -> None:
    async with sitting([call("first")], [Text("ok")]) as desk:
        await desk.type("go")
        await desk.until(lambda: desk.bench.approval.request)
        desk.chat.prompt.focus()
        await desk.pilot.press("y")
        assert desk.prompt == "y"
        await desk.asked()
        assert desk.prompt == ""
        assert desk.computer.ran == []
        assert "again" in str(desk.bench.approval.border_subtitle)
        await desk.pilot.press("y")
        await desk.idle()
        assert desk.computer.ran == [("python", "first")]
        assert desk.prompt == ""


async def test_a_letter_that_stood_there_before_the_question_stays() -> None:
    gate = Gate()
    async with sitting([gate, call("first")], [Text("ok")]) as desk:
        await desk.type("go")
        await desk.pilot.press("y")
        gate.set()
        await desk.until(lambda: desk.bench.approval.armed)
        assert desk.prompt == "y"


def notices(desk: Desk) -> list[str]:
    blocks = desk.bench.conversation.transcript.blocks
    return [block.source() for block in blocks if isinstance(block, NoticeBlock)]


async def test_commands_while_the_model_writes_put_no_line_into_its_reply() -> None:
    gate = Gate()
    async with sitting([Text("one "), gate, Text("two")]) as desk:
        await desk.type("go")
        blocks = desk.bench.conversation.transcript
        await desk.until(lambda: any(isinstance(block, ProseBlock) for block in blocks.blocks))
        for command in ("%tokens", "%info"):
            await desk.type(command)
            await desk.until(lambda: isinstance(desk.app.screen, PagerScreen))
            await desk.pilot.press("escape")
            await desk.until(lambda: desk.app.screen is desk.chat)
        await desk.type("%continue")
        await desk.type("%files")
        assert notices(desk) == []
        assert desk.prompt == ""
        gate.set()
        await desk.idle()
        kinds = [type(block).__name__ for block in blocks.blocks]
        assert kinds[:2] == ["UserBlock", "ProseBlock"]


async def test_an_own_command_waits_for_the_end_of_the_reply() -> None:
    gate = Gate()
    async with sitting([Text("one "), gate, Text("two")]) as desk:
        await desk.type("go")
        await desk.until(lambda: desk.bench.busy)
        await desk.type("! ls -la")
        assert desk.prompt == ""
        assert desk.computer.ran == []
        gate.set()
        await desk.until(lambda: desk.computer.ran == [("shell", "ls -la")])


async def test_a_stopped_turn_hands_no_message_to_the_shell() -> None:
    gate = Gate()
    async with sitting([Text("one "), gate, Text("two")]) as desk:
        await desk.type("go")
        await desk.until(lambda: desk.bench.busy)
        await desk.type("! ls")
        await desk.type("delete the rest")
        await desk.pilot.press("escape")
        gate.set()
        await desk.idle()
        assert desk.prompt == "delete the rest"
        assert desk.computer.ran == []


async def test_a_conversation_that_was_found_leaves_the_keyboard_at_the_prompt() -> None:
    async with sitting([Text("about greenhouses")]) as desk:
        await words(desk, "tell me")
        await desk.pilot.press("ctrl+r")
        await desk.until(lambda: isinstance(desk.app.screen, NavigatorScreen))
        await desk.pilot.press(*"greenhouses")
        rows = desk.app.screen.query_one(ConversationList)
        await desk.until(lambda: "about greenhouses" in "".join(part.text for part in rows.render_line(2)))
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.bench.find_line.display)
        await desk.pilot.press("n", "o", "w")
        assert desk.prompt == "now"
        await desk.pilot.press("escape")
        await desk.until(lambda: not desk.bench.find_line.display)


NO_KEY = ErrorInfo("no_key", "No API key for groq.", "api_key")


async def test_a_missing_key_opens_its_hidden_field_and_the_request_goes_out_again() -> None:
    async with sitting([NO_KEY], [Text("Here I am.")], model="groq/llama") as desk:
        await desk.type("hello")
        await desk.until(lambda: isinstance(desk.app.screen, ModelsScreen))
        await desk.until(lambda: desk.app.screen.query_one("#models-key", Input).has_focus)
        assert desk.app.screen.query_one("#models-key", Input).password
        await desk.pilot.press(*"gsk-12345678", "enter")
        await desk.until(lambda: desk.bench.session.messages[-1].content == "Here I am.")
        assert [m.content for m in desk.bench.session.messages] == ["hello", "Here I am."]
        assert desk.workspace.secrets.key_for("groq/llama") == "gsk-12345678"


async def test_no_field_opens_over_what_somebody_types() -> None:
    gate = Gate()
    async with sitting([gate, NO_KEY], model="groq/llama") as desk:
        await desk.type("hello")
        await desk.until(lambda: desk.bench.busy)
        await desk.pilot.press("m", "o", "r", "e")
        gate.set()
        await desk.idle()
        await desk.until(lambda: time.monotonic() - desk.app.last_key > 1)
        assert desk.app.screen is desk.chat
        assert desk.prompt == "more"


async def test_enter_alone_tries_a_failed_request_again() -> None:
    async with sitting([ErrorInfo("refused", "Ollama is not running.", None)], [Text("Back.")]) as desk:
        await desk.type("", "enter")
        assert desk.llm.requests == []
        await desk.type("hello")
        await desk.until(lambda: any("Enter tries again" in text for text in notices(desk)))
        await desk.type("", "enter")
        await desk.until(lambda: desk.bench.session.messages[-1].content == "Back.")
        await desk.idle()
        await desk.type("", "enter")
        assert len(desk.llm.requests) == 2
