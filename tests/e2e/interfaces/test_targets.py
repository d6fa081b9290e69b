"""Code that runs elsewhere, as a person meets it."""

import getpass
import os
import signal
from pathlib import Path

import pytest

from oi_tui import paths
from tests.e2e.conftest import Start
from tests.e2e.program import decisions
from tests.runtimes.playing import alive, until


def first_line(screen: str) -> str:
    return screen.split("\n")[0]


def test_the_screen_and_the_question_say_where_code_runs(start: Start) -> None:
    program = start("--demo", "--target", "command:env")
    program.begin()
    program.wait_for(lambda screen: "on env as " in first_line(screen))
    asked = " ".join(program.asked_first("largest files here").split("Run this")[1].split())
    assert "on env as " in asked
    program.answer("y")
    program.idle()
    assert decisions()[0] == "approved"
    program.say("%target local")
    program.wait_for("Code now runs on this machine.")
    program.wait_for(lambda screen: "on env as " not in first_line(screen))
    program.say("%target command:false")
    program.wait_for(lambda screen: "Code still runs on this machine." in " ".join(screen.split()))


def test_a_target_that_cannot_be_reached_is_reported_instead_of_a_screen(start: Start) -> None:
    program = start("--demo", "--target", "command:sh -c 'echo nobody home >&2; exit 1'")
    program.wait_for("oi-tui: target: No connection to sh")
    program.wait_for("nobody home")
    assert program.wait_exit() == 2


