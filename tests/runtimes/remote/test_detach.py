"""What is left running on a target: none of its output is lost, nothing runs twice, others stay out."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from oi_tui.messages import DETACHED, InputRequested, LineReached, Printed, Report, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote import left_targets, wire
from oi_tui.runtimes.remote.left_targets import LeftTarget
from oi_tui.runtimes.remote.link import LeftRun
from oi_tui.runtimes.remote.outbox import Outbox, Stream
from oi_tui.runtimes.remote.remote_target import RemoteTarget
from oi_tui.runtimes.remote.target import DetachOptions, GoneError, TargetError
from oi_tui.runtimes.remote.wire import FrameReader, unpack_reports
from oi_tui.runtimes.targets import TargetOptions
from tests.programs import PATH, why_not
from tests.runtimes.playing import Played, alive, play, until
from tests.runtimes.remote.test_network_faults import when
from tests.runtimes.remote.test_remote import everything_below, worker_pid
from tests.servers.sshd import HOST, Sshd
from tests.servers.tcp_relay import TcpRelay

Make = Callable[..., Computer]
#: Waits at a pipe until the test says that the application has left.
WAIT = "open('left').close()\n"
COUNT = f"for n in range(30): print(n)\n{WAIT}"
COUNT_ON = f"{COUNT}for n in range(30, 300): print(n)"


@pytest.fixture(autouse=True)
def nothing_stays(tmp_path: Path) -> Iterator[None]:
    """Make the pipe at which programs wait, and end what a test left."""
    os.mkfifo(tmp_path / "left")
    yield
    for left in left_targets.load():
        computer = Computer()
        with contextlib.suppress(TargetError):
            computer.targets.attach(left)
        computer.close()


def go_on(folder: Path) -> None:
    """Let the program go on that waits, or will wait, at the pipe."""
    (folder / "left").open("wb").close()


def leave(computer: Computer, code: str, at: str) -> tuple[Played, LeftTarget]:
    """Run Python code, leave it running once the output holds the text, and end the application's part."""
    answers: list[str] = []

    def go() -> None:
        thread = threading.Thread(target=lambda: answers.append(computer.targets.detach()))
        thread.start()
        threads.append(thread)

    place, threads = computer.targets.remote, list[threading.Thread]()
    assert isinstance(place, RemoteTarget)
    played = play(computer, "python", code, number=3, on=when(at, go))
    for thread in threads:
        thread.join()
    assert answers == [""]
    assert computer.targets.home == "local"
    assert played.state == "interrupted"
    assert played.reason.startswith(DETACHED)
    computer.close()
    assert place._record
    assert not place._record.is_connected
    return played, place._record


def follow(computer: Computer, runs: Iterable[LeftRun], stop_at: str | None = None) -> Played:
    """What comes of the one run that was left."""
    (run,) = runs
    played, so_far, began = Played(), "", time.monotonic()
    for report in computer.follow(run):
        played.reports.append((time.monotonic() - began, report))
        so_far += report.text if isinstance(report, Printed) else ""
        if isinstance(report, InputRequested):
            computer.send_input("Ada\n")
        if stop_at is not None and stop_at in so_far:
            stop_at = None
            computer.interrupt()
    return played


def numbers(*texts: str) -> list[str]:
    """The lines that are numbers; one may begin in one text and end in the next, also between \\r and \\n."""
    return [line for line in "".join(texts).replace("\r\n", "\n").split("\n") if line.isdecimal()]


