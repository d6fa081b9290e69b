"""Which removed messages can be restored."""

from pathlib import Path

from oi_tui.engine.storage.store import Store
from oi_tui.engine.storage.undo_history import MOST, list_restorable, make_undo
from oi_tui.messages import Message


def make_message(text: str) -> Message:
    return Message(role="user", type="message", content=text)


def test_only_a_step_of_nothing_but_summaries_is_no_step() -> None:
    summary = make_message("what was said").replace(covers="some-id")
    assert make_undo([summary], 2, "x") is None
    for dropped in ([make_message("a")], [summary, make_message("a")]):
        step = make_undo(dropped, 2, "x")
        assert step is not None
        assert step.dropped == tuple(dropped)
        assert step.left == (2, "x")


def test_only_what_was_removed_at_the_present_end_can_be_restored() -> None:
    kept, dropped = make_message("a"), make_message("b")
    step = make_undo([dropped], 1, kept.id)
    assert step is not None
    assert list_restorable([step], [kept]) == (dropped,)
    assert list_restorable([step], [kept, make_message("c")]) == ()
    assert list_restorable([step], [kept, dropped]) == ()
    assert list_restorable([], [kept]) == ()


def test_the_last_hundred_steps_are_remembered(tmp_path: Path) -> None:
    begun = Store(tmp_path / "conversations").create(cwd="/", model="m")
    for number in range(101):
        message = make_message(str(number))
        begun.put(message)
        begun.forget([message.id])
    assert MOST == 100
    remembered = [step.dropped[0].content for step in begun.taken_back]
    assert remembered == [str(number) for number in range(1, 101)]
    begun.close()