def test_a_password_is_asked_for_before_the_screen(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "login"
    script.write_text(
        '#!/bin/sh\nword=$("$SSH_ASKPASS" "Password for ana:") || exit 1\n[ "$word" = sesame ] && exec "$@"\n'
    )
    script.chmod(0o755)
    program = start("--demo", "--target", f"command:{script}")
    program.wait_for("Password for ana:")
    program.send("sesame\n")
    program.begin()
    assert "sesame" not in program.wait_for(lambda screen: "on login as " in first_line(screen))


def test_a_password_is_asked_for_in_the_running_screen(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "login"
    script.write_text(
        "#!/bin/sh\necho The password of the cluster is wanted. >&2\nfor try in 1 2 3; do\n"
        'word=$("$SSH_ASKPASS" "Password for ana:")\n[ "$word" = sesame ] && exec "$@"\n'
        "done\necho Permission denied >&2\nexit 1\n"
    )
    script.chmod(0o755)
    program = start("--demo")
    program.begin()
    program.say(f"%target command:{script}")
    program.wait_for("enter send")
    shown = program.wait_for("To connect to command:")
    assert 0 < shown.index("The password of the cluster is wanted.") < shown.index("Password for ana:")
    program.send("mistake\r")
    program.wait_for("not accepted")
    program.wait_for("enter send")
    program.send("\x1b")
    # One escape ends the attempt, although the program that connects would ask again.
    program.wait_for("Connecting was stopped. Code still runs on this machine.")
    program.say(f"%target command:{script}")
    program.wait_for("enter send")
    program.send("sesame\r")
    shown = program.wait_for(lambda screen: "on login as " in first_line(screen))
    assert "sesame" not in shown
    stored = [path for path in paths.data().parent.rglob("*") if path.is_file()]
    assert stored
    assert not [path for path in stored if b"sesame" in path.read_bytes() or b"mistake" in path.read_bytes()]


@pytest.mark.parametrize("how", ["ctrl+c", "SIGTERM"])
@pytest.mark.parametrize("what", ["--demo", "--doctor"])
def test_a_program_that_ends_as_it_connects_leaves_nothing_that_goes_on_to_connect(
    start: Start, tmp_path: Path, what: str, how: str
) -> None:
    script = tmp_path / "login"
    script.write_text(
        f"#!/bin/sh\necho $$ >{tmp_path}/pid.new\nmv {tmp_path}/pid.new {tmp_path}/pid\nexec sleep 60\n"
    )
    script.chmod(0o755)
    program = start(what, "--target", f"command:{script}")
    until((tmp_path / "pid").exists)
    if how == "ctrl+c":
        program.send("\x03")
    else:
        os.kill(program.pid, signal.SIGTERM)
    program.wait_exit()
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not alive(pid))


def test_escape_stops_connecting_and_a_notice_without_an_answer_opens_no_dialog(
    start: Start, tmp_path: Path
) -> None:
    script = tmp_path / "login"
    script.write_text(
        '#!/bin/sh\nSSH_ASKPASS_PROMPT=none "$SSH_ASKPASS" "Touch the key."\nread -r nothing\n'
        f'echo "$nothing" >{tmp_path}/went-on\n'
    )
    script.chmod(0o755)
    program = start("--demo")
    program.begin()
    program.say(f"%target command:{script}")
    program.wait_for("Touch the key.")
    program.send("\x1b")
    program.wait_for("Connecting was stopped. Code still runs on this machine.")
    assert (tmp_path / "went-on").exists() is False


def test_files_are_copied_between_this_machine_and_a_target(start: Start, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "a.txt").write_text("from there")
    program = start("--demo", "--target", f"command:env -C {there}")
    program.begin()
    program.say(f"%get a.txt {tmp_path}/here.txt")
    program.wait_for("Copied a.txt to")
    assert (tmp_path / "here.txt").read_text() == "from there"
    program.idle()
    program.say(f"%put {tmp_path}/here.txt b.txt")
    program.wait_for("b.txt: 10 bytes")
    assert (there / "b.txt").read_text() == "from there"
    program.idle()
    program.say(f"%put {tmp_path}/here.txt b.txt")
    program.wait_for("exists already")
    program.idle()
    program.say("%target local")
    program.wait_for("Code now runs on this machine.")
    program.say("%get a.txt")
    program.wait_for("Try %get")
    # The line is put back, to be changed.
    program.send("\x15")
    program.wait_for("%get a.txt", gone=True)
    program.say(f'%get "command:env -C {there}" b.txt {tmp_path}/again.txt')
    program.wait_for("Copied b.txt to")
    assert (tmp_path / "again.txt").read_text() == "from there"


def test_plain_mode_copies_files_and_runs_single_cells_elsewhere(start: Start, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "a.bin").write_bytes(b"x" * 2_000_000)
    program = start("--demo", "--plain")
    program.wait_for("ctrl+d quits")
    program.send(f'%on "command:env -C {there}" shell ls\n')
    program.wait_for("| a.bin")
    program.send(f'%get "command:env -C {there}" a.bin {tmp_path}/here.bin\n')
    program.wait_for(lambda screen: "2,000,000 bytes in" in screen.replace("\n", ""))
    assert (tmp_path / "here.bin").stat().st_size == 2_000_000


def test_files_that_code_changes_on_a_target_are_listed_and_restored(start: Start, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "data.csv").write_text("before")
    program = start("--demo", "--target", f"command:env -C {there}")
    program.begin()
    program.say("%shell echo after > data.csv")
    program.wait_for("files  ~ data.csv")
    program.idle()
    program.say("%files")
    program.wait_for("restores the files of cell N")
    program.say("%restore 1")
    program.wait_for("data.csv: will be as it was")
    program.wait_for("y yes")
    program.send("y")
    program.wait_for("Restored 1 file")
    assert (there / "data.csv").read_text() == "before"


def test_a_run_is_left_and_another_window_comes_back_to_it(start: Start, workplace: Path) -> None:
    os.mkfifo(workplace / "gate")
    program = start("--demo", "--target", "command:env")
    program.begin()
    code = "[print('n', n) for n in range(40)]; open('gate').close(); print(6 * '7')"
    program.say(f"%python {code}")
    program.wait_for("n 39")
    program.say("%detach")
    program.wait_for("detached, not stopped: it keeps running on env")
    program.wait_for(f"python on env as {getpass.getuser()} · left running")
    program.wait_for("keeps running, for up to")
    program.wait_for(lambda screen: "on env as " not in first_line(screen))
    program.say("%quit")
    assert program.wait_exit() == 0
    program = start("--demo", "--attach", "command:env")
    program.wait_for("1 cell still running")
    (workplace / "gate").open("wb").close()
    program.wait_for("777777")
    program.wait_for(f"python on env as {getpass.getuser()} · finished")
    assert "Left running: " not in program.screen
    program.say("%attach")
    program.wait_for("Nothing was left running on a target.")
    program.say("%quit")
    assert program.wait_exit() == 0


@pytest.mark.needs("sandbox")
def test_with_the_sandbox_on_no_copy_follows_a_link_out_of_the_folder(
    start: Start, workplace: Path, tmp_path: Path
) -> None:
    there, private = tmp_path / "there", tmp_path / "private"
    for folder in (there, private):
        folder.mkdir()
    (there / "a.txt").write_text("from there")
    (private / "key").write_text("secret")
    (workplace / "results.csv").symlink_to(private / "key")
    (workplace / "sub").symlink_to(private)
    program = start("--demo", "--plain", rows=40)
    program.wait_for("ctrl+d quits")
    target = f'"command:env -C {there}"'
    program.send(f"%on {target} shell ls\n")
    program.wait_for("| a.txt")
    program.send("%sandbox on\n")
    program.wait_for("Sandbox on")
    for command, name in (("%put", "results.csv"), ("%get", "a.txt sub/a.txt")):
        # The line before is put back, to be changed.
        program.send(f"\x15{command} {target} {name}\n")
        refused = f"{name.split()[-1]}leadsoutofthefolder"
        program.wait_for(lambda screen, refused=refused: ">" in "".join(screen.split()).partition(refused)[2])
    program.send(f"\x15%put {target} {private}/key named\n")
    program.wait_for("Copied")
    assert sorted(path.name for path in there.iterdir()) == ["a.txt", "named"]
    assert [path.name for path in private.iterdir()] == ["key"]
