"""Small JSON files that only their owner can read."""

from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.credentials import private_file


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_file, "_MAX_BYTES", 1_000)
    path = tmp_path / "private" / "values.json"
    with private_file.edit(path) as values:
        values["small"] = 1
    with pytest.raises(private_file.PrivateFileError, match="would become too large"):  # noqa: SIM117
        with private_file.edit(path) as values:
            values["large"] = "x" * 1_000
    assert private_file.read(path) == {"small": 1}


def test_a_value_takes_no_more_room_in_the_file_than_it_needs(tmp_path: Path) -> None:
    nested: list[Any] = [[]] * 100
    for _ in range(200):
        nested = [nested]
    path = tmp_path / "private" / "values.json"
    with private_file.edit(path) as values:
        values["nested"] = nested
    assert path.stat().st_size < 1_000
    assert private_file.read(path) == {"nested": nested}
