"""Long conversations: the work for a request depends on the window and not on all that was ever said."""

import random
from typing import Any

import pytest

from oi_tui.engine.llm import request
from oi_tui.engine.llm.context_window import CHARACTERS
from oi_tui.engine.llm.recent_messages import select_recent
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message
from tests.unit.engine.test_session import make, run_turn


def conversation(seed: int, turns: int = 60) -> list[Message]:
    """Words, code, output, thoughts and notes in every order that happens, with a summary somewhere."""
    chance = random.Random(seed)
    made: list[Message] = []
    for number in range(turns):
        text = f"{number} " + "word " * chance.randrange(1, 200)
        made.append(Message(role="user", type="message", content=text))
        for _ in range(chance.randrange(3)):
            kept = {"format": "python", "state": "finished", "call": chance.choice([None, f"c{number}"])}
            code = Message(role="assistant", type="code", content="x = 1\n" * chance.randrange(1, 90), **kept)
            output = "out\n" * chance.randrange(900)
            made += [
                Message(role="assistant", type="reasoning", content="hm " * 50),
                code,
                Message(role="computer", type="console", format="output", content=output, parent=code.id),
            ]
        made.append(Message(role="assistant", type="message", content="so " * chance.randrange(1, 300)))
        if number and number == seed % 40:
            made.append(Message(role="assistant", type="message", content="In short.", covers=made[-9].id))
    return made


@pytest.mark.parametrize("seed", range(40))
def test_the_request_is_the_same_as_when_all_of_it_is_written(seed: int) -> None:
    messages, profile = conversation(seed), Profile(model="openai/m")
    window = random.Random(-seed).randrange(1500, 12_000)
    newest, older = select_recent(messages, window)
    wanted = request.write(messages, profile, ["python"], tools=True, window=window)
    found = request.write(newest, profile, ["python"], tools=True, window=window)
    assert found.request == wanted.request
    assert found.left_out + older == wanted.left_out
    assert len(newest) <= len(messages)


def test_a_short_conversation_is_left_as_it_is() -> None:
    messages = conversation(3, turns=4)
    assert select_recent(messages, 100_000) == (messages, 0)


ROOM = 100 * CHARACTERS  # of a window of 100 tokens, in characters


def make_message(length: int, role: str = "user") -> Message:
    return Message(role=role, type="message", content="x" * length)


@pytest.mark.parametrize(
    "lengths", [(0, ROOM), (0, ROOM - 1, 1), (ROOM // 3, ROOM // 2), (0, 5, ROOM - 6), (0, ROOM, 0)]
)
def test_what_just_fits_is_kept_whole(lengths: tuple[int, ...]) -> None:
    messages = [make_message(length) for length in lengths]
    assert select_recent(messages, 100) == (messages, 0)


@pytest.mark.parametrize("lengths", [(ROOM + 1,), (ROOM, 1), (1, ROOM), (ROOM - 1, 1, 1), (1, 0, 0, ROOM)])
def test_one_character_too_many_leaves_out_what_was_written_before(lengths: tuple[int, ...]) -> None:
    messages = [make_message(7), make_message(7, "assistant"), *(make_message(length) for length in lengths)]
    assert select_recent(messages, 100) == (messages[2:], 2)


def test_what_is_sent_begins_with_words_of_the_person() -> None:
    messages = [make_message(1), make_message(2), make_message(ROOM, "assistant"), make_message(1)]
    assert select_recent(messages, 100) == (messages[1:], 1)


def test_what_no_model_is_given_takes_no_room_and_is_not_counted() -> None:
    long = "x" * (2 * ROOM)
    unseen = [
        Message(role="assistant", type="reasoning", content=long),
        Message(role="computer", type="message", content=long, recipient="user"),
        Message(role="assistant", type="message", content=long, recipient="user"),
    ]
    output = Message(role="computer", type="console", format="output", content=long)
    messages = [make_message(1), *unseen, output, make_message(1), *unseen, output, make_message(1)]
    assert select_recent(messages, 100) == (messages, 0)
    newest = make_message(ROOM + 1)
    assert select_recent([*messages, newest], 100) == ([newest], 5)


@pytest.mark.slow
def test_turns_do_not_get_dearer_as_a_conversation_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = request.write

    def counted(messages: list[Message], *more: Any, **named: Any) -> request.PreparedRequest:
        written.append(len(messages))
        return write(messages, *more, **named)

    monkeypatch.setattr(request, "write", counted)
    session = make(facts=ModelInfo(context_window=4000))
    for _ in range(200):
        run_turn(session, "word " * 100)
    assert len(session.messages) == 400
    assert max(written[100:]) <= max(written[:100]), "no more is written for late turns than for early ones"
