"""What would make every picture another one stands still."""

from types import SimpleNamespace

import pytest

from oi_tui import log


@pytest.fixture(autouse=True)
def frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds on the screen would make every picture another one."""
    for module in (
        "oi_tui.screens.chat",
        "oi_tui.screens.workbench",
        "oi_tui.screens.progress",
        "oi_tui.screens.program",
        "oi_tui.screens.foreground",
        "oi_tui.widgets.cell",
        "oi_tui.widgets.conversation",
    ):
        frozen = SimpleNamespace(monotonic=lambda: 100.0, time=lambda: 1.7e9, perf_counter=lambda: 100.0)
        monkeypatch.setattr(f"{module}.time", frozen, raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    log.recent.lines.clear()
    monkeypatch.setattr("oi_tui.engine.local_models.find", list)
