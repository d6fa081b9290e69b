"""Completions of shell code."""

import time
from pathlib import Path

import pytest

from oi_tui.runtimes.shell_completion import complete
from oi_tui.runtimes.variables import Memory


@pytest.mark.parametrize("path", ["~nobody-of-this-name/", "~a\0b/", "x" * 5_000 + "/"])
def test_a_path_that_leads_nowhere_has_no_completions(path: str, tmp_path: Path) -> None:
    offers = complete(Memory("shell", "known"), f"cat {path}", tmp_path)
    assert offers is not None
    assert offers.found == ()


@pytest.mark.parametrize("line", ["echo " + "QUJD" * 25_000 + " | cat da", "cat " + "a=" * 50_000 + " da"])
def test_the_end_of_a_long_line_is_completed_at_once(line: str, tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    began = time.process_time()
    offers = complete(Memory("shell", "known"), line, tmp_path)
    assert time.process_time() - began < 0.5
    assert offers is not None
    assert [offer.text for offer in offers.found] == ["data"]
