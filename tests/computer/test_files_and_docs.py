"""The tools of the computer object that need neither a desktop nor a server."""

import importlib
import json
import os
import select
import signal
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from oi_tui.computer import Computer, ComputerError, bridge
from oi_tui.computer.ai import PART, split
from tests.full_disk import full_disk


@pytest.fixture
def computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Computer:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OI_TUI_SKILLS", str(tmp_path / "skills"))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("OI_TUI_COMPUTER", raising=False)
    return Computer()


def test_files_are_found_by_name_and_by_text(computer: Computer) -> None:
    Path("Invoice.txt").write_text("nothing")
    Path("other.txt").write_text("first\nthe INVOICE of May\n")
    Path("image.png").write_bytes(b"\x89PNG\xff invoice")
    assert computer.files.search("invoice") == ["Invoice.txt", "other.txt:2: the INVOICE of May"]
    assert computer.files.search("invoice", limit=1) == ["Invoice.txt"]
    with pytest.raises(ComputerError, match="There is no gone"):
        computer.files.search("x", "gone")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("~nobody-of-this-name/x", "There is no ~nobody-of-this-name/x"),
        ("x" * 5_000, "The path 'xxx.*'\\.\\.\\. cannot be used: File name too long"),
        ("~a\0b", r"'~a\\x00b' is not a path"),
        ("a\0b", r"'a\\x00b' is not a path"),
    ],
)
def test_a_path_that_cannot_be_used_is_named(computer: Computer, path: str, words: str) -> None:
    with pytest.raises(ComputerError, match=words):
        computer.files.search("x", path)


def test_an_edit_changes_the_one_place_and_shows_it(computer: Computer) -> None:
    file = Path("a.txt")
    file.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    assert "-two" in computer.files.edit("a.txt", "two", "2")
    assert file.read_bytes() == b"one\r\n2\r\nthree\r\n"


def test_an_edit_on_a_full_disk_leaves_the_file_whole(computer: Computer) -> None:
    file = Path("a.txt")
    file.write_text("one\ntwo\n")
    file.chmod(0o640)
    with full_disk(), pytest.raises(OSError, match="File too large"):
        computer.files.edit("a.txt", "two", "2")
    assert file.read_text() == "one\ntwo\n"
    assert [item.name for item in Path().glob("*a.txt*")] == ["a.txt"]
    computer.files.edit("a.txt", "two", "2")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("one\n2\n", 0o640)


@pytest.mark.parametrize(
    ("original", "words"), [("e", "2 times"), ("twoo", "Similar lines: two"), ("", "not in")]
)
def test_an_edit_that_is_not_clear_changes_nothing(computer: Computer, original: str, words: str) -> None:
    file = Path("a.txt")
    file.write_text("one\ntwo\nfive")
    with pytest.raises(ComputerError, match=words):
        computer.files.edit("a.txt", original, "x")
    assert file.read_text() == "one\ntwo\nfive"


def test_two_files_are_compared(computer: Computer) -> None:
    Path("a").write_text("one\n")
    Path("b").write_text("two\n")
    assert computer.files.diff("a", "b").splitlines() == ["--- a", "+++ b", "@@ -1 +1 @@", "-one", "+two"]
    assert computer.files.diff("a", "a") == ""


def test_documentation_is_found_in_tools_modules_and_files(computer: Computer) -> None:
    assert computer.docs.search("delete an event").startswith("computer.calendar.delete_event(")
    assert "json.loads(" in computer.docs.search("deserialize a str instance", module="json")
    assert "json.loads(" in computer.docs.search("deserialize a str instance", module=json)
    Path("notes.md").write_text("About cats.\n\nAbout the boiler: turn it left.\n")
    assert computer.docs.search("boiler", paths=["."]) == "notes.md:\nAbout the boiler: turn it left."
    assert computer.docs.search("zebra", paths=["."]) == "Nothing found for 'zebra'."
    with pytest.raises(ComputerError, match="no_such_module cannot be imported"):
        computer.docs.search("x", module="no_such_module")


def test_code_runs_in_processes_of_its_own(computer: Computer) -> None:
    assert computer.run("python", "print(6 * 7)")[0]["content"] == "42\n"
    assert (
        computer.run("shell", "echo out; echo err >&2; exit 3")[0]["content"] == "out\nerr\nexit status 3\n"
    )
    lines = computer.terminal.run("python", "print(1); print(2)", stream=True)
    assert [line["content"] for line in lines] == ["1\n", "2\n"]
    assert computer.languages[:2] == ["python", "shell"]
    with pytest.raises(ComputerError, match=r"cobol cannot run here\. Languages: python, "):
        computer.run("cobol", "x")


def test_a_skill_is_made_found_and_run_in_another_conversation(computer: Computer) -> None:
    new = computer.skills.new_skill
    new.create()
    new.name = "Count the files"
    new.add_step("Make one", 'text = """a\nb"""\nfrom pathlib import Path\nPath("made").write_text(text)')
    new.add_step("Look with\ncomputer", 'Path("seen").write_text(computer.files.search("made")[0])')
    path = new.save()
    assert path.endswith("count_the_files.py")
    other = Computer()
    assert other.skills.list() == ["count_the_files"] == other.skills.search("files")
    other.skills.run("count_the_files")
    assert Path("made").read_text() == "a\nb"
    assert Path("seen").read_text() == "made"
    Path("skills", "broken.py").write_text("1 / 0")
    assert list(other.skills.import_skills()) == ["count_the_files"]


