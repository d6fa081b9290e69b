"""Disks that are full, files that run out, damage and company: said in words, and nothing is lost."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processes
from tests.e2e.conftest import Start
from tests.e2e.program import Program, messages

FOLDER = Path("data", "conversations")


def journals() -> list[Path]:
    return sorted((Path(os.environ["OI_TUI_HOME"]) / FOLDER).glob("*.jsonl"))


def limit(program: Program, kind: int, most: int) -> None:
    """Let the program have no more of it; what is below the hard limit can be given back."""
    _, hard = resource.prlimit(program.pid, kind)
    resource.prlimit(program.pid, kind, (most, hard))


def unlimited(program: Program, kind: int) -> None:
    _, hard = resource.prlimit(program.pid, kind)
    resource.prlimit(program.pid, kind, (hard, hard))


def ready(start: Start, *arguments: str) -> Program:
    program = start(*(arguments or ("--demo",)), rows=40)
    program.begin()
    return program


def list_saved_texts(role: str) -> list[str]:
    return [m["content"] for m in messages() if m["role"] == role and m["type"] in ("message", "console")]


def test_a_disk_that_is_full_is_reported_and_catches_up_once_there_is_room(start: Start) -> None:
    program = ready(start)
    program.say("%run python print('one', 6 * 7)")
    program.wait_for("│ one 42")
    program.idle()
    # The next record is cut off in its middle.
    limit(program, resource.RLIMIT_FSIZE, journals()[0].stat().st_size + 20)
    program.say("%run python print('two', 6 * 7)")
    program.wait_for("│ two 42")
    program.wait_for("Not saved")
    program.idle()
    program.say("%run python print('three', 6 * 7)")
    program.wait_for("│ three 42")
    unlimited(program, resource.RLIMIT_FSIZE)
    program.wait_for("Saving works again.")
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    assert [text.strip() for text in list_saved_texts("computer")] == ["one 42", "two 42", "three 42"]


def test_on_a_full_disk_each_refusal_names_the_folder_and_old_files_stay(
    start: Start, workplace: Path
) -> None:
    profile = Path(os.environ["OI_TUI_HOME"], "config", "profiles", "default.yaml")
    profile.parent.mkdir(parents=True)
    profile.write_text("theme: gruvbox\n")
    program = ready(start)
    limit(program, resource.RLIMIT_FSIZE, 0)
    program.say("%theme nord")
    program.wait_for("This lasts until you quit; it could not be saved: ~/")
    program.idle()
    program.say("hello there")
    program.wait_for("Not saved: ")
    program.idle()
    program.say(f"%export {workplace / 'page.html'}")
    program.wait_for(lambda screen: f"Could not write: {workplace}" in " ".join(screen.split()))
    assert profile.read_text() == "theme: gruvbox\n"
    assert not (workplace / "page.html").exists()
    # The conversation could be saved nowhere.
    program.press("ctrl+q")
    assert program.wait_exit() == 1
    assert b"It could not be written elsewhere either: " in program.raw


def test_what_cannot_be_saved_to_the_end_is_put_elsewhere_and_told_in_the_terminal(
    start: Start, tmp_path: Path
) -> None:
    blocked, elsewhere = tmp_path / "blocked", tmp_path / "elsewhere"
    blocked.write_text("")
    elsewhere.mkdir()
    program = start("--demo", env={"OI_TUI_HOME": str(blocked), "TMPDIR": str(elsewhere)}, rows=40)
    program.begin()
    program.say("%run python print(6 * 7)")
    program.wait_for("│ 42")
    program.idle()
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    (rescued,) = elsewhere.glob("*.jsonl")
    assert processes.wait_until(lambda: rescued.name.encode() in program.raw, 40)
    assert b"Not saved" in program.raw
    # Where it belongs, it opens as if nothing had happened.
    home = Path(os.environ["OI_TUI_HOME"]) / FOLDER
    home.mkdir(parents=True)
    (home / rescued.name).write_bytes(rescued.read_bytes())
    again = start("--demo", "--resume", rows=40)
    again.wait_for("│ 42")


LINES = [
    pytest.param(("--demo", "--plain"), "%run python print('one', 6 * 7)\n", "| one 42", id="plain"),
    pytest.param(("--demo", "--stdin", "--auto-run"), "show me a plot\n", "drew 2 lines", id="one request"),
]


@pytest.mark.parametrize(("arguments", "request_", "answer"), LINES)
@pytest.mark.parametrize("is_anywhere", [False, True], ids=["nowhere", "elsewhere"])
def test_plain_lines_end_by_saying_where_the_conversation_is_or_with_a_failure(
    arguments: tuple[str, ...], request_: str, answer: str, is_anywhere: bool, tmp_path: Path
) -> None:
    blocked, elsewhere = tmp_path / "blocked", tmp_path / "elsewhere"
    blocked.write_text("")
    elsewhere.mkdir()
    command = [sys.executable, "-m", "oi_tui", *arguments]
    ended = subprocess.run(
        command if is_anywhere else ["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command],
        env={**os.environ, "OI_TUI_HOME": str(blocked), "TMPDIR": str(elsewhere), "HOME": str(elsewhere)},
        cwd=elsewhere,
        input=request_,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    told = " ".join((ended.stdout + ended.stderr).split())
    assert "Traceback" not in told
    assert "Not saved: " in told
    rescued = list(elsewhere.glob("*.jsonl"))
    if is_anywhere:
        assert answer in told
        assert f"The conversation is in {rescued[0]}; move that file to " in told
    else:
        assert "It could not be written elsewhere either: " in told
        assert rescued == []
    assert ended.returncode == (0 if is_anywhere else 1)


def test_without_files_to_open_it_says_so_and_goes_on_when_there_are_some(start: Start) -> None:
    program = ready(start)
    program.say("%run python print('one', 6 * 7)")
    program.wait_for("│ one 42")
    program.idle()
    program.say("%new")
    program.wait_gone("│ one 42")
    # A new conversation needs a file, and there is none to be had.
    limit(program, resource.RLIMIT_NOFILE, 3)
    program.say("hello there")
    program.wait_for("Not saved")
    unlimited(program, resource.RLIMIT_NOFILE)
    program.wait_for("Saving works again.")
    program.idle()
    program.say("%run python print('two', 6 * 7)")
    program.wait_for("│ two 42")
    program.idle()
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    assert "hello there" in list_saved_texts("user")
    assert "two 42" in [text.strip() for text in list_saved_texts("computer")]


def test_the_second_window_of_a_conversation_is_a_copy_and_both_are_kept(start: Start) -> None:
    first = ready(start)
    first.say("%run python print('one', 6 * 7)")
    first.wait_for("│ one 42")
    first.idle()
    second = start("--demo", "--resume", rows=40)
    second.wait_for("open in another window; you are in a copy")
    for program, word in ((first, "first"), (second, "second"), (first, "third"), (second, "fourth")):
        program.say(f"%run python print('{word}', 6 * 7)")
        program.wait_for(f"│ {word} 42")
        program.idle()
    for program in (first, second):
        program.press("ctrl+q")
        assert program.wait_exit() == 0
    texts = [path.read_text() for path in journals()]
    assert [sum(word in text for text in texts) for word in ("first 42", "second 42", "one 42")] == [1, 1, 2]
    assert all(("first 42" in text) == ("third 42" in text) for text in texts)


@pytest.mark.parametrize("damage", ["zeros", "half a line", "a foreign line"])
def test_a_damaged_conversation_opens_with_all_that_can_be_read(start: Start, damage: str) -> None:
    program = ready(start)
    for word in ("one", "two", "three"):
        program.say(f"%run python print('{word}', 6 * 7)")
        program.wait_for(f"│ {word} 42")
        program.idle()
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    (path,) = journals()
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if b"two 42" in line)
    lines.insert(
        place,
        {"zeros": bytes(512) + b"x\n", "half a line": lines[place][:40] + b"\n"}.get(damage, b"not ours\n"),
    )
    path.write_bytes(b"".join(lines))
    before = path.read_bytes()
    again = start("--demo", "--resume", rows=40)
    again.wait_for("This conversation's file is damaged in 1 line.")
    assert path.read_bytes() == before
    assert again.wait_for("│ three 42").count("42") >= 3
