"""A conversation printed in the terminal is words, and nothing that the terminal would obey."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from oi_tui.engine.export.plain_text import write_plain_text
from oi_tui.messages import Message


def test_who_said_what_can_be_reported() -> None:
    ran = Message(role="assistant", type="code", content="print(1)", format="python", state="finished")
    messages = [
        Message(role="user", type="message", content="say one"),
        Message(role="assistant", type="message", content="Gladly."),
        ran,
        Message(role="computer", type="console", content="1\n", format="output", parent=ran.id),
        Message(
            role="assistant", type="code", content="rm x", format="shell", state="rejected", reason="not this"
        ),
    ]
    assert write_plain_text(messages) == (
        "> say one\n\n  Gladly.\n\n[python]\n    print(1)\n\n| 1\n\n[shell] (rejected: not this)\n    rm x"
    )


@given(st.text(st.characters()), st.sampled_from(["message", "console", "code"]))
def test_nothing_in_it_controls_the_terminal(text: str, kind) -> None:
    shown = write_plain_text(
        [
            Message(
                role="assistant",
                type=kind,
                content=text + "\x1b[2J\x9b2J",
                format=text,
                state="failed",
                reason=text,
            )
        ]
    )
    controls = ("Cc", "Cf", "Cs", "Zl", "Zp")
    assert not [c for c in shown if c not in "\n\t" and unicodedata.category(c) in controls]
