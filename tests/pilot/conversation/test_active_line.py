"""The active line stays in view in code that is taller than the view, unless the person scrolled."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted, RunReported
from oi_tui.messages import InputReceived, InputRequested, LineReached, Message
from oi_tui.widgets.conversation.conversation import Conversation
from tests.pilot.conversation.test_conversation import code, conversation, has, printed, screen_lines, show
from tests.pilot.waiting import until

LINES = 120
TALL = "".join(f"step({number})\n" for number in range(1, LINES + 1))


def active(pilot: Pilot[None]) -> str:
    """The line with the mark of the active line; "" where none is in view."""
    return next((line.strip(" >┃") for line in screen_lines(pilot.app) if line.startswith("┃ >")), "")


@asynccontextmanager
async def running(text: str = TALL) -> AsyncIterator[tuple[Pilot[None], Conversation, Message]]:
    """A conversation whose last cell is running, seen at its end."""
    async with conversation() as (pilot, view):
        cell = code(text, "queued")
        await show(pilot, MessageRecorded(cell))
        await show(pilot, MessageRecorded(cell.replace(state="running")))
        assert view.transcript.scroll_mode.follows_end
        yield pilot, view, cell


async def reach(pilot: Pilot[None], cell: Message, line: int) -> None:
    await show(pilot, RunReported(cell.id, LineReached(line)))


async def test_the_view_goes_to_the_active_line_and_back_to_the_end() -> None:
    async with running() as (pilot, view, cell):
        await reach(pilot, cell, 62)
        await until(pilot, lambda: "step(62)" in active(pilot))
        assert "[1] python" in screen_lines(pilot.app)[0]
        await reach(pilot, cell, 5)
        await until(pilot, lambda: "step(5)" in active(pilot))
        await show(pilot, MessageRecorded(cell.replace(state="failed", seconds=1.0)))
        assert view.transcript.scroll_mode.follows_end
        assert has(screen_lines(pilot.app), f"step({LINES})")


async def test_a_line_in_view_moves_nothing() -> None:
    async with running() as (pilot, view, cell):
        await reach(pilot, cell, 62)
        await until(pilot, lambda: "step(62)" in active(pilot))
        before = view.transcript.scroll_y
        for line in (63, 66, 60, 62):
            await reach(pilot, cell, line)
            assert f"step({line})" in active(pilot)
        assert view.transcript.scroll_y == before


async def test_output_below_is_counted_and_end_goes_there_for_the_rest_of_the_run() -> None:
    async with running() as (pilot, view, cell):
        out = printed("", cell)
        await reach(pilot, cell, 30)
        await until(pilot, lambda: "step(30)" in active(pilot))
        await show(pilot, MessageStarted(out), MessageGrew(out.id, "one\ntwo\nthree"))
        assert has(screen_lines(pilot.app), "3 lines new below")
        view.scroll_end()
        await reach(pilot, cell, 31)
        assert not view._running_cells.follower.waits
        assert has(screen_lines(pilot.app), "three")


async def test_where_the_person_scrolled_the_view_stays() -> None:
    async with running() as (pilot, view, cell):
        view.page_up()
        await pilot.pause()
        before = screen_lines(pilot.app)[1:-1]
        await reach(pilot, cell, 2)
        assert not view._running_cells.follower.waits
        assert screen_lines(pilot.app)[1:-1] == before


async def test_a_question_of_the_program_is_shown_and_then_the_line_again() -> None:
    async with running() as (pilot, _, cell):
        out = printed("", cell)
        await reach(pilot, cell, 30)
        await until(pilot, lambda: "step(30)" in active(pilot))
        asked = InputRequested("Name? ", False)
        shown = await show(
            pilot, MessageStarted(out), MessageGrew(out.id, "Name? "), RunReported(cell.id, asked)
        )
        assert has(shown, "Name?")
        await show(pilot, RunReported(cell.id, InputReceived()))
        await until(pilot, lambda: "step(30)" in active(pilot))


async def test_code_that_fits_is_never_moved() -> None:
    async with running("".join(f"step({n})\n" for n in range(1, 10))) as (pilot, view, cell):
        await reach(pilot, cell, 2)
        assert not view._running_cells.follower.waits
        assert (view.transcript.scroll_y, "step(2)" in active(pilot)) == (0, True)
