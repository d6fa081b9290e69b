"""Every state of the chat screen that a person would recognise, as a snapshot."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from oi_tui import log, paths
from oi_tui.app import OiTui
from oi_tui.engine.llm.base import ErrorInfo, Text
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.screens.chat.first_run import FirstRun
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.diff import DiffScreen
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.permissions import PermissionsScreen
from oi_tui.screens.themes import ThemesScreen
from tests.fakes import call
from tests.snapshots.staging import (
    CODE,
    REPLY,
    RISKY,
    SIZES,
    WORDS,
    Steps,
    ask,
    asked,
    by_size,
    calm,
    chat_view,
    ended,
    ready,
    screen,
    seen,
    until,
)


async def editing(pilot: Pilot[None]) -> None:
    await asked(pilot)
    await pilot.press("e")
    await until(pilot, lambda: chat_view(pilot).conversation.cell_editor.is_open)
    await pilot.press("down", "down", "end", *"  # all")
    await until(pilot, lambda: True)


async def replacing(pilot: Pilot[None]) -> None:
    await editing(pilot)
    await pilot.press("ctrl+f", *"rows", "tab", *"sales")
    line = chat_view(pilot).replace_line
    await until(pilot, lambda: line._found and line._found[0].put == "sales")


async def comparing(pilot: Pilot[None]) -> None:
    await editing(pilot)
    await pilot.press("f8")
    await until(pilot, lambda: isinstance(pilot.app.screen, DiffScreen))


async def edited(pilot: Pilot[None]) -> None:
    await editing(pilot)
    await pilot.press("f5")
    await until(pilot, lambda: chat_view(pilot).approval.armed and chat_view(pilot).approval.has_focus)


def show_keys(pilot: Pilot[None]) -> None:
    """Show the keys of this moment in the last line, which follows four times a second."""
    chat = pilot.app.screen
    assert isinstance(chat, ChatScreen)
    chat.refresh_status()


async def rejecting(pilot: Pilot[None]) -> None:
    await asked(pilot)
    await pilot.press("n")
    await until(pilot, lambda: chat_view(pilot).approval.stage == "why")
    show_keys(pilot)


async def granting(pilot: Pilot[None]) -> None:
    await asked(pilot)
    await pilot.press("a")
    await until(pilot, lambda: chat_view(pilot).approval.stage == "always")
    show_keys(pilot)


async def wanting_the_word(pilot: Pilot[None]) -> None:
    await granting(pilot)
    await pilot.press("5")
    await until(pilot, lambda: chat_view(pilot).approval.stage == "word")


async def with_permissions(pilot: Pilot[None]) -> None:
    await ready(pilot)
    for grant in (
        Permission("code", "python", CODE),
        Permission("count", "python", left=3),
        Permission("language", "shell"),
    ):
        chat_view(pilot).session.permissions.add(grant)
    state = pilot.app.screen.query_one("#home-state", Static)
    # What lies behind follows the events of turns, and here there was none.
    pilot.app.screen.refresh_status()
    await until(pilot, lambda: "%permissions" in str(state.render()))
    pilot.app.screen.commands.screens.open_permissions()
    await until(pilot, lambda: isinstance(pilot.app.screen, PermissionsScreen))


async def waiting_for_input(pilot: Pilot[None]) -> None:
    await ask(pilot)
    await until(pilot, lambda: chat_view(pilot).input_line.display)


async def helped(pilot: Pilot[None]) -> None:
    await ready(pilot)
    await pilot.press("f1")
    await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))


async def choosing(pilot: Pilot[None]) -> None:
    await ready(pilot)
    await pilot.press("ctrl+l")
    await until(pilot, lambda: pilot.app.screen.query_one("#models-hints").display)


async def rehearsing(pilot: Pilot[None]) -> None:
    await ready(pilot)
    FirstRun(pilot.app.screen.commands, chat_view(pilot))._explain(None)
    await until(pilot, lambda: chat_view(pilot).approval.armed and chat_view(pilot).approval.has_focus)


async def colours(pilot: Pilot[None]) -> None:
    await ended(pilot)
    pilot.app.push_screen(ThemesScreen(welcome=True))
    await until(pilot, lambda: isinstance(pilot.app.screen, ThemesScreen) and pilot.app.focused)
    before = pilot.app.theme
    await pilot.press("down")
    await until(pilot, lambda: pilot.app.theme != before)
    await calm(pilot)


async def verbose(pilot: Pilot[None]) -> None:
    await asked(pilot)
    log.recent.lines.extend(
        (
            "10:02:07  turn begins",
            "10:02:07  request to gpt-4o: 2 messages, with the tool",
            "10:02:08  first words after 0.84 s",
            "10:02:10  reply after 2.61 s: 1,234 tokens in, 56 out, $0.0123",
            "10:02:10  waiting for approval: python, 7 lines",
        )
    )
    log.recent.count += 5
    pilot.app.screen.commands.log.follow(True)
    await seen(pilot, "waiting for approval: python")


STATES: dict[str, tuple[Callable[[], OiTui], Steps]] = {
    "empty": (lambda: screen(), ready),
    "asking": (lambda: screen(REPLY), asked),
    "asking in light": (lambda: screen(REPLY, theme="oi-light"), asked),
    "editing": (lambda: screen(REPLY), editing),
    "finding and replacing": (lambda: screen(REPLY), replacing),
    "what was changed": (lambda: screen(REPLY), comparing),
    "asking after an edit": (lambda: screen(REPLY), edited),
    "asking about risks": (lambda: screen([call(RISKY)]), asked),
    "granting": (lambda: screen(REPLY), granting),
    "granting everything": (lambda: screen(REPLY), wanting_the_word),
    "permissions": (lambda: screen(), with_permissions),
    "rejecting": (lambda: screen(REPLY), rejecting),
    "hidden characters": (lambda: screen([call("x = 'a'  # \u202eexe.pot\x1b[2J")]), asked),
    "finished": (lambda: screen(REPLY, [Text("You sold **12** things.")], auto_run=True), ended),
    "failed": (lambda: screen([call("fail")], [Text("It failed.")], auto_run=True), ended),
    "waiting for input": (lambda: screen([call("ask")], auto_run=True), waiting_for_input),
    "no model": (
        lambda: screen([ErrorInfo("no_key", "No API key for OpenAI. Set OPENAI_API_KEY.", "llm.api_key")]),
        ended,
    ),
    "help": (lambda: screen(), helped),
    "first approval": (lambda: screen(), rehearsing),
    "verbose": (lambda: screen(REPLY), verbose),
    "choosing colours": (lambda: screen(REPLY, [Text("Done.")], auto_run=True), colours),
    "choosing a model": (lambda: screen(), choosing),
}


@pytest.mark.parametrize("size", SIZES, ids=by_size)
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.replace(" ", "_"))
def test_the_chat_screen_looks_as_it_did(
    snap_compare: Callable[..., bool], state: str, size: tuple[int, int]
) -> None:
    make, steps = STATES[state]
    assert snap_compare(make(), terminal_size=size, run_before=steps)


@pytest.mark.parametrize("size", SIZES, ids=by_size)
def test_a_resumed_conversation_looks_as_it_did(
    snap_compare: Callable[..., bool], size: tuple[int, int]
) -> None:
    app = screen()
    journal = Store(paths.conversations()).create(cwd="/home/ada/sales", model="gpt-4o")
    code = Message(
        role="assistant",
        type="code",
        format="python",
        content=CODE,
        decision="approved",
        state="finished",
        seconds=0.2,
    )
    for message in (
        Message(role="user", type="message", content="What did we sell?"),
        Message(role="assistant", type="message", content=WORDS),
        code,
        Message(
            role="computer",
            type="console",
            format="output",
            content="12 sales, 1,310.50 in all\n",
            parent=code.id,
        ),
        Message(
            role="assistant", type="message", content="You sold **12** things, for 1,310.50 euros in all."
        ),
    ):
        journal.put(message)
    journal.close()

    async def resume(pilot: Pilot[None]) -> None:
        await ready(pilot)
        pilot.app.screen.commands.open_conversation(journal.id)
        await seen(pilot, "This is an earlier conversation")

    assert snap_compare(app, terminal_size=size, run_before=resume)