@pytest.mark.needs("ssh", "sshd")
def test_a_run_that_was_left_goes_on_and_another_process_gets_all_of_its_output(
    make: Make, tmp_path: Path
) -> None:
    computer = make(target=f"ssh:{HOST}")
    target = computer.targets.home
    play(computer, "python", "memory = 41")
    before, left = leave(computer, COUNT_ON, "\n20\r")
    go_on(tmp_path)
    assert (left.target, left.languages) == (target, ("python",))
    assert left.running == "cell 3, python: for n in range(30): print(n)"
    assert (
        Path(os.environ["OI_TUI_HOME"]) / "data/left-targets" / f"{left.id}.json"
    ).stat().st_mode & 0o77 == 0
    program = (
        "import json, sys\n"
        "from oi_tui.messages import Printed, RunEnded\n"
        "from oi_tui.runtimes import Computer\n"
        "from oi_tui.runtimes.remote import left_targets\n"
        "computer = Computer()\n"
        f"(run,) = computer.targets.attach(left_targets.choose({target!r}))\n"
        "reports = list(computer.follow(run))\n"
        "text = ''.join(r.text for r in reports if isinstance(r, Printed))\n"
        "more = list(computer.run('python', 'print(memory + 1)'))\n"
        "print(json.dumps([text, reports[-1].state, run.code, run.number, more[0].text]))\n"
        "computer.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    text, state, code, number, more = json.loads(done.stdout)
    assert numbers(before.text, text.replace("\r\n", "\n")) == [str(n) for n in range(300)]
    assert (state, number, more) == ("finished", 3, "42\r\n")
    assert code == COUNT_ON
    # That application was closed, which ends what was left.
    assert left_targets.load() == []
    until(lambda: not Path(left.folder).exists())


def test_what_was_left_can_be_stopped_typed_to_and_left_again(make: Make) -> None:
    computer = make(target="command:env")
    pid = worker_pid(computer)
    _, left = leave(computer, f"print('go')\nname = input('name? ')\nprint('hello', name)\n{WAIT}", "name?")
    back = make()
    (run,) = back.targets.attach(left)
    # It is ours now; it comes back when it is left again.
    assert left_targets.list_shown() == []
    assert run.is_running
    played = follow(back, [run], stop_at="hello Ada")
    assert played.state == "interrupted"
    assert not played.reason.startswith(DETACHED)
    assert play(back, "python", "print(name)").text == "Ada\n"
    assert back.targets.detach() == ""
    (left,) = left_targets.list_shown()
    assert left.running == ""
    again = make()
    assert not again.target_past
    assert again.targets.attach(left) == ()
    assert set(again.target_past) == {"python"}
    assert play(again, "python", "print(name)").text == "Ada\n"
    assert worker_pid(again) == pid
    again.reset()
    assert not again.target_past
    assert "NameError" in play(again, "python", "print(name)").text
    below = everything_below(pid)
    again.close()
    assert not any(map(alive, below))
    assert left_targets.load() == []


def test_a_reset_right_after_coming_back_ends_what_was_left(make: Make) -> None:
    computer = make(target="command:env")
    play(computer, "python", "name = 'Ada'")
    assert computer.targets.detach() == ""
    computer.close()
    (left,) = left_targets.list_shown()
    back = make()
    assert back.targets.attach(left) == ()
    back.reset()
    assert not back.target_past
    assert "NameError" in play(back, "python", "print(name)").text


def test_a_run_that_ended_meanwhile_says_how_and_is_not_run_again(make: Make, tmp_path: Path) -> None:
    code = f"open('ran', 'a').write('x')\nprint('go')\n{WAIT}print('over')\nopen('over', 'w')\n1 / 0"
    _, left = leave(make(target="command:env"), code, "go")
    go_on(tmp_path)
    until((tmp_path / "over").exists)
    back = make()
    (run,) = back.targets.attach(left)
    played = follow(back, [run])
    assert played.state == "failed"
    assert "over" in played.text
    assert "ZeroDivisionError" in played.text
    assert (tmp_path / "ran").read_text() == "x"


def test_nothing_new_begins_while_nobody_is_there_and_others_are_kept_out(make: Make) -> None:
    computer = make(target="command:env")
    _, left = leave(computer, COUNT, "\n5\r")
    first, second = make(), make()
    (run,) = first.targets.attach(left)
    reports = first.follow(run)
    next(reports)
    with pytest.raises(TargetError, match=r"another oi-tui is connected to it"):
        second.targets.attach(left)
    other = patch("oi_tui.runtimes.remote.remote_target.compute_wire_version", return_value="other")
    with other, pytest.raises(TargetError, match=r"another version of oi-tui \(0\..*end the process \d+"):
        second.targets.attach(left)
    assert second.targets.home == "local"
    first.interrupt()
    assert list(reports)[-1].state == "interrupted"  # type: ignore[union-attr]
    with pytest.raises(TargetError, match="is no longer running") as problem:
        second.targets.attach(replace(left, folder="/dev/shm"))
    assert isinstance(problem.value, GoneError)


def test_what_was_left_ends_by_itself_and_is_gone_when_it_is_killed(make: Make) -> None:
    computer = make(target="command:env", target_options=TargetOptions(detach=DetachOptions(seconds=0.3)))
    below = everything_below(worker_pid(computer))
    _, left = leave(computer, COUNT, "\n5\r")
    until(lambda: not any(map(alive, below)) and not Path(left.folder).exists())
    assert left_targets.list_shown() == []
    computer = make(target="command:env")
    pid = worker_pid(computer)
    below = everything_below(pid)
    _, left = leave(computer, COUNT, "\n5\r")
    os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(alive, below)))
    with pytest.raises(GoneError, match=r"env: what was left there is no longer running"):
        make().targets.attach(left)


