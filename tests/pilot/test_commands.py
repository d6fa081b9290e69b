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
from tests.pilot.test_chat import Desk
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


class Hunted(Desk):
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
        bench, show, notify = self.bench, self.bench.show, self.app.notify

        def showing(event: object) -> None:
            if isinstance(event, Noticed):
                self.reported.append(event.text)
            show(event)

        def notifying(message: str, **more: object) -> None:
            self.reported.append(message)
            notify(message, **more)

        def leaving(*_: object) -> None:
            self.left += 1

        bench.show = showing
        self.app.notify = notifying
        self.app.exit = leaving

    def state(self) -> tuple[object, ...]:
        """All that a person sees change."""
        chat, bench = self.chat, self.bench
        return (
            self.app.screen,
            chat.focused,
            self.prompt,
            bench.busy,
            bench.progress.doing,
            bench.find_line.display,
            chat.prompt._shows_offers,
            bench.approval.display,
            bench.log_panel.display,
            bench.session,
            len(bench.session.messages),
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
        known = {message.id for message in self.bench.session.messages}
        return {block.key for block in self.bench.conversation.printing} - known


@asynccontextmanager
async def hunting(*reply: Delta, **settings: object) -> AsyncIterator[Hunted]:
    desk = Hunted(*reply, **settings)
    desk.app.driver_class = Wire
    real = desk.app.exit
    async with desk.app.run_test(headless=False, size=(80, 24), notifications=True) as pilot:
        desk.pilot = pilot
        await desk.until(lambda: isinstance(desk.app.screen, ChatScreen) and desk.app.screen.is_ready)
        desk.listen()
        yield desk
        desk.app.exit = real
    desk.workspace.close()


async def nothing(desk: Hunted) -> None:
    """An empty conversation."""
    if desk.bench.busy:
        desk.bench.stop()
        await desk.until(lambda: not desk.bench.busy)
    if desk.bench.session.messages:
        desk.chat.commands.start_conversation()


async def talked(desk: Hunted) -> None:
    """Something was said, and the model answered."""
    if desk.bench.busy:
        desk.bench.stop()
        await desk.until(lambda: not desk.bench.busy)
    if not desk.bench.session.messages:
        desk.bench.send("go")
        await desk.idle()


async def asked(desk: Hunted) -> None:
    """Code waits for approval."""
    if not desk.bench.approval.display:
        await nothing(desk)
        desk.bench.send("go")
        await desk.until(lambda: desk.bench.approval.armed)


async def running(desk: Hunted) -> None:
    """Code runs."""
    if not (desk.bench.busy and desk.computer.running.is_set()) or desk.computer.interrupted.is_set():
        await nothing(desk)
        desk.computer.interrupted.clear()
        desk.computer.running.clear()
        desk.bench.send("go")
        await desk.until(desk.computer.running.is_set)


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
    async with hunting(*reply, **settings) as desk:
        for text in typed(state)[part::PARTS]:
            await arrange(desk)
            chat = desk.chat
            desk.bench.find_line.dismiss()
            chat.set_focus(None)
            chat.prompt.focus()
            chat.prompt.text = ""
            before = desk.state()
            chat._take(text.strip())
            await desk.settled()
            if desk.state() == before:
                wrong.append(f"{text!r}: nothing is said or seen")
            if any("Traceback" in item for item in desk.reported):
                wrong.append(f"{text!r}: a traceback")
            await desk.back()
            if desk.stale():
                wrong.append(f"{text!r}: the screen is stale")
            if text in MISTYPED and chat.prompt.text != text.strip():
                wrong.append(f"{text!r}: it is lost")
            figures["commands"] = figures.get("commands", 0) + 1
    assert not wrong, "\n".join(wrong)
