"""A cell has a frame on its left, whose colour and weight say how it stands."""

import pytest
from rich.color import Color
from textual.pilot import Pilot

from oi_tui.engine.events import ApprovalRequested, MessageRecorded
from oi_tui.messages import State
from oi_tui.widgets.conversation.transcript import Transcript
from tests.pilot.conversation.test_conversation import code, conversation, printed, screen_lines, show


def frame(pilot: Pilot[None]) -> str:
    """What stands in the first column of the screen, above the prompt."""
    return "".join(line[:1] for line in screen_lines(pilot.app) if line[:1] not in "▊ ")


def colours(view: Transcript, rows: int) -> set[Color | None]:
    """The colours of the first column."""
    styles = [next(iter(view.render_line(y))).style for y in range(rows)]
    return {style.color if style else None for style in styles}


async def test_the_frame_follows_the_state_on_every_row() -> None:
    cell = code("a = 1\nb = 2\n")
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(cell), ApprovalRequested(cell))
        assert frame(pilot) == "┏┃┗"
        await show(pilot, MessageRecorded(cell.replace(state="running", decision="approved")))
        assert frame(pilot) == "┏┃┗"
        await show(pilot, MessageRecorded(printed("one\ntwo\n", cell)))
        assert frame(pilot) == "┏┃┃┃┗"
        running = colours(view.transcript, 5)
        await show(pilot, MessageRecorded(cell.replace(state="finished", decision="approved", seconds=1.0)))
        assert frame(pilot) == "╭│││╰"
        finished = colours(view.transcript, 5)
        assert len(running) == len(finished) == 1
        assert running != finished


@pytest.mark.parametrize(
    ("state", "named"),
    [("finished", "success"), ("failed", "error"), ("rejected", "warning"), ("skipped", "muted")],
)
async def test_the_colour_is_that_of_the_state(state: State, named: str) -> None:
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(code("a = 1\nb = 2\n", state)))
        assert colours(view.transcript, 3) == {getattr(view.transcript.look, named).color}


async def test_a_folded_cell_keeps_its_frame_and_the_cursor_makes_it_heavy() -> None:
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(code("\n".join(f"x{n} = {n}" for n in range(60)), "finished")))
        assert frame(pilot) == "╭╰"
        view.move_cursor(-1)
        await pilot.pause()
        assert frame(pilot) == "┏┗"