def test_only_what_was_started_is_left(make: Make) -> None:
    computer = make(target="command:env")
    assert computer.targets.detach() == "Nothing was started on env: there is nothing to leave running."
    assert make().targets.detach() == "Code runs on this machine."
    assert left_targets.load() == []


@pytest.mark.needs("ssh", "sshd")
def test_a_connection_that_is_cut_in_a_flood_loses_and_doubles_nothing_if_it_is_to_stay(
    make: Make, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not why_not("sshd")
    server = Sshd(tmp_path_factory.mktemp("sshd"))
    relay = TcpRelay(server.port)
    monkeypatch.setenv("PATH", f"{server.through(relay.port, tmp_path_factory.mktemp('client'))}:{PATH}")
    try:
        computer = make(
            target=f"ssh:{HOST}", target_options=TargetOptions(detach=DetachOptions(cut=True, seconds=60.0))
        )
        pid = worker_pid(computer)
        flood = "for n in range(200_000): print(n)"
        before = play(computer, "python", flood, on=when("\n30000\r", relay.cut))
        assert before.state == "interrupted"
        target = computer.targets.home
        assert f"%attach {target} reconnects to it" in before.reason
        # The next cell would begin without the variables of this one.
        failed = play(computer, "python", "print(n)")
        assert failed.state == "failed"
        assert "What runs there was left running" in failed.reason
        left = left_targets.choose(target)
        assert isinstance(left, LeftTarget)
        after = follow(computer, computer.targets.attach(left))
        assert after.state == "finished"
        assert numbers(before.text, after.text) == [str(n) for n in range(200_000)]
        assert play(computer, "python", "print(n)").text == "199999\n"
        computer.close()
        until(lambda: not alive(pid))
        assert left_targets.load() == []
    finally:
        relay.close()
        server.close()


def test_an_application_that_is_killed_leaves_running_what_is_to_stay(make: Make, tmp_path: Path) -> None:
    program = (
        "from oi_tui.messages import Printed\n"
        "from oi_tui.runtimes import Computer\n"
        "from oi_tui.runtimes.remote.target import DetachOptions\n"
        "from oi_tui.runtimes.targets import TargetOptions\n"
        "options = TargetOptions(detach=DetachOptions(cut=True, seconds=60.0))\n"
        "computer = Computer(target='command:env', target_options=options)\n"
        f"for report in computer.run('python', {COUNT_ON!r}):\n"
        "    print(report.text if isinstance(report, Printed) else '', flush=True)\n"
    )
    application = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert application.stdout
    with application.stdout:
        assert any(line.strip() == "20" for line in application.stdout)
        application.kill()
        shown = ["20", *numbers(application.stdout.read())]
        application.wait()
    (left,) = left_targets.list_shown()
    go_on(tmp_path)
    back = make()
    found = numbers(follow(back, back.targets.attach(left)).text)
    # Nobody knows what it showed at last, so some may be shown again; none is missing.
    assert found[-1] == "299"
    assert found == [str(n) for n in range(int(found[0]), 300)]
    assert int(found[0]) <= int(shown[-1]) + 1


def test_files_are_restored_after_coming_back(make: Make, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    computer = make(target="command:env")
    files = computer.targets.files_on()
    assert files
    files.watch("code")
    _, left = leave(computer, f"print('go')\n{WAIT}open('a.txt', 'w').write('after')", "go")
    go_on(tmp_path)
    back = make()
    (run,) = back.targets.attach(left)
    assert run.message == "code"
    files = back.targets.files_on()
    assert files
    files.watch(run.message)
    assert follow(back, [run]).state == "finished"
    step = files.pop_changes()
    assert step
    assert {change.path for change in step.changes} == {"a.txt"}
    files.restore(step)
    assert (tmp_path / "a.txt").read_text() == "before"


# -- what the worker keeps


def sent(*reports: Report, most: int) -> list[Report]:
    """What an application gets that comes when all of this has been reported."""
    nobody, somebody = os.pipe(), os.pipe()
    first = Stream(nobody[0], nobody[1])
    box = Outbox(first, most)
    box.leave(first)
    for report in reports:
        box.send_report(7, report)
    stream = Stream(os.dup(somebody[0]), somebody[1])
    box.resume(stream)
    frames, found = FrameReader(), list[Report]()
    with os.fdopen(somebody[0], "rb", buffering=0) as source:
        # Frames arrive in any portions, so what is read last may be the end of an earlier run.
        while count_ends(found) < count_ends(reports):
            for message, size in frames.read(source.read(65536)):
                if message["is"] == "reports":
                    found += unpack_reports(message)
                    box.note_taken(size + 4)
    assert box.list_runs() == set()
    first.close()
    stream.close()
    return found


def count_ends(reports: Sequence[Report]) -> int:
    return sum(isinstance(report, RunEnded) for report in reports)


def test_the_newest_output_is_kept_and_what_is_missing_is_said() -> None:
    ended = RunEnded("finished", 1.0)
    assert sent(Printed("a"), ended, most=10_000) == [Printed("a"), ended]
    lines = [Printed(f"{n:05}\r\n") for n in range(1000)]
    asked = InputRequested("name? ", masked=False)
    notice, waits, *rest, last = sent(asked, *lines, ended, most=20_000)
    assert isinstance(notice, Printed)
    assert (waits, last) == (asked, ended)
    assert rest == lines[-len(rest) :]
    missing = (1000 - len(rest)) * 7
    assert f"{missing:,} bytes of output are missing here" in notice.text
    assert "the newest 20,000 bytes were kept" in notice.text
    # A run that ends does so also where nothing else has room.
    assert sent(*lines, ended, Printed("x" * 30_000), RunEnded("lost", 2.0), most=20_000)[-1].state == "lost"  # type: ignore[union-attr]


def test_lines_that_code_was_at_are_not_kept_in_the_place_of_output() -> None:
    lines = [LineReached(n) for n in range(1000)]
    ended = RunEnded("finished", 1.0)
    assert sent(Printed("a"), *lines, ended, most=5_000) == [Printed("a"), LineReached(999), ended]


def test_a_record_that_is_damaged_is_not_used() -> None:
    folder = Path(os.environ["OI_TUI_HOME"]) / "data" / "left-targets"
    folder.mkdir(parents=True)
    for number, text in enumerate(("", "[]", '{"id": "1"}', '{"id": "x", "target": 5}', "\0")):
        (folder / f"{number}.json").write_text(text)
    assert left_targets.load() == []
    assert left_targets.choose("1") == "There is no number 1 in the list of %attach."
    assert left_targets.choose("ssh:gpu1") == "Nothing was left running on ssh:gpu1."


def test_the_limit_of_what_is_kept_is_that_of_the_wire(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "KEPT", 50_000)
    code = f"print('go')\n{WAIT}for n in range(100_000): print(n)\nover = open('over', 'w')"
    _, left = leave(make(target="command:env"), code, "go")
    go_on(tmp_path)
    until((tmp_path / "over").exists)
    back = make()
    played = follow(back, back.targets.attach(left))
    assert played.state == "finished"
    assert "bytes of output are missing here" in played.text
    assert played.text.endswith("\n99998\n99999\n")


@pytest.mark.slow
@pytest.mark.parametrize("visited", ["local", "command:env PLACE=there"])
def test_a_target_that_is_left_while_a_cell_runs_elsewhere_hands_its_cells_to_this_machine(
    make: Make, visited: str
) -> None:
    computer = make(target="command:env")
    play(computer, "python", "1")
    computer.targets.connect(visited)
    with computer.at(visited):
        assert computer.targets.detach() == ""
    assert (computer.targets.home, computer.targets.current.key) == ("local", "local")
    assert "local" in computer.targets.names


@pytest.mark.slow
def test_what_was_left_stays_there_when_a_cell_begins_while_it_is_connected(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, left = leave(make(target="command:env"), COUNT_ON, "\n20\r")
    back = make()
    connect = back.targets._make_remote

    def connect_late(*arguments: Any) -> Any:
        remote = connect(*arguments)
        back.targets.running = back.targets  # type: ignore[assignment]
        return remote

    with monkeypatch.context() as patched:
        patched.setattr(back.targets, "_make_remote", connect_late)
        with pytest.raises(TargetError, match="Code is running"):
            back.targets.attach(left)
    back.targets.running = None
    assert back.targets.home == "local"
    go_on(tmp_path)
    (again,) = left_targets.list_shown()
    played = follow(back, back.targets.attach(again))
    assert played.state == "finished"
    assert numbers(before.text, played.text) == [str(n) for n in range(300)]
