"""What is due a little later is done, also where the processor was busy with something else just then."""

import asyncio
import time

import pytest
from textual import _time
from textual.app import App

from oi_tui.widgets.timer import schedule


async def test_what_is_due_later_is_done_although_the_processor_was_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    app = App[None]()
    async with app.run_test() as pilot:
        before, asked = _time.get_time, 0

        def busy() -> float:
            """Between any two looks at the clock 50 ms go by."""
            nonlocal asked
            asked += 1
            return before() + 0.05 * min(asked, 40)

        monkeypatch.setattr(_time, "get_time", busy)
        schedule(app, 0.001, lambda: done.append("later"))
        end = time.monotonic() + 10
        while not done:
            assert time.monotonic() < end, "it was never done"
            await pilot.pause(0.01)


async def test_what_was_called_off_is_not_done() -> None:
    done: list[str] = []
    app = App[None]()
    async with app.run_test():
        schedule(app, 0.01, lambda: done.append("off")).cancel()
        schedule(app, 0.02, lambda: done.append("on"))
        while not done:
            await asyncio.sleep(0.01)
        assert done == ["on"]
