"""What no program may do to us: lose output, fake an end, fill the memory, or stay behind."""

# ruff: noqa: E501, ISC004 - code of other languages, as it is

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from oi_tui.messages import Printed, Report, VariablesLost
from oi_tui.runtimes import Computer, pty_runtime
from oi_tui.runtimes.processes import channel, process_table, startup
from oi_tui.runtimes.processes.channel import CellChannel
from oi_tui.runtimes.processes.marks import MarkReader, encode_mark
from oi_tui.runtimes.processes.process import LanguageProcess
from oi_tui.runtimes.runs import input_watch
from tests.runtimes.playing import marked, play, until

Make = Callable[..., Computer]

BURSTS = """
import os, random, sys, threading
rnd = random.Random({seed})
for n in range(rnd.randrange(1, 40)):
    how = rnd.randrange(4)
    text = "%d:%s;" % (n, "abcdefgh"[: rnd.randrange(8)] * rnd.randrange(1, 200))
    if how == 0: print(text, end="", flush=True)
    elif how == 1: sys.stdout.flush(); os.write(1, text.encode())
    elif how == 2: sys.stdout.flush(); sys.stderr.write(text); sys.stderr.flush()
    else: print(text, end="")
    sys.stdout.flush() if how == 3 else None
"""


def expected(seed: int) -> str:
    rnd = random.Random(seed)
    text = ""
    for n in range(rnd.randrange(1, 40)):
        rnd.randrange(4)
        text += "{}:{};".format(n, "abcdefgh"[: rnd.randrange(8)] * rnd.randrange(1, 200))
    return text


def test_three_hundred_random_bursts_lose_and_misorder_nothing(shared: Computer) -> None:
    for seed in range(300):
        assert play(shared, "python", BURSTS.format(seed=seed)).text == expected(seed), seed


def test_shells_lose_nothing_in_bursts_either(shared: Computer) -> None:
    for n in range(60):
        count = 1 + n * 37 % 500
        played = play(shared, "shell", f"for i in $(seq {count}); do printf '%d,' $i; done")
        assert played.text == "".join(f"{i}," for i in range(1, count + 1))


@pytest.mark.parametrize("seed", range(20))
def test_marks_are_found_however_the_bytes_arrive(seed: int) -> None:
    rnd = random.Random(seed)
    pieces = [
        rnd.choice(
            [b"text", b"\x1b[1m", b"\x1b]6973;", b"\x1b", encode_mark("k1.end"), b"\x07", "ü".encode()]
        )
        for _ in range(60)
    ]
    whole = b"".join(pieces)

    def read(cuts: list[int]) -> list[bytes | str]:
        reader = MarkReader()
        found: list[bytes | str] = []
        for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            found += reader.read(whole[start:end])
        found.append(reader.rest())
        joined: list[bytes | str] = []
        for part in found:
            if isinstance(part, bytes) and joined and isinstance(joined[-1], bytes):
                joined[-1] += part
            else:
                joined.append(part)
        return joined

    in_one = read([])
    for _ in range(20):
        cuts = sorted(rnd.sample(range(1, len(whole)), min(30, len(whole) - 1)))
        assert [p for p in read(cuts) if p] == [p for p in in_one if p]


