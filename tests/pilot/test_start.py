"""What a person can do before the conversation is there."""

import threading
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Offset
from textual.widgets import Static

from oi_tui.app import OiTui
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat import screen
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.chat.view import ChatView
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm
from tests.pilot.waiting import until


async def test_keys_are_drawn_while_the_conversation_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = threading.Event()
    monkeypatch.setattr(screen, "_import_view", lambda: imported.wait(30))
    workspace = Workspace(Profile(model="openai/test"), None, llm=Llm(), computer=Computer())
    app = OiTui(lambda: workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        chat = app.screen
        assert isinstance(chat, ChatScreen)
        await pilot.press("h", "i")

        def drawn() -> bool:
            rows = chat._compositor.render_strips()
            return any("> hi" in "".join(segment.text for segment in row) for row in rows)

        await until(pilot, drawn)
        assert not chat.is_ready
        app.cursor_position = Offset(2, 2)  # as if the last key had come while the prompt stood there
        imported.set()
        await until(pilot, lambda: chat.is_ready)
        assert chat.prompt.text == "hi"
        await until(pilot, lambda: app.cursor_position == chat.prompt.cursor_screen_offset)


@pytest.mark.parametrize(
    ("resume", "words"), [(None, "Type what you want."), ("nosuch", "Opening the conversation …")]
)
async def test_the_first_frame_says_what_comes(
    resume: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = threading.Event()
    monkeypatch.setattr(screen, "_import_view", lambda: imported.wait(30))
    workspace = Workspace(Profile(model="openai/test"), None, llm=Llm(), computer=Computer())
    app = OiTui(lambda: workspace, resume=resume)
    async with app.run_test(size=(80, 24)) as pilot:
        chat = app.screen
        assert isinstance(chat, ChatScreen)
        assert str(chat.query_one("#empty", Static).render()) == words
        imported.set()
        await until(pilot, lambda: chat.is_ready)


async def test_a_message_that_was_sent_before_the_conversation_was_there_is_kept_as_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported = threading.Event()
    monkeypatch.setattr(screen, "_import_view", lambda: imported.wait(30))
    llm = Llm()
    workspace = Workspace(Profile(model="openai/test"), None, llm=llm, computer=Computer())
    app = OiTui(lambda: workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        chat = app.screen
        assert isinstance(chat, ChatScreen)
        await pilot.press("h", "i", "enter")
        shown: list[int] = []
        show = ChatView.show_session

        def note(view: ChatView) -> None:
            shown.append(len(view.session.messages))
            show(view)

        monkeypatch.setattr(ChatView, "show_session", note)
        imported.set()
        await until(pilot, lambda: chat.is_ready and len(workspace.session.messages) == 2)
        # Shown again from its messages, a running cell would lose what its program has drawn.
        assert shown == [0]


async def test_the_first_screen_is_styled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = threading.Event()
    monkeypatch.setattr(screen, "_import_view", lambda: imported.wait(30))
    reparsed: list[Stylesheet] = []
    monkeypatch.setattr(Stylesheet, "reparse", reparsed.append)
    styled: list[object] = []
    apply = Stylesheet.apply

    def note(sheet: Stylesheet, node: DOMNode, **options: Any) -> None:
        styled.append(node)
        apply(sheet, node, **options)

    monkeypatch.setattr(Stylesheet, "apply", note)
    workspace = Workspace(Profile(model="openai/test"), None, llm=Llm(), computer=Computer())
    app = OiTui(lambda: workspace)
    async with app.run_test(size=(100, 30)) as pilot:
        chat = app.screen
        await until(pilot, lambda: chat.size == app.size)
        await pilot.pause()
        assert chat.has_class("-tall")
        # Few are styled again: the prompt that gets the focus, and what is around it.
        assert len(styled) < 1.2 * len(set(styled))
        assert not reparsed
        imported.set()
        await until(pilot, lambda: isinstance(chat, ChatScreen) and chat.is_ready)


async def test_the_conversation_is_the_first_screen() -> None:
    workspace = Workspace(Profile(model="openai/test"), None, llm=Llm(), computer=Computer())
    app = OiTui(lambda: workspace)
    async with app.run_test(size=(80, 24)):
        assert [type(screen) for screen in app.screen_stack] == [ChatScreen]
