"""Stopping a run: one interrupt keeps the memory, however long that takes; only a second one ends it."""

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from oi_tui.engine.events import TurnEnded
from oi_tui.engine.llm.base import Text
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.messages import InputRequested, Printed, Report, RunEnded, Stopping
from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import python
from oi_tui.runtimes.processes import process
from oi_tui.runtimes.runs import interrupt, stopping
from tests.fakes import Llm, call
from tests.runtimes.playing import alive, play, until

Make = Callable[..., Computer]

#: Longer than all steps together are given below.
LONG = 0.9
#: Work in C that holds the interpreter's lock and sees no signal, as a long computation of a library does.
#: Once "go" is there, no Python is run any more, not even that of `print`.
HOLDS_LOCK = (
    "import collections, itertools, os, time\n"
    "later = (time.monotonic() + {}).__gt__\n"
    "work = itertools.takewhile(later, iter(time.monotonic, None))\n"
    "end = collections.deque(itertools.chain(map(os.write, [1], [b'go\\n']), work), 0)"
)
CLEANS_UP = (
    f"import time\ntry:\n    print('go')\n    while True: pass\n"
    f"finally:\n    time.sleep({LONG})\n    print('saved')"
)
SWALLOWS = (
    "went = 0\nwhile True:\n    try:\n        went or print('go')\n        went = 1\n"
    "        while True: pass\n    except BaseException: pass"
)


#: The timeout of the program itself.
REAL_TIMEOUT = dict(stopping.TIMEOUT)


@pytest.fixture(autouse=True)
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """What escalates by itself has done so long before `LONG` is over."""
    for step in stopping.TIMEOUT:
        monkeypatch.setitem(stopping.TIMEOUT, step, 0.2)


@pytest.fixture
def remembering(computer: Computer) -> Computer:
    """A Python that has something to lose."""
    assert play(computer, "python", "df = 'rows'\nmodel = [1, 2]").state == "finished"
    return computer


def test_a_question_that_missed_the_interrupt_is_interrupted_again(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "_MISSED", 0.5)
    # The first signal does not end the question, as one just before the system waits for the keyboard.
    code = (
        "import signal\nlater = signal.default_int_handler\n"
        "signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, later))\ninput('name? ')"
    )

    def stop(report: Report, _: str) -> None:
        if isinstance(report, InputRequested):
            computer.interrupt()

    played = play(computer, "python", code, on=stop)
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])


def test_a_child_that_was_not_yet_its_program_is_interrupted_again(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "_YOUNG", 60.0)
    monkeypatch.setattr(process, "_LEFTOVERS", 20.0)
    # As between fork and exec: a handler takes the last signal, and then another program runs.
    child = (
        "read line; trap 'left=3' INT; left=60000; echo go; "
        "while [ $left -gt 0 ]; do left=$((left - 1)); sleep 0.01; done; exec sleep 60"
    )
    # It says so only once it has its name here.
    code = (
        f"import subprocess, time\nchild = subprocess.Popen(['sh', '-c', {child!r}], stdin=subprocess.PIPE)\n"
        "child.stdin.write(b'\\n'), child.stdin.flush()\ntime.sleep(60)"
    )
    assert play(computer, "python", code, stop_at="go\r\n").state == "interrupted"
    assert play(computer, "python", "child.wait(10)").text == "-2\n"