def test_a_program_that_copies_the_mark_of_its_own_run_ends_nothing(shared: Computer) -> None:
    # The nonce can be read from the driver's memory; a mark without its event is plain output all the same.
    code = (
        "import sys, gc\n"
        "from python_driver import Channel\n"
        "channel = next(o for o in gc.get_objects() if isinstance(o, Channel))\n"
        "for key in (channel.nonce + '.end', channel.nonce + '.99'):\n"
        "    sys.stdout.write('\\x1b]6973;' + key + '\\x07'); sys.stdout.flush()\n"
        "print('still here')"
    )
    played = play(shared, "python", code)
    assert played.state == "finished"
    assert played.text.endswith("still here\n")


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.close(0); os.close(1); os.close(2)",
        "import os; os.closerange(0, 100)",
        "import os; os.closerange(0, 1000)",
        "import sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
        "import sys, io; sys.stdout = None; sys.stderr = io.BytesIO()",
        "import tty; tty.setraw(0)",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "import builtins; del builtins.len, builtins.open, builtins.Exception; builtins.str = 5",
        "print = exit = input = repr = type = None",
        "import os\nfor _ in range(3): os.fork()",
        "import threading; threading.Thread(target=lambda: __import__('time').sleep(30)).start()",
        "import sys; sys.setrecursionlimit(60)\ndef f(): f()\nf()",
        "import os; os.chdir('/'); os.environ.clear()",
        "import sys; sys.meta_path.clear(); sys.path.clear(); sys.modules.pop('json', None)",
    ],
)
def test_whatever_a_cell_does_to_its_process_the_run_ends_and_the_next_one_works(
    computer: Computer, code: str
) -> None:
    assert play(computer, "python", code).state in ("finished", "failed", "lost")
    after = play(computer, "python", "print('back')")
    if "stdout = None" in code or "print = " in code or "builtins" in code:
        after = play(computer, "python", "import os; n = os.write(1, b'back')")
    assert "back" in after.text


def test_a_killed_runtime_is_noticed_long_before_it_would_have_ended(computer: Computer) -> None:
    pid = int(play(computer, "python", "import os; print(os.getpid())").text)

    def kill(report: Report, so_far: str) -> None:
        if so_far.endswith("go\r\n") and isinstance(report, Printed):
            os.kill(pid, signal.SIGKILL)

    began = time.monotonic()
    played = play(computer, "python", "print('go')\nimport time; time.sleep(60)", on=kill)
    assert (played.state, time.monotonic() - began < 20) == ("lost", True)
    assert play(computer, "python", "1+1").text == "2\n"


def test_a_runtime_that_was_killed_at_rest_is_replaced_and_that_is_reported(computer: Computer) -> None:
    pid = int(play(computer, "python", "import os; print(os.getpid())").text)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{pid}").exists())
    played = play(computer, "python", "1+1")
    assert (played.state, played.text) == ("finished", "2\n")
    assert "SIGKILL" in played.reason


@pytest.mark.parametrize(
    ("language", "define", "lost"),
    [
        ("python", "df = 1; model = 2", "its variables are lost: model, df"),
        ("shell", "df=1", "its variables are lost"),
        ("javascript", "let df = 1", "its variables are lost"),
    ],
)
def test_a_language_that_ends_between_runs_says_so_within_a_second(
    computer: Computer, language: str, define: str, lost: str
) -> None:
    play(computer, language, define)
    pid = computer.targets.current.runtimes[language]._process.pid  # type: ignore[attr-defined]
    os.kill(pid, signal.SIGKILL)
    losses: list[VariablesLost] = []
    until(lambda: losses.extend(computer.pop_losses()) or losses, 1)
    assert [loss.language for loss in losses] == [language]
    assert losses[0].reason.endswith(f" ended between runs (killed by SIGKILL); {lost}")
    assert play(computer, language, "").state == "finished"
    assert computer.pop_losses() == ()


