"""Files get their name once and for all, and it is known whether their last line is whole."""

import errno
import os
from pathlib import Path

import pytest

from oi_tui.engine.storage.append_file import explain_not_saved, has_newline_at_end, put_in_place


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "made"
    path.write_text("new")
    return path


@pytest.fixture(params=["second names", "no second names"])
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system on which a file may have two names, and one on which it may not."""
    if request.param == "no second names":

        def refuse(_made: Path, target: Path, **_: object) -> None:
            raise OSError(errno.EPERM, "no second names here")

        monkeypatch.setattr(os, "link", refuse)


@pytest.mark.usefixtures("disk")
def test_a_file_gets_its_name_and_loses_the_other(made: Path, tmp_path: Path) -> None:
    put_in_place(made, tmp_path / "name")
    assert (tmp_path / "name").read_text() == "new"
    assert not made.exists()


@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize("kind", ["file", "link to nothing"])
def test_what_has_the_name_already_is_not_replaced(kind: str, made: Path, tmp_path: Path) -> None:
    target = tmp_path / "name"
    if kind == "file":
        target.write_text("old")
    else:
        target.symlink_to("nothing")
    with pytest.raises(OSError, match=r"exists|no second names"):
        put_in_place(made, target)
    assert made.read_text() == "new"
    assert target.is_symlink() or target.read_text() == "old"


def test_a_link_is_named_as_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    put_in_place(tmp_path / "link", tmp_path / "name")
    assert (tmp_path / "name").readlink() == Path("elsewhere")


@pytest.mark.parametrize(
    ("content", "whole"),
    [(b"", True), (b"\n", True), (b"a\n", True), (b"a", False), (b"a\nb", False), (b"\na", False)],
)
def test_the_last_line_is_whole_when_it_ends(content: bytes, whole: bool, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(content)
    with path.open("rb") as file:
        assert has_newline_at_end(file.fileno()) is whole


def test_a_file_that_cannot_be_read_passes_for_one_that_was_cut_off() -> None:
    assert not has_newline_at_end(-1)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError("strange"), "strange"),
        (OSError(errno.ENOTDIR, "Not a directory"), "Not a directory"),
        (OSError(errno.EPERM, "x"), "no permission to write to"),
        (OSError(errno.EDQUOT, "x"), "your disk quota for"),
    ],
)
def test_why_something_is_not_saved_is_said_in_words(error: OSError, why: str, tmp_path: Path) -> None:
    assert why in explain_not_saved(error, tmp_path / "made")
