"""Interrupts that come just as a run begins: none is lost, and none comes twice."""

import threading
from typing import Any

import pytest

from oi_tui.messages import Printed, RunEnded, Stopping
from oi_tui.runtimes import Computer
from oi_tui.runtimes.pty_runtime import PtyRuntime
from tests.runtimes.playing import play

#: What never ends, and where the language has it, cleans up for a while.
ENDLESS = {
    "python": "import time\ntry:\n    print('go')\n    time.sleep(60)\n"
    "finally:\n    time.sleep(0.3)\n    print('saved')",
    "perl": 'eval { print "go\\n"; sleep 60 }; my $why = $@; select(undef, undef, undef, 0.3); '
    'print "saved\\n"; die $why',
    "ruby": "begin\n  puts 'go'\n  sleep 60\nensure\n  sleep 0.3\n  puts 'saved'\nend",
    "r": "tryCatch({ cat('go\\n'); Sys.sleep(60) }, finally = { Sys.sleep(0.3); cat('saved\\n') })",
    "javascript": "while (true);",
    "shell": "sleep 60",
    "zsh": "sleep 60",
    "lua": "while true do end",
    "php": "while (true) usleep(1000);",
    "octave": "pause (60)",
}
#: When the interrupt comes: before the request of the run is written, or so many seconds after that.
MOMENTS = (None, 0.0, 0.0005, 0.002, 0.01)


def interrupt_at_request(
    runtime: PtyRuntime, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> threading.Event:
    """Interrupt the next run at this moment. Returns what is set once it was interrupted."""
    assert runtime._process
    channel = runtime._process.channel
    send = channel.request
    done = threading.Event()

    def interrupt() -> None:
        runtime.interrupt()
        done.set()

    def request(line: str, *arguments: Any, **options: Any) -> int:
        if "cell-" not in line:
            return send(line, *arguments, **options)
        if seconds is None:
            interrupt()
        place = send(line, *arguments, **options)
        if seconds == 0:
            interrupt()
        elif seconds:
            threading.Timer(seconds, interrupt).start()
        return place

    monkeypatch.setattr(channel, "request", request)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("language", ENDLESS)
def test_an_interrupt_just_as_a_run_begins_ends_it_once(
    language: str, computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(computer, language, "")
    runtime = computer.targets.current.runtimes[language]
    assert isinstance(runtime, PtyRuntime)
    for seconds in MOMENTS:
        with monkeypatch.context() as patched:
            done = interrupt_at_request(runtime, seconds, patched)
            reports = list(computer.run(language, ENDLESS[language]))
        assert done.is_set()
        end = reports[-1]
        assert isinstance(end, RunEnded)
        text = "".join(report.text for report in reports if isinstance(report, Printed))
        assert (end.state, end.seconds < 10) == ("interrupted", True), seconds
        assert [report.step for report in reports if isinstance(report, Stopping)] == ["interrupt"], seconds
        assert ("go" in text) == ("saved" in text), (seconds, text)
