"""Messages of several lines in plain mode: three quotation marks begin and end them."""

import os
from collections.abc import Sequence
from contextlib import closing

import pytest

from oi_tui.engine.settings.profile import Profile
from oi_tui.plain.conversation import PlainConversation
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.wakeup import Wakeup
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm


class Interrupting(StdinReader):
    """A keyboard at which somebody presses ctrl+c in the middle of a message."""

    def prompt(self, mark: str, history: Sequence[str] = ()) -> str | None:
        """The next line, or the interrupt."""
        line = super().prompt(mark, history)
        if line == "ctrl+c":
            raise KeyboardInterrupt
        return line


def send_lines(text: str, *, multi_line: bool = True) -> tuple[list[str], str]:
    """What is sent to the model for these lines of input, and the notes of the program."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    notes: list[str] = []
    space = Workspace(Profile(multi_line=multi_line), llm=Llm(), computer=Computer())
    with closing(Wakeup()) as alarm, closing(space):
        handler = PlainEventHandler(notes.append, notes.append, lambda _: "", echoes=False)
        keyboard = Interrupting(alarm, reading)
        PlainConversation(space, handler, keyboard, alarm, seen=False).converse()
        messages = [message.content for message in space.session.messages if message.role == "user"]
    os.close(reading)
    return messages, "".join(notes)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ('"""\nline one\n\n  line two\n"""\n', ["line one\n\n  line two"]),
        ('"""line one\nline two"""\nafter\n', ["line one\nline two", "after"]),
        ('see """x\ny""" there\n', ['see """x\ny""" there']),
        ('"""one line"""\n', ["one line"]),
        ('"""\n\n"""\nhello\n', ["hello"]),
        ('"""\nnever ended\n', ['"""\nnever ended']),
        ("```\nline one\n\n  line two\n```\nafter\n", ["line one\n\n  line two", "after"]),
        ("```python\nprint(1)\n```\nafter\n", ["```python\nprint(1)\n```", "after"]),
        ("```\nsee\n```sh\nls\n```\n```\nafter\n", ["```\nsee\n```sh", "ls", "after"]),
        ("what is ```x```?\nafter\n", ["what is ```x```?", "after"]),
        ("one\ntwo\n", ["one", "two"]),
    ],
)
def test_three_quotation_marks_hold_lines_together(text: str, messages: list[str]) -> None:
    assert send_lines(text)[0] == messages


def test_ctrl_c_gives_the_message_up() -> None:
    messages, notes = send_lines('"""\nnever\nctrl+c\nhello\n')
    assert messages == ["hello"]
    assert "The message was not sent." in notes


def test_without_multi_line_each_line_is_a_message() -> None:
    assert send_lines('"""\nline one\n', multi_line=False)[0] == ['"""', "line one"]
