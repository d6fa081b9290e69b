"""The languages that tests share: one that ends there fails one test, and the next ones run."""

import os
import signal

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import alive, kept_running, living, play, until
from tests.runtimes.samples import ALL, Sample

#: One language of each kind: its process is found in another way.
KINDS = [
    sample
    for sample in ALL
    if sample.name in ("python", "ruby", "c", "sql", "shell in the sandbox", "python over ssh")
]


@pytest.mark.parametrize("sample", KINDS, ids=lambda sample: sample.name)
def test_a_shared_language_that_ends_fails_one_test_and_the_next_ones_run(
    computer: Computer, sample: Sample
) -> None:
    play(computer, sample.language, sample.hello)
    pid = living(computer)[sample.language]
    test = kept_running(computer)
    test.__enter__()
    os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid))
    with pytest.raises(pytest.fail.Exception, match="shared computer"):
        test.__exit__(None, None, None)
    for _ in range(2):
        with kept_running(computer):
            played = play(computer, sample.language, sample.hello)
        assert played.state == "finished", played.reason
        assert living(computer) == {}
