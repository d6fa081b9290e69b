"""What a growing reply costs to paint: no line is made twice."""

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from oi_tui.engine.events import MessageGrew, MessageStarted
from oi_tui.widgets.conversation.scrollbar import QuickScrollBar
from tests.pilot.conversation.test_scroll_position import make_reply, reading, show


async def test_a_row_that_moves_up_keeps_its_strip() -> None:
    async with reading() as (pilot, view):
        transcript = view.transcript

        def paint() -> dict[str, Strip]:
            lines = transcript.render_lines(Region(0, 0, *transcript.size))
            return {line.text.strip(): line for line in lines if line.text.strip()}

        words = make_reply("")
        transcript.action_scroll_end()
        await show(pilot, MessageStarted(words), MessageGrew(words.id, "one\n\ntwo\n\nthree\n\n"))
        before, top = paint(), transcript.scroll_y
        await show(pilot, MessageGrew(words.id, "four\n\nfive\n\n"))
        after = paint()
        assert transcript.scroll_y > top
        assert after["three"] is before["three"]
        assert "five" in after


class Bars(App[None]):
    """Textual's scrollbar beside ours."""

    CSS = "ScrollBar { width: 1; height: 20; dock: left; }"

    def compose(self) -> ComposeResult:
        yield ScrollBar()
        yield QuickScrollBar()


@pytest.mark.parametrize("position", [0, 3, 77.5, 480])
async def test_the_quick_scrollbar_looks_and_acts_as_textuals(position: float) -> None:
    async with Bars().run_test() as pilot:
        bars = list(pilot.app.query(ScrollBar))
        for bar in bars:
            bar.window_virtual_size, bar.window_size, bar.position = 500, 20, position
        textuals, quick = (
            [
                [
                    (text, style.color, style.bgcolor, style.reverse, style.meta)
                    for text, style, _ in line
                    if style
                ]
                for line in bar.render_lines(Region(0, 0, *bar.size))
            ]
            for bar in bars
        )
        assert len(quick) == 20
        assert quick == textuals