def test_memory_that_ran_out_is_named_as_the_reason(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(computer, "python", "df = 1")
    monkeypatch.setattr(process_table, "count_oom_kills", lambda: 1_000_000)
    played = play(computer, "python", "import os; os.kill(os.getpid(), 9)")
    reason = "Python ended (killed by SIGKILL, probably out of memory); its variables are lost: df"
    assert (played.state, played.reason) == ("lost", reason)


#: Code that finds the pipe of the events, which no honest program looks for.
PIPE = (
    "import os\nfor n in range(200, 300):\n"
    "    if os.path.exists(f'/proc/self/fd/{n}') and os.readlink(f'/proc/self/fd/{n}').endswith('/events'):\n"
    "        pipe = n\n"
    "def send(data):\n    while data: data = data[os.write(pipe, data):]\n"
)


@pytest.mark.parametrize("sandbox", [False, True])
def test_a_program_that_fills_the_pipe_of_events_ends_as_any_other(
    make: Callable[..., Computer], monkeypatch: pytest.MonkeyPatch, sandbox: bool
) -> None:
    monkeypatch.setattr(channel, "LONGEST_EVENT", 1_000_000)
    computer = make(sandbox=sandbox)
    played = play(computer, "python", PIPE + "for _ in range(50): send(b'x' * 100_000)\nprint('done')")
    assert played.state == "finished"
    assert "A display was omitted" in played.text
    assert played.text.endswith("done\n")
    assert play(computer, "python", "send(b'no end')\n1 + 1").text == "2\n"


def test_forged_events_end_nothing_and_fill_no_memory(computer: Computer) -> None:
    forged = (
        'b\'{"event": "finished", "nonce": "0", "state": "failed"}\\n\'',
        'b\'{"event": "finished", "mark": "idle.1", "state": "lost", "names": [1, "a b", {}]}\\n\'',
        'b\'{"event": "input_end"}\\n{"event": "line", "line": 1e99}\\n{"event": "display"}\\n\'',
        'b\'\'.join(b\'{"event": "x", "mark": "m%d"}\\n\' % n for n in range(20_000))',
    )
    for code in forged:
        played = play(computer, "python", f"{PIPE}send({code})\nprint('on')")
        assert (played.text, played.state) == ("on\n", "finished")
    assert computer.targets.current.runtimes["python"]._process._marked_size < 10_000_000  # type: ignore[attr-defined]
    assert play(computer, "python", "1 + 1").text == "2\n"


def test_variables_are_read_although_the_thread_between_runs_wakes_late(computer: Computer) -> None:
    play(computer, "python", "kept = 6")
    runtime = computer.targets.current.runtimes["python"]
    process = getattr(runtime, "_process")  # noqa: B009 -- of the kinds of runtimes, one has it
    reads = threading.Event()

    def read_for_a_while() -> None:
        with process._reading:
            reads.set()
            # Longer than one attempt to become the reader; as on a machine with much to do.
            threading.Event().wait(0.4)

    thread = threading.Thread(target=read_for_a_while)
    thread.start()
    assert reads.wait(5)
    assert [item.name for item in computer.inspector.read_variables("python")] == ["kept"]
    thread.join()


def test_what_is_ended_on_purpose_is_no_loss(computer: Computer) -> None:
    play(computer, "python", "df = 1")
    computer.reset()
    assert computer.pop_losses() == ()


@pytest.mark.slow
def test_a_reset_forgets_what_a_shell_that_just_ended_has_saved(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_file = CellChannel.read_file

    def read_and_reset(self: CellChannel, name: str) -> bytes:
        data = read_file(self, name)
        computer.reset()
        return data

    play(computer, "shell", ":")
    monkeypatch.setattr(CellChannel, "read_file", read_and_reset)
    play(computer, "shell", "x=1; exit")
    monkeypatch.undo()
    assert play(computer, "shell", "echo [$x]").text == "[]\n"


def test_a_reset_while_a_shell_starts_forgets_what_the_one_before_has_saved(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(computer, "shell", "x=1; exit")
    starts = []

    def start_and_reset(*arguments: Any, **options: Any) -> Any:
        starts.append(startup.start_process(*arguments, **options))
        computer.reset()
        return starts[-1]

    monkeypatch.setattr(pty_runtime, "start_process", start_and_reset)
    assert play(computer, "shell", "echo [$x]").text == "[]\n"
    assert len(starts) == 2


def test_a_runtime_that_ended_is_put_away_at_once(computer: Computer) -> None:
    for _ in range(40):
        began = time.monotonic()
        assert play(computer, "shell", "kill -9 $$").state == "lost"
        # Whoever reads for a process at rest is waited for, for 10 s at most.
        assert time.monotonic() - began < 8


def test_killing_the_parent_of_the_shell_loses_the_shell_and_nothing_else(computer: Computer) -> None:
    seconds = str(2000 + random.random())
    played = play(computer, "shell", f"(setsid sleep {seconds} &)\nkill -9 $PPID; sleep 60")
    assert played.state == "lost"
    assert play(computer, "shell", "echo on").text == "on\n"
    until(lambda: not marked(seconds))


DAEMONS = {
    "child": ("shell", "sleep {}"),
    "background": ("shell", "sleep {} & echo over"),
    "nohup": ("shell", "nohup sleep {} >/dev/null 2>&1 & echo over"),
    "setsid": ("shell", "setsid sleep {} & echo over"),
    "double fork": ("shell", "( ( setsid sleep {} & ) & ) ; echo over"),
    "python daemon": (
        "python",
        "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execvp('sleep', ['sleep', '{}'])\n"
        "    os._exit(0)",
    ),
}


def folders_of_pipes(pid: int) -> set[Path]:
    """The folders that its runtimes made."""
    found = set()
    for opened in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.add(opened.readlink().parent)
    return {folder for folder in found if folder.name.startswith("oi-tui-")}


@pytest.mark.parametrize("name", DAEMONS)
def test_nothing_outlives_an_application_that_is_killed(name: str) -> None:
    language, code = DAEMONS[name]
    seconds = str(3000 + random.random())
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("host.py")), language, code.format(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as host:
        until(lambda: marked(seconds))
        mine = folders_of_pipes(host.pid)
        assert mine
        host.kill()
        host.wait()
        until(lambda: not marked(seconds))
    until(lambda: not any(folder.exists() for folder in mine))


def test_a_hundred_megabytes_stay_in_bounded_memory(computer: Computer) -> None:
    play(computer, "shell", ":")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = longest = 0
    for report in computer.run("shell", "head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99"):
        if isinstance(report, Printed):
            size += len(report.text)
            longest = max(longest, len(report.text))
    assert size >= 100_000_000
    assert longest < 2_000_000
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 60_000_000


def test_a_reader_who_takes_his_time_holds_the_program_up_and_can_stop_it(computer: Computer) -> None:
    play(computer, "shell", ":")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reports = computer.run("shell", "yes")
    for report in reports:
        if isinstance(report, Printed):
            break
    time.sleep(0.3)  # a slow reader, not a wait for anything
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 60_000_000
    began = time.monotonic()
    computer.interrupt()
    assert list(reports)[-1].state == "interrupted"  # type: ignore[union-attr]
    assert time.monotonic() - began < 30


def test_fifty_children_that_ignore_the_interrupt_are_gone_in_bounded_time(computer: Computer) -> None:
    seconds = str(4000 + random.random())
    code = f"trap '' INT TERM\nfor i in $(seq 50); do sleep {seconds} & done\necho go\nwait\nsleep 60"
    began = time.monotonic()
    played = play(computer, "shell", code, stop_at="go\r\n", insists=True)
    assert played.state in ("interrupted", "lost")
    assert time.monotonic() - began < 30
    computer.reset()
    assert marked(seconds) == []


def test_output_between_runs_neither_blocks_the_program_nor_fills_the_memory(computer: Computer) -> None:
    play(computer, "shell", "(sleep 0.2; seq 1000000; touch done) & :")
    until(lambda: (computer.cwd / "done").exists(), 20)
    played = play(computer, "shell", "echo next")
    assert played.text.endswith("next\n")
    assert "1000000\n" in played.text
    assert len(played.text) < 1_000_000


def test_input_of_many_lines_arrives_whole(computer: Computer) -> None:
    code = (
        "import sys\nlines = [sys.stdin.readline() for _ in range(3000)]\nprint(len(''.join(lines)), 'read')"
    )
    played = play(computer, "python", code, answers=(("x" * 99 + "\n") * 3000,))
    assert played.text == ("x" * 99 + "\n") * 3000 + "300000 read\n"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "print(len(input('name? ')))\nprint(input('again? '))"),
        ("python", "import getpass\nprint(len(getpass.getpass('name? ')))\nprint(input('again? '))"),
        ("python", "import sys\nprint(len(sys.stdin.readline()) - 1)\nprint(input('again? '))"),
        ("shell", "read -p 'name? ' name; echo ${#name}; read -p 'again? ' again; echo $again"),
        ("shell", "perl -e '$_ = <STDIN>; print length($_) - 1, \"\\n\"; print scalar <STDIN>'"),
        ("ruby", "puts $stdin.gets.chomp.length\nputs $stdin.gets"),
        ("perl", '$_ = <STDIN>; print length($_) - 1, "\\n"; print scalar <STDIN>;'),
        ("lua", "print(#io.read())\nprint(io.read())"),
        ("r", "cat(nchar(readline('name? ')), '\\n', sep = '')\ncat(readline('again? '), '\\n', sep = '')"),
    ],
)
def test_an_answer_of_any_length_arrives_whole(computer: Computer, language: str, code: str) -> None:
    # A line can be corrected again after that: the backspace takes the x away.
    played = play(computer, language, code, answers=("a" * 100_000 + "\n", "bx\x7fc\n"))
    assert (played.state, "100000\n" in played.text) == ("finished", True)
    assert played.text.endswith("bc\n")


