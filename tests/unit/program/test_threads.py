"""Threads for work that others need not wait for."""

import threading

import pytest

from oi_tui.system.threads import start_thread


def refuse(_: threading.Thread) -> None:
    raise RuntimeError("can't create new thread at interpreter shutdown")


@pytest.mark.parametrize("ends", [True, False])
def test_work_is_done_at_once_only_where_no_thread_begins_because_the_program_ends(
    ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    monkeypatch.setattr(threading.Thread, "start", refuse)
    if ends:
        monkeypatch.setattr(threading, "main_thread", threading.Thread)
        assert start_thread(lambda: done.append(1), "ending") is None
    else:
        with pytest.raises(RuntimeError, match="new thread"):
            start_thread(lambda: done.append(1), "ending")
    assert done == [1] * ends
