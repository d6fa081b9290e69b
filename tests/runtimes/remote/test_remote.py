"""Languages on a remote host: connections that fail, are cut or lie, and what is left behind."""

import ast
import base64
import os
import queue
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.review.permissions import Permission, Permissions
from oi_tui.messages import Displayed, Printed, Report, RunEnded, Stopping
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote import askpass, bundle, connecting, known_targets, ssh_hosts, wire, worker
from oi_tui.runtimes.remote.link import _parse_left_run
from oi_tui.runtimes.remote.remote_target import RemoteTarget
from oi_tui.runtimes.remote.target import CONTAINER_PROGRAMS, TargetError, parse
from tests.runtimes.playing import alive, children, holds_once, marked, play, until
from tests.servers.sshd import HOST, Sshd, write_ssh

RELAY = Path(__file__).parents[1] / "relay.py"
Make = Callable[..., Computer]


@pytest.fixture
def relay(tmp_path: Path) -> Path:
    """A folder that steers the connection of `through`."""
    folder = tmp_path / "relay"
    folder.mkdir()
    return folder


@pytest.fixture
def through(make: Make, relay: Path) -> Callable[..., Computer]:
    """Makes computers behind a relay."""

    def computer(**options: Any) -> Computer:
        return make(target=f"command:{sys.executable} {RELAY} {relay} env", **options)

    return computer


def worker_pid(computer: Computer) -> int:
    """The worker's own process, which is on this machine after all."""
    assert computer.targets.remote
    return int(computer.targets.remote._facts["pid"])


def worker_folder(computer: Computer) -> Path:
    """The folder in which the worker keeps its modules: its keeper removes it."""
    assert computer.targets.remote
    return Path(computer.targets.remote._facts["place"])


def everything_below(pid: int) -> list[int]:
    found = [pid]
    for item in found:
        found += children(item)
    return found


# -- what is left behind


@pytest.mark.parametrize("who", ["worker", "connection"])
@pytest.mark.parametrize("when", ["running", "resting"])
def test_a_killed_worker_or_connection_leaves_nothing(make: Make, who: str, when: str) -> None:
    computer = make(target="command:env")
    seconds = str(1000 + random.random())
    play(
        computer,
        "python",
        f"import subprocess; p = subprocess.Popen(['sleep', '{seconds}'], start_new_session=True)",
    )
    play(computer, "shell", f"setsid sleep {seconds} &")
    pid = worker_pid(computer)
    folder, below = worker_folder(computer), everything_below(pid)
    assert folder.is_dir()
    until(lambda: len(marked(seconds)) == 2)
    assert computer.targets.remote
    assert computer.targets.remote.link
    victim = {"worker": pid, "connection": computer.targets.remote.link._program.pid}[who]

    def strike(report: Report, so_far: str) -> None:
        if "go" in so_far and alive(victim):
            os.kill(victim, signal.SIGKILL)

    if when == "running":
        played = play(computer, "python", "import time; print('go'); time.sleep(60)", on=strike)
        assert played.state == "lost"
        assert "Python and its variables there are lost" in played.reason
    else:
        os.kill(victim, signal.SIGKILL)
        until(computer.pop_losses)
    until(lambda: not any(map(alive, below)))
    until(lambda: not marked(seconds))
    until(lambda: not folder.exists())
    # The next run begins anew.
    assert play(computer, "python", "print(6 * 7)").text == "42\n"


def test_a_killed_application_leaves_nothing(tmp_path: Path) -> None:
    seconds = str(1000 + random.random())
    program = (
        "from pathlib import Path\n"
        "from oi_tui.runtimes import Computer\n"
        f"computer = Computer(cwd=Path({str(tmp_path)!r}), target='command:env')\n"
        f"list(computer.run('shell', 'setsid sleep {seconds} & echo'))\n"
        "here = computer.targets.remote._facts\n"
        "print(here['pid'], here['place'], flush=True)\n"
        f"list(computer.run('python', 'import os; os.system(\"sleep {seconds}\")'))\n"
    )
    application = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert application.stdout
    with application.stdout:
        words = application.stdout.readline().split()
    pid, folder = int(words[0]), Path(words[1])
    until(lambda: len(marked(seconds)) >= 2)
    below = everything_below(pid)
    application.kill()
    application.wait()
    until(lambda: not any(map(alive, below)) and not marked(seconds) and not folder.exists())


def test_closing_leaves_nothing(make: Make) -> None:
    computer = make(target="command:env")
    play(computer, "python", "x = 1")
    pid = worker_pid(computer)
    folder, below = worker_folder(computer), everything_below(pid)
    computer.close()
    until(lambda: not any(map(alive, below)) and not folder.exists())


# -- the connection


def test_a_connection_that_is_cut_for_a_while_loses_nothing(
    through: Make, relay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "QUIET", 2.5)
    computer = through()
    play(computer, "python", "memory = 41")

    def cut(report: Report, so_far: str) -> None:
        if "go" in so_far and "has not answered" not in so_far:
            (relay / "cut").touch()
        elif "has not answered" in so_far:
            (relay / "cut").unlink(missing_ok=True)

    played = play(
        computer,
        "python",
        "import time\nprint('go')\nfor n in range(300): print(n); time.sleep(0.02)",
        on=cut,
    )
    assert played.state == "finished"
    lines = [line for line in played.text.split("\n") if line.isdecimal()]
    assert lines == [str(n) for n in range(300)]
    assert "answers again" in played.text
    assert play(computer, "python", "print(memory + 1)").text == "42\n"


def test_a_connection_that_is_cut_for_ever_ends_both_sides(
    through: Make, relay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "SILENCE", 3.0)
    computer = through()
    pid = worker_pid(computer)

    def cut(report: Report, so_far: str) -> None:
        if "go" in so_far:
            (relay / "cut").touch()

    played = play(computer, "shell", "echo go; sleep 60", on=cut)
    assert played.state == "lost"
    assert "no answer for 3 seconds" in played.reason
    until(lambda: not alive(pid), 20)


def test_no_beat_comes_before_the_bundle_however_long_that_takes(
    through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "BEAT", 0.001)
    bundle.make_bundle.cache_clear()
    assert play(through(), "python", "print('hello')").text == "hello\n"


def test_a_silent_remote_host_can_be_given_up(
    through: Make, relay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "QUIET", 0.3)
    computer = through()

    def cut(report: Report, so_far: str) -> None:
        if "go" in so_far:
            (relay / "cut").touch()
        if "has not answered" in so_far:
            computer.interrupt()

    played = play(computer, "shell", "echo go; sleep 60", on=cut)
    assert played.state == "lost"
    assert "given up" in played.reason
    # What hangs in the relay goes when it is let go.
    (relay / "cut").unlink()


def test_a_stop_is_seen_soon_on_a_slow_connection(through: Make, relay: Path) -> None:
    computer = through()
    play(computer, "python", "memory = 41")
    (relay / "rate").write_text("500000")

    def is_soon() -> bool:
        played = play(computer, "python", "print('go')\nwhile True: print('y' * 70)", stop_at="go\r\n")
        assert played.state == "interrupted"
        return played.seconds < 8

    assert holds_once(is_soon)
    (relay / "rate").unlink()
    assert play(computer, "python", "print(memory + 1)").text == "42\n"


def test_a_delay_costs_a_run_two_ways(through: Make, relay: Path) -> None:
    computer = through()
    play(computer, "python", "")
    (relay / "delay").write_text("0.1")

    def is_quick() -> bool:
        played = play(computer, "python", "input('? ')", answers=("x\n",))
        assert played.state == "finished"
        return played.seconds < 2

    assert holds_once(is_quick)