def test_an_answer_that_a_busy_terminal_takes_slowly_is_one_answer(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is seen to wait, with nothing to read, while a part of the line is still to be typed."""
    type_now, last = LanguageProcess._type, [0.0]

    def type_slowly(process: LanguageProcess) -> None:
        if time.monotonic() - last[0] > 0.25:
            type_now(process)
            last[0] = time.monotonic()

    monkeypatch.setattr(LanguageProcess, "_type", type_slowly)
    monkeypatch.setattr(input_watch, "_SLOWEST_WAKE", 0.0)
    code = "read -p 'name? ' name; echo ${#name}; read -p 'again? ' again; echo $again"
    played = play(computer, "shell", code, answers=("a" * 5_000 + "\n", "b\n"))
    assert (played.state, "5000\n" in played.text, len(played.asked)) == ("finished", True, 2)


def test_runs_of_several_languages_do_not_disturb_each_other(make: Make) -> None:
    computer = make()
    for language, code in (("python", "x = 1"), ("shell", "x=2"), ("javascript", "x = 3; void 0")):
        assert play(computer, language, code).text == ""
    texts = [play(computer, name, code).text for name, code in (("python", "x"), ("shell", "echo $x"))]
    assert texts == ["1\n", "2\n"]


def test_closing_twice_and_using_what_is_closed_is_harmless(make: Make) -> None:
    computer = make()
    play(computer, "shell", ":")
    threads = [threading.Thread(target=computer.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert play(computer, "shell", "echo no").state == "failed"
    computer.interrupt()
    computer.send_input("x\n")
    computer.resize(10, 10)
    computer.reset()


def test_languages_are_known_by_what_models_call_them(computer: Computer) -> None:
    names = {
        "py": "python",
        "Python3": "python",
        " BASH ": "shell",
        "sh": "shell",
        "zsh": "zsh",
        "js": "javascript",
        "node": "javascript",
        "NodeJS": "javascript",
        "klingon": None,
        "../../bin/ls": None,
        "": None,
        "python;ls": None,
    }
    assert {name: computer.resolve(name) for name in names} == names


def test_an_unknown_language_fails_without_starting_anything(computer: Computer) -> None:
    for name in ("klingon", "/bin/ls", "", "python; touch canary"):
        assert play(computer, name, "echo canary").state == "failed"
    assert list(computer.cwd.iterdir()) == []


def test_a_missing_program_says_how_to_get_it(make: Make) -> None:
    computer = make(shell="/no/such/shell")
    assert "shell" not in computer.languages
    played = play(computer, "shell", "echo no")
    assert played.state == "failed"
    assert "the program /no/such/shell was not found; change the setting shell" in played.reason


def test_programs_are_described_without_being_started(make: Make) -> None:
    computer = make()
    assert computer.describe("python").startswith("Python 3")
    assert computer.describe("shell").startswith("bash ")
    assert marked("python_start.py") == []


def test_a_directory_that_is_gone_is_reported(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    computer = make(cwd=folder)
    folder.rmdir()
    played = play(computer, "python", "1")
    assert played.state == "failed"
    assert "gone" in played.reason


def test_a_working_directory_that_is_gone_is_named(make: Callable[..., Computer], tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    computer = make(cwd=folder)
    folder.rmdir()
    reason = play(computer, "python", "1").reason
    assert reason.startswith(f"Python did not start: the working directory {folder} no longer exists.")
    folder.write_text("a file in its place")
    reason = play(computer, "python", "1").reason
    assert reason.startswith(f"Python did not start: the working directory {folder} no longer exists.")
    folder.unlink()
    folder.mkdir()
    assert play(computer, "python", "1").state == "finished"


def test_words_of_notebooks_work_in_a_working_directory_that_is_gone(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    computer = make(cwd=folder)
    assert play(computer, "python", "x = 1").state == "finished"
    folder.rmdir()
    assert play(computer, "python", "%who").text.strip() == "x"
    assert play(computer, "python", "%cd -q /\n%pwd").text.strip() == "'/'"


def test_why_a_language_cannot_begin_is_its_last_line_that_says_something(
    make: Callable[..., Computer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    played = play(make(python=sys.executable), "python", "1")
    assert played.state == "failed"
    assert played.reason == "Python did not start: ModuleNotFoundError: No module named 'encodings'"


def test_without_room_for_temporary_files_a_language_says_what_helps(
    make: Callable[..., Computer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "missing")])
    monkeypatch.setattr(channel, "_find_folder_for_pipes", lambda: None)
    reason = play(make(), "python", "1").reason
    assert reason == (
        "Python did not start: no folder for temporary files can be written to. Make room in /tmp, or set TMPDIR"
    )


def test_only_a_start_after_a_process_that_ended_says_that_variables_are_lost(
    make: Callable[..., Computer], tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    computer = make(cwd=folder)
    pid = int(play(computer, "python", "import os; print(os.getpid())").text)
    folder.rmdir()
    os.kill(pid, signal.SIGKILL)
    until(computer.pop_losses)
    played = play(computer, "python", "1")
    assert (played.state, played.reason.partition(":")[0]) == ("lost", "Python did not start")
    assert play(computer, "python", "1").state == "failed"


def test_nothing_of_a_start_that_failed_is_left_for_the_next_one(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer = make(python=sys.executable)
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    assert play(computer, "python", "1").state == "failed"
    monkeypatch.delenv("PYTHONHOME")
    played = play(computer, "python", "1")
    assert (played.state, played.text, computer.pop_losses()) == ("finished", "1\n", ())


@pytest.mark.needs("stty")
def test_the_screen_may_change_its_size_while_a_language_starts(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_event = startup._wait_for_event

    def resize_first(*arguments: Any) -> Any:
        computer.resize(77, 22)
        return wait_for_event(*arguments)

    monkeypatch.setattr(startup, "_wait_for_event", resize_first)
    assert play(computer, "shell", "stty size").text == "22 77\n"


def test_a_process_that_is_closed_again_closes_no_file_of_others(make: Make) -> None:
    computer = make()
    play(computer, "shell", ":")
    process = computer.targets.current.runtimes["shell"]._process  # type: ignore[attr-defined]
    process.close()
    # They get the numbers that became free.
    numbers = [number for _ in range(20) for number in os.pipe()]
    process.close()
    process.wake()
    for number in numbers:
        os.close(number)
    with pytest.raises(OSError, match="was closed"):
        _ = process.terminal.guard_output


def test_a_run_whose_process_was_taken_away_leaves_it_to_the_next_one(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert play(computer, "shell", "x=1").state == "finished"
    with monkeypatch.context() as patch:
        patch.setattr(pty_runtime.PtyRuntime, "_claim", lambda *_: False)
        assert play(computer, "shell", "x=2").state == "interrupted"
    assert play(computer, "shell", "echo $x").text == "1\n"
