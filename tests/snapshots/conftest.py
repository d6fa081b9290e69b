"""What would make every snapshot another one stands still."""

from types import SimpleNamespace

import pytest

from oi_tui import log


@pytest.fixture(autouse=True)
def frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds on the screen would make every snapshot another one."""
    for module in (
        "oi_tui.screens.chat.screen",
        "oi_tui.screens.chat.view",
        "oi_tui.screens.chat.turn.progress",
        "oi_tui.screens.terminal",
        "oi_tui.screens.chat.turn.foreground",
        "oi_tui.widgets.conversation.cells.cell",
        "oi_tui.widgets.conversation.cells.cell_code",
        "oi_tui.widgets.conversation.activity",
    ):
        frozen = SimpleNamespace(monotonic=lambda: 100.0, time=lambda: 1.7e9, perf_counter=lambda: 100.0)
        monkeypatch.setattr(f"{module}.time", frozen, raising=False)
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    log.recent.lines.clear()
    monkeypatch.setattr("oi_tui.engine.models.local_servers.find", list)
