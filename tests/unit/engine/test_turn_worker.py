"""A turn in a thread wakes the screen no more often than the screen has to act."""

from oi_tui.engine.events import Event, MessageGrew, MessageStarted, Noticed, TurnEnded
from oi_tui.messages import Message
from oi_tui.turn_worker import TurnWorker


def follow(events: list[Event]) -> list[bool]:
    """Run the worker; of each time that it woke the screen, whether something was urgent."""
    wakes: list[bool] = []
    TurnWorker(iter(events), lambda worker: wakes.append(worker.is_urgent)).run()
    return wakes


def test_growth_wakes_the_screen_once() -> None:
    message = Message(role="assistant", type="message", content="")
    growth = [MessageGrew(message.id, "word ") for _ in range(100)]
    assert follow([MessageStarted(message), *growth]) == [False]


def test_an_event_that_cannot_wait_wakes_it_once_more() -> None:
    growth = [MessageGrew("a", "word") for _ in range(3)]
    assert follow([*growth, Noticed("now"), *growth, TurnEnded("done")]) == [False, True]


def test_many_events_wake_it_once_more() -> None:
    wakes: list[bool] = []
    taken: list[Event] = []

    def wake(one: TurnWorker) -> None:
        wakes.append(one.is_urgent)
        if one.is_urgent:
            taken.extend(one.pop_events())
            assert not one.is_urgent

    worker = TurnWorker((MessageGrew("a", "word") for _ in range(600)), wake)
    worker.run()
    assert wakes == [False, True, False, True, False]
    assert len(taken) == 512
    assert len(worker.pop_events()) == 88
