"""Exports of conversations that nobody would have: whole, valid, and with everything that was said."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from oi_tui.engine.export import formats
from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import Message
from oi_tui.text import clean_text
from tests.when_used import when_used

nbformat = when_used("nbformat")
NASTY = st.lists(
    st.sampled_from(
        [
            *(
                "```",
                "````",
                "~~~",
                "```python",
                "\n",
                "\n\n",
                "    ",
                "\t",
                "<!--",
                "-->",
                "<script>",
                "</script>",
            ),
            *(
                "<pre>",
                "<div>",
                "</div>",
                "<?php",
                "<![CDATA[",
                "<!X",
                "<style>",
                "`",
                "# x",
                "- a",
                "1. b",
                "> q",
            ),
            *(
                "| a | b |\n|---|---|",
                "\x1b[31m",
                "\r",
                "\x00",
                "\ud800",
                "\u2028",
                "\\",
                "[x]: y",
                "***",
                "---",
            ),
            *("print(1)", "東京", "🚀", "$x$", '"', "&amp;", "{{x}}", "%%bash", "word"),
        ]
    ),
    max_size=8,
).map("".join)
WORDS = st.sampled_from(["python", "shell", "r", "```", "a b", "\x1b", "", "html", "日本"])
STATES = st.sampled_from(
    [None, "finished", "failed", "interrupted", "lost", "rejected", "skipped", "unfinished"]
)


def code(content: str, format: str, state: str | None) -> Message:
    return Message(role="assistant", type="code", content=content, format=format, state=state)  # type: ignore[arg-type]


MESSAGE = st.one_of(
    st.builds(lambda text: Message(role="user", type="message", content=text), NASTY),
    st.builds(lambda text: Message(role="assistant", type="message", content=text), NASTY),
    st.builds(lambda text: Message(role="assistant", type="reasoning", content=text), NASTY),
    st.builds(code, NASTY, WORDS, STATES),
    st.builds(lambda text: Message(role="computer", type="console", format="output", content=text), NASTY),
    st.builds(lambda text: Message(role="computer", type="image", format="base64.png", content=text), NASTY),
    st.builds(lambda text: Message(role="user", type="image", format="path", content=text), NASTY),
)
TALK = st.lists(MESSAGE, max_size=8)


def read_fence(message: Message) -> str:
    """What stands in the fence of code or output."""
    text = clean_text(make_plain(message.content) if message.type == "console" else message.content).rstrip()
    return f"{text}\n" if text or message.type == "code" else ""


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TALK)
def test_nothing_in_a_markdown_swallows_what_follows(talk: list[Message]) -> None:
    tokens = MarkdownIt("commonmark").parse(formats.write_markdown("T", talk))
    fences = [token.content for token in tokens if token.type == "fence" and token.level == 0]
    wanted = [read_fence(m) for m in talk if m.type in ("code", "console")]
    found = iter(fences)
    for text in filter(None, wanted):
        content = "".join(text.replace("\r\n", "\n").replace("\r", "\n"))
        assert content in found or content == "\n"


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(NASTY, TALK)
def test_a_notebook_is_valid_whatever_was_written(title: str, talk: list[Message]) -> None:
    book = nbformat.reads(formats.write_notebook(title, talk), as_version=4)
    nbformat.validate(book)
    assert len({cell.id for cell in book.cells}) == len(book.cells)


@settings(max_examples=100, deadline=None)
@given(NASTY, TALK)
def test_the_other_formats_are_written_whatever_was_written(title: str, talk: list[Message]) -> None:
    kept = [m for m in talk if m.type != "reasoning"]
    assert [record["content"] for record in json.loads(formats.write_original(title, talk))] == [
        m.content for m in kept
    ]
    assert "<script" not in formats.write_html(title, talk).lower()
    for language in ("python", "shell", "日本"):
        assert formats.write_script(title, talk, language)


@pytest.mark.parametrize(
    "open_",
    [
        "```",
        "````py\nx",
        "~~~~\na\n```",
        "<!-- x",
        "<script>a",
        "<pre>",
        "<?x",
        "<![CDATA[",
        "<!X",
        "<style>",
        "> ```",
    ],
)
def test_an_open_block_ends_with_its_message(open_: str) -> None:
    words = [Message(role="assistant", type="message", content=open_), code("x = 1", "python", "finished")]
    tokens = MarkdownIt("commonmark").parse(formats.write_markdown("T", words))
    assert [token.content for token in tokens if token.type == "fence"][-1] == "x = 1\n"
    assert open_.split("\n")[0] in formats.write_markdown("T", words)
