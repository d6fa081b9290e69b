"""Files of a target: facts, names, and copies that are whole or not there, whatever happens meanwhile."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.input.mentions import expand
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote import files, wire, worker_files
from oi_tui.runtimes.remote.file_answers import FilePart, FileRefused, FileWords
from oi_tui.runtimes.remote.files import FileError, TargetFiles
from tests.runtimes.playing import play, until
from tests.runtimes.remote.test_remote import relay, through  # noqa: F401 -- fixtures
from tests.servers.sshd import HOST

Make = Callable[..., Computer]
NEVER = threading.Event()


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def files_of(computer: Computer) -> TargetFiles:
    found = computer.targets.files_on()
    assert found
    return found


@pytest.fixture
def place(make: Make, there: Path) -> TargetFiles:
    return files_of(make(target=f"command:env -C {there}"))


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


SIZES = [0, 1, files.PART, files.PART * 9 + 7]


@pytest.mark.parametrize("size", SIZES)
def test_a_file_comes_and_goes_whole_with_its_mode(
    place: TargetFiles, there: Path, here: Path, size: int
) -> None:
    data = os.urandom(size)
    (there / "a.bin").write_bytes(data)
    (there / "a.bin").chmod(0o640)
    steps = list(place.get("a.bin", here / "b.bin", NEVER))
    assert (here / "b.bin").read_bytes() == data
    assert (here / "b.bin").stat().st_mode & 0o777 == 0o640
    assert steps[-1] == (size, size)
    list(place.put(here / "b.bin", "c.bin", NEVER))
    assert (there / "c.bin").read_bytes() == data
    assert (there / "c.bin").stat().st_mode & 0o777 == 0o640
    assert (list_names(there), list_names(here)) == (["a.bin", "c.bin"], ["b.bin"])


def test_a_file_with_holes_takes_no_more_room_than_it_did(
    place: TargetFiles, there: Path, here: Path
) -> None:
    with (there / "disk").open("wb") as file:
        file.write(b"begin")
        file.seek(files.PART * 200 + 5)
        file.write(b"end")
        file.truncate(files.PART * 300 + 7)
    list(place.get("disk", here / "disk", NEVER))
    list(place.put(here / "disk", "again", NEVER))
    for copy in (here / "disk", there / "again"):
        assert copy.read_bytes() == (there / "disk").read_bytes()
        assert copy.stat().st_blocks * 512 < files.PART * 10


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="there is no /proc")
def test_a_file_that_is_made_when_it_is_read_is_copied_whatever_size_it_says_it_has(
    place: TargetFiles, there: Path, here: Path
) -> None:
    version = Path("/proc/version").read_bytes()
    assert Path("/proc/version").stat().st_size == 0
    assert list(place.get("/proc/version", here / "version", NEVER)) == [(len(version), len(version))]
    assert (here / "version").read_bytes() == version
    list(place.put(Path("/proc/version"), "version", NEVER))
    assert (there / "version").read_bytes() == version
    # Longer than what such a file gives at once, and than a message; it changes as it is read.
    list(place.get("/proc/kallsyms", here / "symbols", NEVER))
    assert (here / "symbols").read_bytes().count(b"\n") > 1000
    assert (list_names(there), list_names(here)) == (["version"], ["symbols", "version"])


@pytest.mark.skipif(not Path("/sys/kernel/mm").exists(), reason="there is no /sys")
def test_a_file_that_gives_less_than_the_page_it_says_it_has_is_copied(
    place: TargetFiles, there: Path, here: Path
) -> None:
    name = next(
        str(path) for path in Path("/sys/kernel/mm").rglob("*") if path.is_file() and os.access(path, os.R_OK)
    )
    list(place.get(name, here / "got", NEVER))
    list(place.put(Path(name), "put", NEVER))
    for copy in (here / "got", there / "put"):
        assert copy.read_bytes() == Path(name).read_bytes()


@pytest.mark.needs("ssh", "sshd")
def test_files_are_copied_through_ssh(make: Make, sshd: Path, there: Path, here: Path) -> None:
    place = files_of(make(target=f"ssh:{HOST}{there}", cwd=Path("/")))
    data = os.urandom(3_000_000)
    (there / "größe 1.bin").write_bytes(data)
    list(place.get("größe 1.bin", here / "a", NEVER))
    list(place.put(here / "a", "b", NEVER))
    assert (there / "b").read_bytes() == data


def stopped_at(part: float, copy: Callable[[threading.Event], Iterator[tuple[int, int]]]) -> int:
    """Stop a copy when so much of it is done; how many bytes that were."""
    stopped = threading.Event()
    steps: list[int] = []

    def stop_in_time(done: int, size: int) -> None:
        steps.append(done)
        if done >= part * size:
            stopped.set()

    with pytest.raises(FileError, match="stopped; the same command continues it"):
        follow(copy(stopped), stop_in_time)
    return steps[-1]


def follow(copy: Iterator[tuple[int, int]], note: Callable[[int, int], object]) -> None:
    for done, size in copy:
        note(done, size)


def test_a_copy_that_was_stopped_is_not_there_and_is_continued(
    place: TargetFiles, there: Path, here: Path
) -> None:
    data = os.urandom(40 * files.PART)
    (there / "a").write_bytes(data)
    done = stopped_at(0.5, lambda stopped: place.get("a", here / "a", stopped))
    assert not (here / "a").exists()
    (part,) = here.iterdir()
    assert part.stat().st_mode & 0o777 == 0o600
    first, *_ = list(place.get("a", here / "a", NEVER))
    assert first[0] == done
    assert (here / "a").read_bytes() == data
    done = stopped_at(0.5, lambda stopped: place.put(here / "a", "b", stopped))
    assert not (there / "b").exists()
    first, *_ = list(place.put(here / "a", "b", NEVER))
    # What was on its way when it was stopped may have arrived.
    assert done - files.PART <= first[0] <= done + 4 * files.PART
    assert (there / "b").read_bytes() == data
    assert (list_names(there), list_names(here)) == (["a", "b"], ["a"])


def test_a_copy_of_another_file_is_never_continued(place: TargetFiles, there: Path, here: Path) -> None:
    (there / "a").write_bytes(b"x" * 40 * files.PART)
    stopped_at(0.5, lambda stopped: place.get("a", here / "a", stopped))
    (there / "a").write_bytes(b"y" * 40 * files.PART)
    list(place.get("a", here / "a", NEVER))
    assert set((here / "a").read_bytes()) == {ord("y")}


@pytest.mark.parametrize("way", ["get", "put"])
def test_a_connection_that_is_cut_loses_no_file_and_the_copy_goes_on_later(
    through: Make,  # noqa: F811
    relay: Path,  # noqa: F811
    there: Path,
    here: Path,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "SILENCE", 3.0)
    computer = through()
    place = files_of(computer)
    source, target = (there / "a", here / "b") if way == "get" else (here / "a", there / "b")
    data = os.urandom(60 * files.PART)
    source.write_bytes(data)

    def copy() -> Iterator[tuple[int, int]]:
        if way == "get":
            return place.get(str(source), target, NEVER)
        return place.put(source, str(target), NEVER)

    def cut_in_the_middle(done: int, size: int) -> None:
        if done > size / 2:
            (relay / "cut").touch()

    with pytest.raises(FileError, match=r"no answer for 3 seconds.*continues"):
        follow(copy(), cut_in_the_middle)
    assert not target.exists()
    (relay / "cut").unlink()
    first, *_ = list(copy())
    assert first[0] > 0
    assert target.read_bytes() == data
    assert list_names(target.parent) == ["b"]


def test_what_was_damaged_meanwhile_gets_no_name(
    place: TargetFiles, there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (there / "a").write_bytes(b"x" * 40 * files.PART)
    stopped_at(0.5, lambda stopped: place.get("a", here / "a", stopped))
    (part,) = here.iterdir()
    with part.open("r+b") as file:
        file.write(b"damage")
    with pytest.raises(FileError, match="Copy it again"):
        list(place.get("a", here / "a", NEVER))
    assert list_names(here) == []
    stopped_at(0.5, lambda stopped: place.put(there / "a", "b", stopped))
    (part,) = there.glob(".b.*")
    with part.open("r+b") as file:
        file.write(b"damage")
    with pytest.raises(FileError, match="different content"):
        list(place.put(there / "a", "b", NEVER))
    assert list_names(there) == ["a"]


def test_no_file_is_replaced(place: TargetFiles, there: Path, here: Path) -> None:
    (there / "a").write_text("theirs")
    (here / "a").write_text("ours")
    with pytest.raises(FileError, match="exists already"):
        list(place.get("a", here / "a", NEVER))
    with pytest.raises(FileError, match="exists already"):
        list(place.put(here / "a", "a", NEVER))
    (there / "hanging").symlink_to(there / "nowhere")
    with pytest.raises(FileError, match="exists already"):
        list(place.put(here / "a", "hanging", NEVER))
    assert (there / "a").read_text() == "theirs"
    assert (here / "a").read_text() == "ours"
    assert not (there / "nowhere").exists()


def test_a_folder_takes_the_name_of_the_file_and_no_name_leads_out_of_it(
    place: TargetFiles, there: Path, here: Path
) -> None:
    (there / "in").mkdir()
    (here / "a").write_text("x")
    list(place.put(here / "a", "in", NEVER))
    assert (there / "in" / "a").read_text() == "x"
    link = place._target.link
    assert link
    answer = link.ask("file", 10, what="new", path="in", key="0" * 16, size=1, name="../../out")
    assert Path(answer.path).parent == there / "in"  # type: ignore[attr-defined]
    assert link.ask("file", 10, what="append", path="x", key="../../x", offset=0, data="") == (
        FileRefused("has no key")
    )


@pytest.mark.parametrize("size", [10, 30 * files.PART])
def test_a_file_that_changes_while_it_is_copied_leaves_no_part(
    place: TargetFiles, there: Path, here: Path, size: int
) -> None:
    for source, copy in (
        (there / "a", place.get("a", here / "a", NEVER)),
        (here / "b", place.put(here / "b", "b", NEVER)),
    ):
        source.write_bytes(b"x" * 20 * files.PART)
        next(copy)
        assert len([*there.glob(".*.oi-tui-part"), *here.glob(".*.oi-tui-part")]) == 1
        os.truncate(source, size)
        with pytest.raises(FileError, match="was changed while it was copied"):
            list(copy)
    assert (list_names(there), list_names(here)) == (["a"], ["b"])


def test_a_folder_that_is_not_there_becomes_no_file(place: TargetFiles, there: Path, here: Path) -> None:
    (here / "a").write_text("ours")
    with pytest.raises(FileError, match=r"inputs/ on env -C .*: is no folder"):
        list(place.put(here / "a", "inputs/", NEVER))
    with pytest.raises(FileError, match="No such file"):
        list(place.put(here / "a", "inputs/a", NEVER))
    assert list_names(there) == []


def test_a_link_in_the_place_of_a_part_is_not_followed(place: TargetFiles, there: Path, here: Path) -> None:
    (there / "a").write_bytes(b"x" * 40 * files.PART)
    stopped_at(0.5, lambda stopped: place.get("a", here / "a", stopped))
    (part,) = here.iterdir()
    part.unlink()
    victim = here / "victim"
    victim.write_text("mine")
    part.symlink_to(victim)
    with pytest.raises(FileError, match=r"symbolic|level"):
        list(place.get("a", here / "a", NEVER))
    assert victim.read_text() == "mine"


def test_what_is_no_ordinary_file_or_too_large_is_refused(
    place: TargetFiles, there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(there / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(FileError, match="not an ordinary file"):
            list(place.get(name, here / "x", NEVER))
        with pytest.raises(FileError, match="not an ordinary file"):
            list(place.put(there / name, "x", NEVER))
    with pytest.raises(FileError, match="No such file"):
        list(place.get("nothing", here / "x", NEVER))
    with pytest.raises(FileError, match="ordinary file"):
        list(place.get("/dev/zero", here / "x", NEVER))
    monkeypatch.setattr(files, "LARGEST", 10)
    (there / "large").write_bytes(b"x" * 11)
    with pytest.raises(FileError, match="11 bytes"):
        list(place.get("large", here / "x", NEVER))
    with pytest.raises(FileError, match="11 bytes"):
        list(place.put(there / "large", "x", NEVER))
    assert list_names(here) == []


def test_a_file_that_does_not_fit_leaves_nothing_behind(
    place: TargetFiles, there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST", 1 << 50)
    with (there / "large").open("wb") as file:
        file.truncate(1 << 42)  # it takes no room itself
    with pytest.raises(FileError, match="does not fit on the disk"):
        list(place.get("large", here / "x", NEVER))
    assert list_names(here) == []
    monkeypatch.setattr(worker_files, "LARGEST", 1 << 50)
    request = {"what": "new", "path": "x", "name": "large", "key": "0" * 16, "size": 1 << 42}
    assert worker_files.answer(request, here) == FileRefused("does not fit on the disk there")
    assert list_names(here) == []


def test_a_lying_remote_host_cannot_bring_more_than_it_said(
    place: TargetFiles, there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (there / "a").write_bytes(b"x" * 10)
    link = place._target.link
    assert link
    begin = link.begin

    def longer(do: str, **message: Any) -> Any:
        if message.get("what") == "read":
            message["size"] = 10
            message["path"] = "/dev/null"
        return begin(do, **message)

    monkeypatch.setattr(link, "begin", longer)
    with pytest.raises(FileError):
        list(place.get("a", here / "a", NEVER))
    assert not (here / "a").exists()


CHANGES = ChangeSet("id", "/folder", (FileChange("a.txt", "created"),), "")


def test_an_invalid_answer_about_changed_files_is_an_error_in_a_sentence(
    place: TargetFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = place._target.link
    assert link
    for text in ("", "no JSON", "[" * 100_000, "5", "{}", '{"actions": 5}', '{"actions": [5]}'):
        monkeypatch.setattr(link, "ask", lambda *_, text=text, **__: FileWords(text))
        for work in (place.plan, place.restore):
            with pytest.raises(FileError, match="sent an invalid answer"):
                work(CHANGES)


def test_a_target_does_not_choose_the_name_or_place_of_what_undoes_a_restore(
    place: TargetFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = place._target.link
    assert link
    changes = (FileChange("a.txt", "deleted"), FileChange("b.txt", "deleted"))
    for id_ in ("../../trusted", "/folder/keys", "\0", "\ud800"):
        back = ChangeSet(id_, "/elsewhere", changes, "a note", "local").to_json()
        answer = {"actions": [["\x1b[2Jno\n", 1]], "back": back, "problems": ["\x1b[2J\n", "x" * 5000, ""]}
        monkeypatch.setattr(link, "ask", lambda *_, answer=answer, **__: FileWords(json.dumps(answer)))
        undo, [action], problems = place.restore(CHANGES)
        target = place._target.spelling
        assert undo == ChangeSet("back-id", CHANGES.folder, changes[:1], "", target)
        assert "\x1b" not in action.obstacle + "".join(problems)
        assert max(map(len, problems)) <= 500


def test_a_part_of_a_file_that_is_not_base64_is_an_error_in_a_sentence(
    place: TargetFiles, there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = place._target.link
    assert link
    begin = link.begin

    def answer(do: str, **message: Any) -> Any:
        answers = begin(do, **message)
        if message.get("what") == "read":
            answers.get(timeout=10)
            answers.put(FilePart(data[0]))
        return answers

    data = [""]
    monkeypatch.setattr(link, "begin", answer)
    # Of the second size, a file may be one that is made when it is read.
    for size in (10, 4096):
        (there / "a").write_bytes(b"x" * size)
        for data[0] in ("a", "é", "="):
            with pytest.raises(FileError, match="sent an invalid answer"):
                list(place.get("a", here / "a", NEVER))
            assert not (here / "a").exists()


def test_names_of_the_target_are_listed_as_they_are_typed(place: TargetFiles, there: Path) -> None:
    (there / "data").mkdir()
    (there / "data" / "a.csv").touch()
    (there / "data.txt").touch()
    (there / ".hidden").touch()
    (there / "bad\nname").touch()
    (there / "circle").symlink_to("circle")
    assert place.list_names("") == ["circle", "data.txt", "data/"]
    assert place.list_names("data/") == ["data/a.csv"]
    assert place.list_names(".") == [".hidden"]
    assert place.list_names("nothing/") == []
    assert place.list_names(f"{there}/dat") == [f"{there}/data.txt", f"{there}/data/"]


def test_a_mention_names_the_file_of_the_target_and_says_where_only_ours_is(
    place: TargetFiles, there: Path, here: Path
) -> None:
    (there / "a.csv").touch()
    (here / "ours.csv").touch()

    class Nothing:
        def read_memories(self) -> tuple[()]:
            return ()

        def inspect(self, language: str, name: str) -> None: ...

    said = expand("plot @a.csv, @ours.csv", here, Nothing(), elsewhere="on env", files=place)
    first, _, rest = said.partition("\n\n")
    assert first == "plot a.csv, ours.csv"
    assert rest == "(`ours.csv` is a file of the user's own machine; code runs on env.)"


def test_code_runs_while_a_file_is_copied(make: Make, there: Path, here: Path) -> None:
    computer = make(target=f"command:env -C {there}")
    data = os.urandom(100 * files.PART)
    (there / "a").write_bytes(data)
    copy = files_of(computer).get("a", here / "a", NEVER)
    next(copy)
    assert play(computer, "python", "print(6 * 7)").text == "42\n"
    list(copy)
    assert (here / "a").read_bytes() == data
    link = computer.targets.remote.link  # type: ignore[union-attr]
    until(lambda: not link._answers)
