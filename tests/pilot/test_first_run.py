"""The last line of the first run."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from oi_tui.screens.chat.first_run import FirstRun
from tests.fakes import Computer


@pytest.mark.parametrize(
    ("problem", "on", "offered"),
    [(None, False, True), (None, True, False), ("no bubblewrap", False, False)],
)
def test_the_sandbox_is_offered_where_it_works_and_is_off(
    problem: str | None, on: bool, offered: bool
) -> None:
    computer = Computer()
    computer.no_sandbox = problem
    reported: list[str] = []
    workspace = SimpleNamespace(profile=SimpleNamespace(sandbox=on), computer=computer)
    view = SimpleNamespace(workspace=workspace, session=SimpleNamespace(auto_run=on))
    ui = SimpleNamespace(aside=lambda work, then: then(work()), tell=reported.append)
    FirstRun(cast("Any", ui), cast("Any", view))._conclude()
    [line] = reported
    approval = (
        "Code runs without your approval; %auto_run off" if on else "Nothing runs without your approval."
    )
    assert line.startswith(f"Done. {approval}")
    assert ("%sandbox on" in line) == offered
