"""Language processes as on macOS: no /proc, no poll for terminals, no pidfd, no adopted orphans; but `ps`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.processes import process_table, pty, readiness
from tests import processes
from tests.runtimes.playing import alive, check_cells, play, until

pytestmark = pytest.mark.needs("ps")
Make = Callable[..., Computer]


@pytest.fixture
def as_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "_LINUX", False)
    monkeypatch.setattr(readiness, "POLL_KNOWS_TERMINALS", False)
    monkeypatch.setattr(pty, "_GUARD", f"import sys; sys.platform = 'darwin'; {pty._GUARD}")
    monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A shell in a session of its own, with a child below it."""
    shell = subprocess.Popen(["/bin/sh", "-c", "sleep 60 & echo; wait"], start_new_session=True, stdout=-1)
    assert shell.stdout
    shell.stdout.read(1)
    yield shell
    for pid in (*process_table.list_descendants(shell.pid), shell.pid):
        os.kill(pid, signal.SIGKILL)
    shell.wait()
    shell.stdout.close()


def test_code_runs_asks_fails_and_is_stopped(as_on_macos: None, make: Make) -> None:
    computer = make()
    check_cells(computer, "python", [("a = 1", ""), ("print(a + 1)", "2\n")])
    played = play(computer, "python", "print(input('name? '))", answers=("Ada\n",))
    assert "Ada" in played.text
    assert play(computer, "python", "1 / 0").state == "failed"
    sleeping = "import time; print('go', flush=True); time.sleep(60)"
    assert play(computer, "python", sleeping, stop_at="go").state == "interrupted"
    check_cells(computer, "python", [("print(a)", "1\n")])


@pytest.mark.needs("bash")
def test_a_program_that_a_shell_started_is_stopped_with_its_children(as_on_macos: None, make: Make) -> None:
    computer = make()
    played = play(computer, "shell", "x=3; echo go; (sleep 60); echo never", stop_at="go")
    assert played.state == "interrupted"
    check_cells(computer, "shell", [("echo $x", "3\n")])


def test_the_end_is_quick_and_leaves_nothing(as_on_macos: None, make: Make) -> None:
    computer = make()
    code = "import subprocess; print(subprocess.Popen(['sleep', '60']).pid)"
    pid = int(play(computer, "python", code).text)
    assert alive(pid)
    began = time.monotonic()
    computer.close()
    assert time.monotonic() - began < 5
    until(lambda: not alive(pid))


def test_what_a_killed_guard_leaves_is_ended(as_on_macos: None, make: Make) -> None:
    computer = make()
    code = "import os, subprocess; print(os.getppid(), subprocess.Popen(['sleep', '60']).pid)"
    guard, sleeper = map(int, play(computer, "python", code).text.split())
    os.kill(guard, signal.SIGKILL)
    until(lambda: not alive(sleeper))
    assert play(computer, "python", "print('again')").text == "again\n"


@pytest.mark.parametrize("poll", [True, False])
def test_what_is_ready_is_found(poll: bool) -> None:
    master, slave = os.openpty()
    reading, writing = os.pipe()
    try:
        ready = readiness.Readiness((master, reading), poll=poll)
        assert ready.wait(0) == set()
        assert ready.wait(0, writable=master) == {master}
        assert ready.wait(-1) == set()
        os.write(slave, b"x")
        assert ready.wait(5) == {master}
        os.write(writing, b"y")
        assert ready.wait(5) == {master, reading}
        os.read(master, 9)
        os.read(reading, 9)
        assert ready.wait(0) == set()
        os.close(writing)
        writing = -1
        assert ready.wait(5) == {reading}
    finally:
        for number in (master, slave, reading, writing):
            if number >= 0:
                os.close(number)


