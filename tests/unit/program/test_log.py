"""The log is private, bounded and without keys."""

import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui import log, paths

logger = logging.getLogger("oi_tui.test")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """As in a program that has just begun; afterwards as it was."""
    root = logging.getLogger("oi_tui")
    before, level, propagate = list(root.handlers), root.level, root.propagate
    for handler in before:
        root.removeHandler(handler)
    log.recent.lines.clear()
    yield
    log._unkept.clear()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        if handler is not log.recent:
            handler.close()
    for handler in before:
        root.addHandler(handler)
    root.setLevel(level)
    root.propagate = propagate


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.slow
def test_only_its_owner_can_read_it_and_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_LARGEST", 2000)
    log.begin()
    for number in range(200):
        logger.warning("line %d of many", number)
    files = sorted(paths.state().glob("oi-tui.log*"))
    assert [path.name for path in files] == ["oi-tui.log", "oi-tui.log.1", "oi-tui.log.2"]
    assert {mode(path) for path in files} == {0o600}
    assert mode(paths.state()) == 0o700
    assert all(path.stat().st_size <= 2000 for path in files)
    assert "line 199 of many" in files[0].read_text()


def test_an_older_log_is_closed_to_others() -> None:
    paths.make_private(paths.state())
    log.file().write_text("old\n")
    log.file().chmod(0o644)
    log.begin()
    assert mode(log.file()) == 0o600
    assert log.file().read_text().startswith("old\n")


def test_keys_are_in_neither_the_file_nor_the_lines_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-of-a-key-123")
    log.begin()
    try:
        raise ValueError("refused: canary-of-a-key-123")
    except ValueError:
        logger.exception("a fault with sk-abcdefghijklmnop in it")
    for text in (log.file().read_text(), "\n".join(log.recent.lines)):
        assert "a fault with" in text
        assert "ValueError" in text
        assert "canary" not in text
        assert "sk-abc" not in text


def test_the_lines_at_hand_are_bounded() -> None:
    log.begin()
    before = log.recent.count
    for number in range(2500):
        logger.info("line %d %s", number, "x" * (1 if number % 50 else 5000))
    assert len(log.recent.lines) == 2000
    assert max(map(len, log.recent.lines)) == 2000
    assert log.recent.count == before + 2500


def test_a_folder_that_cannot_be_written_to_costs_the_file_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "home").write_text("a file")
    monkeypatch.setenv("OI_TUI_HOME", str(tmp_path / "home"))
    log.begin()
    logger.warning("still here")
    assert log.recent.lines[-1].endswith("still here")


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    paths.make_private(paths.state())
    (tmp_path / "other").write_text("precious\n")
    log.file().symlink_to(tmp_path / "other")
    log.begin()
    logger.warning("not there")
    assert (tmp_path / "other").read_text() == "precious\n"


def test_lines_can_be_printed_as_they_come_and_control_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    log.begin()
    log.print_lines(True)
    logger.warning("seen\x1b[2J")
    log.print_lines(False)
    logger.warning("unseen")
    words = capsys.readouterr().err
    assert "seen␛[2J" in words
    assert "unseen" not in words


def test_a_log_that_cannot_be_kept_is_reported_of_and_the_lines_are_at_hand() -> None:
    paths.state().parent.mkdir(parents=True, exist_ok=True)
    paths.state().write_text("a file where the folder should be")
    log.begin()
    logger.warning("a line all the same")
    assert log.find_problem() == log.describe_place()
    assert "The log is not kept, only shown here (%log): " in log.find_problem()
    assert "a line all the same" in log.recent.lines[-1]


def test_a_log_that_is_kept_is_no_problem() -> None:
    log.begin()
    assert log.find_problem() == ""
    assert log.describe_place().endswith("oi-tui.log.")
