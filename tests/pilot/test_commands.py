"""Every command in every state, with whatever may be typed after it: a sentence always, and nothing lost."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from oi_tui.commands import COMMANDS
from oi_tui.engine.events import Noticed
from oi_tui.engine.llm.base import Delta, ErrorInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.terminal import ProgramScreen
from oi_tui.workspace import Workspace
from tests.fakes import Llm, Reply, call
from tests.pilot.test_chat import ChatDriver
from tests.pilot.untrusted_text_app import Wire, Witnessed

#: What is typed after a name: nothing, what some command takes, and what none does.
ARGUMENTS = (
    "",
    " on",
    "\t[1] ",
    " undo",
    " -1",
    " 99999999999999999999",
    " n\u00f6nsense \u6f22\u5b57 \u202e",
    " a\nb",
    " /nowhere/at/all.md",
    " ~nobody-of-this-name/x.json",
    " markdown /",
    " " + "long " * 2_000 + "\0",
)
#: The same for a command that takes nothing.
ALONE = ("", " 1 2")
#: No command at all, though it looks like one.
MISTYPED = (
    "%",
    "/",
    "%%",
    "%hlep",
    "/hlep",
    "%Réset",
    "%nonsense 1",
    "%tokns what is this",
    "%\u00adnew",
)
#: The doctor looks at the whole machine, which is tried elsewhere.
SLOW = ("doctor",)
SOAK = bool(os.environ.get("OI_TUI_SOAK"))
#: So that none of them takes long.
PARTS = 4 if SOAK else 1


class Endless(Llm):
    """Gives the same reply whenever it is asked."""

    def __init__(self, *reply: Delta | ErrorInfo) -> None:
        super().__init__()
        self._same = reply

    def reply(self, request: object) -> Reply:
        return Reply(self._same) if self._same else super().reply(request)  # type: ignore[arg-type]


class Hunted(ChatDriver):
    """Notes all that a person is told."""

    def __init__(self, *reply: Delta, **settings: object) -> None:
        super().__init__(**settings)
        self.workspace.close()
        self.llm = Endless(*reply)
        profile = Profile(model="openai/test").with_changes(**settings)
        self.workspace = Workspace(profile, None, llm=self.llm, computer=self.computer)
        self.app = Witnessed(lambda: self.workspace)
        self.reported: list[str] = []
        self.left = 0

    def listen(self) -> None:
        """Note what is said, in the conversation and in passing."""
        view, show, notify = self.view, self.view.show, self.app.notify

        def showing(event: object) -> None:
            if isinstance(event, Noticed):
                self.reported.append(event.text)
            show(event)

        def notifying(message: str, **more: object) -> None:
            self.reported.append(message)
            notify(message, **more)

        def leaving(*_: object) -> None:
            self.left += 1

        view.show = showing
        self.app.notify = notifying
        self.app.exit = leaving

    def state(self) -> tuple[object, ...]:
        """All that a person sees change."""
        chat, view = self.chat, self.view
        return (
            self.app.screen,
            chat.focused,
            self.prompt,
            view.busy,
            view.progress.doing,
            view.find_line.display,
            chat.prompt._shows_offers,
            view.approval.display,
            view.log_panel.display,
            view.session,
            len(view.session.messages),
            self.left,
            len(self.reported),
        )

    async def settled(self) -> None:
        """Wait until nothing is at work but the turn."""
        await self.pilot.pause()

        def done() -> bool:
            return all(worker.is_finished or worker.group == "turn" for worker in self.app.workers)

        await self.until(done)
        await self.pilot.pause()

    async def back(self) -> None:
        """Return to the conversation, as a person does."""
        for _ in range(8):
            if isinstance(self.app.screen, ChatScreen):
                return
            # A program has all keys but this one.
            in_program = isinstance(self.app.screen, ProgramScreen)
            await self.pilot.press("ctrl+right_square_bracket" if in_program else "escape")
            await self.pilot.pause()
        raise AssertionError(f"escape does not leave {self.app.screen!r}")

    def stale(self) -> set[str]:
        """Messages that stand on the screen and are no longer in the conversation."""
        known = {message.id for message in self.view.session.messages}
        return {block.key for block in self.view.conversation.printing} - known


@asynccontextmanager
async def hunting(*reply: Delta, **settings: object) -> AsyncIterator[Hunted]:
    ui = Hunted(*reply, **settings)
    ui.app.driver_class = Wire
    real = ui.app.exit
    async with ui.app.run_test(headless=False, size=(80, 24), notifications=True) as pilot:
        ui.pilot = pilot
        await ui.until(lambda: isinstance(ui.app.screen, ChatScreen) and ui.app.screen.is_ready)
        ui.listen()
        yield ui
        ui.app.exit = real
    ui.workspace.close()


async def nothing(ui: Hunted) -> None:
    """An empty conversation."""
    if ui.view.busy:
        ui.view.stop()
        await ui.until(lambda: not ui.view.busy)
    if ui.view.session.messages:
        ui.chat.commands.start_conversation()


async def talked(ui: Hunted) -> None:
    """Something was said, and the model answered."""
    if ui.view.busy:
        ui.view.stop()
        await ui.until(lambda: not ui.view.busy)
    if not ui.view.session.messages:
        ui.view.send("go")
        await ui.idle()


async def asked(ui: Hunted) -> None:
    """Code waits for approval."""
    if not ui.view.approval.display:
        await nothing(ui)
        ui.view.send("go")
        await ui.until(lambda: ui.view.approval.armed)


async def running(ui: Hunted) -> None:
    """Code runs."""
    if not (ui.view.busy and ui.computer.running.is_set()) or ui.computer.interrupted.is_set():
        await nothing(ui)
        ui.computer.interrupted.clear()
        ui.computer.running.clear()
        ui.view.send("go")
        await ui.until(ui.computer.running.is_set)


STATES = {
    "empty": (nothing, (), {}),
    "talked": (talked, (), {}),
    "asked": (asked, (call("a"),), {}),
    "running": (running, (call("hang"),), {"auto_run": True}),
    "input": (running, (call("ask"),), {"auto_run": True}),
}


def typed(state: str) -> Sequence[str]:
    """All there is for a conversation; for the other states what differs there.

    In the short form the states share them: each line is typed in one.
    """
    lines = [
        f"%{name}{argument}"
        for name in COMMANDS
        if name not in SLOW
        for argument in (
            (ARGUMENTS if state == "talked" else ARGUMENTS[:3]) if COMMANDS[name].usage else ALONE
        )
    ]
    lines += MISTYPED
    return lines if SOAK else lines[list(STATES).index(state) :: len(STATES)]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("state", STATES)
async def test_every_command_is_answered_in_every_state(
    state: str, part: int, workplace: Path, figures: dict[str, int]
) -> None:
    arrange, reply, settings = STATES[state]
    wrong: list[str] = []
    async with hunting(*reply, **settings) as ui:
        for text in typed(state)[part::PARTS]:
            await arrange(ui)
            chat = ui.chat
            ui.view.find_line.dismiss()
            chat.set_focus(None)
            chat.prompt.focus()
            chat.prompt.text = ""
            before = ui.state()
            chat._dispatch(text.strip())
            await ui.settled()
            if ui.state() == before:
                wrong.append(f"{text!r}: nothing is said or seen")
            if any("Traceback" in item for item in ui.reported):
                wrong.append(f"{text!r}: a traceback")
            await ui.back()
            if ui.stale():
                wrong.append(f"{text!r}: the screen is stale")
            if text in MISTYPED and chat.prompt.text != text.strip():
                wrong.append(f"{text!r}: it is lost")
            figures["commands"] = figures.get("commands", 0) + 1
    assert not wrong, "\n".join(wrong)
