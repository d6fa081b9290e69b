"""Languages that somebody wrote as a class for Open Interpreter: what they may do, and what they cannot."""

import base64
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.messages import Displayed, LineReached, Printed, Report, RunEnded, Started, Starting
from oi_tui.runtimes import Computer
from oi_tui.runtimes.custom.language import make_language
from oi_tui.runtimes.custom.runtime import CustomRuntime
from oi_tui.runtimes.languages import LANGUAGES
from tests.runtimes.playing import Played, play, take

Make = Callable[..., Computer]


class Shout:
    """Answers in capitals, and remembers how often."""

    name = "Shout"
    aliases = ("loud",)
    system_message = "Shout prints what you write."

    def __init__(self) -> None:
        self.count = 0
        self.stopped = threading.Event()

    def run(self, code: str) -> Iterator[Any]:
        self.count += 1
        yield {"type": "console", "format": "active_line", "content": 1}
        yield {"type": "console", "format": "output", "content": f"{code.upper()} {self.count}\n"}
        if code == "wait":
            yield {"type": "console", "format": "output", "content": "go\r\n"}
            assert self.stopped.wait(20)
            self.stopped.clear()
        yield {"type": "console", "format": "active_line", "content": None}

    def stop(self) -> None:
        self.stopped.set()

    def terminate(self) -> None:
        self.stopped.set()


def make_class(run: Callable[..., Any], **more: Any) -> type:
    """A class with this `run` and nothing else that matters."""
    members = {"name": "odd", "run": run, "stop": lambda _: None, "terminate": lambda _: None}
    return type("Odd", (), {**members, **more})


def run_odd(make: Make, run: Callable[..., Any], **more: Any) -> Played:
    return play(make(declared=[make_language(make_class(run, **more))]), "odd", "code")


def test_it_runs_and_remembers_and_its_line_is_marked(make: Make) -> None:
    computer = make(declared=(*LANGUAGES, make_language(Shout)))
    assert "shout" in computer.languages
    assert computer.notes[-1] == "Shout prints what you write."
    first = play(computer, "Shout", "hello")
    assert (first.text, first.lines, first.state) == ("HELLO 1\n", [1, None], "finished")
    assert play(computer, "loud", "hello").text == "HELLO 2\n"
    computer.reset()
    assert play(computer, "shout", "hello").text == "HELLO 1\n"


def test_it_may_take_the_place_of_one_of_ours(make: Make) -> None:
    computer = make(declared=(*LANGUAGES, make_language(type("Python", (Shout,), {"name": "Python"}))))
    assert play(computer, "python", "x").text == "X 1\n"
    assert computer.languages.count("python") == 1


def test_stopping_calls_stop_and_keeps_the_memory(make: Make) -> None:
    computer = make(declared=[make_language(Shout)])
    played = play(computer, "shout", "wait", stop_at="go")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(computer, "shout", "x").text == "X 2\n"


@pytest.mark.parametrize("hangs", ["stop", "terminate"])
def test_what_heeds_nothing_is_left_behind_in_bounded_time(make: Make, hangs: str) -> None:
    release = threading.Event()

    def run(_: object, code: str) -> Iterator[Any]:
        yield f"go {code}\r\n"
        release.wait(60)

    deaf = make_class(run, **{hangs: lambda _: release.wait(60)})
    computer = make(declared=[make_language(deaf)])
    played = play(computer, "odd", "code", stop_at="go", insists=True)
    assert (played.state, played.steps) == ("lost", ["interrupt", "terminate", "kill"])
    assert played.seconds < 10
    assert "its variables are lost" in played.reason
    release.set()
    assert play(computer, "odd", "on").text == "go on\n"


def test_a_terminate_that_hangs_does_not_keep_the_program_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called, release = threading.Event(), threading.Event()

    def terminate(_: object) -> None:
        called.set()
        release.wait(60)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    stuck = make_class(lambda *_: "x", terminate=terminate)
    runtime = CustomRuntime(make_language(stuck), stuck)
    assert list(runtime.run("code", threading.Event()))
    monkeypatch.setattr("oi_tui.runtimes.custom.runtime._CLOSING", 0.1)
    # From Python 3.12 on, it is so once the program ends.
    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(threading, "main_thread", threading.Thread)
    began = time.monotonic()
    runtime.close()
    assert time.monotonic() - began < 30
    assert called.wait(60)
    release.set()


