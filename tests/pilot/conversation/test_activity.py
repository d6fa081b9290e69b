"""The line that says, where the answer will appear, what is being waited for."""

import threading
from collections.abc import Iterator, Sequence

import pytest
from textual.pilot import Pilot

from oi_tui.app import OiTui
from oi_tui.engine.llm.base import ConnectionState, Delta, ErrorInfo, Request, Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.view import ChatView
from oi_tui.themes import THEMES
from oi_tui.widgets.conversation.activity import Activity
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.workspace import Workspace
from tests.fakes import Llm, Reply, call
from tests.pilot.waiting import until
from tests.snapshots.staging import Folder, ask, chat_view, screen

BUSY = ErrorInfo("server", "The server is busy.", retryable=True, retry_after=60)


class Gated(Llm):
    """Waits at each event until it is set, unless the reply is cancelled."""

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        return GatedReply(self.replies.pop(0))


class GatedReply(Reply):
    def __iter__(self) -> Iterator[Delta]:
        for delta in self.deltas:
            if isinstance(delta, threading.Event):
                while not (delta.wait(0.01) or self.cancelled.is_set()):
                    pass
            else:
                assert not isinstance(delta, ErrorInfo)
                yield delta


def gated(*replies: Sequence[Delta | threading.Event], **settings: object) -> OiTui:
    profile = Profile(model="gpt-4o", theme="oi-dark", **settings)  # type: ignore[arg-type]
    workspace = Workspace(profile, None, llm=Gated(*replies), computer=Folder())
    return OiTui(lambda: workspace)


def tail(chat: ChatView) -> str:
    """The line below the last block."""
    row = chat.conversation.transcript.layout_of_blocks.tail
    return row.plain if row else ""


async def shows(pilot: Pilot[None], *words: str) -> str:
    chat = chat_view(pilot)
    await until(pilot, lambda: all(word in tail(chat) for word in words))
    return tail(chat)


def lines(pilot: Pilot[None]) -> list[str]:
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


async def test_it_stands_below_the_request_until_the_answer_takes_its_place() -> None:
    held = threading.Event()
    app = gated([held, Text("We sold nothing.")])
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        line = await shows(pilot, "Thinking", "gpt-4o", "tokens sent")
        await until(pilot, lambda: line[2:10] in "\n".join(lines(pilot)))
        place = next(y for y, item in enumerate(lines(pilot)) if "Thinking" in item)
        before = lines(pilot)[place]
        await until(pilot, lambda: lines(pilot)[place] != before)
        held.set()
        await until(pilot, lambda: "We sold nothing." in lines(pilot)[place])
        await until(pilot, lambda: not chat_view(pilot).busy)
        assert tail(chat_view(pilot)) == ""
        assert "Thinking" not in "\n".join(lines(pilot))


async def test_nothing_moves_without_motion() -> None:
    app = gated([threading.Event()], motion=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        assert (await shows(pilot, "Thinking", "1 s")).startswith("• Thinking")
        chat_view(pilot).stop()


async def test_it_counts_down_to_the_next_try_and_goes_with_a_stop() -> None:
    app = screen([BUSY], [Text("Late.")])
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        await shows(pilot, "Trying again in 5")
        chat_view(pilot).stop()
        await until(pilot, lambda: not chat_view(pilot).busy)
        assert tail(chat_view(pilot)) == ""


async def test_a_server_that_does_not_accept_is_named_as_the_reason() -> None:
    accepting, answering = threading.Event(), threading.Event()
    app = gated([ConnectionState(False), accepting, ConnectionState(True), answering, Text("Here.")])
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        await shows(pilot, "Connecting to gpt-4o")
        accepting.set()
        await shows(pilot, "Thinking")
        answering.set()
        await until(pilot, lambda: not chat_view(pilot).busy)
        assert [message.content for message in chat_view(pilot).session.messages][-1] == "Here."


async def test_it_waits_behind_a_question_and_a_run() -> None:
    opened, held = threading.Event(), threading.Event()
    app = gated([opened, call("print(1)")], [held, Text("Two.")], auto_run=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        await shows(pilot, "Thinking")
        opened.set()
        await until(pilot, lambda: any("finished" in line for line in lines(pilot)))
        await shows(pilot, "Thinking")
        held.set()
        await until(pilot, lambda: not chat_view(pilot).busy)


async def test_scrolling_up_leaves_it_behind_and_going_down_finds_it() -> None:
    app = screen([Text("word\n\n" * 60)], [threading.Event()])
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: not chat_view(pilot).busy and chat_view(pilot).session.messages)
        chat_view(pilot).send("More?")
        await shows(pilot, "Thinking")
        transcript = chat_view(pilot).conversation.transcript
        await until(pilot, lambda: any("Thinking" in line for line in lines(pilot)))
        transcript.action_page_up()
        await until(pilot, lambda: not any("Thinking" in line for line in lines(pilot)))
        assert not transcript.scroll_mode.follows_end
        transcript.action_page_down()
        await until(pilot, lambda: any("Thinking" in line for line in lines(pilot)))
        assert transcript.scroll_mode.follows_end
        chat_view(pilot).stop()


@pytest.mark.parametrize("width", [10, 24, 40, 200])
def test_no_line_is_wider_than_its_place(width: int) -> None:
    look = get_styles(THEMES[0])
    for words in ("thinking", "connecting to " + "x" * 300, "日本" * 90):
        row = Activity(words, 0.0, None, ("gpt-4o", "12,345 tokens sent")).row(99, width, look, motion=True)
        assert sum(segment.cell_length for segment in row.segments) <= width
