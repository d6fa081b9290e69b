"""What of a run's output still stands after the program cleared it or wrote over it."""

import pytest

from oi_tui.engine.llm import request
from oi_tui.engine.output.model_output import shorten_for_model
from oi_tui.engine.output.standing_output import keep_standing_output, remove_erased
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message

CLEAR = "\x1b[9999A\r\x1b[J"
CODE = Message(role="assistant", type="code", format="python", content="x", call="c1", state="finished")


def make_text(content: str, view: str | None = None) -> Message:
    made = Message(role="computer", type="console", format="output", content=content, parent=CODE.id)
    return made.replace(view=view)


def image(content: str) -> Message:
    return Message(role="computer", type="image", format="base64.png", content=content, parent=CODE.id)


def page(content: str) -> Message:
    return Message(role="computer", type="code", format="html", content=content, parent=CODE.id)


def up(count: int) -> str:
    return f"\x1b[{count}A\r\x1b[J"


@pytest.mark.parametrize(
    ("results", "left"),
    [
        # Nothing moves the cursor.
        ([make_text("a\n"), image("1"), make_text("b\n")], ["a\n", "1", "b\n"]),
        # A loop that clears, and shows an image or a table each time.
        (
            [make_text(CLEAR), image("1"), make_text("0\n" + CLEAR), image("2"), make_text("1\n")],
            ["2", "1\n"],
        ),
        (
            [
                make_text("a\nb\n", "T1"),
                page("p1"),
                make_text("0\n" + CLEAR),
                make_text("c\nd\n", "T2"),
                page("p2"),
                make_text("1\n"),
            ],
            ["c\nd\n", "p2", "1\n"],
        ),
        ([image("1"), make_text("done\n" + CLEAR)], []),
        # A value that is updated, with text above and below.
        (
            [
                make_text("top\n"),
                make_text("a\nb\n", "T1"),
                page("p1"),
                make_text("x\n" + up(3)),
                make_text("c\n", "T2"),
                make_text("x\n"),
            ],
            ["top\n", "c\n", "x\n"],
        ),
        # What is drawn below an image leaves the image.
        ([make_text("a\n"), image("1"), make_text("1%\n2%\n" + up(2) + "3%\n")], ["a\n", "1", "3%\n"]),
        ([make_text("half"), image("1"), make_text("\n" + up(1) + "rest\n")], ["half\n", "1", "rest\n"]),
    ],
)
def test_what_was_cleared_or_written_over_is_gone(results: list[Message], left: list[str]) -> None:
    assert [message.content for message in keep_standing_output(results)] == left


def test_the_model_gets_what_stands_and_no_image_that_was_cleared() -> None:
    asked = Message(role="user", type="message", content="plot")
    results = [make_text(CLEAR), image("AAAA"), make_text("0\n" + CLEAR), image("BBBB"), make_text("1\n")]
    messages = [asked, CODE, *results]
    assert [message.content for message in remove_erased(messages)][2:] == ["BBBB", "1\n"]
    sent = str(request.write(messages, Profile(), [], tools=True, vision=True).request.messages)
    assert ("AAAA" in sent, "BBBB" in sent) == (False, True)
    assert shorten_for_model([make_text("a\n", "T1"), make_text(up(1)), make_text("b\n", "T2")], 0) == "T2"