#: A shell's child that has the keyboard says so, and becomes its program only after a signal has come.
COMES_LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>
int tcsetpgrp(int terminal, pid_t group) {
  int result = ((int (*)(int, pid_t))dlsym(RTLD_NEXT, "tcsetpgrp"))(terminal, group);
  sigset_t all, before;
  sigfillset(&all);
  if (group == getpid() && getsid(0) != group) {
    sigprocmask(SIG_BLOCK, &all, &before); /* a signal that comes before the wait is not lost */
    if (write(terminal, "go\\n", 3) == 3) sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, 0);
  }
  return result;
}
"""


@pytest.mark.needs("gcc")
def test_a_program_that_a_busy_machine_starts_late_is_interrupted_too(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "_YOUNG", 0.0)
    source, library = tmp_path / "late.c", tmp_path / "late.so"
    source.write_text(COMES_LATE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    computer = make()
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library))
        assert play(computer, "shell", "memory=42").state == "finished"
    played = play(computer, "shell", "sleep 5 && echo slept", stop_at="go\r\n")
    assert played.state == "interrupted"
    assert "slept" not in played.text
    assert play(computer, "shell", "echo $memory").text == "42\n"


@pytest.mark.parametrize(("code", "printed"), [(HOLDS_LOCK.format(LONG), "go\n"), (CLEANS_UP, "go\nsaved\n")])
def test_one_interrupt_waits_and_keeps_the_memory(remembering: Computer, code: str, printed: str) -> None:
    played = play(remembering, "python", code, stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert played.text.startswith(printed)
    assert played.seconds - played.when("go") > LONG * 0.8
    assert play(remembering, "python", "df, model").text == "('rows', [1, 2])\n"


def test_an_interrupt_before_the_first_report_is_not_lost(remembering: Computer) -> None:
    """Whoever follows a run may note other things between the call and the first report."""
    reports = remembering.run("python", "import time; time.sleep(600)")
    remembering.interrupt()
    *_, ended = reports
    assert isinstance(ended, RunEnded)
    assert ended.state == "interrupted"
    assert play(remembering, "python", "print('on')").text == "on\n"


def test_an_interrupt_just_as_the_code_of_a_turn_begins_stops_it(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = Profile(model="openai/test", auto_run=True)
    model = Llm([call("import time; time.sleep(600)", "python")], [Text("Stopped.")])
    session = Session(profile, model, make(), Store.create_unsaved(cwd="/", model="test"))
    monkeypatch.setattr(session.earlier, "add", lambda *_: session.interrupt())
    *_, last = session.turn("go")
    assert last == TurnEnded("interrupted")
    assert [message.state for message in session.messages if message.type == "code"] == ["interrupted"]


def test_one_interrupt_says_that_it_waits_and_what_another_would_lose(remembering: Computer) -> None:
    played = play(remembering, "python", HOLDS_LOCK.format(LONG), stop_at="go\r\n")
    reported = [report for _, report in played.reports if isinstance(report, Stopping)]
    assert reported == [Stopping("interrupt", None, "python and its variables: model, df")]


#: Runs a child process that hears neither signal, and does not hear the interrupt itself.
WAITS_FOR_CHILD = """
import signal, subprocess
handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    subprocess.run(["sh", "-c", "trap '' TERM; echo go; while :; do sleep 0.1; done"])
    print("went on")
finally:
    signal.signal(signal.SIGINT, handler)
