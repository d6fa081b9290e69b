"""Whatever a terminal sends, Textual's parser gets only what it can read."""

import os
import random

import pytest
from textual import events

from oi_tui.terminal.driver import _KeyParser, _read_typed_early
from oi_tui.terminal.input_filter import (
    PASTE_SILENCE,
    TORN,
    UNMARKED_PASTE,
    UNMARKED_SILENCE,
    InputDecoder,
    InputFilter,
    InputUnit,
    Pasted,
    TerminalReply,
)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Input:
    """The way from the terminal to the application: events in a short form."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.filter = InputFilter(clock=self.clock)
        self.parser = _KeyParser()
        self.events: list[object] = []

    def send(self, *parts: str) -> list[object]:
        for part in parts:
            self._take(self.filter.feed(part))
        return self.events

    def wait(self, seconds: float) -> list[object]:
        self.clock.now += seconds
        self._take(self.filter.tick())
        return self.events

    def _take(self, units: list[InputUnit]) -> None:
        for unit in units:
            if isinstance(unit, Pasted):
                self.events.append(unit)
                continue
            if isinstance(unit, TerminalReply):
                continue
            for event in self.parser.read(unit):
                self.events.append(event.key if isinstance(event, events.Key) else type(event).__name__)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Kitty's reports: pressed, repeated, released; with alternate keys and text.
        ("\x1b[121;1:1u", ["y"]),
        ("\x1b[121;1:2u", ["y"]),
        ("\x1b[121;1:3u", []),
        ("\x1b[97:65;2u", ["A"]),
        ("\x1b[97:65:97;2;65u", ["A"]),
        ("\x1b[97;2u", ["A"]),
        ("\x1b[97;5u", ["ctrl+a"]),
        ("\x1b[97;129u", ["a"]),
        ("\x1b[97;;228u", ["ä"]),
        ("\x1b[13u", ["enter"]),
        ("\x1b[13;1:3u", []),
        ("\x1b[13;5u", ["ctrl+enter"]),
        ("\x1b[27u", ["escape"]),
        ("\x1b[1;1:3A", []),
        ("\x1b[1;5A", ["ctrl+up"]),
        ("\x1b[1;129A", ["up"]),
        ("\x1b[3;1:3~", []),
        ("\x1b[3;5~", ["ctrl+delete"]),
        # xterm's modifyOtherKeys.
        ("\x1b[27;5;99~", ["ctrl+c"]),
        ("\x1b[27;5;9999999~", []),
        # Numbers that are no key.
        ("\x1b[99999999u", []),
        ("\x1b[55296u", []),
        ("\x1b[1u", []),
        ("\x1b[97;;1u", []),
        ("\x1b[97;;55296u", []),
        ("\x1b[97;999u", []),
        ("\x1b[99~", []),
        ("\x1b[" + "1;" * 100 + "Ax", ["x"]),
        # What every terminal sends.
        ("\x1b[A\x1bOP\x1b[[A\x1b[3~\x1b[Z", ["up", "f1", "f1", "delete", "shift+tab"]),
        ("\x1bf\x1bd", ["ctrl+right", "alt+d"]),
        ("\x1b\x1b[A", ["escape", "up"]),
        ("\x1b[I\x1b[O", ["AppFocus", "AppBlur"]),
        ("\x1b[<0;3;4M\x1b[<0;3;4m", ["MouseDown", "MouseUp"]),
        ("\x1b[48;24;80;480;800t", ["Resize"]),
        ("höher\r", [*"höher", "enter"]),
        # Reports that would be harmful.
        ("\x1b[48;0;0;0;0t", []),
        ("\x1b[48;99999;99999;99999;99999t", []),
        ("\x1b[<999;1;1M\x1b[<0;0;0M\x1b[<0;999999;1M", []),
        ("\x1b[M abx", ["x"]),
        ("\x9b5n\x9b121;1:3ux", ["x"]),
    ],
)
def test_a_sequence_becomes_the_keys_that_were_pressed(text: str, expected: list[str]) -> None:
    assert Input().send(text) == expected
    byte_by_byte = Input()
    byte_by_byte.send(*text)
    assert byte_by_byte.wait(1.0) == expected


STRINGS = [
    "]11;rgb:ffff/ffff/ffff",
    "]52;c;eXllcw==",
    "P1$r0m",
    "P>|terminal(1)",
    "_Gi=9;OK",
    "^private",
    "Xtext",
]


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize("end", ["\x07", "\x1b\\", "\x9c", "\x18"])
def test_a_reply_that_nobody_waits_for_is_swallowed_whole(string: str, end: str) -> None:
    reply = f"\x1b{string}{end}"
    assert Input().send("a", reply, "b") == ["a", "b"]
    assert Input().send(f"a{reply}{reply}b") == ["a", "b"]
    assert Input().send(*f"a{reply}b") == ["a", "b"]


def test_a_reply_that_breaks_off_ends_after_a_moment_or_with_the_next_sequence() -> None:
    broken = Input()
    broken.send("\x1b]11;rgb:ff")
    broken.wait(TORN + 0.1)
    assert broken.send("hello") == [*"hello"]
    assert Input().send("\x1b]11;rgb:ff\x1b[A") == ["up"]


@pytest.mark.parametrize("key", ["]", "P", "_", "^", "X", "O", "["])
def test_alt_and_a_letter_that_begins_sequences_is_a_key(key: str) -> None:
    typed = Input()
    assert typed.send(f"\x1b{key}") == []
    found = typed.wait(0.05)
    assert len(found) == 1
    assert typed.send("x")[1:] == ["x"]


def test_escape_alone_waits_no_longer_than_a_moment() -> None:
    typed = Input()
    assert typed.send("\x1b") == []
    assert typed.wait(0.041) == ["escape"]


@pytest.mark.parametrize(
    "inside", ["two\rlines", "\x1b[31mred\x1b[0m\ry\r", "\x1b" * 50 + "y\r", "\x1b]52;c;QQ\x07", ""]
)
def test_a_paste_is_one_event_whatever_is_in_it(inside: str) -> None:
    whole = f"\x1b[200~{inside}\x1b[201~"
    assert Input().send(f"a{whole}b") == ["a", Pasted(inside), "b"]
    assert Input().send(*f"a{whole}b") == ["a", Pasted(inside), "b"]


def test_a_paste_without_an_end_does_not_swallow_the_keyboard() -> None:
    typed = Input()
    typed.send("\x1b[200~text")
    assert typed.wait(PASTE_SILENCE + 0.1) == [Pasted("text")]
    assert typed.send("y") == [Pasted("text"), "y"]


@pytest.mark.parametrize("place", [(50, 10), (100, 10), (170, 100), (200, 120), (223, 223)])
def test_the_oldest_mouse_report_takes_nothing_from_the_key_after_it(place: tuple[int, int]) -> None:
    column, row = place
    sent = b"\x1b[M " + bytes([32 + column, 32 + row]) + b"\x1b[Ay"
    assert Input().send(InputDecoder().decode(sent)) == ["up", "y"]
    decoder, torn = InputDecoder(), Input()
    assert torn.send(*(decoder.decode(bytes([byte])) for byte in sent)) == ["up", "y"]


def test_letters_in_several_bytes_are_read_although_they_come_in_pieces() -> None:
    decoder = InputDecoder()
    sent = "\x1b[é\x1b[200~漢\x1b\x1b[201~\U0001f600".encode()
    assert "".join(decoder.decode(bytes([byte])) for byte in sent) == sent.decode()
    assert decoder.decode(b"a\xffb") == "a\ufffdb"


ALPHABET = (
    "\x1b\x1b\x1b[[[]P_^XO0123456789;;;::<?>=$!'\""
    "u~ABCDEFHPQRSMmtyIZ \x07\x9b\x9d\x18abyn\r\n\x00\x7fé漢\U0001f600\ufffd"
)


#: Replies to queries, each with words in it that are no keys.
REPLIES = (
    "\x1bP{0};{1};0q{word}{end}",
    "\x1bP>|xterm({word}){end}",
    "\x1bP!|{word}{end}",
    "\x1bP1+r{word}={word}{end}",
    "\x1b_Gi={0},p={1};{word}{end}",
    "\x1b]{0};rgb:{word}{end}",
    "\x1b]{0};{word}\x07",
    "\x1b[?{0};{1}$y",
    "\x1b[?{0};{1};{2}c",
    "\x1b[>{0};{1};{2}c",
    "\x1b[{0};{1}R",
    "\x1b[?{0}u",
    "\x1b[{0};{1};{2}t",
    "\x1b[<{0};{1};{2}M",
    "\x1b[{0};{1};{2}M",
    "\x1b[I",
    "\x1b[O",
)


@pytest.mark.slow
def test_no_reply_of_a_terminal_becomes_letters_however_it_arrives() -> None:
    rounds = 200_000 if os.environ.get("OI_TUI_SOAK") else 5_000
    choose = random.Random(rounds)
    terminal = Input()
    for _ in range(rounds):
        text = ""
        for reply in choose.choices(REPLIES, k=choose.randint(1, 4)):
            numbers = choose.choices((0, 1, 5, 32, 95, 223, 224, 255, 999, 65535, 10**12), k=3)
            word = "".join(choose.choices("qQ0123456789;:=,/ ", k=choose.randint(0, 12)))
            text += reply.format(*numbers, word=word, end=choose.choice(("\x1b\\", "\x9c")))
        while text:
            at = choose.randint(1, len(text))
            terminal.send(text[:at])
            text = text[at:]
        letters = [event for event in terminal.events if isinstance(event, str) and len(event) == 1]
        assert not letters
        terminal.events.clear()
        terminal.wait(5.0)
        terminal.events.clear()
    assert terminal.send("y") == ["y"]


@pytest.mark.slow
def test_no_input_whatever_is_more_than_the_parser_can_read() -> None:
    rounds = 200_000 if os.environ.get("OI_TUI_SOAK") else 10_000
    choose = random.Random(rounds)
    terminal = Input()
    for number in range(rounds):
        text = "".join(choose.choices(ALPHABET, k=choose.randint(1, 14)))
        for event in terminal.send(f"\x1b[{text}" if choose.random() < 0.6 else text):
            str(event).encode()
        terminal.events.clear()
        if number % 7 == 0:
            terminal.wait(5.0)
    terminal.wait(5.0)
    terminal.events.clear()
    assert terminal.send("y") == ["y"]


def test_much_text_at_once_is_a_paste_until_a_key_or_silence() -> None:
    typed, lines = Input(), "some words\r" * UNMARKED_PASTE
    assert typed.send(lines, lines, "end") == []
    assert typed.filter.wait == UNMARKED_SILENCE
    whole = (lines * 2 + "end").replace("\r", "\n")
    assert typed.wait(UNMARKED_SILENCE + 0.01) == [Pasted(whole)]
    assert typed.send(lines, "end\x03") == [Pasted(whole), Pasted(whole[-len(lines) - 3 :]), "ctrl+c"]
    assert typed.send(lines, "\x1b[A")[-2:] == [Pasted(whole[: len(lines)]), "up"]


def test_an_enter_after_much_text_in_one_line_is_a_key() -> None:
    typed = Input()
    typed.send("word " * UNMARKED_PASTE + "\r")
    assert typed.wait(UNMARKED_SILENCE + 0.01) == [Pasted("word " * UNMARKED_PASTE), "enter"]


def test_a_key_that_was_held_down_for_long_is_no_paste() -> None:
    assert Input().send("j" * UNMARKED_PASTE) == ["j"] * UNMARKED_PASTE
    assert Input().send("a b" * (UNMARKED_PASTE // 3 - 1)).count("a") == UNMARKED_PASTE // 3 - 1


def test_enter_typed_before_the_first_frame_sends_and_a_paste_does_not() -> None:
    assert _read_typed_early("hello\n") == "hello\r"
    assert _read_typed_early("hello") == "hello"
    assert _read_typed_early("one\ntwo\n") == "one\ntwo\n"
    assert _read_typed_early("hello\n\x1b[?2026;2$y") == "hello\r\x1b[?2026;2$y"
    assert _read_typed_early("one\n\x1b[Btwo\n") == "one\n\x1b[Btwo\n"
