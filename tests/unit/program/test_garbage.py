"""Python makes full garbage collections while nobody types."""

import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from oi_tui.system.garbage import GarbageCollector


class Ring:
    """Something that only a garbage collection can free."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector() -> Iterator[GarbageCollector]:
    before = gc.get_threshold()
    collector = GarbageCollector()
    collector.take_over()
    yield collector
    gc.set_threshold(*before)


def make_old_garbage() -> "weakref.ref[Ring]":
    """A ring that survived many collections, and many younger objects."""
    ring = Ring()
    gc.collect(1)
    for _ in range(20):
        gc.collect(1)
    return weakref.ref(ring)


def test_it_begins_without_a_full_collection(collector: GarbageCollector) -> None:
    looks: list[str] = []

    def note(phase: str, _: object) -> None:
        looks.append(phase)

    gc.disable()
    try:
        here = [[number] for number in range(100_000)]
        gc.callbacks.append(note)
        collector.take_over()
        made = [[number] for number in range(1_000)]
    finally:
        gc.enable()
        gc.callbacks.remove(note)
    assert not looks
    assert len(here) + len(made) == 101_000


def test_it_waits_while_keys_are_pressed_and_collects_afterwards(collector: GarbageCollector) -> None:
    ring = make_old_garbage()
    kept = [[number] for number in range(200_000)]
    collector.collect_if_quiet(last_key=time.monotonic())
    assert ring() is not None
    collector.collect_if_quiet(last_key=float("-inf"))
    assert ring() is None
    assert len(kept) == 200_000


def test_one_look_is_not_followed_by_the_next(collector: GarbageCollector) -> None:
    make_old_garbage()
    collector.collect_if_quiet(last_key=float("-inf"))
    ring = make_old_garbage()
    collector._next = float("inf")
    collector.collect_if_quiet(last_key=float("-inf"))
    assert ring() is not None
    collector._next = 0.0
    collector.collect_if_quiet(last_key=float("-inf"))
    assert ring() is None


def test_keys_pressed_all_the_time_do_not_keep_garbage_for_ever(collector: GarbageCollector) -> None:
    ring = make_old_garbage()
    collector._overdue = time.monotonic()
    collector.collect_if_quiet(last_key=time.monotonic())
    assert ring() is None
