"""Completions of shell code."""

from pathlib import Path

import pytest

from oi_tui.runtimes.shell_completion import complete
from oi_tui.runtimes.variables import Memory


@pytest.mark.parametrize("path", ["~nobody-of-this-name/", "~a\0b/", "x" * 5_000 + "/"])
def test_a_path_that_leads_nowhere_has_no_completions(path: str, tmp_path: Path) -> None:
    offers = complete(Memory("shell", "known"), f"cat {path}", tmp_path)
    assert offers is not None
    assert offers.found == ()
