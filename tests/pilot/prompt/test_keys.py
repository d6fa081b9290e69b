"""Keys of a person's own work, are shown, and are told of when they cannot be."""

from textual.pilot import Pilot
from textual.widgets import Static

from oi_tui.app import OiTui
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.help import HelpScreen
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, call
from tests.snapshots.staging import asked, chat_view, ready, until


def app(keys: str = "", *replies: object) -> OiTui:
    profile = Profile(model="gpt-4o", keys=keys)
    return OiTui(lambda: Workspace(profile, None, llm=Llm(*replies), computer=Computer()))


def page(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one("#help-rows", Static).render())


async def test_a_command_and_an_answer_have_the_keys_that_the_profile_says() -> None:
    one = app("command.help: f3\nanswer.run: r", [call("a")])
    async with one.run_test(size=(80, 24)) as pilot:
        await asked(pilot)
        assert " r  run" in str(chat_view(pilot).approval.query_one("#choice-run", Static).render())
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        assert "f3" in page(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))
        await until(pilot, lambda: chat_view(pilot).approval.armed)
        chat_view(pilot).approval.focus()
        await pilot.press("r")
        await until(pilot, lambda: not chat_view(pilot).busy)
        assert chat_view(pilot).session.messages[1].decision == "approved"


async def test_an_answer_may_have_two_keys_and_shows_the_first() -> None:
    one = app("answer.run: r,t", [call("a")])
    async with one.run_test(size=(80, 24)) as pilot:
        await asked(pilot)
        assert " r  run" in str(chat_view(pilot).approval.query_one("#choice-run", Static).render())
        await until(pilot, lambda: chat_view(pilot).approval.armed)
        chat_view(pilot).approval.focus()
        await pilot.press("t")
        await until(pilot, lambda: not chat_view(pilot).busy)
        assert chat_view(pilot).session.messages[1].decision == "approved"


async def test_a_digit_may_answer_and_still_chooses_what_to_auto_approve() -> None:
    async with app("answer.run: 1", [call("a")]).run_test(size=(80, 24)) as pilot:
        await asked(pilot)
        panel = chat_view(pilot).approval
        await until(pilot, lambda: panel.armed)
        panel.focus()
        await pilot.press("a")
        await until(pilot, lambda: panel.stage == "always")
        await pilot.press("1")
        await until(pilot, lambda: not chat_view(pilot).busy)
        session = chat_view(pilot).session
        assert session.messages[1].decision == "approved"
        assert len(session.permissions.in_force) == 1


async def test_what_cannot_be_is_reported_in_the_conversation() -> None:
    async with app("command.nwe: ctrl+t").run_test(size=(80, 24)) as pilot:
        await ready(pilot)

        def reported() -> bool:
            blocks = chat_view(pilot).conversation.transcript.blocks
            return any("Did you mean command.new?" in block.source() for block in blocks)

        await until(pilot, reported)


async def test_help_begins_with_the_keys_of_what_has_the_focus() -> None:
    async with app("", [call("a")]).run_test(size=(80, 24)) as pilot:
        await asked(pilot)
        for focus, title in (
            (chat_view(pilot).approval, "At the question"),
            (chat_view(pilot).conversation.transcript, "In the conversation"),
        ):
            focus.focus()
            await pilot.pause()
            await pilot.press("f1")
            await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
            assert page(pilot).startswith(title)
            await pilot.press("f1")
            await until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))


async def test_every_screen_has_help() -> None:
    async with app().run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("ctrl+r")
        await pilot.pause(0.1)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        assert "escape" in page(pilot)
