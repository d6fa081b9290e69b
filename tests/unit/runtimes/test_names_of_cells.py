"""Paths of the files of cells are shown as the names of the cells, however the output is cut."""

from pathlib import Path

import pytest

from oi_tui.messages import Printed, Report
from oi_tui.runtimes.runs.output import RunOutput

PATH = b"/dev/shm/oi-tui-abc/cell-12"


@pytest.mark.parametrize("at", [1, 8, len(PATH) - 3, len(PATH) - 1])
def test_a_path_that_comes_in_two_parts_is_one(at: int) -> None:
    reports: list[Report] = []
    output = RunOutput(reports.append, 0.0)
    output.show_as_cell(Path("/dev/shm/oi-tui-abc/cell-3"))
    for part in (b"sh: " + PATH[:at], PATH[at:] + b": line 1\n"):
        output.feed(part)
        output.flush()
    text = "".join(report.text for report in reports if isinstance(report, Printed))
    assert text == "sh: cell 12: line 1\n"


def test_text_that_only_begins_as_a_path_waits_for_one_frame() -> None:
    reports: list[Report] = []
    output = RunOutput(reports.append, 0.0)
    output.show_as_cell(Path("/dev/shm/oi-tui-abc/cell-3"))
    output.feed(b"folder: /")
    output.flush()
    output.flush()
    assert reports == [Printed("folder: "), Printed("/")]
