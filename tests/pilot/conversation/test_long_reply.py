"""While a reply of 200,000 tokens streams in keys are answered, and escape ends it."""

import threading
from collections.abc import Iterator

import pytest
import textual.screen
from textual import constants

from oi_tui.engine.events import Event, MessageGrew, MessageStarted
from oi_tui.engine.llm.base import Delta, Text
from oi_tui.messages import Message
from oi_tui.screens.chat import view
from oi_tui.widgets.conversation import draw_timer
from tests.pilot.test_chat import ChatDriver, open_chat

#: Each is two tokens, more or less.
WORDS = 100_000


@pytest.fixture(autouse=True)
def real_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many frames a second as a person sees: these tests are about drawing while nothing is at rest."""
    monkeypatch.setattr(textual.screen, "UPDATE_PERIOD", 1 / constants.MAX_FPS)


class Torrent:
    """A reply that goes on until it is stopped: soon it has so many words, then they come one by one."""

    def __init__(self) -> None:
        self.given = 0
        self.cancelled = threading.Event()

    def __iter__(self) -> Iterator[Delta]:
        while not self.cancelled.wait(0.001):
            count = 1_000 if self.given < WORDS else 1
            numbers = range(self.given, self.given + count)
            self.given += count
            yield Text("".join(f"w{n}\n\n" if n % 40 == 39 else f"w{n} " for n in numbers))

    def cancel(self) -> None:
        self.cancelled.set()


def read_screen(at: ChatDriver) -> str:
    """What is on the screen, where every change was drawn."""
    strips = at.app.screen._compositor.render_strips()
    return "".join(segment.text for strip in strips for segment in strip)


async def test_keys_are_answered_and_escape_ends_it() -> None:
    torrent = Torrent()
    async with open_chat() as at:
        at.llm.reply = lambda _request: torrent

        def newest() -> int:
            words = (word for word in read_screen(at).split() if word[:1] == "w")
            return max((int(word[1:]) for word in words if word[1:].isdigit()), default=0)

        await at.type("go on")
        for part, key in enumerate("αβγ"):
            await at.until(lambda part=part: newest() >= part * WORDS // 2)
            await at.pilot.press(key)
            await at.until(lambda key=key: key in read_screen(at))
            assert not torrent.cancelled.is_set()
            assert at.view.busy
        assert at.prompt == "αβγ"
        await at.pilot.press("escape")
        await at.until(lambda: not at.view.busy)
        assert torrent.cancelled.is_set()
        reply = next(message for message in at.view.session.messages if message.role == "assistant")
        assert reply.content.startswith("w0 w1 ")
        assert f" w{WORDS - 2} w{WORDS - 1}\n" in reply.content


async def test_a_reply_in_many_pieces_is_taken_in_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [Text(f"w{n}\n\n") for n in range(1_000)]
    async with open_chat([Text("ready")], pieces) as at:
        await at.type("begin")
        await at.idle()
        # No frame comes by itself any more: events are taken only where they cannot wait.
        monkeypatch.setattr(view, "FLUSH", 3600.0)
        sizes: list[int] = []
        take = at.view.turns.pop_events

        def count() -> list[Event]:
            sizes.append(len(events := take()))
            return events

        monkeypatch.setattr(at.view.turns, "pop_events", count)
        await at.type("go on")
        await at.until(lambda: sum(sizes) > len(pieces) and not at.view.busy)
        assert len(sizes) < 40
        assert "w999" in at.view.session.messages[-1].content


async def test_a_frame_of_a_reply_waits_for_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_chat() as at:
        words = Message(role="assistant", type="message", content="")
        at.app.last_key = float("-inf")
        at.view.show(MessageStarted(words))
        at.view.show(MessageGrew(words.id, "before\n\n"))
        await at.until(lambda: "before" in read_screen(at))
        monkeypatch.setattr(draw_timer, "_KEY", 3600.0)
        monkeypatch.setattr(draw_timer, "_TIMEOUT", 3600.0)
        held: list[float] = []
        transcript = at.view.conversation.transcript
        at.chat.prompt.focus()
        await at.pilot.press("λ")
        with monkeypatch.context() as patch:
            patch.setattr(draw_timer, "schedule", lambda _, wait, __: held.append(wait))
            at.view.show(MessageGrew(words.id, "after\n\n"))
            transcript._timer.draw_after_keys()
            await at.until(lambda: "λ" in read_screen(at))
            assert held
            assert "after" not in read_screen(at)
        monkeypatch.setattr(draw_timer, "_KEY", 0.0)
        monkeypatch.setattr(draw_timer, "_BETWEEN_KEYS", 0.0)
        transcript._timer.draw_after_keys()
        await at.until(lambda: "after" in read_screen(at))


async def test_while_a_person_types_a_reply_is_drawn_after_each_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_chat() as at:
        timer = at.view.conversation.transcript._timer
        words = Message(role="assistant", type="message", content="")
        at.view.show(MessageStarted(words))
        at.view.show(MessageGrew(words.id, "zero\n\n"))
        await at.until(lambda: "zero" in read_screen(at))
        monkeypatch.setattr(draw_timer, "_KEY", 0.0)
        monkeypatch.setattr(draw_timer, "_TYPING", 3600.0)
        monkeypatch.setattr(draw_timer, "_BETWEEN_KEYS", 3600.0)
        at.chat.prompt.focus()
        await at.pilot.press("λ")
        for letter, word in zip("μν", ("one", "two"), strict=True):
            timer.draw_now()
            timer._pause = 0.0
            at.view.show(MessageGrew(words.id, f"{word}\n\n"))
            timer.draw_after_keys()
            assert timer.is_waiting
            await at.pilot.press(letter)
            await at.until(lambda word=word: word in read_screen(at))


async def test_a_reply_is_drawn_also_while_keys_are_pressed_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_chat() as at:
        words = Message(role="assistant", type="message", content="")
        monkeypatch.setattr(draw_timer, "_KEY", 3600.0)
        at.chat.prompt.focus()
        await at.pilot.press("λ")
        at.view.show(MessageStarted(words))
        at.view.show(MessageGrew(words.id, "words\n\n"))
        await at.until(lambda: "words" in read_screen(at))