def test_a_loop_that_never_yields_is_ended(make: Make) -> None:
    ended = threading.Event()

    def run(_: object, code: str) -> Iterator[Any]:
        yield "go\r\n"
        try:
            while True:
                time.sleep(0.001)
        finally:
            ended.set()

    played = play(make(declared=[make_language(make_class(run))]), "odd", "code", stop_at="go", insists=True)
    assert played.state == "lost"
    assert ended.wait(40)


# The stop may reach the thread within somebody's callback for the collection of garbage.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_flood_is_joined_and_can_be_stopped(make: Make) -> None:
    def run(_: object, code: str) -> Iterator[Any]:
        while True:
            yield {"type": "console", "format": "output", "content": "go x\n"}

    played = play(make(declared=[make_language(make_class(run))]), "odd", "code", stop_at="go", insists=True)
    assert played.state == "lost"
    printed = sum(isinstance(report, Printed) for _, report in played.reports)
    assert printed <= played.seconds * 60 + 20


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("oops"), "ValueError: oops"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
)
def test_an_error_fails_the_run_with_its_last_lines(make: Make, error: BaseException, reason: str) -> None:
    def run(_: object, code: str) -> Iterator[Any]:
        yield "before\n"
        raise error

    played = run_odd(make, run)
    assert (played.state, played.reason) == ("failed", reason)
    assert played.text.startswith("before\nTraceback")
    assert played.text.rstrip().endswith(reason)
    assert "raise error" in played.text
    assert "object_runtime" not in played.text


def test_a_constructor_that_fails_fails_the_run(make: Make) -> None:
    def construct(_: object) -> None:
        raise ConnectionError("no such host")

    played = run_odd(make, lambda _, code: code, __init__=construct)
    assert (played.state, played.reason) == ("failed", "ConnectionError: no such host")


def test_a_constructor_that_hangs_holds_up_nothing_and_its_late_object_is_ended() -> None:
    entered, release, ended = threading.Event(), threading.Event(), threading.Event()

    def construct(_: object) -> None:
        entered.set()
        # As a library would that takes no notice of the exception in its thread.
        with contextlib.suppress(BaseException):
            release.wait(60)

    slow = make_class(lambda *_: "x", __init__=construct, terminate=lambda _: ended.set())
    runtime = CustomRuntime(make_language(slow), slow)
    reports: list[Report] = []
    run = threading.Thread(target=lambda: reports.extend(runtime.run("code", threading.Event())))
    run.start()
    assert entered.wait(60)
    began = time.monotonic()
    runtime.interrupt()
    runtime.close()
    assert time.monotonic() - began < 30
    run.join(60)
    assert isinstance(reports[-1], RunEnded)
    assert reports[-1].state == "lost"
    assert not ended.is_set()
    release.set()
    assert ended.wait(60)
    assert not runtime.is_alive
    assert Printed("x") in list(runtime.run("code", threading.Event()))
    runtime.close()


def test_a_run_that_is_stopped_while_the_object_is_made_does_not_run_its_code() -> None:
    entered, release = threading.Event(), threading.Event()

    def construct(_: object) -> None:
        entered.set()
        release.wait(60)

    slow = make_class(lambda *_: "x", __init__=construct)
    runtime = CustomRuntime(make_language(slow), slow)
    reports: list[Report] = []
    run = threading.Thread(target=lambda: reports.extend(runtime.run("code", threading.Event())))
    run.start()
    assert entered.wait(60)
    runtime.interrupt()
    release.set()
    run.join(60)
    assert Printed("x") not in reports
    assert isinstance(reports[-1], RunEnded)
    assert reports[-1].state == "interrupted"
    assert Printed("x") in list(runtime.run("code", threading.Event()))
    runtime.close()