def test_ps_tells_what_proc_tells(child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    below = process_table.list_descendants(child.pid)
    members = process_table.list_session(child.pid)
    began = process_table.find_start(child.pid)
    monkeypatch.setattr(process_table, "_LINUX", False)
    assert process_table.list_descendants(child.pid) == below
    assert sorted(process_table.list_session(child.pid)) == sorted(members)
    assert {pid for pid, _ in members} == {child.pid, *below}
    assert began - 1 <= process_table.find_start(child.pid) <= began + 2


def test_what_a_run_started_is_found_without_a_look_at_all_processes(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(process_table, "_LISTS_CHILDREN", False)
        below = process_table.list_descendants(child.pid)
    assert len(below) == 1
    with monkeypatch.context() as patch:
        patch.setattr(process_table, "_list_parents", lambda: pytest.fail("all processes were read"))
        assert process_table.list_descendants(child.pid) == below
        assert process_table.list_foreground(child.pid, child.pid) == [child.pid, *below]
        assert process_table.list_foreground(child.pid, os.getpgid(0)) == [os.getpgid(0)]


def test_children_of_all_threads_and_below_are_found() -> None:
    program = (
        "import subprocess, threading\n"
        "shell = ['/bin/sh', '-c', 'sleep 60 & echo; wait']\n"
        "start = lambda: subprocess.Popen(shell, stdout=-1).stdout.read(1)\n"
        "thread = threading.Thread(target=lambda: [start(), input()])\n"
        "thread.start(); start(); print(); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as running:
        assert running.stdout
        running.stdout.readline()
        assert processes.wait_until(lambda: len(process_table.list_descendants(running.pid)) == 4, 20)
        found = {process.pid for process in processes.descendants(running.pid)}
        assert set(process_table.list_descendants(running.pid)) == found
        for pid in (*found, running.pid):
            os.kill(pid, signal.SIGKILL)


def test_without_ps_nothing_is_known_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "_LINUX", False)
    monkeypatch.setattr(process_table, "_PS", "/nowhere/ps")
    assert process_table.list_descendants(os.getpid()) == []
    assert process_table.list_session(os.getsid(0)) == []
    assert process_table.find_start(os.getpid()) <= time.monotonic()
    process_table.kill_marked("NAME=value", 0)


@pytest.mark.parametrize(
    ("elapsed", "seconds"),
    [("00:00", 0), ("01:05", 65), ("10:00:01", 36_001), ("2-03:00:00", 183_600), ("100-00:00:07", 8_640_007)],
)
def test_the_age_of_a_process_is_read(elapsed: str, seconds: int) -> None:
    assert process_table._parse_seconds(elapsed) == seconds


def test_no_key_suspends_a_program_or_discards_its_output(make: Make) -> None:
    code = (
        "import termios\nmodes = termios.tcgetattr(0)[6]\n"
        "print([modes[place] for place in (termios.VSUSP, termios.VDISCARD)])"
    )
    code = f"import os\n{code}\nprint(os.fpathconf(0, 'PC_VDISABLE'))"
    keys, off = play(make(), "python", code).text.splitlines()
    assert keys == str([bytes([int(off)])] * 2)


def test_the_drivers_wait_for_their_requests_by_select() -> None:
    folder = Path(pty.__file__).parent / "drivers"
    assert [path.name for path in folder.rglob("*.py") if "select.poll" in path.read_text("utf-8")] == []


def test_a_terminal_that_went_with_its_program_is_no_error(tmp_path: Path) -> None:
    terminal = pty.Pty(
        ("/bin/sh", "-c", "sleep 60"), folder=tmp_path, env=dict(os.environ), cwd=tmp_path, size=(80, 24)
    )
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        assert terminal.device
        # What macOS leaves of it answers as something that is no terminal.
        os.dup2(nothing, terminal.slave)
        assert (terminal.echoing, terminal.unread) == (True, False)
        terminal.make_sane()
        terminal.accept_any_line()
        os.close(terminal.slave)
        assert (terminal.echoing, terminal.unread, terminal.device) == (True, False, 0)
        os.dup2(nothing, terminal.slave)
    finally:
        terminal.close()
        os.close(nothing)
