"""Where files go, and who may see them."""

import errno
import os
import pwd
import stat
import tempfile
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.engine.llm import images
from oi_tui.engine.review.folder import LocalFolder
from oi_tui.file_changes.snapshots import Snapshots
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.messages import Message
from tests.full_disk import full_disk


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_variable_moves_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OI_TUI_HOME", str(tmp_path / "mine"))
    assert paths.conversations() == tmp_path / "mine" / "data" / "conversations"
    assert paths.profiles() == tmp_path / "mine" / "config" / "profiles"
    assert paths.state() == tmp_path / "mine" / "state"


def test_a_relative_home_stays_where_it_was_when_the_folder_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OI_TUI_HOME", "mine")
    monkeypatch.chdir(tmp_path)
    assert paths.data() == tmp_path / "mine" / "data"


def test_without_the_variable_the_platform_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OI_TUI_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert paths.data() == tmp_path / "oi-tui"


def test_folders_are_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        paths.make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b")] == [0o700, 0o700]


def test_a_folder_that_stood_open_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert not paths.is_safe_to_trust(tmp_path)
    paths.make_private(tmp_path)
    assert mode(tmp_path) == 0o700
    assert paths.is_safe_to_trust(tmp_path)


def test_the_home_folder_is_written_as_a_person_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    assert paths.shorten("/home/ana/work/x.csv") == "~/work/x.csv"
    assert paths.shorten("/home/ana") == "~"
    assert paths.shorten("/home/anabel/x") == "/home/anabel/x"


def test_what_a_person_typed_is_a_path_whoever_s_home_it_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.expand_typed("~/x y") == tmp_path / "x y"
    assert paths.expand_typed("~") == tmp_path
    for name in ("~nobody-of-this-name/x", "a/~", "x" * 5_000, "~" + "x" * 5_000, "~a\0b", "~a\ud800", ""):
        assert paths.expand_typed(name) == Path(name)


def test_a_home_that_is_unset_or_relative_is_a_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "here")
    assert paths.find_home() == tmp_path / "here"
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", lambda _: {}[0])
    assert paths.find_home() == tmp_path / "~"
    assert FileWatcher(Snapshots(tmp_path / "kept"), tmp_path).folder == LocalFolder(tmp_path).path


def test_the_style_sheets_are_found() -> None:
    assert (paths.styles() / "navigator.tcss").is_file()


class Disk:
    """What macOS has besides fsync: a call that empties the disk's own memory too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: int = 0) -> None:
        self.calls: list[str] = []
        self._answer = answer
        monkeypatch.setattr(paths.fcntl, "F_FULLFSYNC", 51, raising=False)
        monkeypatch.setattr(paths.fcntl, "fcntl", self.full)
        monkeypatch.setattr(os, "fsync", lambda _: self.calls.append("fsync"))

    def full(self, _: int, command: int) -> int:
        assert command == 51
        self.calls.append("full")
        if self._answer:
            raise OSError(self._answer, os.strerror(self._answer))
        return 0


@pytest.mark.parametrize(
    ("answer", "calls"),
    [(0, ["full"]), (errno.ENOTSUP, ["full", "fsync"]), (errno.EINVAL, ["full", "fsync"])],
)
def test_macos_is_asked_to_empty_the_memory_of_the_disk(
    answer: int, calls: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk = Disk(monkeypatch, answer)
    paths.sync(tmp_path)
    assert disk.calls == calls


def test_a_disk_that_fails_is_not_taken_for_one_that_cannot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk = Disk(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="Input/output error"):
        paths.sync(tmp_path)
    assert disk.calls == ["full"]


def test_elsewhere_fsync_is_all_there_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    disk = Disk(monkeypatch)
    monkeypatch.delattr(paths.fcntl, "F_FULLFSYNC")
    paths.sync(tmp_path)
    assert disk.calls == ["fsync"]


def test_on_a_full_disk_the_old_file_stays_and_no_part_of_a_new_one(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("old")
    with full_disk():
        for write in (paths.replace_file, lambda path, text: paths.create_file(path, text.encode())):
            with pytest.raises(OSError, match="File too large") as caught:
                write(old if write is paths.replace_file else tmp_path / "new", "new")
            assert paths.explain_write_error(caught.value) == f"{tmp_path}: File too large"
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_a_folder_that_another_program_holds_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_LOCK_SECONDS", 0.02)
    with paths.locked(tmp_path):
        with (
            pytest.raises(OSError, match="another oi-tui is writing to this folder") as caught,
            paths.locked(tmp_path),
        ):
            pass
        assert caught.value.filename == str(tmp_path)
    with paths.locked(tmp_path):
        pass


def test_where_there_are_no_locks_everybody_gets_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(paths.fcntl, "flock", refuse)
    with paths.locked(tmp_path), paths.locked(tmp_path):
        pass


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left on the disk of {}"),
        (errno.EDQUOT, "your disk quota for {} is used up"),
        (errno.EROFS, "{} is on a read-only disk"),
        (errno.EACCES, "no permission to write to {}"),
        (errno.EIO, "{}: Input/output error"),
    ],
)
def test_why_a_file_cannot_be_written_names_its_folder(number: int, words: str, tmp_path: Path) -> None:
    error = OSError(number, os.strerror(number))
    assert paths.explain_write_error(error) == os.strerror(number)
    assert paths.explain_write_error(error, tmp_path / "x") == words.format(tmp_path)


def test_without_room_for_temporary_files_the_reason_says_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "missing")])
    with pytest.raises(FileNotFoundError) as caught:
        tempfile.mkdtemp()
    assert paths.explain_no_room(caught.value) == (
        "no folder for temporary files can be written to. Make room in /tmp, or set TMPDIR"
    )
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "x"))
    assert paths.explain_no_room(full) == f"no space left on the disk of {tmp_path}"
    assert paths.explain_no_room(FileNotFoundError(errno.ENOENT, "No such file", "python")) is None
    assert paths.explain_no_room(ValueError("no space")) is None


def test_an_image_that_had_no_room_is_kept_once_there_is_some(tmp_path: Path) -> None:
    message = Message(role="computer", type="image", content="aW1hZ2U=", format="base64.png")
    with full_disk(2):
        assert images.save(message, tmp_path) is None
    path = images.save(message, tmp_path)
    assert path is not None
    assert path.read_bytes() == b"image"