def test_without_a_thread_to_end_it_no_object_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    objects: list[object] = []
    odd = make_class(lambda *_: "x", __init__=lambda made: objects.append(made))
    runtime = CustomRuntime(make_language(odd), odd)

    def refuse(_: str) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr("oi_tui.runtimes.custom.runtime.SpareThread", refuse)
        assert list(runtime.run("code", threading.Event()))[-1].state == "failed"
    assert not objects
    assert not runtime.is_alive
    assert Printed("x") in list(runtime.run("code", threading.Event()))
    runtime.close()
    assert len(objects) == 1


@pytest.mark.parametrize(
    ("given", "reports"),
    [
        (None, []),
        ("text", [Printed("text")]),
        (b"a\xff", [Printed("a\ufffd")]),
        ({"type": "console", "format": "output", "content": 7}, [Printed("7")]),
        ({"role": "computer", "type": "console", "start": True}, []),
        ({"type": "console", "format": "active_line", "content": 2}, [LineReached(2)]),
        ({"type": "console", "format": "active_line", "content": "two"}, []),
        ({"output": "old"}, [Printed("old")]),
        ({"type": "image", "format": "base64.png", "content": "aGk="}, [Displayed("base64.png", "aGk=")]),
        ({"type": "image", "format": "base64.jpeg", "content": b"hi"}, [Displayed("base64.jpeg", "aGk=")]),
        ({"type": "code", "format": "html", "content": "<p>"}, [Displayed("html", "<p>")]),
        ({"type": "message", "content": "said"}, [Printed("said")]),
        ([{"output": "a"}, {"output": "b"}], [Printed("ab")]),
    ],
)
def test_what_run_gives_is_understood(make: Make, given: object, reports: list[object]) -> None:
    played = run_odd(make, lambda *_: given)
    assert played.state == "finished", played.text
    # Before it the object is made, and behind it no line runs any more and the run ends.
    reported = [report for _, report in played.reports]
    assert reported[:-2] == [Starting(), Started(), *reports]


@pytest.mark.parametrize("given", [3, {"type": "smell", "content": "x"}, {}, [object()]])
def test_what_is_no_chunk_fails_the_run_and_says_so(make: Make, given: object) -> None:
    played = run_odd(make, lambda *_: given)
    assert played.state == "failed"
    assert "run() yielded" in played.reason


def test_an_image_may_be_a_file(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(b"image")
    played = run_odd(make, lambda *_: {"type": "image", "format": "path", "content": str(path)})
    assert [base64.b64decode(shown.content) for shown in played.shown] == [b"image"]
    path.unlink()
    gone = run_odd(make, lambda *_: {"type": "image", "format": "path", "content": str(path)})
    assert (gone.state, "cannot be read" in gone.reason) == ("failed", True)


def test_a_run_that_nobody_follows_any_more_is_stopped(make: Make) -> None:
    computer = make(declared=[make_language(Shout)])
    reports = computer.run("shout", "wait")
    take(reports, Printed)
    reports.close()
    assert play(computer, "shout", "x").text == "X 2\n"


def test_a_constructor_that_takes_something_gets_the_computer(make: Make) -> None:
    def construct(self: Any, computer: object) -> None:
        self.given = computer

    language = make_language(
        make_class(lambda self, _: self.given, __init__=construct), computer="the computer"
    )
    assert play(make(declared=[language]), "odd", "code").text == "the computer"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (object(), "its `name` must be a word"),
        (type("Empty", (), {"name": ""}), "its `name` must be a word"),
        (type("Half", (), {"name": "half", "run": print}), "it lacks stop and terminate"),
    ],
)
def test_what_is_no_language_says_what_is_missing(given: object, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        make_language(given)


def test_declaring_anew_ends_what_was_left_out_and_keeps_the_rest(make: Make) -> None:
    ended = threading.Event()
    shout = make_language(Shout)
    odd = make_language(make_class(lambda *_: "x", terminate=lambda _: ended.set()))
    computer = make(declared=[shout, odd])
    play(computer, "shout", "x")
    play(computer, "odd", "x")
    computer.declare([shout])
    assert ended.wait(40)
    assert computer.resolve("odd") is None
    assert play(computer, "shout", "x").text == "X 2\n"
