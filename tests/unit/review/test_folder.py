"""Code is judged the same by a folder here and by what a target says of such a folder."""

import json
import os
from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.folder import ListedFolder, LocalFolder, read_listing
from oi_tui.engine.review.scanner import scan_code
from oi_tui.runtimes.remote import file_answers, worker_files


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    (place / "data" / "deep").mkdir(parents=True)
    (place / "bin").mkdir()
    (place / ".hidden").mkdir()
    (place / "a.csv").touch()
    (place / "data" / "b.csv").touch()
    (place / "out").symlink_to("/etc")
    (place / "passwords.csv").symlink_to("/etc/passwd")
    (place / "same").symlink_to("data")
    (place / "loop").symlink_to("loop")
    (place / "gone").symlink_to("nowhere")
    os.mkfifo(place / "pipe")
    return place


def answer_of(place: Path) -> str:
    answer = worker_files.answer({"what": "list", "path": "."}, place, place)
    assert isinstance(answer, file_answers.FileWords)
    return answer.text


def listing_of(place: Path) -> ListedFolder:
    listing = read_listing(answer_of(place), str(place))
    assert listing is not None
    return listing


def judge(code: str, place: Path, language: str = "python") -> Findings:
    """What is found by the listing, which is the same as what is found by the folder itself."""
    earlier = EarlierCode()
    earlier.enter(f"ssh:gpu1\non gpu1, {place}", str(place), listing_of(place))
    there = scan_code(language, code, Path("/"), earlier)
    assert there == scan_code(language, code, place)
    return there


def read(name: str) -> str:
    return f"print(open({name!r}).read())"


def test_plain_files_of_the_target_are_read_without_a_remark(place: Path) -> None:
    for name in ("a.csv", "data/b.csv", "same/b.csv", "new.csv", "data/deep/new.csv"):
        assert judge(read(name), place).nothing_listed, name
    assert judge("cat *.txt", place, "shell").nothing_listed


def test_what_leads_out_of_the_folder_of_the_target_is_listed(place: Path) -> None:
    for name in ("passwords.csv", "out/hosts", "pipe", ".hidden/a", "data", "/etc/hosts"):
        assert [item.kind for item in judge(read(name), place).found] == ["reads"], name
    assert [item.kind for item in judge("cat *.csv", place, "shell").found] == ["reads"]
    for name, kind in (
        ("new", "writes"),
        ("same/new", "writes"),
        ("out/new", "writes outside"),
        ("~/new", "writes outside"),
        (str(place / "new"), "writes"),
    ):
        assert [item.kind for item in judge(f"open({name!r}, 'w')", place).found] == [kind], name
    leads_out = [item.kind for item in judge("open('passwords.csv', 'w')", place).found]
    assert leads_out == ["writes outside", "overwrites"]


def test_a_folder_that_is_the_home_there_has_what_is_written_there(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place))
    for name, kind in (
        ("~/new", "writes"),
        ("~/out/new", "writes outside"),
        ("~other/new", "writes outside"),
    ):
        assert [item.kind for item in judge(f"open({name!r}, 'w')", place).found] == [kind], name


def test_a_module_and_a_program_in_the_folder_of_the_target_are_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judge("import json", place).nothing_listed
    (place / "json").mkdir()
    assert judge("import json", place).nothing_listed
    (place / "json" / "__init__.py").touch()
    assert [item.what for item in judge("import json", place).unchecked] == [
        "json in this folder may be loaded"
    ]
    monkeypatch.setenv("PATH", f"bin:{os.environ['PATH']}")
    assert judge("ls a.csv", place, "shell").nothing_listed
    (place / "bin" / "ls").touch()
    assert [item.what for item in judge("ls a.csv", place, "shell").unchecked] == ["ls, a program in bin"]


def test_links_that_lead_in_a_circle_hide_no_module(place: Path) -> None:
    for number in range(50):
        (place / f"circle{number}").symlink_to(f"circle{number}")
    (place / "json.py").touch()
    assert [item.what for item in judge("import json", place).unchecked] == [
        "json.py in this folder may be loaded"
    ]
    assert [item.kind for item in judge("cat *", place, "shell").found] == ["reads"]


def test_what_there_was_no_room_for_is_not_taken_as_known(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_files, "MOST_LISTED", 13)
    for number in range(20):
        (place / "data" / f"{number}.csv").touch()
    listing = listing_of(place)
    assert listing.kind("a.csv") == "file"
    assert listing.kind("data/b.csv") is None
    assert listing.names("data") is None
    assert LocalFolder(place).kind("data/b.csv") == "file"
    earlier = EarlierCode()
    earlier.enter("ssh:gpu1\non gpu1", str(place), listing)
    assert [item.kind for item in scan_code("python", read("data/b.csv"), place, earlier).found] == ["reads"]
    assert [item.kind for item in scan_code("shell", "cat data/*", place, earlier).found] == ["reads"]


@pytest.mark.parametrize(
    "change",
    [
        {"real": 5},
        {"entries": []},
        {"entries": {"a": ["file"]}},
        {"entries": {"a": ["x", None]}},
        {"listed": 1},
        {"real": "/w", "entries": {"a": ["file", "/w/b"], "b": ["file", "/w/a"]}},
    ],
)
def test_an_answer_that_is_not_understood_says_nothing(place: Path, change: dict[str, object]) -> None:
    answer = json.loads(answer_of(place)) | change
    assert read_listing(json.dumps(answer), str(place)) is None
    assert read_listing("[", str(place)) is None
