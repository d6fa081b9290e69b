"""Threads for work that others need not wait for."""

import threading

import pytest

from oi_tui.system.threads import SpareThread


def refuse(_: threading.Thread) -> None:
    raise RuntimeError("can't create new thread at interpreter shutdown")


@pytest.mark.parametrize("ends", [True, False])
def test_work_is_left_to_the_spare_thread_only_where_no_thread_begins_because_the_program_ends(
    ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    spare = SpareThread("spare")
    monkeypatch.setattr(threading.Thread, "start", refuse)
    if ends:
        monkeypatch.setattr(threading, "main_thread", threading.Thread)
        for _ in range(2):
            done = spare.start(lambda: threads.append(threading.current_thread().name), "work")
            assert done.wait(60)
    else:
        with pytest.raises(RuntimeError, match="new thread"):
            spare.start(lambda: threads.append("work"), "work")
    spare.end()
    assert threads == ["spare"] * 2 * ends


def test_work_that_does_not_return_keeps_no_other_work_from_being_done() -> None:
    release = threading.Event()
    spare = SpareThread("spare")
    stuck = spare.start(lambda: release.wait(60), "stuck")
    assert spare.start(threading.Event, "work").wait(60)
    assert not stuck.is_set()
    release.set()
    assert stuck.wait(60)
    spare.end()