def test_a_terminal_and_greetings_in_between_do_no_harm(make: Make) -> None:
    noise = (
        "import pty, sys; print('Welcome!\\r\\n' * 50, flush=True); sys.exit(pty.spawn(sys.argv[1:]) and 1)"
    )
    computer = make(target=f'command:{sys.executable} -c "{noise}"')
    assert play(computer, "python", "print('grüße', bytes(range(32, 127)).decode())").state == "finished"
    assert len(play(computer, "python", "print('x' * 1_000_000)").text) == 1_000_001


#: Runs a command, and passes on what it prints only in whole lines, as srun of Slurm does.
WHOLE_LINES = """\
import os, subprocess, sys
held = b""
with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, bufsize=0) as program:
    while piece := program.stdout.read(65536):
        lines, end, held = (held + piece).rpartition(b"\\n")
        os.write(1, lines + end)
"""


def test_what_passes_only_whole_lines_on_delays_nothing(make: Make, tmp_path: Path) -> None:
    script = tmp_path / "whole_lines.py"
    script.write_text(WHOLE_LINES)
    computer = make(target=f"command:{sys.executable} {script}")
    for _ in range(3):
        assert play(computer, "python", "print(6 * 7)").text == "42\n"
    assert play(computer, "python", "print('name? ', end=''); print(input())", answers=("Ada\n",)).text


# -- containers: a stand-in for the container program, around a real container without home and network

CONTAINERS = """\
#!/bin/sh
# The container `web` runs; anything else is an image.
case "$1" in
    container) [ "$5" = web ] && echo true && exit; echo "no such container" >&2; exit 1 ;;
    exec) [ "$2 $3" = "-i web" ] || exit 9; shift 3 ;;
    run) [ "$*" = "$1 --rm -i --entrypoint sh python:3 -c $8" ] || exit 9; set -- sh -c "$8" ;;
    *) exit 9 ;;
esac
exec bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib \
    --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp --dir /work --chdir /work --clearenv \
    --setenv PATH /usr/bin:/bin --setenv CONTAINER "$1" "$@"
"""


