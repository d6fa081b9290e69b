"""What Python survives: a cell may do what it likes to its process, and the next one runs as if nothing were."""

# ruff: noqa: E501 - code of other languages, as it is

from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play, until

WAIT = "\nprint('go', flush=True)\nimport time\nfor _ in range(3000): time.sleep(0.02)"
SIGNAL = "import os, signal, sys\n"
RAISING = (
    SIGNAL
    + "def heard(number, frame):\n    open('heard', 'a').write('.')\n    raise RuntimeError(f'heard {number}')\n"
)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose Python remembers something, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("python"))
    assert play(computer, "python", "kept = 41").state == "finished"
    yield computer
    computer.close()


def is_as_new(computer: Computer) -> None:
    """Cells run, print, fail and can be stopped, and what was remembered is."""
    assert play(computer, "python", "print('on')\nkept + 1").text == "on\n42\n"
    failed = play(computer, "python", "1/0")
    assert (failed.state, failed.reason) == ("failed", "ZeroDivisionError: division by zero")
    assert "driver" not in failed.text
    stopped = play(computer, "python", "print('go', flush=True)\nwhile True: pass", stop_at="go\r\n")
    assert (stopped.state, stopped.steps) == ("interrupted", ["interrupt"])
    assert play(computer, "python", "kept + 1").text == "42\n"


@pytest.mark.parametrize(
    "code",
    [
        "signal.signal(signal.SIGINT, signal.SIG_DFL)",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
        "for number in (signal.SIGRTMAX, signal.SIGRTMAX - 1): signal.signal(number, signal.SIG_IGN)",
        "r, w = os.pipe(); os.set_blocking(w, False); signal.set_wakeup_fd(w)",
        "import faulthandler; faulthandler.disable()",
        "sys.settrace(lambda *_: None); sys.setprofile(lambda *_: None)",
        "def tracing(*_): raise RuntimeError\nsys.settrace(tracing)",
        "import threading\ndef hook(*_): raise RuntimeError\nthreading.excepthook = hook\nthread = threading.Thread(target=hook); thread.start(); thread.join()",
        "del sys.excepthook, sys.displayhook",
        "del sys.stdin, sys.stdout, sys.stderr",
        "sys.stdin.close()",
        "sys.stdout.detach(); sys.stderr.detach(); sys.stdin.detach()",
        "os.set_blocking(0, False)",
        "os.set_blocking(1, False)\nprint('x' * 2_000_000)",
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')",
        "sys.path.clear()",
        "sys.path = None",
        "sys.meta_path.clear(); sys.path_hooks.clear(); sys.path_importer_cache.clear()",
        "for name in ('traceback', 'linecache', 'tokenize'): open(name + '.py', 'w').write('raise SystemExit(9)')",
        "os.getpid = lambda: 1; os.getcwd = os.fstat = os.read = None",
        "sys.setrecursionlimit(30)",
        "sys.setrecursionlimit(100_000)",
        "sys.setswitchinterval(1000)",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))",
        "import subprocess; signal.signal(signal.SIGTTOU, signal.SIG_IGN)\nchild = subprocess.Popen(['sleep', '60'], preexec_fn=lambda: os.setpgid(0, 0)); os.tcsetpgrp(0, child.pid)",
    ],
)  # fmt: skip
def test_the_next_cells_run_as_ever(computer: Computer, code: str) -> None:
    play(computer, "python", "kept = 41")
    assert play(computer, "python", SIGNAL + code).state in ("finished", "failed")
    is_as_new(computer)