def test_a_skill_saved_again_on_a_full_disk_stays_whole(computer: Computer) -> None:
    new = computer.skills.new_skill
    new.name = "count"
    new.add_step("One", 'print("one")')
    file = Path(new.save())
    file.chmod(0o640)
    before = file.read_text()
    new.add_step("Two", 'print("two")')
    with full_disk(), pytest.raises(OSError, match="File too large"):
        new.save()
    assert (file.read_text(), [item.name for item in file.parent.iterdir()]) == (before, ["count.py"])
    new.save()
    assert "two" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o640


def test_an_unusable_skill_is_refused(computer: Computer) -> None:
    new = computer.skills.new_skill
    new.create()
    for name in ("class", "Computer", "exec", "1st", "?"):
        with pytest.raises(ComputerError, match="cannot be the name of a function"):
            new.name = name
    with pytest.raises(ComputerError, match="not valid Python"):
        new.add_step("x", "1 +")
    with pytest.raises(ComputerError, match="needs a name"):
        new.save()
    with pytest.raises(ComputerError, match=r"There is no skill x\. Skills: none"):
        computer.skills.run("x")


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has these")
def test_what_cannot_be_says_why(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OI_TUI_ACCOUNTS", "/nowhere/accounts.ini")
    for act, words in (
        (lambda: computer.display.size, "neither DISPLAY nor WAYLAND_DISPLAY is set"),
        (lambda: computer.mouse.click(1, 2), "neither DISPLAY nor WAYLAND_DISPLAY is set"),
        (lambda: computer.keyboard.write("x"), "neither DISPLAY nor WAYLAND_DISPLAY is set"),
        (computer.clipboard.view, "no desktop"),
        (lambda: computer.sms.send("1", "x"), "only macOS"),
        (computer.mail.get, r"section \[mail\] into /nowhere/accounts.ini"),
        (computer.calendar.get_events, r"section \[calendar\]"),
        (lambda: computer.contacts.get_email_address("x"), r"section \[contacts\]"),
        (lambda: computer.ai.chat("x"), "no conversation to ask"),
        (lambda: computer.vision.query(path="/nowhere.png"), "There is no /nowhere.png"),
        (lambda: computer.no_such_tool, "it has: display, mouse"),
    ):
        with pytest.raises((ComputerError, AttributeError), match=words):
            act()


def test_every_part_of_a_long_text_is_asked_about() -> None:
    text = "".join(map(str, range(20_000)))
    parts = split(text)
    assert max(map(len, parts)) == PART
    assert all(one[-500:] == other[:500] for one, other in pairwise(parts))
    assert parts[0] + "".join(part[500:] for part in parts[1:]) == text
    assert split("") == [""]
    assert split("x" * PART) == ["x" * PART]


def test_answers_that_get_no_shorter_are_not_asked_about_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(bridge, "ask", lambda text, images: asked.append(text) or text)
    with pytest.raises(ComputerError, match="are as long as the text itself"):
        Computer().ai.summarize("x" * 3 * PART)
    assert len(asked) == 4


def test_an_image_is_sent_as_what_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bridge, "ask", lambda text, images: images[0].partition(",")[0])
    for begin, kind in (
        (b"GIF89a", "gif"),
        (b"RIFF", "webp"),
        (b"\xff\xd8\xff", "jpeg"),
        (b"\x89PNG", "png"),
    ):
        (tmp_path / "image").write_bytes(begin + b"x" * 20)
        assert Computer().vision.query(path=str(tmp_path / "image")) == f"data:image/{kind};base64"
    assert Computer().ai.chat("x", "data:image/bmp;base64,Qk0=") == "data:image/bmp;base64"
    with pytest.raises(ComputerError, match="cannot be read: Is a directory"):
        Computer().vision.query(path=str(tmp_path))


def test_a_program_that_ignores_the_request_to_end_is_killed(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As an attribute of the package, it is the tool of that name until the module is imported.
    terminal = importlib.import_module("oi_tui.computer.terminal")
    monkeypatch.setattr(terminal, "_GRACE_SECONDS", 0.05)
    lines = computer.terminal.run("bash", "trap '' TERM; echo $$; sleep 600; sleep 600", stream=True)
    process = int(next(lines)["content"])
    lines.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_what_a_program_left_in_the_background_ends_when_its_run_is_stopped(computer: Computer) -> None:
    os.mkfifo("alive")
    with open(os.open("alive", os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as alive:
        lines = computer.terminal.run("bash", "(echo ready; exec sleep 600) 3> alive &", stream=True)
        assert next(lines)["content"] == "ready\n"
        assert computer.terminal._running
        os.waitid(os.P_PID, computer.terminal._running.pid, os.WEXITED | os.WNOWAIT)
        assert not select.select([alive], [], [], 0)[0]
        lines.close()
        assert select.select([alive], [], [], 30)[0]
        assert alive.read() == b""


def test_what_a_program_left_in_the_background_goes_on_when_its_run_ends_by_itself(
    computer: Computer,
) -> None:
    text = computer.terminal.run("bash", "sleep 600 > /dev/null 2>&1 & echo $!")[0]["content"]
    state = Path(f"/proc/{int(text)}/stat").read_text().rpartition(")")[2].split()[0]
    os.kill(int(text), signal.SIGKILL)
    assert state not in "ZX", "it runs"
