"""What somebody reads further up stays where it is, whatever comes and changes in the meantime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual._compositor import Compositor
from textual.pilot import Pilot

from oi_tui.engine.events import ApprovalRequested, Event, MessageGrew, MessageRecorded, MessageStarted
from oi_tui.messages import Message
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.conversation import Conversation
from oi_tui.widgets.conversation.transcript import Transcript
from tests.pilot.conversation.test_conversation import (
    Screen,
    code,
    long_story,
    make_reply,
    png,
    printed,
    screen_lines,
    show,
)
from tests.pilot.waiting import until


def top(view: Transcript) -> str:
    """What is read in the first line of the view that says something."""
    lines = (view.render_line(y).text.strip(" >▎│┃━·") for y in range(view.size.height))
    return next(line for line in lines if any(map(str.isalnum, line)))


def image(of: Message) -> Message:
    return Message(role="computer", type="image", format="base64.png", content=png(200, 120), parent=of.id)


@asynccontextmanager
async def reading(size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Pilot[None], Conversation]]:
    """A conversation with words, code, output and images, scrolled to its middle."""
    app = Screen()
    async with app.run_test(size=size) as pilot:
        events: list[Event] = []
        for number in range(40):
            cell = code(f"step({number})\n", "finished")
            output = "".join(f"cell {number} line {n}\n" for n in range(40))
            events += [
                *(MessageRecorded(make_reply(f"Part {number}.{n}.\n\n- one\n- two")) for n in range(2)),
                MessageRecorded(cell),
                MessageRecorded(printed(output, cell)),
                MessageRecorded(image(cell)),
            ]
        await show(pilot, *events)
        view = app.conversation
        view.transcript.show_block(60)
        await pilot.pause()
        assert not view.transcript.scroll_mode.follows_end
        yield pilot, view


async def test_nothing_drifts_over_twenty_thousand_lines() -> None:
    async with reading() as (pilot, _):
        before = screen_lines(pilot.app)[:20]
        cell = code("flood()", "running")
        out = printed("", cell)
        words = make_reply("")
        await show(pilot, MessageRecorded(cell), MessageStarted(out))
        for batch in range(40):
            text = "".join(f"flood {batch} {n}\n" for n in range(500))
            assert (await show(pilot, MessageGrew(out.id, text)))[:20] == before
        await show(pilot, MessageRecorded(cell.replace(state="finished", seconds=1.0)), MessageStarted(words))
        for batch in range(20):
            rows = "".join(f"- row {batch} {n}\n" for n in range(20))
            assert (await show(pilot, MessageGrew(words.id, rows)))[:20] == before
        assert (await show(pilot, *long_story(50), MessageRecorded(image(cell))))[:20] == before


async def test_folds_above_move_nothing_of_what_is_read() -> None:
    async with reading() as (pilot, view):
        before = screen_lines(pilot.app)[:20]
        transcript = view.transcript
        for index, block in enumerate(transcript.blocks[:60]):
            if isinstance(block, CellBlock) and block.open_output():
                transcript.redraw(block.key)
                if index < 12 or index > 50:
                    assert (await show(pilot))[:20] == before
        for block in transcript.blocks[-10:]:
            if isinstance(block, CellBlock) and block.open_output():
                transcript.redraw(block.key)
        assert (await show(pilot))[:20] == before


async def test_themes_move_nothing_and_another_width_and_back_leads_to_the_same_line() -> None:
    async with reading() as (pilot, view):
        before, first = screen_lines(pilot.app)[:20], top(view.transcript)
        for theme in ("oi-light", "nord", "oi-dark"):
            pilot.app.theme = theme
            await pilot.pause()
            assert screen_lines(pilot.app)[:20] == before
        for width, height in ((120, 40), (50, 15), (100, 30), (60, 24), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert top(view.transcript) == first
            assert not view.transcript.scroll_mode.follows_end
        assert (await show(pilot, *long_story(20)))[:20] == before


async def test_another_width_keeps_the_words_that_are_read_in_a_long_reply() -> None:
    app = Screen()
    async with app.run_test(size=(100, 30)) as pilot:
        paragraphs = [" ".join(f"word{part}x{n}" for n in range(400)) for part in range(4)]
        await show(pilot, MessageRecorded(make_reply("\n\n".join(paragraphs))), *long_story(20))
        transcript = app.conversation.transcript
        transcript.show_line(110)
        await until(pilot, lambda: round(transcript.scroll_y) == 110)
        first = top(transcript)
        word = first.split()[0]
        for width, height in ((200, 50), (30, 8), (60, 20), (30, 8), (140, 40), (100, 30)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda width=width: transcript.size.width == width)
            await until(pilot, lambda: word in top(transcript).split())
        assert top(transcript) == first


async def test_another_size_makes_nothing_new() -> None:
    app = Screen()
    async with app.run_test(size=(110, 30)) as pilot:
        long = "".join(f"step_{n} = prepare({n}, after='{'word ' * 14}')  # and so on\n" for n in range(60))
        cell, view = code(long), app.conversation
        await show(
            pilot, *long_story(6), MessageRecorded(make_reply("I do it. " * 60)), MessageRecorded(cell)
        )
        view.apply(ApprovalRequested(cell))
        await until(pilot, lambda: not view.transcript.scroll_mode.follows_end)
        assert view.transcript.new_below == 0
        for width, height in ((60, 24), (120, 40), (80, 15), (50, 24), (110, 30)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda width=width: view.transcript.size.width == width)
            await show(pilot)
            assert view.transcript.new_below == 0, (width, height)
        await show(pilot, MessageRecorded(make_reply("One line.")))
        assert view.transcript.new_below == 2


async def test_what_is_new_stays_new_at_another_size_and_no_fold_above_adds_to_it() -> None:
    async with reading() as (pilot, view):
        transcript = view.transcript
        await show(pilot, MessageRecorded(make_reply("- one\n- two\n- three")))
        new = transcript.new_below
        assert new == 4
        for width, height in ((60, 24), (120, 40), (80, 24)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda width=width: transcript.size.width == width)
            await show(pilot)
            assert transcript.new_below == new, (width, height)
        cell = next(block for block in transcript.blocks if isinstance(block, CellBlock))
        assert cell.open_output()
        transcript.redraw(cell.key)
        await show(pilot)
        assert transcript.new_below == new


async def test_the_header_of_a_cell_stays_in_sight_while_the_cell_does() -> None:
    app = Screen()
    async with app.run_test(size=(80, 24)) as pilot:
        cell = code("".join(f"step({n})\n" for n in range(80)), "failed", reason="it broke")
        await show(
            pilot,
            MessageRecorded(make_reply("Words.")),
            MessageRecorded(cell),
            MessageRecorded(make_reply("End.")),
        )
        view = app.conversation.transcript
        view.show_line(30)
        lines = await show(pilot)
        assert "[1] python" in lines[0]
        assert "step(" in lines[1]
        view.show_line(0)
        lines = await show(pilot)
        assert "Words." in lines[0]
        view.show_line(30)
        await show(pilot, ApprovalRequested(cell.replace(state="queued")))
        view.show_line(30)
        assert "step(" in (await show(pilot))[0]


async def test_a_text_that_grows_moves_the_scrollbar_without_a_layout_of_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layouts: list[object] = []
    reflow = Compositor.reflow
    async with reading() as (pilot, view):
        words = make_reply("")
        view.transcript.action_scroll_end()
        await show(pilot, MessageStarted(words))
        monkeypatch.setattr(
            Compositor, "reflow", lambda *arguments: (layouts.append(1), reflow(*arguments))[1]
        )
        for number in range(20):
            lines = await show(pilot, MessageGrew(words.id, f"paragraph {number}\n\n" * 3))
            assert any(line.strip() == f"paragraph {number}" for line in lines)
        assert not layouts
        bar = view.transcript.vertical_scrollbar
        assert bar.window_virtual_size == view.transcript.layout_of_blocks.end
        assert bar.position == view.transcript.max_scroll_y == view.transcript.scroll_y
