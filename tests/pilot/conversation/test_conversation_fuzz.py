"""Odd sequences of events, scrolls, edits and sizes: the conversation stays whole whatever comes."""

import random

import pytest

from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    ModelCalled,
    Noticed,
    RetryScheduled,
    RunReported,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from oi_tui.messages import InputReceived, InputRequested, LineReached, Message, Printed, RunEnded, Stopping
from oi_tui.text import clean_text
from tests.pilot.conversation.test_conversation import conversation, png, screen_lines

TEXTS = [
    "",
    "word ",
    "# title\n",
    "- item\n",
    "```python\nx = 1\n",
    "```\n",
    "\x1b]52;c;UUFB\x07",
    "\u202e\u200b",
    "[/] [@click=app.quit]x[/]",
    "line\n" * 40,
    "x" * 3_000,
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "\r 50%\r 60%",
    "你好 👩‍👩‍👧 é\u0301",
    "\x00\x9b31m\ud800",
    "\n\n\n",
]
STATES = ["writing", "queued", "running", "waiting", "finished", "failed", "interrupted", "lost", "rejected"]


def any_event(chance: random.Random, ids: list[str]) -> Event:
    """An event of any kind about any of a few messages, sound or not."""

    def message() -> Message:
        role, kind, form = chance.choice(
            [
                ("user", "message", None),
                ("user", "image", "path"),
                ("user", "file", "path"),
                ("assistant", "message", None),
                ("assistant", "reasoning", None),
                ("assistant", "code", "python"),
                ("assistant", "code", chance.choice(["shell", "klingon", "", "\x1b[2J"])),
                ("computer", "console", "output"),
                ("computer", "image", "base64.png"),
            ]
        )
        content = png() if form == "base64.png" and chance.random() < 0.5 else chance.choice(TEXTS)
        return Message(
            role=role,
            type=kind,
            format=form,
            content=content,
            id=chance.choice(ids),
            parent=chance.choice([None, *ids]),
            state=chance.choice([None, *STATES, "skipped", "unfinished"]) if kind == "code" else None,
            decision=chance.choice([None, None, "approved", "edited", "rejected", "auto"]),
            proposed=chance.choice([None, "y = 1\nz = 2"]),
            reason=chance.choice([None, *TEXTS]),
            seconds=chance.choice([None, 0.01, 75.0, 8_000.0]),
        )

    report = chance.choice(
        [
            Printed("x"),
            LineReached(chance.choice([None, 0, 1, 3, 99_999, -1])),
            InputRequested(chance.choice(TEXTS), True),
            InputReceived(),
            Stopping("kill", 1.0),
            RunEnded("finished", 1.0),
        ]
    )
    return chance.choice(
        [
            TurnStarted(),
            ModelCalled("m"),
            MessageStarted(message()),
            *[MessageGrew(chance.choice(ids), chance.choice(TEXTS)) for _ in range(4)],
            *[MessageRecorded(message()) for _ in range(3)],
            ApprovalRequested(message()),
            RunReported(chance.choice(ids), report),
            RunReported(chance.choice(ids), LineReached(1)),
            RetryScheduled(chance.choice(TEXTS), 1.0),
            Noticed(chance.choice(TEXTS), "warning"),
            UsageReported(1, 1, None),
            TurnEnded(
                chance.choice(["done", "interrupted", "rejected", "paused", "failed"]), chance.choice(TEXTS)
            ),
        ]
    )


@pytest.mark.parametrize("seed", range(6))
async def test_any_events_in_any_order_are_shown(seed: int) -> None:
    chance = random.Random(seed)
    ids = [f"id{number}" for number in range(12)]
    async with conversation((60, 20)) as (pilot, view):
        for step in range(250):
            view.apply(any_event(chance, ids))
            match chance.randrange(24):
                case 0:
                    view.page_up()
                case 1:
                    view.page_down()
                case 2:
                    view.scroll_end()
                case 3:
                    view.transcript.action_scroll_home()
                case 4:
                    view.edit(chance.choice(ids))
                case 5:
                    view.cell_editor.finish()
                case 6:
                    view.reveal(chance.choice(ids))
                case 7:
                    view.move_cursor(chance.choice([-1, 1]))
                case 8:
                    view.transcript.action_block(chance.choice(["copy", "copy_output", "open", "fold"]))
                case 9:
                    view.count_hidden_lines(chance.choice(ids))
                case 10 if step % 5 == 0:
                    await pilot.resize_terminal(chance.randrange(12, 120), chance.randrange(5, 40))
                case 11:
                    view.transcript.scroll_to(y=chance.randrange(400), animate=False)
                case _:
                    pass
            if chance.random() < 0.3:
                view.transcript.flush()
            if chance.random() < 0.15:
                await pilot.pause()
                for line in screen_lines(pilot.app):
                    whole = line.rstrip("\u200d")  # where a narrow screen cuts an emoji in two
                    assert clean_text(whole) == whole
        view.cell_editor.cancel()
        view.transcript.flush()
        layout = view.transcript.layout_of_blocks
        for index, block in enumerate(layout.blocks):
            layout.draw(index, view.transcript.look)
            rows = block.rows(layout.width, view.transcript.look)
            assert layout.get_height(index) == len(rows) + layout.get_gap(index)
        assert layout.total == sum(layout.get_height(index) for index in range(len(layout.blocks)))
        view.scroll_end()
        await pilot.pause()
        assert view.transcript.scroll_y == max(layout.total - view.transcript.size.height, 0)