@pytest.mark.parametrize(
    "code",
    [
        "signal.signal(signal.SIGINT, signal.SIG_DFL)",
        "signal.alarm(1)",
        "signal.setitimer(signal.ITIMER_PROF, 1000); signal.setitimer(signal.ITIMER_REAL, 1)",
        "def late(*_): raise TimeoutError\nsignal.signal(signal.SIGALRM, late); signal.setitimer(signal.ITIMER_REAL, 1, 0.05)",
        "import faulthandler; faulthandler.dump_traceback_later(1, exit=True)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM]); signal.alarm(1)",
        "signal.signal(signal.SIGTERM, lambda *_: None); signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["interrupted", "failed"])
def test_what_a_cell_that_broke_off_had_set_off_does_not_come_later(
    python: Computer, code: str, end: str
) -> None:
    more, stop_at = (WAIT, "go\r\n") if end == "interrupted" else ("\n1/0", None)
    played = play(python, "python", SIGNAL + code + more, stop_at=stop_at)
    assert (played.state, played.steps) == (end, ["interrupt"] if stop_at else [])
    # All that was set off would come now.
    text = "import signal, faulthandler\nprint(signal.getitimer(signal.ITIMER_REAL), signal.getitimer(signal.ITIMER_PROF), signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    assert play(python, "python", text).text == "(0.0, 0.0) (0.0, 0.0) set()\n"
    restore = "for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGCHLD): old = signal.signal(number, signal.SIG_DFL)"
    assert play(python, "python", restore).state == "finished"
    is_as_new(python)


def test_a_watchdog_ends_with_the_cell_that_it_watched(python: Computer) -> None:
    code = "import faulthandler\nfaulthandler.dump_traceback_later(0.1, exit=True)\n1/0"
    assert play(python, "python", code).state == "failed"
    assert play(python, "python", "import time\ntime.sleep(0.2)\nkept").text == "41\n"


def test_an_alarm_that_nobody_hears_ends_with_its_cell(python: Computer) -> None:
    assert play(python, "python", "import signal\n_ = signal.setitimer(signal.ITIMER_REAL, 1)").text == ""
    assert play(python, "python", "signal.getitimer(signal.ITIMER_REAL), kept").text == "((0.0, 0.0), 41)\n"


def test_a_timer_that_a_program_hears_goes_on_between_the_cells_and_in_later_ones(computer: Computer) -> None:
    code = SIGNAL + (
        "beats = []\n"
        "def beat(*_):\n    beats.append(1); open('beats', 'a').write('.')\n"
        "signal.signal(signal.SIGALRM, beat)\n_ = signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)"
    )
    assert play(computer, "python", code).state == "finished"
    until(lambda: (computer.cwd / "beats").exists() and (computer.cwd / "beats").stat().st_size > 3)
    # A cell that fails ends its own timers only.
    assert play(computer, "python", "1/0").state == "failed"
    code = "n = len(beats)\nimport time\nwhile len(beats) < n + 3: time.sleep(0.01)\nsignal.getsignal(signal.SIGALRM) is beat"
    assert play(computer, "python", code).text == "True\n"


def test_a_handler_that_raises_between_the_cells_ends_nothing_and_is_reported_of_once(
    computer: Computer,
) -> None:
    code = (
        RAISING
        + "kept = 41\n_ = signal.signal(signal.SIGALRM, heard)\n_ = signal.setitimer(signal.ITIMER_REAL, 0.05, 0.001)"
    )
    assert play(computer, "python", code).state in ("finished", "failed")
    until(lambda: (computer.cwd / "heard").exists() and (computer.cwd / "heard").stat().st_size > 100)
    texts = []
    for _ in range(30):
        played = play(computer, "python", "signal.setitimer(signal.ITIMER_REAL, 0)")
        assert played.state in ("finished", "failed")
        texts.append(played.text)
        if played.state == "finished":
            break
    assert "RuntimeError: heard 14" in "".join(texts)
    assert "driver" not in "".join(texts)
    # Once between two cells, and where a cell was broken off by it.
    assert "".join(texts).count("RuntimeError: heard 14") < 3 * len(texts)
    is_as_new(computer)


def test_a_trace_function_sees_the_cells_and_little_of_what_runs_them(computer: Computer) -> None:
    code = "import sys\nseen = []\ndef trace(frame, event, _): seen.append(frame.f_code.co_filename)\nsys.settrace(trace)\nkept = 41"
    assert play(computer, "python", code).state == "finished"
    assert play(computer, "python", "1/0").state == "failed"
    code = "sys.settrace(None)\n'<cell 2>' in seen, any('traceback' in name for name in seen)"
    assert play(computer, "python", code).text == "(True, False)\n"
    is_as_new(computer)


@pytest.mark.parametrize(
    ("redirect", "place", "way_back"),
    [
        ("sys.stdout = open('kept.txt', 'w')", "{}/kept.txt", "sys.stdout = sys.__stdout__"),
        ("os.dup2(os.open('kept.txt', os.O_WRONLY | os.O_CREAT), 1)", "{}/kept.txt", "os.dup2(0, 1)"),
        ("sys.stdout = io.StringIO()", "memory", "sys.stdout = sys.__stdout__"),
        ("sys.stdout = open(os.devnull, 'w')", "/dev/null", "sys.stdout = sys.__stdout__"),
    ],
)
def test_output_that_was_sent_elsewhere_for_good_is_reported_of(
    computer: Computer, redirect: str, place: str, way_back: str
) -> None:
    play(computer, "python", "import sys, os, io")
    reported = (
        f"(Python's output goes to {place.format(computer.cwd)} since cell 2; {way_back} brings it back.)\n"
    )
    assert play(computer, "python", f"_ = {redirect}" if "dup2" in redirect else redirect).text == reported
    assert play(computer, "python", "print('unseen')").text == reported
    assert play(computer, "python", f"_ = {way_back}" if "dup2" in way_back else way_back).text == ""
    assert play(computer, "python", "print('seen')").text.endswith("seen\n")


@pytest.mark.parametrize(
    "code",
    [
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): print('x')",
        "import sys\nclass Both:\n    def write(self, text): return sys.__stdout__.write(text)\n    def flush(self): 0\nsys.stdout = Both()",
        "import os; os.close(1)",
        "import sys; sys.stdout.close()",
        "import sys; del sys.stdout",
    ],
)
def test_nothing_is_reported_of_output_that_still_arrives(computer: Computer, code: str) -> None:
    assert "goes to" not in play(computer, "python", code).text
    assert play(computer, "python", "print('seen')").text == "seen\n"