"""


def test_a_second_interrupt_ends_what_the_run_started_and_keeps_the_memory(remembering: Computer) -> None:
    # The system tells the age of a process in hundredths of a second.
    older = "import subprocess, time\nolder = subprocess.Popen(['sh', '-c', \"trap '' INT; sleep 600\"])\n"
    play(remembering, "python", f"{older}time.sleep(0.05)")
    played = play(remembering, "python", WAITS_FOR_CHILD, stop_at="go\r\n", insists=True)
    stopping = next(report for _, report in played.reports if isinstance(report, Stopping))
    assert stopping.at_stake == ("child processes, and if needed python and its variables: older, model, df")
    assert (played.state, played.steps) == ("interrupted", ["interrupt", "terminate"])
    assert "went on" not in played.text
    assert play(remembering, "python", "older.poll(), df").text == "(None, 'rows')\n"


def test_a_language_is_given_time_after_its_child_processes_were_killed(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # R has no signal of its own for this, and hears no interrupt in here.
    monkeypatch.setitem(stopping.TIMEOUT, "terminate", 0.4)
    play(computer, "r", "kept <- 7")
    code = "invisible(system(\"trap '' INT TERM; echo go; while :; do sleep 0.1; done\"))"
    played = play(computer, "r", code, stop_at="go\r\n", insists=True)
    assert (played.state, played.steps) == ("interrupted", ["interrupt", "terminate"])
    assert Stopping("terminate", 0.8) in [report for _, report in played.reports]
    assert play(computer, "r", "kept").text == "[1] 7\n"


@pytest.mark.parametrize("sandbox", [False, True])
def test_a_second_interrupt_ends_the_language_and_says_what_is_lost(make: Make, sandbox: bool) -> None:
    computer = make(sandbox=sandbox)
    play(computer, "python", "df = 'rows'")
    code = "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\nprint(child.pid)\n"
    code += HOLDS_LOCK.format(60)
    played = play(computer, "python", code, stop_at="go\r\n", insists=True)
    assert (played.state, played.steps) == ("lost", ["interrupt", "terminate", "kill"])
    assert played.reason == (
        "Python did not react to the interrupt, so it was ended; its variables are lost: df"
    )
    assert played.seconds - played.when("go") < 20
    if not sandbox:
        until(lambda: not alive(int(played.text.split()[0])))
    assert play(computer, "python", "'df' in globals()").text == "False\n"


def test_a_key_that_is_held_down_is_one_interrupt(remembering: Computer) -> None:
    played = play(remembering, "python", CLEANS_UP, stop_at="go\r\n", stops=30)
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert played.text.startswith("go\nsaved\n")
    assert play(remembering, "python", "df").text == "'rows'\n"


def test_what_remembers_nothing_is_ended_by_itself(make: Make) -> None:
    forgetful = replace(python.LANGUAGE, keeps="")
    played = play(make(declared=[forgetful]), "python", SWALLOWS, stop_at="go\r\n")
    assert played.steps[:2] == ["interrupt", "terminate"]
    assert played.seconds - played.when("go") < 5


@pytest.mark.slow
def test_a_program_has_about_a_second_to_clean_up(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "TIMEOUT", REAL_TIMEOUT)
    forgetful = replace(python.LANGUAGE, keeps="")
    played = play(make(declared=[forgetful]), "python", SWALLOWS, stop_at="go\r\n")
    at = {report.step: seconds for seconds, report in played.reports if isinstance(report, Stopping)}
    assert at["terminate"] - at["interrupt"] > 0.9
    assert played.seconds - at["terminate"] > 0.7


def test_a_run_that_nobody_follows_is_ended_by_itself(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "UNATTENDED", 0.2)
    with closing(computer.run("python", SWALLOWS)) as reports:
        assert any(isinstance(report, Printed) for report in reports)
        began = time.monotonic()
    assert time.monotonic() - began < 9


def test_closing_does_not_wait_for_what_was_interrupted(make: Make) -> None:
    computer = make()
    reports: list[Report] = []

    def follow() -> None:
        for report in computer.run("python", SWALLOWS):
            reports.append(report)
            if isinstance(report, Printed) and "go" in report.text:
                computer.interrupt()

    thread = threading.Thread(target=follow)
    thread.start()
    until(lambda: any(isinstance(report, Stopping) for report in reports))
    computer.close()
    thread.join(10)
    assert not thread.is_alive()


def test_ctrl_c_in_a_script_interrupts_and_again_ends(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "REPEATED", 0.0)
    reports = computer.run("python", SWALLOWS)
    assert any(isinstance(report, Printed) for report in reports)
    run = computer.targets.running._run  # type: ignore[union-attr]
    steps = iter([KeyboardInterrupt, KeyboardInterrupt])
    step = run.step

    def press() -> object:
        for error in steps:
            raise error
        return step()

    monkeypatch.setattr(run, "step", press)
    with pytest.raises(KeyboardInterrupt):
        list(reports)
    assert run.ended
    assert play(computer, "python", "1").text == "1\n"


def test_a_question_is_stopped_at_once(remembering: Computer) -> None:
    def stop(report: Report, _: str) -> None:
        if isinstance(report, InputRequested):
            for _press in range(10):
                remembering.interrupt()

    played = play(remembering, "python", "input('name? ')", on=stop)
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(remembering, "python", "df").text == "'rows'\n"