@pytest.mark.needs("bwrap")
def test_a_place_without_a_list_of_processes_is_refused(make: Make) -> None:
    bare = "bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin"
    bare += " --symlink usr/lib /lib --symlink usr/lib64 /lib64 --dev /dev --tmpfs /tmp"
    with pytest.raises(TargetError, match=r"there is no /proc there\. Mount it"):
        make(target=f"command:{bare} env -i PATH=/usr/bin HOME=/tmp")


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("place", ["web", "python:3"])
def test_code_runs_in_a_container_with_nothing_but_python(
    make: Make, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "podman").write_text(CONTAINERS)
    (folder / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    if not Path("/usr/bin/python3").exists():
        pytest.skip("/usr/bin/python3 is not installed here, and the container has nothing else")
    computer = make(target=f"container:{place}")
    assert computer.where.endswith(", /work")
    assert (
        play(computer, "python", "import os; print(os.getcwd(), os.path.exists('/etc/passwd'))").text
        == "/work False\n"
    )
    assert play(computer, "shell", "echo ~; ls /root").state == "failed"
    played = play(computer, "python", "import time; print('go'); time.sleep(60)", stop_at="go\r\n")
    assert played.state == "interrupted"
    assert (
        "hello Ada" in play(computer, "shell", "read -p 'name? ' n; echo hello $n", answers=("Ada\n",)).text
    )
    assert computer.targets.remote
    assert computer.targets.remote.link
    below = everything_below(computer.targets.remote.link._program.pid)
    computer.close()
    until(lambda: not any(map(alive, below)))


def test_a_container_that_is_stopped_is_not_taken_for_an_image(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    container_program(tmp_path, '[ "$1 $5" = "container web" ] && echo false', monkeypatch)
    with pytest.raises(TargetError, match=r"The container web is not running\. Start it: podman start web"):
        make(target="container:web")


def test_the_program_that_has_the_container_or_the_image_is_the_one_that_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = 'echo "no daemon" >&2; exit 1'
    has = 'case "$1 $5" in "container web") echo true;; "image mine") echo 1;; *) exit 1;; esac'
    container_program(tmp_path, nothing, monkeypatch)
    container_program(tmp_path, has, monkeypatch, name="docker")
    podman, docker = str(tmp_path / "podman"), str(tmp_path / "docker")
    used = {name: parse(f"container:{name}") for name in ("web", "mine", "other")}
    commands = {name: target.make_command()[:2] for name, target in used.items() if target}
    assert commands == {"web": [docker, "exec"], "mine": [docker, "run"], "other": [podman, "run"]}


# -- machines that are old, full or oddly named


def test_few_open_files_are_enough(make: Make) -> None:
    few = "command:sh -c 'ulimit -n 64; exec \"$@\"' --"
    assert play(make(target=few), "python", "print(6 * 7)").text == "42\n"


@pytest.mark.needs("bwrap")
def test_a_machine_without_room_says_so(make: Make) -> None:
    small = "--size 65536 --tmpfs"
    # What is said after the end of Python there is whether something stayed.
    lists = "sh -c '\"$@\"; ls /tmp /dev/shm >&2; exit 1' sh"
    bwrap = f"bwrap --dev-bind / / {small} /tmp {small} /dev/shm --chdir / --setenv TMPDIR /tmp"
    with pytest.raises(TargetError, match=r"cannot write there: .*No space left on device"):
        make(target=f"command:{bwrap}")
    done = subprocess.run(
        shlex.split(f"{bwrap} {lists} sh -c {shlex.quote(bundle.start_script())}"),
        input=bundle.make_bundle(),
        capture_output=True,
        check=False,
    )
    assert b"No space left on device" in done.stdout
    assert done.stderr.split() == [b"/dev/shm:", b"/tmp:"]


def test_modules_that_find_no_room_in_memory_are_written_to_the_disk(tmp_path: Path) -> None:
    bootstrap = Path(bundle.__file__).parent.parent / "drivers/remote/bootstrap.py"
    source = bootstrap.read_text().replace("\nmain()\n", "")
    source += "\nlist_places = lambda: sys.argv[1:]\nfolder, keeper = write_modules({'a/b': 'text'})\n"
    source += "print(open(folder + '/a/b').read())\n"
    words = [sys.executable, "-c", source, str(tmp_path / "full"), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("text\n", "")
    until(lambda: list(tmp_path.iterdir()) == [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_connection_that_ends_while_modules_are_written_leaves_no_folder(
    tmp_path: Path, number: signal.Signals
) -> None:
    # Writing goes on for ever where a module is a pipe that nobody reads.
    bootstrap = Path(bundle.__file__).parent.parent / "drivers/remote/bootstrap.py"
    source = bootstrap.read_text().replace("\nmain()\n", "")
    source += "\nimport tempfile\ntempfile.tempdir = sys.argv[1]\nos.statvfs = lambda _: None\n"
    source += "makedirs = os.makedirs\n"
    source += "def hang(path, **_):\n    makedirs(path, exist_ok=True)\n    os.mkfifo(path + '/pipe')\n"
    source += "os.makedirs = hang\nos.access = lambda *_: False\nwrite_modules({'folder/pipe': 'text'})\n"
    with subprocess.Popen([sys.executable, "-c", source, str(tmp_path)]) as process:
        until(lambda: list(tmp_path.rglob("pipe")))
        process.send_signal(number)
    until(lambda: list(tmp_path.iterdir()) == [])


def test_what_the_connecting_program_left_behind_is_not_listened_to_for_ever(
    make: Make, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    computer = make(target=f"command:sh -c 'yes >&2 & echo $! >{pid}; exec \"$@\"' --")
    assert play(computer, "python", "print(6 * 7)").text == "42\n"
    noisy = int(pid.read_text())
    assert alive(noisy)
    computer.close()
    # Nobody reads what it prints any more, so it ends.
    until(lambda: not alive(noisy))


def test_a_remote_host_without_a_path_finds_its_own_python(make: Make) -> None:
    leads = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
    computer = make(target=f"command:env -i {sys.executable} -c '{leads}'")
    assert play(computer, "python", "print(6 * 7)").text == "42\n"


@pytest.mark.needs("bwrap")
def test_a_disk_that_fills_up_there_fails_the_run_with_a_sentence_and_is_used_again_once_there_is_room(
    make: Make,
) -> None:
    small = "--size 4194304 --tmpfs"
    computer = make(target=f"command:bwrap --dev-bind / / {small} /tmp {small} /dev/shm env TMPDIR=/tmp")
    fill = (
        "import contextlib\n"
        "for place in ('/tmp/fill', '/dev/shm/fill'):\n"
        "    for size in (4096, 1):\n"
        "        with contextlib.suppress(OSError), open(place, 'ab', 0) as file:\n"
        "            while file.write(b'x' * size):\n"
        "                pass\n"
    )
    # Again and again: what the start and earlier cells needed for themselves is free again after them.
    for _ in range(10):
        assert play(computer, "python", fill).state == "finished"
        played = play(computer, "python", "x = 1\n" * 3000)
        if played.state == "failed":
            break
    assert played.state == "failed"
    assert "there is no space left in /" in played.reason
    assert "Errno" not in played.reason
    assert (
        play(computer, "python", "import os; os.remove('/tmp/fill'); os.remove('/dev/shm/fill')").text == ""
    )
    assert play(computer, "python", "x = 1\n" * 3000 + "print(x + 1)").text == "2\n"


def test_where_the_first_python_is_too_old_a_newer_one_runs_the_cells(make: Make, tmp_path: Path) -> None:
    old, newer = tmp_path / "python3", tmp_path / "python3.12"
    version = "import sys; sys.version_info = (3, 7, 0, 'final', 0); "
    old.write_text(
        f'#!/bin/sh\n[ "$1" = -I ] || exit 9\nexec {sys.executable} -I -S -B -c "{version}$5" "$6"\n'
    )
    newer.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for program in (old, newer):
        program.chmod(0o755)
    computer = make(target=f"command:env PATH={tmp_path}:{os.environ['PATH']} VIRTUAL_ENV=")
    assert play(computer, "python", "print(6 * 7)").text == "42\n"


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no /usr/bin/python3 here")
def test_a_stand_in_for_a_python_that_is_not_chosen_is_passed_over(make: Make, tmp_path: Path) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    shim = shims / "python3"
    shim.write_text("#!/bin/sh\necho 'No version is set for command python3' >&2\nexit 126\n")
    shim.chmod(0o755)
    computer = make(target=f"command:env PATH={shims}:/usr/bin:/bin")
    assert play(computer, "python", "print(6 * 7)").text == "42\n"


def test_a_python_for_cells_that_is_too_old_is_named() -> None:
    start = Path(worker.__file__).parents[1] / "drivers" / "python" / "python_start.py"
    program = f"import runpy, sys; sys.version_info = (3, 7, 0); runpy.run_path({str(start)!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr == "Python 3.7 is too old, cells need 3.8 or later\n"


def test_a_folder_with_a_line_break_in_its_name_is_shown_on_one_line(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "new\nline 'quoted' $(x)"
    folder.mkdir()
    computer = make(target="command:env", cwd=folder)
    assert computer.where.endswith(", " + f"{tmp_path}/new line 'quoted' $(x)")
    assert play(computer, "python", "import os; print(ascii(os.getcwd()))").text == f"{str(folder)!a}\n"


# -- places that cannot be used


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        ("gpu1", "Unknown target 'gpu1'"),
        ("ssh:", "has no host"),
        ("ssh:-oProxyCommand=touch x", "has no host"),
        ("ssh:a b", "has no host"),
        ("ssh:ana@-oProxyCommand=x", "has no host"),
        ("ssh:a;b@gpu1", "has no host"),
        ("ssh:$(x)@gpu1", "has no host"),
        ("ssh:::1", "has no host: write .*IPV6"),
        ("ssh:gpu1:0", "0 is not a port"),
        ("ssh:[::1]:99999", "99999 is not a port"),
        ("container:--privileged", "has no container"),
        ("command:", "is not a command"),
        ("command:'", "is not a command"),
        ("command:no-such-program-here", "no-such-program-here was not found"),
        ("docker:x", "Unknown target"),
    ],
)
def test_what_is_no_place_is_refused_by_name(make: Make, spelling: str, words: str) -> None:
    with pytest.raises(TargetError, match=words):
        make(target=spelling)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("echo nobody is at home >&2; exit 3", "nobody is at home"),
        ("exit 3", "exit status 3"),
        ("echo no; echo denied >&2; echo denied >&2; exit 3", r": denied\.$"),
        ('PATH=/nowhere exec /bin/sh -c "$3"', "no python3 there"),
        (
            "printf 'level=warning msg=again\\nError: %0200d: connection refused\\n' >&2; exit 1",
            r": Error: 0+…0+: connection refused\.$",
        ),
        ("printf '\\noi-tui-far-1 old 3.6\\n'", "Python 3.6 on .* is too old"),
        ("printf '\\noi-tui-far-1 partial json\\n'", r"lacks a part of its standard library \(json\)"),
        ("printf '\\noi-tui-far-1 what\\n'", "sent an invalid answer"),
        ("printf '\\noi-tui-far-1 ready 3.9\\n\\377xxxxxxxxxxxxx'; cat >/dev/null", "a message of"),
        (
            "printf '\\noi-tui-far-1 ready 3.9\\nUpdate\\navailable'; cat >/dev/null",
            '"Update available" was received in place of a message',
        ),
    ],
)
def test_why_there_is_no_connection_is_reported(make: Make, tmp_path: Path, program: str, words: str) -> None:
    script = tmp_path / "there"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    with pytest.raises(TargetError, match=words):
        make(target=f"command:{script}")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ('exec "$@" </dev/null', "its standard input is closed. The command must pass it on"),
        ('exec "$@" <&-', "its standard input is closed"),
        ('sleep 60 | "$@"', "what is sent to it does not arrive. Another program there reads it"),
        ('(head -c 100000; exec tail -c +100000) | "$@"', "what is sent to it does not arrive"),
        ('tail -c +6 | "$@"', "only a part of what is sent"),
        ("exec >/dev/null; sleep 60", "it still runs, but closed its output"),
    ],
)
def test_what_keeps_input_from_the_remote_host_is_named(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, words: str
) -> None:
    for name in ("bootstrap.py", "old_python.py"):
        text = (bundle._BEGINNING / name).read_text()
        (tmp_path / name).write_text(text.replace("TIMEOUT = 30", "TIMEOUT = 1"))
    monkeypatch.setattr(bundle, "_BEGINNING", tmp_path)
    script = tmp_path / "there"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    with pytest.raises(TargetError, match=words):
        make(target=f"command:{script}")


def test_a_person_is_told_of_a_late_remote_host_with_what_it_printed(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "_LATE", 0.2)
    script = tmp_path / "queue"
    script.write_text('#!/bin/sh\necho "job 7 waits" >&2\nread -r _\nexec "$@"\n')
    script.chmod(0o755)
    told: list[tuple[str, str]] = []
    stopped = threading.Event()

    def hear(words: str, wanted: str) -> None:
        told.append((words, wanted))
        stopped.set()

    with pytest.raises(TargetError, match="stopped"):
        make().targets.use(f"command:{script}", stopped, ask=hear)
    ((words, wanted),) = told
    assert wanted == "nothing"
    assert 'queue has not answered yet; it may take 600 seconds. It printed last: "job 7 waits".' in words


@pytest.mark.slow
@pytest.mark.needs("ssh", "sshd")
def test_the_time_of_a_question_is_no_time_of_the_remote_host(
    make: Make, sshd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    key.write_bytes((sshd.parent / "client_key").read_bytes())
    key.chmod(0o600)
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", str(key)], check=True)
    config = tmp_path / "config"
    config.write_text((sshd.parent / "client").read_text().replace(str(sshd.parent / "client_key"), str(key)))
    monkeypatch.setenv("PATH", f"{write_ssh(tmp_path, config)}:{os.environ['PATH']}")
    monkeypatch.setattr(connecting, "SSH", 2.0)
    began = time.monotonic()

    def ask(question: str, wanted: str) -> str:
        # As long as a person may look for it.
        until(lambda: time.monotonic() - began > 3)
        return "open sesame"

    assert play(make(target=f"ssh:{HOST}", ask=ask), "python", "print(1)").text == "1\n"


def test_a_key_that_is_to_be_touched_asks_for_nothing_and_a_yes_is_needed_where_ssh_wants_one() -> None:
    asked: list[tuple[str, str]] = []
    answers = {"nothing": None, "answer": "y"}

    def ask(question: str, wanted: str) -> str | None:
        asked.append((question, wanted))
        return answers[wanted]

    def run(kind: str, question: str) -> tuple[int, str]:
        words = [variables["SSH_ASKPASS"], question]
        environment = {**os.environ, "SSH_ASKPASS_PROMPT": kind}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    with askpass.answer_questions(ask) as variables:
        assert run("none", "Confirm user presence for key ED25519-SK") == (0, "\n")
        assert run("confirm", "Allow shared connection to gpu1?") == (0, "yes\n")
        answers["answer"] = "no"
        assert run("confirm", "Allow shared connection to gpu1?") == (1, "")
    assert asked[0] == ("Confirm user presence for key ED25519-SK", "nothing")
    assert asked[1:] == [("Allow shared connection to gpu1? (yes/no) ", "answer")] * 2


@pytest.mark.needs("ssh", "sshd")
def test_a_host_that_is_not_known_and_a_folder_that_is_missing_are_reported(make: Make) -> None:
    with pytest.raises(TargetError, match=r"/no/such/folder: No such file"):
        make(target=f"ssh:{HOST}/no/such/folder", cwd=Path("/"))
    with pytest.raises(TargetError, match=r"No connection to 127\.0\.0\.1:1: .*refused"):
        make(target="ssh:127.0.0.1:1")


def test_a_folder_that_is_gone_when_the_remote_host_begins_is_reported(make: Make) -> None:
    leaves = 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$@"'
    with pytest.raises(TargetError, match=r"the working directory there: No such file"):
        make(target=f"command:sh -c '{leaves}' --")


@pytest.mark.needs("ssh", "sshd")
def test_questions_of_ssh_are_brought_to_the_person(make: Make, sshd: Path, tmp_path: Path) -> None:
    server = sshd.parent
    key = tmp_path / "key"
    key.write_bytes((server / "client_key").read_bytes())
    key.chmod(0o600)
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", str(key)], check=True)
    config = (server / "client").read_text().replace(str(server / "client_key"), str(key))
    (tmp_path / "config").write_text(config.replace(str(server / "known_hosts"), str(tmp_path / "known")))
    target = f"command:ssh -F {tmp_path / 'config'} -o BatchMode=no {HOST}"
    asked: list[tuple[str, str]] = []

    def ask(question: str, wanted: str) -> str | None:
        asked.append((question, wanted))
        return "open sesame" if wanted == "secret" else "yes"

    computer = make(target=target, ask=ask)
    assert play(computer, "python", "print(1)").text == "1\n"
    (host, host_wanted), (word, word_wanted) = asked
    assert "authenticity of host" in host
    assert host_wanted == "answer"
    assert "passphrase" in word
    assert word_wanted == "secret"
    with pytest.raises(TargetError, match="No connection to"):
        make(target=target, ask=lambda *_: None)


@pytest.mark.needs("ssh", "sshd")
def test_a_wrong_passphrase_is_asked_for_again(make: Make, sshd: Path, tmp_path: Path) -> None:
    server = sshd.parent
    key = tmp_path / "key"
    key.write_bytes((server / "client_key").read_bytes())
    key.chmod(0o600)
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", str(key)], check=True)
    (tmp_path / "config").write_text(
        (server / "client").read_text().replace(str(server / "client_key"), str(key))
    )
    target = f"command:ssh -F {tmp_path / 'config'} -o BatchMode=no {HOST}"
    answers = ["open barley", "open sesame"]
    computer = make(target=target, ask=lambda *_: answers.pop(0))
    assert not answers
    assert play(computer, "python", "print(1)").text == "1\n"
    with pytest.raises(TargetError, match="Permission denied"):
        make(target=target, ask=lambda *_: "open barley")


def test_what_ssh_says_before_a_question_stands_above_it(make: Make, tmp_path: Path) -> None:
    login = tmp_path / "login"
    login.write_text(
        "#!/bin/sh\nseq 20 >&2\necho 'Enter the code from your phone.' >&2\n"
        '"$SSH_ASKPASS" "(ana@gpu1) Code: " >/dev/null\n"$SSH_ASKPASS" "(ana@gpu1) Code: " >/dev/null\n'
        'echo "Password expires soon." >&2\n"$SSH_ASKPASS" "(ana@gpu1) PIN: " >/dev/null\nexec "$@"\n'
    )
    login.chmod(0o755)
    asked: list[list[str]] = []

    def ask(question: str, wanted: str) -> str:
        asked.append(question.split("\n"))
        return "1"

    make(target=f"command:{login}", ask=ask)
    assert asked == [
        ["16", "17", "18", "19", "20", "Enter the code from your phone.", "(ana@gpu1) Code: "],
        ["The last answer was not accepted. Try again.", "(ana@gpu1) Code: "],
        ["Password expires soon.", "(ana@gpu1) PIN: "],
    ]


def test_who_gives_a_question_up_is_asked_no_other() -> None:
    asked: list[str] = []

    def give_up(question: str, wanted: str) -> None:
        asked.append(question)

    with askpass.answer_questions(give_up) as variables:
        statuses = [
            subprocess.run([variables["SSH_ASKPASS"], "password: "], check=False).returncode for _ in range(3)
        ]
    assert (statuses, asked) == ([1, 1, 1], ["password: "])


@pytest.mark.needs("ssh", "sshd")
def test_an_unknown_host_that_is_refused_and_a_changed_host_key_get_nothing(
    make: Make, sshd: Path, tmp_path: Path
) -> None:
    server = sshd.parent
    known = tmp_path / "known"
    config = tmp_path / "config"
    config.write_text((server / "client").read_text().replace(str(server / "known_hosts"), str(known)))
    target = f"command:ssh -F {config} -o BatchMode=no {HOST}"
    with pytest.raises(TargetError, match="Host key verification failed"):
        make(target=target, ask=lambda *_: "no")
    host = (server / "known_hosts").read_text().split()[0]
    known.write_text(f"{host} {(server / 'client_key.pub').read_text()}")
    asked: list[str] = []
    with pytest.raises(TargetError, match=rf"host key of .* has changed \({known}:1\), so nothing was sent"):
        make(target=target, ask=lambda question, _: asked.append(question))  # type: ignore[func-returns-value]
    assert not asked
    with pytest.raises(TargetError, match=rf"The host key of {re.escape(host)} has changed"):
        make(target=f"command:ssh -F {config} -o StrictHostKeyChecking=yes -J {HOST} elsewhere")
    known.write_text(f"@revoked * {(server / 'host_key.pub').read_text()}")
    with pytest.raises(TargetError, match=rf"The host key of {re.escape(host)} is marked as revoked"):
        make(target=target)


@pytest.mark.needs("ssh", "sshd")
def test_a_host_behind_a_jump_host_is_reached(make: Make, sshd: Path, tmp_path: Path) -> None:
    server = (sshd.parent / "client").read_text()
    behind = server.replace(f"Host {HOST}", f"Host behind\n    ProxyJump {HOST}", 1)
    config = tmp_path / "config"
    config.write_text(f"{server}\n{behind}")
    computer = make(target=f"command:ssh -F {config} -o BatchMode=yes behind")
    assert play(computer, "python", "print(6 * 7)").text == "42\n"
    assert computer.targets.remote
    assert computer.targets.remote.link
    below = everything_below(computer.targets.remote.link._program.pid)
    # The ssh that leads through the jump host is another process.
    assert len(below) > 1
    computer.close()
    until(lambda: not any(map(alive, below)))


@pytest.mark.needs("ssh", "sshd")
def test_what_ssh_is_told_to_do_for_a_person_there_is_not_in_the_way(
    make: Make, sshd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = (sshd.parent / "client").read_text()
    port = server.split("Port ")[1].split()[0]
    config = tmp_path / "client"
    config.write_text(
        f"{server}    RemoteCommand tmux attach\n    RequestTTY force\n"
        "    IgnoreUnknown StdinNull,SessionType,ForkAfterAuthentication\n"
        "    StdinNull yes\n    SessionType none\n    ForkAfterAuthentication yes\n"
        # Another connection has the port already.
        f"    LocalForward 127.0.0.1:{port} localhost:1\n    ExitOnForwardFailure yes\n"
    )
    monkeypatch.setenv("PATH", f"{write_ssh(tmp_path, config)}:{os.environ['PATH']}")
    assert play(make(target=f"ssh:{HOST}"), "python", "print(6 * 7)").text == "42\n"


@pytest.mark.needs("ssh", "sshd", "ssh-agent")
def test_code_there_has_neither_the_agent_nor_the_display_of_this_machine(
    make: Make, sshd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "client"
    config.write_text(f"{(sshd.parent / 'client').read_text()}    ForwardAgent yes\n    ForwardX11 yes\n")
    ssh = write_ssh(tmp_path, config)
    monkeypatch.setenv("PATH", f"{ssh}:{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":0")
    agent = tmp_path / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", agent], stdout=subprocess.DEVNULL) as running:
        try:
            until(agent.exists)
            monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
            show = 'echo "agent=${SSH_AUTH_SOCK:+yes} display=$DISPLAY"'
            plainly = subprocess.run([f"{ssh}/ssh", HOST, show], capture_output=True, text=True, check=True)
            assert "agent=yes" in plainly.stdout
            played = play(make(target=f"ssh:{HOST}"), "shell", show)
            assert played.text == "agent= display=\n"
        finally:
            running.terminate()


@pytest.mark.slow
@pytest.mark.needs("ssh", "sshd")
@pytest.mark.parametrize("persist", ["no", "60"])
def test_a_shared_connection_is_used_and_no_other_session_of_ssh_ends_with_us(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, persist: str
) -> None:
    server = Sshd(tmp_path)
    shared = f"    ControlMaster auto\n    ControlPath {tmp_path}/control\n    ControlPersist {persist}\n"
    server.config.write_text(server.config.read_text() + shared)
    ssh = str(server.bin / "ssh")
    monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
    first = make(target=f"ssh:{HOST}")
    try:
        with subprocess.Popen([ssh, HOST, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdin
            assert other.stdout
            os.write(other.stdin.fileno(), b"before\n")
            assert other.stdout.readline() == b"before\n"
            first.close()
            os.write(other.stdin.fileno(), b"after\n")
            assert other.stdout.readline() == b"after\n"
            # It takes no new connection now, so that only the shared one leads there.
            server.process.terminate()
            server.process.wait(10)
            assert play(make(target=f"ssh:{HOST}"), "python", "print(6 * 7)").text == "42\n"
            subprocess.run([ssh, "-O", "exit", HOST], check=True, capture_output=True)
    finally:
        server.close()


@pytest.mark.slow
@pytest.mark.needs("ssh", "sshd")
@pytest.mark.parametrize(
    ("shell", "settings"),
    [
        pytest.param("fish -c", ".config/fish/config.fish", marks=pytest.mark.needs("fish")),
        pytest.param("csh -c", ".cshrc", marks=pytest.mark.needs("csh")),
        pytest.param("zsh -c", ".zshenv", marks=pytest.mark.needs("zsh")),
        pytest.param("bash -lc", ".bash_profile", marks=pytest.mark.needs("bash")),
    ],
)
def test_any_login_shell_does_and_what_its_settings_print_is_passed_over(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, settings: str
) -> None:
    server = Sshd(tmp_path, f'ForceCommand {shell} "$SSH_ORIGINAL_COMMAND"\n')
    try:
        file = tmp_path / "home" / settings
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"echo Welcome\nprintf '\\033[31m\\007'\nseq 1 2000\necho {wire.MARK.decode()}\n")
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
        computer = make(target=f"ssh:{HOST}")
        assert play(computer, "python", "print(6 * 7)").text == "42\n"
        played = play(computer, "shell", "echo go; sleep 60", stop_at="go\r\n")
        assert played.state == "interrupted"
        computer.close()
    finally:
        server.close()


@pytest.mark.needs("ssh")
@pytest.mark.parametrize(
    ("spelling", "user", "host", "port"),
    [
        ("ssh:ana@gpu1", "ana", "gpu1", "22"),
        ("ssh:ana@gpu1:2222/scratch", "ana", "gpu1", "2222"),
        ("ssh:ana@[::1]:2222", "ana", "::1", "2222"),
        ("ssh:ana@[fe80::1%lo]", "ana", "fe80::1%lo", "22"),
        ("ssh:ana@gpu1@gateway:2222/~/work", "ana@gpu1", "gateway", "2222"),
        (r"ssh:CORP\\ana.b@gpu1", r"CORP\\ana.b", "gpu1", "22"),
        ("ssh:ana%admin@gpu+1", "ana%admin", "gpu+1", "22"),
    ],
)
def test_an_address_means_the_same_to_ssh(spelling: str, user: str, host: str, port: str) -> None:
    target = parse(spelling)
    assert target
    program, *words = target.make_command()
    asked = subprocess.run([program, "-F", "none", "-G", *words], capture_output=True, text=True, check=True)
    found = dict(line.split(" ", 1) for line in asked.stdout.splitlines() if " " in line)
    assert (found["user"], found["hostname"], found["port"]) == (user, host, port)


def test_the_sandbox_is_not_promised_elsewhere(make: Make) -> None:
    with pytest.raises(TargetError, match="sandbox"):
        make(target="command:env", sandbox=True)
    computer = make(target="command:env")
    assert "this machine only" in (computer.explain_no_sandbox() or "")
    computer.use_sandbox(True)
    assert "nothing runs" in (computer.explain_sandbox_failure() or "")
    played = play(computer, "shell", "echo ran")
    assert (played.state, played.text) == ("failed", "")
    assert "does not work for programs" in played.reason


# -- here and there


def test_each_place_has_variables_of_its_own(make: Make, tmp_path: Path) -> None:
    computer = make()
    play(computer, "python", "memory = 'here'")
    computer.targets.use("command:env")
    assert computer.where.startswith("on env as ")
    assert str(tmp_path) in computer.where
    assert "NameError" in play(computer, "python", "memory").text
    play(computer, "python", "memory = 'there'")
    assert [item.name for item in computer.inspector.read_variables("python")] == ["memory"]
    detail = computer.inspector.inspect("python", "memory")
    assert detail
    assert "there" in detail.preview
    computer.targets.use("local")
    assert computer.where == ""
    assert play(computer, "python", "print(memory)").text == "here\n"
    computer.targets.use("command:env")
    assert play(computer, "python", "print(memory)").text == "there\n"
    computer.reset()
    assert "NameError" in play(computer, "python", "memory").text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prints", "reason"),
    [
        (
            "yes hello",
            r'printed more than 16 MB, and Python did not start there\. It printed last: "hello"\.',
        ),
        (f"printf '{wire.MARK.decode()} '; yes hello | tr -d '\\n'", "printed more than 16 MB"),
        (
            "echo Welcome; echo Press enter to go on; read answer; sleep 60",
            r'did not answer within 1 seconds\. It printed last: "Press enter to go on"\.',
        ),
    ],
    ids=["without end", "one line without end", "a question"],
)
def test_what_a_place_prints_instead_of_an_answer_is_named(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str, reason: str
) -> None:
    # The question takes one line of what is sent, as the start file of a shell would.
    monkeypatch.setattr(connecting, "TIMEOUT", 1.0 if "enter" in prints else 60.0)
    script = tmp_path / "prints.sh"
    script.write_text(f"#!/bin/sh\n{prints}\n")
    script.chmod(0o700)
    with pytest.raises(TargetError, match=reason):
        make(target=f"command:{script}")


@pytest.mark.slow
@pytest.mark.needs("ssh", "sshd")
def test_a_start_file_that_runs_another_program_is_thought_of(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "SSH", 3.0)
    server = Sshd(tmp_path, 'ForceCommand bash -lc "$SSH_ORIGINAL_COMMAND"\n')
    try:
        (tmp_path / "home" / ".bash_profile").write_text("exec cat\n")
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
        with pytest.raises(TargetError, match=r"did not answer .* a start file there, such as \.bashrc"):
            make(target=f"ssh:{HOST}")
    finally:
        server.close()


def test_a_place_that_cannot_be_reached_leaves_all_as_it_was(make: Make) -> None:
    computer = make()
    with pytest.raises(TargetError):
        computer.targets.use("command:false")
    assert (computer.targets.home, computer.where) == ("local", "")
    assert play(computer, "python", "print(1)").text == "1\n"


def test_no_place_is_left_while_code_runs(make: Make) -> None:
    computer = make()
    problems: list[str] = []

    def leave(report: Report, so_far: str) -> None:
        if "go" in so_far and not problems:
            try:
                computer.targets.use("command:env")
            except TargetError as error:
                problems.append(str(error))
            computer.interrupt()

    play(computer, "shell", "echo go; sleep 60", on=leave)
    assert problems == ["Code is running: wait for its end, or stop it."]


def test_pages_and_keys_stay_here(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "sk-canary")
    computer = make(target="command:env", hidden=["CANARY_API_KEY"])
    assert "html" not in computer.languages
    assert "your own machine only" in (computer.explain_missing("html") or "")
    assert play(computer, "shell", "echo ${CANARY_API_KEY-none}").text == "none\n"
    assert "CANARY" not in Path(f"/proc/{worker_pid(computer)}/environ").read_text()


def test_secrets_of_the_remote_host_are_hidden_from_programs_there(make: Make) -> None:
    computer = make(target="command:env DB_PASSWORD=hunter2 AWS_SECRET_KEY=abcdefg", passed=["AWS_*"])
    code = "echo ${DB_PASSWORD-none} ${AWS_SECRET_KEY-none}"
    assert play(computer, "shell", code).text == "none abcdefg\n"


def test_images_come_from_there_and_files_named_by_a_remote_host_are_not_opened(
    make: Make, tmp_path: Path
) -> None:
    image = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    computer = make(target="command:env")
    code = (
        "class Shown:\n    def _repr_png_(self):\n"
        f"        import base64; return base64.b64decode({image!r})\nShown()"
    )
    assert play(computer, "python", code).shown == [Displayed("base64.png", image)]
    with pytest.raises(wire.WireError, match="names a file"):
        wire.unpack_report(wire.pack(Displayed("path", "/etc/passwd")))


# -- what is sent


VALUES = [
    Printed("a\r\n", None),
    Printed("", "view"),
    Printed("\n\n", None, "table"),
    Printed("grüße \ud800\x00\n", None),
    RunEnded("lost", 1.5, "why"),
    Stopping("interrupt", None, "x"),
    Displayed("html", "<p>"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_reports_survive_the_way(value: Report) -> None:
    pieces = wire.encode_report(7, value)
    reader = wire.FrameReader()
    found = [message for byte in pieces for message, _ in reader.read(bytes([byte]))]
    assert [wire.unpack_reports(message) for message in found] == [[value]]


@pytest.mark.parametrize(
    ("reports", "text"),
    [
        (5, None),
        ([], b"x"),
        ([wire.pack(RunEnded("finished", 0.5))], b"x"),
        ([wire.pack(Printed("a"))] * 2, b"x"),
    ],
)
def test_a_text_beside_other_reports_is_refused(reports: object, text: bytes | None) -> None:
    ((message, _),) = wire.FrameReader().read(wire.encode_frame({"reports": reports}, text))
    with pytest.raises(wire.WireError):
        wire.unpack_reports(message)
    with pytest.raises(wire.WireError):
        wire.unpack_reports({"reports": [wire.pack(Printed("a"))], "text": 5})


#: Numbers of seconds that JSON as Python reads it can have, and that cannot be shown.
NO_DURATIONS = [float("inf"), float("-inf"), float("nan"), 10**400, 1e300]


@pytest.mark.parametrize(
    "lie",
    [
        None,
        [],
        ["Nothing"],
        ["Printed"],
        ["Printed", 1, None],
        ["Printed", "x", 1],
        ["RunEnded", "exploded", 0, None],
        ["RunEnded", "finished", True, None],
        ["InputRequested", "x", 1],
        ["VariablesLost", "python", "x"],
        ["Memory", "python", "known", [["Printed", "x", None]], 1],
        ["Displayed", "page", "/tmp/x.html", None],
        ["Completions", "1", [], ""],
        ["Completions", 1, [["Printed", "x", None, None]], ""],
        ["Completions", 1, ["x"], ""],
        *(["RunEnded", "finished", seconds, None] for seconds in NO_DURATIONS),
        *(["Stopping", "interrupt", seconds, ""] for seconds in NO_DURATIONS),
        ["LineReached", 10**400],
    ],
)
def test_lies_are_refused(lie: object) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack_report(lie)


@pytest.mark.parametrize("seconds", NO_DURATIONS)
def test_a_run_that_was_left_began_a_finite_time_ago(seconds: float) -> None:
    facts = {"id": 1, "number": 1, "language": "python", "code": "1", "running": True}
    assert _parse_left_run({**facts, "seconds": 5}).seconds == 5
    with pytest.raises(wire.WireError):
        _parse_left_run({**facts, "seconds": seconds})


def test_garbage_on_the_way_ends_the_connection(through: Make, relay: Path) -> None:
    computer = through()

    def garble(report: Report, so_far: str) -> None:
        if "go" in so_far:
            (relay / "garble").touch()

    played = play(
        computer, "python", "import time\nprint('go')\nwhile True: print('y'); time.sleep(0.05)", on=garble
    )
    assert played.state == "lost"
    assert "the connection to" in played.reason


BAD_REQUESTS: list[dict[str, Any]] = [
    {"do": "no such request"},
    {"do": ["a", "list"]},
    {"nothing": "to do"},
    {"do": "memory"},
    {"do": "look_at", "language": "python"},
    {"do": "run", "language": "python"},
    {"do": "resize", "columns": "wide"},
    {"do": "reset", "language": ["python"]},
]


def test_a_bad_request_gets_an_error_and_ends_nothing(make: Make) -> None:
    computer = make(target="command:env")
    play(computer, "python", "memory = 41")
    assert computer.targets.remote
    link = computer.targets.remote.link
    assert link
    for number, request in enumerate(BAD_REQUESTS, start=900_000):
        answers: queue.Queue[object] = queue.Queue()
        link._answers[number] = answers
        link._send_bytes(wire.encode_frame({**request, "id": number}))
        assert answers.get(timeout=10) is None, request
    assert play(computer, "python", "print(memory + 1)").text == "42\n"
    assert computer.targets.remote.link is link


def test_a_run_that_cannot_begin_there_ends_with_the_reason(make: Make) -> None:
    computer = make(target="command:env")
    assert computer.targets.remote
    link = computer.targets.remote.link
    assert link
    (ended,) = link.run("klingon", "x").read_reports(10) or ()
    assert ended == RunEnded("failed", 0.0, "env: ValueError: unknown language 'klingon'")


#: A worker that answers the request for a run with the first bytes of a frame, and then is gone.
BREAKING = """
import os, sys
from pathlib import Path
folder = Path(sys.argv[1])
os.write(1, (folder / "beginning").read_bytes())
came = b""
while b'"do":"run"' not in came:
    piece = os.read(0, 65536)
    if not piece:
        sys.exit()
    came += piece
with (folder / "runs").open("a") as runs:
    runs.write("run\\n")
os.write(1, (folder / "answer").read_bytes())
"""


#: The first frame of a worker.
HERE: dict[str, Any] = {
    "is": "here",
    "writable": True,
    "pid": 1,
    "programs": {"python": "python3"},
    **dict.fromkeys(("folder", "user", "host", "system", "python"), "x"),
}


def test_a_connection_that_breaks_anywhere_in_a_frame_loses_the_run_and_never_repeats_it(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "beginning").write_bytes(b"\n" + wire.MARK + b" ready 3.9\n" + wire.encode_frame(HERE))
    script = tmp_path / "there.py"
    script.write_text(BREAKING)
    computer = make(target=f"command:{sys.executable} -I -S {script} {tmp_path}")
    # Every connection numbers its runs from 1.
    answer = wire.encode_frame({"is": "reports", "id": 1, "reports": [wire.pack(RunEnded("finished", 0.5))]})
    for cut in range(len(answer) + 1):
        (tmp_path / "answer").write_bytes(answer[:cut])
        played = play(computer, "python", "print(1)")
        assert played.state == ("lost" if cut < len(answer) else "finished"), cut
        if played.state == "lost":
            assert "Python and its variables there are lost" in played.reason
        assert (tmp_path / "runs").read_text() == "run\n" * (cut + 1)
        place = computer.targets.remote
        until(lambda place=place: place.link is None)


def nest_memories(depth: int) -> list[Any]:
    """What a language remembers, with another one in the place of each variable."""
    nested: list[Any] = []
    for _ in range(depth):
        nested = ["Memory", "python", "known", [nested], 1, False]
    return nested


@pytest.mark.slow
@pytest.mark.parametrize(
    ("beginning", "answer", "words"),
    [
        (HERE, {"is": "reports", "id": 1, "reports": [nest_memories(450)]}, "invalid answer"),
        ({**HERE, "runs": [], "next": 1, "from": float("inf")}, HERE, "invalid answer"),
        # It would replace the runs that are going on.
        (HERE, {**HERE, "runs": [], "next": 0, "from": 0}, "it began twice"),
    ],
    ids=["nested", "infinite", "twice"],
)
def test_an_answer_that_cannot_be_read_ends_the_connection(
    make: Make, tmp_path: Path, beginning: dict[str, Any], answer: dict[str, Any], words: str
) -> None:
    (tmp_path / "beginning").write_bytes(b"\n" + wire.MARK + b" ready 3.9\n" + wire.encode_frame(beginning))
    (tmp_path / "answer").write_bytes(wire.encode_frame(answer))
    script = tmp_path / "there.py"
    # It keeps the connection open.
    script.write_text(f"{BREAKING}os.read(0, 65536)\nos.read(0, 65536)\n")
    computer = make(target=f"command:{sys.executable} -I -S {script} {tmp_path}")
    played = play(computer, "python", "print(1)")
    assert played.state in ("lost", "failed")
    assert words in played.reason


#: A worker that prints without end, and does not wait until what it printed is taken.
FLOODING = f"{BREAKING}for _ in range(200): os.write(1, (folder / 'answer').read_bytes())\nos.read(0, 1)\n"


def test_a_target_that_sends_more_output_than_was_asked_for_loses_its_connection(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "LONGEST", 500_000)
    monkeypatch.setattr(wire, "WIDEST", 500_000)
    (tmp_path / "beginning").write_bytes(b"\n" + wire.MARK + b" ready 3.9\n" + wire.encode_frame(HERE))
    (tmp_path / "answer").write_bytes(wire.encode_report(1, Printed("y" * 10_000)))
    script = tmp_path / "there.py"
    script.write_text(FLOODING)
    computer = make(target=f"command:{sys.executable} -I -S {script} {tmp_path}")
    reports = computer.run("python", "print(1)")
    while not isinstance(next(reports), Printed):
        pass
    # The person reads no further.
    assert computer.targets.remote
    until(lambda: computer.targets.remote.link is None)  # type: ignore[union-attr]
    *printed, ended = reports
    assert len(printed) < 150
    assert isinstance(ended, RunEnded)
    assert "it sent more output than was asked for" in str(ended.reason)


def test_only_languages_that_are_there_are_described(make: Make, tmp_path: Path) -> None:
    described = [{"is": "described", "language": name, "words": name} for name in ("python", "klingon")]
    (tmp_path / "beginning").write_bytes(
        b"\n" + wire.MARK + b" ready 3.9\n" + b"".join(map(wire.encode_frame, [HERE, *described]))
    )
    (tmp_path / "answer").write_bytes(b"")
    script = tmp_path / "there.py"
    script.write_text(BREAKING)
    computer = make(target=f"command:{sys.executable} -I -S {script} {tmp_path}")
    assert computer.targets.remote
    link = computer.targets.remote.link
    assert link
    until(lambda: link.described)
    play(computer, "python", "print(1)")
    assert link.described == {"python": "python"}


def test_a_request_that_is_cut_anywhere_is_not_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would take the signals of the process of the tests.
    monkeypatch.setattr(worker._Worker, "_end", lambda self: None)
    request = wire.encode_frame({"do": "run", "id": 1, "language": "python", "code": "1", "number": 1})
    with (tmp_path / "sink").open("wb") as sink:
        for cut in range(len(request)):
            source, other = os.pipe()
            os.write(other, request[:cut])
            os.close(other)
            end = worker._Worker(str(tmp_path), worker.Stream(source, os.dup(sink.fileno())))
            end.serve()
            os.close(source)
            assert not end._languages._stops
            assert not end._languages._turns


def list_sent_modules() -> Iterator[tuple[str, str]]:
    """The modules of ours that a worker imports; what belongs to the sandbox is there and not used."""
    program = (
        "import sys\nsys.path.insert(0, '.')\nimport old_python\nold_python.prepare((3, 8))\n"
        "import oi_tui.runtimes.remote.worker\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'oi_tui'), sep='\\n')"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, text in bundle._list_files():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        words = [sys.executable, "-I", "-S", "-B", "-c", program]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
        for line in done.stdout.split():
            yield str(Path(line).relative_to(Path(folder).resolve())), Path(line).read_text()


def test_what_is_sent_stands_alone_and_is_python_3_8() -> None:
    found = dict(list_sent_modules())
    assert "oi_tui/runtimes/runs/run.py" in found
    beginning = Path(bundle.__file__).parents[1] / "drivers" / "remote"
    found |= {path.name: path.read_text() for path in beginning.glob("*.py")}
    newer = {
        "removeprefix",
        "removesuffix",
        "is_relative_to",
        "waitstatus_to_exitcode",
        "hardlink_to",
        "pairwise",
    }
    for name, text in found.items():
        tree = ast.parse(text, name, feature_version=(3, 8))
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert "/sandbox/" in name or not used & newer, name
        for node in ast.walk(tree):
            keywords = {keyword.arg for keyword in node.keywords} if isinstance(node, ast.Call) else set()
            called = getattr(getattr(node, "func", None), "id", "")
            assert not (called == "zip" and "strict" in keywords), f"{name}:{node.lineno}"  # type: ignore[attr-defined]


def annotations_of(tree: ast.AST) -> Iterator[ast.AST]:
    """What stands in annotations, which are not evaluated on the remote host."""
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if (annotation := getattr(node, field, None)) is not None:
                yield from ast.walk(annotation)


def test_no_type_that_is_sent_is_evaluated_with_brackets_that_python_3_8_does_not_know() -> None:
    newer = {"tuple", "list", "dict", "set", "frozenset", "type", "deque", "defaultdict", "Queue"}
    for name, text in list_sent_modules():
        tree = ast.parse(text)
        unevaluated = {id(node) for node in annotations_of(tree)}
        names = newer | {
            item.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "collections.abc"
            for item in node.names
        }
        found = [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript)
            and id(node) not in unevaluated
            and getattr(node.value, "id", "") in names
        ]
        assert not found


def test_hosts_of_the_ssh_configuration_are_found(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(
        'Host gpu1 gpu2\n  HostName x\nHost *\n  User ada\nhost="lab"\nInclude more/*\nHost !bad *.example\n'
    )
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "work").write_text("Host build gpu1\nInclude ../config\n")
    assert ssh_hosts.list_known(tmp_path) == ("gpu1", "gpu2", "lab", "build")
    assert ssh_hosts.list_known(tmp_path / "missing") == ()


def test_included_files_of_the_ssh_configuration_are_found_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config, other = tmp_path / ".ssh", tmp_path / "work"
    config.mkdir()
    other.mkdir()
    (config / "config").write_text(
        f"Include ~/work/*.conf\nInclude {other}/*.more\nInclude pipe\nHost last\n"
    )
    (other / "a.conf").write_text("Host home\n")
    (other / "b.more").write_text("Host whole\n")
    # Nobody writes into it: reading it would never end.
    os.mkfifo(config / "pipe")
    assert ssh_hosts.list_known() == ("home", "whole", "last")


def container_program(
    folder: Path, lines: str, monkeypatch: pytest.MonkeyPatch, name: str = "podman"
) -> None:
    """Put a program in the place of podman, or of another one; the others of this machine have nothing."""
    for program in map(folder.joinpath, CONTAINER_PROGRAMS):
        if program.name == name or not program.exists():
            program.write_text(f"#!/bin/sh\n{lines if program.name == name else 'exit 1'}\n")
            program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_running_containers_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    container_program(tmp_path, '[ "$1" = ps ] && printf "web\\tnginx:1\\ndb\\tpostgres\\n"', monkeypatch)
    assert [(container.spelling, container.facts) for container in known_targets.list_containers()] == [
        ("container:web", "nginx:1"),
        ("container:db", "postgres"),
    ]


@pytest.mark.parametrize("lines", ["echo no daemon; exit 1", "exec sleep 60"])
def test_a_container_program_that_fails_or_hangs_lists_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    monkeypatch.setattr(known_targets, "_TIMEOUT", 0.3)
    container_program(tmp_path, lines, monkeypatch)
    assert known_targets.list_containers() == []


def test_kernels_of_this_machine_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jupyter_core", reason="jupyter_core is not installed")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "kernel-1.json").write_text("{}")
    spellings = [item.spelling for item in known_targets.list_at_once()]
    assert spellings[0] == "local"
    assert "kernel:kernel-1.json" in spellings


def test_connecting_can_be_stopped(make: Make) -> None:
    computer = make()
    stopped = threading.Event()
    timer = threading.Timer(0.2, stopped.set)
    timer.start()
    with pytest.raises(TargetError, match="stopped"):
        computer.targets.use("command:sh -c 'sleep 60'", stopped)
    timer.join()


def test_an_attempt_that_was_stopped_says_so_although_its_program_says_something_else(
    make: Make, tmp_path: Path
) -> None:
    script = tmp_path / "login"
    script.write_text('#!/bin/sh\n"$SSH_ASKPASS" "Password:" || echo Permission denied >&2\nexit 1\n')
    script.chmod(0o755)
    computer, stopped = make(), threading.Event()

    def give_up(question: str, masked: bool) -> None:
        stopped.set()

    with pytest.raises(TargetError, match="Connecting was stopped"):
        computer.targets.use(f"command:{script}", stopped, ask=give_up)


def test_closing_gives_up_what_is_being_reached(make: Make) -> None:
    computer = make()
    seconds = str(1000 + random.random())
    problems: list[str] = []

    def reach() -> None:
        try:
            computer.targets.use(f"command:sh -c 'sleep {seconds}'")
        except TargetError as error:
            problems.append(str(error))

    thread = threading.Thread(target=reach)
    thread.start()
    until(lambda: marked(seconds))
    computer.close()
    thread.join(10)
    assert problems == ["Connecting was stopped."]
    until(lambda: not marked(seconds))


def test_closing_gives_up_a_connection_that_is_made_anew(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "there"
    seconds = str(1000 + random.random())
    script.write_text(f'#!/bin/sh\n[ -e {tmp_path}/later ] && exec sleep {seconds}\nexec "$@"\n')
    script.chmod(0o755)
    computer = make(target=f"command:{script}")
    play(computer, "shell", ":")
    (tmp_path / "later").touch()
    os.kill(worker_pid(computer), signal.SIGKILL)
    until(computer.pop_losses)
    thread = threading.Thread(target=lambda: list(computer.run("shell", "echo ran")))
    thread.start()
    until(lambda: marked(seconds))
    computer.close()
    thread.join(10)
    assert not thread.is_alive()
    until(lambda: not marked(seconds))


def test_nobody_waits_for_variables_of_a_silent_remote_host(
    through: Make, relay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer = through()
    play(computer, "python", "x = 1")
    monkeypatch.setattr(wire, "QUIET", 0.5)
    (relay / "cut").touch()
    place = computer.targets.remote
    assert isinstance(place, RemoteTarget)
    until(lambda: place.link and place.link.silent_for > 0.5)
    began = time.monotonic()
    assert [memory.state for memory in computer.inspector.read_memories() if memory.language == "python"] == [
        "busy"
    ]
    computer.reset()
    assert time.monotonic() - began < 2
    (relay / "cut").unlink()


def test_a_grant_never_goes_to_another_target(make: Make) -> None:
    computer, grants = make(), Permissions()
    places = []
    for number in (1, 2):
        # Too long to be shown whole, and different where the words are cut.
        computer.targets.use(f"command:env {'A' * 40}={number} {'B' * 40}=1")
        places.append(computer.where)
        grants.enter(computer.target_id)
        assert not grants
        grants.add(Permission("language", "python"))
        assert grants
    assert places[0] == places[1]
    computer.targets.use("local")
    grants.enter(computer.target_id)
    assert not grants


def test_a_target_is_named_with_its_kind_and_a_long_one_by_both_ends() -> None:
    titles = [
        parse(spelling).title for spelling in ("ssh:web", "container:web", f"command:/bin/env {'A' * 99}=2")
    ]  # type: ignore[union-attr]
    assert titles == ["web", "container web", f"env {'A' * 26}…{'A' * 28}=2"]
