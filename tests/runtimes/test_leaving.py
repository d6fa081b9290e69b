"""A language that is ended at rest leaves as it does when its input ends: its exit handlers run."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.messages import Printed, Report, RunEnded
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play, until

#: Code that makes a file when the language ends.
AT_END = {
    "python": "import atexit\natexit.register(lambda: open('left', 'w').close())",
    "javascript": "process.on('exit', () => require('fs').writeFileSync('left', ''))",
    "deno": "globalThis.addEventListener('unload', () => Deno.writeTextFileSync('left', ''))",
    "bun": "process.on('exit', () => require('fs').writeFileSync('left', ''))",
    "bash": "trap 'echo > left' EXIT",
    "zsh": "trap 'echo > left' EXIT",
    "ruby": "at_exit { File.write('left', '') }",
    "perl": "END { open(my $f, '>', 'left') }",
    "lua": "keep = setmetatable({}, { __gc = function() io.open('left', 'w'):close() end })",
    "r": "reg.finalizer(globalenv(), function(e) file.create('left'), onexit = TRUE)",
    "octave": "function leave_now()\n  fclose(fopen('left', 'w'));\nend\natexit('leave_now');",
    "php": "register_shutdown_function(function () { touch('left'); });",
}
#: An application that is killed while Python rests.
KILLED = """
import os, sys
from pathlib import Path
from oi_tui.runtimes import Computer

computer = Computer(cwd=Path.cwd())
list(computer.run("python", sys.argv[1]))
os.kill(os.getpid(), 9)
"""
#: An application that is killed, of which a fork lives on with all that was open.
FORKED = """
import os, sys, time
from pathlib import Path
from oi_tui.runtimes import Computer

computer = Computer(cwd=Path.cwd())
list(computer.run("python", "import os; open('python', 'w').write(str(os.getpid()))"))
if os.fork():
    os.kill(os.getpid(), 9)
Path("fork").write_text(str(os.getpid()))
time.sleep(600)
"""
#: An application whose first thread ends while another one stays: this is how the kernel shows a process that
#: was killed while one of its threads waits for a disk.
ENDING = """
import ctypes, os, threading
from pathlib import Path
from oi_tui.runtimes import Computer

computer = Computer(cwd=Path.cwd())
list(computer.run("python", "import os; open('python', 'w').write(str(os.getpid()))"))
threading.Thread(target=input).start()
exit_thread = 60 if os.uname().machine == "x86_64" else 93
ctypes.CDLL(None).syscall(exit_thread, 0)
"""
#: Code of a program that cannot be brought to an end in order.
STUCK = "import atexit, time\natexit.register(time.sleep, 600)\nimport os\nprint(os.getpid())"


@pytest.mark.parametrize("language", AT_END)
def test_exit_handlers_run_when_the_language_is_closed(
    tmp_path: Path, make: Callable[..., Computer], language: str
) -> None:
    computer = make(cwd=tmp_path)
    assert play(computer, language, AT_END[language]).state == "finished"
    computer.close()
    assert (tmp_path / "left").exists()


def test_exit_handlers_run_where_the_application_is_killed(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, AT_END["python"]], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    until(lambda: (tmp_path / "left").exists())


def test_a_fork_of_an_application_that_was_killed_keeps_no_language(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", FORKED], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    fork = tmp_path / "fork"
    until(lambda: fork.exists() and fork.read_text())
    python = int((tmp_path / "python").read_text())
    try:
        until(lambda: not is_there(python))
        assert is_there(int(fork.read_text()))
    finally:
        os.kill(int(fork.read_text()), signal.SIGKILL)


def test_an_application_that_ends_but_for_one_thread_keeps_no_language(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDING], cwd=tmp_path, stdin=subprocess.PIPE) as application:
        try:
            python = tmp_path / "python"
            until(lambda: python.exists() and python.read_text())
            until(lambda: not is_there(int(python.read_text())))
            assert application.poll() is None
        finally:
            application.kill()


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_a_language_whose_exit_handlers_hang_is_killed(make: Callable[..., Computer]) -> None:
    computer = make()
    pid = int(play(computer, "python", STUCK).text)
    computer.close()
    # Killed, it may be there a moment longer: until its parent has heard of it.
    until(lambda: not is_there(pid))


def test_temporary_folders_of_a_cell_go_with_its_language(
    tmp_path: Path, make: Callable[..., Computer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    computer = make()
    play(computer, "python", "import tempfile\nfolder = tempfile.TemporaryDirectory()")
    assert list(tmp_path.iterdir())
    computer.close()
    assert not list(tmp_path.iterdir())


def take_the_end(reports: Iterator[Report]) -> str:
    """Take the reports of a run up to its end, of which whoever runs the code does not know yet.

    Returns what it printed.
    """
    text = ""
    for report in reports:
        if isinstance(report, Printed):
            text += report.text
        if isinstance(report, RunEnded):
            break
    return text


def test_a_language_that_is_closed_just_when_a_run_is_over_ends(make: Callable[..., Computer]) -> None:
    computer = make()
    reports = computer.run("python", "import os; print(os.getpid())")
    pid = int(take_the_end(reports))
    computer.close()
    assert list(reports) == []
    until(lambda: not is_there(pid))


def test_a_language_that_is_restarted_just_when_a_run_is_over_forgets(make: Callable[..., Computer]) -> None:
    computer = make()
    reports = computer.run("python", "kept = 1")
    take_the_end(reports)
    computer.reset()
    assert list(reports) == []
    assert play(computer, "python", "'kept' in globals()").text == "False\n"


@pytest.mark.parametrize("end", [Computer.close, Computer.reset])
def test_a_run_whose_reports_nobody_takes_leaves_no_process_when_it_is_ended(
    make: Callable[..., Computer], end: Callable[[Computer], None]
) -> None:
    computer = make()
    before = set(list_children())
    kept = computer.run("python", "import time\nprint(1, flush=True)\ntime.sleep(600)")
    for report in kept:
        if isinstance(report, Printed):
            break
    assert set(list_children()) > before
    end(computer)
    assert set(list_children()) == before
    *_, ended = kept
    assert isinstance(ended, RunEnded)
    assert ended.state == "lost"


def test_after_a_reset_code_runs_again_though_the_reports_of_an_earlier_run_are_kept(
    make: Callable[..., Computer],
) -> None:
    computer = make()
    kept = computer.run("python", "import time\nprint(1, flush=True)\ntime.sleep(600)")
    for report in kept:
        if isinstance(report, Printed):
            break
    computer.reset()
    *_, ended = computer.run("python", "print(2)")
    assert isinstance(ended, RunEnded)
    assert ended.state == "finished"
    kept.close()


def list_children() -> list[str]:
    """The processes that this one started, those that ended and were not waited for among them."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    ).stdout
    return [line.strip() for line in listed.splitlines() if not line.rstrip().endswith(" ps")]
