"""Replies of models, as data in `replies/`, each read whole, character by character, and cut at random."""

import gc
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oi_tui.engine.events import MessageRecorded
from oi_tui.engine.llm.base import Delta, Finish, Reasoning, Text, ToolCallPiece
from oi_tui.engine.reply.console_sessions import extract_commands
from oi_tui.engine.reply.message_builders import ReplyBuilder
from oi_tui.engine.reply.parser import (
    CodeEnded,
    CodeGrew,
    CodeStarted,
    Part,
    ReasoningEnded,
    ReasoningPart,
    ReplyParser,
    TextPart,
    UnreadableCall,
    join,
)
from oi_tui.messages import Message
from oi_tui.runtimes import languages

REPLIES = sorted((Path(__file__).parent / "replies").glob("*.json"))
#: The words for languages that the application knows, and one that it does not.
LANGUAGES = {"c++": "c++"} | {
    word: language.name for language in languages.LANGUAGES for word in (language.name, *language.aliases)
}


def read(deltas: Sequence[Delta] | Iterator[Delta], *, fences: bool) -> list[Part]:
    parser = ReplyParser(lambda word: LANGUAGES.get(word.strip().lower()), fences)
    parts = [part for delta in deltas for part in parser.feed(delta)]
    return join(parts + parser.finish())


def as_lists(parts: Sequence[Part]) -> list[list[Any]]:
    """The parts as the data files write them."""
    lines: list[list[Any]] = []
    for part in parts:
        match part:
            case TextPart(text):
                lines.append(["said", text])
            case ReasoningPart(text):
                lines.append(["thought", text])
            case UnreadableCall(raw):
                lines.append(["unreadable", raw])
            case ReasoningEnded():
                lines.append(["thoughts closed"])
            case CodeStarted(language, call):
                lines.append(["code", language, call, ""])
            case CodeGrew(text):
                lines[-1][3] += text
            case CodeEnded(complete):
                lines[-1].append(complete)
    return lines


def delta(line: list[Any]) -> Delta:
    match line:
        case ["text", text]:
            return Text(text)
        case ["reasoning", text]:
            return Reasoning(text)
        case ["finish", reason]:
            return Finish(reason)
        case ["call", index, call, name, arguments]:
            return ToolCallPiece(index, call, name, arguments)
    raise ValueError(line)


def cut(deltas: Sequence[Delta], sizes: Iterator[int]) -> Iterator[Delta]:
    """The same deltas in smaller pieces."""
    for whole in deltas:
        if isinstance(whole, Text | Reasoning):
            for piece in pieces(whole.text, sizes):
                yield type(whole)(piece)
        elif isinstance(whole, ToolCallPiece) and whole.arguments:
            for number, piece in enumerate(pieces(whole.arguments, sizes)):
                if number:
                    yield ToolCallPiece(whole.index, None, None, piece)
                else:
                    yield ToolCallPiece(whole.index, whole.id, whole.name, piece)
        else:
            yield whole


def pieces(text: str, sizes: Iterator[int]) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = next(sizes)
        yield text[at : at + size]
        at += size


def ones() -> Iterator[int]:
    while True:
        yield 1


def sizes(seed: int) -> Iterator[int]:
    source = random.Random(seed)
    while True:
        yield source.choice((1, 2, 3, 7, 20, 80))


def test_the_corpus_is_there() -> None:
    assert len(REPLIES) >= 300


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_a_reply_is_read_as_expected_however_it_is_cut(path: Path) -> None:
    reply = json.loads(path.read_text("utf-8"))
    deltas = [delta(line) for line in reply["deltas"]]
    for fences in reply["fences"]:
        assert as_lists(read(deltas, fences=fences)) == reply["parts"]
        assert as_lists(read(cut(deltas, ones()), fences=fences)) == reply["parts"]
        for seed in range(20):
            assert as_lists(read(cut(deltas, sizes(seed)), fences=fences)) == reply["parts"], seed


@pytest.mark.parametrize("opening", ["```python\n", "```text\n"])
def test_a_line_in_a_fence_is_given_out_before_its_end(opening: str) -> None:
    parser = ReplyParser(lambda word: LANGUAGES.get(word.strip().lower()), True)
    parts = [part for piece in (opening, "print(", "'a line'") for part in parser.feed(Text(piece))]
    assert "print('a" in "".join(part.text for part in parts if isinstance(part, CodeGrew | TextPart))


#: What replies are made of; the capital letters occur in no mark.
TOKENS = st.sampled_from(
    [
        *("```", "`", "``", "````", "~~~", "~", "\n", " ", "python", "js", "bash", "json", "markdown", "- "),
        *("<think>", "</think>", "<|im_end|>", "<|im_start|>", "assistant", "<tool_call>", "</tool_call>"),
        *("{", "}", '"', "'", '"""', "'''", ",", ":", "\\", "[", "]", ")", "    ", "<<EOF", "EOF", "$ ", "#"),
        *('"name"', '"execute"', '"language"', '"code"', '"arguments"', "functions.execute(", "</s>", "\r\n"),
        *("xml\n", "<function=execute>", "</function>", "<parameter=code>"),
        *("Q", "W", "Z", "K", "é", '"}}', '{"language":"python","code":"'),
        '{"name":"execute","arguments":{"language":"python","code":"',
    ]
)
REPLY = st.lists(TOKENS, max_size=40).map("".join)


def letters(text: str) -> str:
    return "".join(c for c in text if c in "QWZK")


def join_letters(parts: Sequence[Part]) -> str:
    texts = []
    for part in parts:
        match part:
            case TextPart(text) | ReasoningPart(text) | CodeGrew(text):
                texts.append(text)
            case UnreadableCall(raw):
                texts.append(raw)
            case CodeStarted(language, _):
                texts.append(language.upper() if language.upper() in "QWZK" else "")
            case _:
                pass
    return letters("".join(texts))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(REPLY, st.booleans(), st.integers(0, 1_000_000))
@example("```xml\nQ<think>\n</think>", False, 0)
@example("```python\nQ\n</tool_call>", True, 0)
def test_any_text_is_read_alike_however_it_is_cut(text: str, fences: bool, seed: int) -> None:
    whole = read([Text(text)], fences=fences)
    assert read(cut([Text(text)], ones()), fences=fences) == whole
    assert read(cut([Text(text)], sizes(seed)), fences=fences) == whole


@settings(max_examples=200, deadline=None)
@given(REPLY, st.integers(0, 1_000_000))
def test_any_arguments_are_read_alike_however_they_are_cut(text: str, seed: int) -> None:
    call = ToolCallPiece(0, "a", "execute", text)
    whole = read([call], fences=False)
    assert read(cut([call], ones()), fences=False) == whole
    assert read(cut([call], sizes(seed)), fences=False) == whole


DELTAS = st.lists(
    st.one_of(
        REPLY.map(Text),
        st.just(Reasoning("hm")),
        st.sampled_from(["stop", "length"]).map(Finish),
        st.builds(
            ToolCallPiece,
            st.integers(0, 2),
            st.sampled_from([None, "", "a", "b"]),
            st.sampled_from([None, "", "execute", "python", "exe", "get_weather"]),
            st.one_of(REPLY, st.sampled_from(["", '{"language":"python","code":"Q', 'W"}', '"}{', "}"])),
        ),
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(DELTAS, st.booleans())
def test_code_begins_grows_and_ends_before_anything_else_comes(deltas: list[Delta], fences: bool) -> None:
    open_code = False
    for part in read(deltas, fences=fences):
        match part:
            case CodeStarted():
                assert not open_code
                open_code = True
            case CodeEnded():
                assert open_code
                open_code = False
            case CodeGrew():
                assert open_code
            case _:
                assert not open_code
    assert not open_code


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(DELTAS, st.booleans(), st.integers(0, 1_000_000))
@example([ToolCallPiece(0, None, "execute", '"name"'), ToolCallPiece(0, None, "execute", "\n```")], False, 0)
def test_any_reply_is_read_alike_however_its_deltas_are_cut(
    deltas: list[Delta], fences: bool, seed: int
) -> None:
    whole = read(deltas, fences=fences)
    assert read(cut(deltas, sizes(seed)), fences=fences) == whole
    assert read(cut(deltas, ones()), fences=fences) == whole


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="QWZK`~\n ", max_size=200))
def test_no_character_of_a_text_is_lost(text: str) -> None:
    for fences in (True, False):
        assert join_letters(read([Text(text)], fences=fences)) == letters(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="QWZ`~#<>|[]-* \n", max_size=200))
def test_prose_of_a_model_with_tools_stays_as_it_is(text: str) -> None:
    assert read([Text(text)], fences=False) == ([TextPart(text)] if text else [])


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_valid_arguments_are_read_as_json_reads_them(code: str, other: str) -> None:
    arguments = json.dumps({"note": other, "language": "python", "code": code, "x": [other, {"y": other}]})
    parts = read([ToolCallPiece(0, "a", "execute", arguments)], fences=False)
    # Prompts of a console are taken away; a fence and another call are looked into.
    if extract_commands("python", code) is None and code.strip()[:1] not in "`{" and code[:1] not in "`{":
        expected = "".join(c if not "\ud800" <= c <= "\udfff" else "\ufffd" for c in code)
        assert as_lists(parts) == [["code", "python", "a", expected, True]]


def seconds(deltas: list[Delta], *, fences: bool) -> float:
    gc.disable()
    try:
        began = process_time()
        read(deltas, fences=fences)
        return process_time() - began
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begin", "unit"),
    [
        ("", "word `code` {x} "),
        ("", "{"),
        ("", "["),
        ("", "`"),
        ("", '{"name":'),
        ("", '{"id":"'),
        ("", '{"code":"'),
        ('{"code":"', "{'code':'"),
        ('{"code":"', "{'code': "),
        ("", "<think"),
        ("", "\n"),
        ("```python\n", "x = 1\n"),
        ("```python\n", "x"),
        ("```python\n", "`"),
        ("```python\n'''\n", "```\n"),
        ("```\n", "x = 1\n"),
        ("```\n", "x"),
        ("```text\n", "x"),
        ("<think>", "<"),
        ("<tool_call>", "x"),
        ('{"name":"execute","arguments":{"language":"python","code":"', "x\\n"),
        ('{"name":"execute","arguments":{"language":"python","code":"', '"'),
        ('{"name":"execute","arguments":{"language":"python","code":"', '" '),
        ('{"name":"execute","arguments":{"language":"python","code":"', '", "a'),
    ],
)
def test_the_cost_of_a_character_does_not_grow_with_the_reply(begin: str, unit: str) -> None:
    """Four times the text may take eight times as long at most, in pieces of one character."""

    def reply(size: int) -> list[Delta]:
        return [Text(begin), *(Text(c) for c in unit * (size // len(unit)))]

    for fences in (True, False):
        once = min(seconds(reply(500), fences=fences) for _ in range(3))
        four = min(seconds(reply(2_000), fences=fences) for _ in range(2))
        assert four < once * 8 + 0.002


@pytest.mark.slow
def test_arguments_of_a_megabyte_are_read_in_linear_time() -> None:
    line = "print('hello')\\n"

    def call(size: int) -> list[Delta]:
        pieces = [ToolCallPiece(0, None, None, line[i : i + 4]) for i in range(0, len(line), 4)]
        return [
            ToolCallPiece(0, "a", "execute", '{"language":"python","code":"'),
            *(pieces * (size // len(line))),
        ]

    once = min(seconds(call(50_000), fences=False) for _ in range(3))
    four = min(seconds(call(200_000), fences=False) for _ in range(2))
    assert four < once * 8 + 0.01


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>" + " " * 200_000 + "}</tool_call>",
        "<tool_call>" + "</invoke>" * 20_000 + "}</tool_call>",
        '<tool_call>{"x": ' + "/* " * 100_000 + "}</tool_call>",
        '<tool_call>{"x": /* "' + '\\"' * 100_000 + "}</tool_call>",
    ],
    ids=["blanks", "marks", "comments", "quotes"],
)
def test_a_call_of_one_repeated_mark_is_read_in_linear_time(text: str) -> None:
    assert seconds([Text(text)], fences=True) < 3


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 40_000])
@pytest.mark.parametrize(
    ("begin", "unit"),
    [
        ("```python\n", " \n"),
        ("```shell\n", "\u2028"),
        ("```python\n", "</s> "),
        ("```\n", "<|im_end|>\n"),
    ],
)
def test_a_block_of_blanks_or_tokens_is_read_in_linear_time(begin: str, unit: str, size: int) -> None:
    def measure(length: int) -> float:
        text = begin + unit * (length // len(unit)) + "x"
        return seconds([Text(text[at : at + size]) for at in range(0, len(text), size)], fences=True)

    once, four = measure(10_000), measure(40_000)
    assert four < once * 8 + 0.05


def test_blanks_before_code_in_a_call_are_read_in_linear_time() -> None:
    def measure(length: int) -> float:
        pieces = [ToolCallPiece(0, None, None, " ")] * length
        begin = ToolCallPiece(0, "a", "execute", '{"language":"python","code":"')
        return seconds([begin, *pieces, ToolCallPiece(0, None, None, 'x"}')], fences=False)

    once, four = measure(5_000), measure(20_000)
    assert four < once * 8 + 0.05


def test_comments_in_a_call_are_left_out_and_strings_are_kept() -> None:
    lines = [
        "{ // what",
        '"language": "python", /* and "now" */',
        '"code": "a = 7 // 2 # /* x */" // end',
        "}",
    ]
    parts = read([Text("<tool_call>" + "\n".join(lines) + "</tool_call>")], fences=True)
    assert parts == [CodeStarted("python", None), CodeGrew("a = 7 // 2 # /* x */"), CodeEnded(True)]


CLOSINGS = [
    "</think>",
    "</thinking>",
    "</reasoning>",
    "</thought>",
    "[/THINK]",
    "\u25c1/think\u25b7",
    "<|END_THINKING|>",
    "</thoughts>",
    "</Reasoning>",
    "</think >",
    "<channel|>",
]


@pytest.mark.parametrize("closing", [*CLOSINGS, "</seed:think>", "<|end_of_thought|>"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("opening", ["", "<think>one</think>", "<think>one <think>two</think>"])
def test_code_before_a_closing_tag_is_never_offered(closing: str, size: int, opening: str) -> None:
    """Templates that open the thought themselves leave only its end in the reply."""
    thought = "I could do this:\n```python\nerase()\n```\nbut no.\n"
    text = f"{opening}{thought}{closing}\nSo:\n```python\nprint(1)\n```\n"
    codes, messages = written([Text(text[at : at + size]) for at in range(0, len(text), size)])
    assert [code.content.strip() for code in codes] == ["print(1)"]
    erase = next(message for message in messages if message.type == "code" and "erase" in message.content)
    assert (erase.state, erase.recipient) == ("skipped", "user")
    sent = [m.content for m in messages if m.type == "message" and m.recipient is None]
    assert not any("could" in words or "but no" in words for words in sent)


@pytest.mark.parametrize("fence", ["```python", "~~~python", "```", "```text"])
@pytest.mark.parametrize("closing", ["</think>", "</Reasoning>", "[/THINK]", "<channel|>"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_fence_that_a_thought_left_open_ends_with_the_thought(fence: str, closing: str, size: int) -> None:
    text = f"I could do this:\n{fence}\nerase()\n{closing}\nSo:\n```python\nprint(1)\n```\n"
    codes, messages = written([Text(text[at : at + size]) for at in range(0, len(text), size)])
    assert [code.content.strip() for code in codes] == ["print(1)"]
    assert not any(message.recipient is None and "erase" in message.content for message in messages)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_thought_of_gemma_is_no_prose(size: int) -> None:
    text = "<|channel>thought\nPlan:\n```python\nerase()\n```\n<channel|>Done."
    codes, messages = written([Text(text[at : at + size]) for at in range(0, len(text), size)])
    assert codes == []
    assert [m.content.strip() for m in messages if m.type == "message" and m.recipient is None] == ["Done."]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_code_that_writes_both_tags_is_code(size: int) -> None:
    body = 'prompt = """\n<think>\nplan\n</think>\n"""\nprint(prompt)'
    text = f"```python\n{body}\n```\n"
    codes, _ = written([Text(text[at : at + size]) for at in range(0, len(text), size)])
    assert [code.content.strip() for code in codes] == [body]


def test_a_tool_call_before_a_closing_tag_is_still_a_call() -> None:
    call = ToolCallPiece(0, "c", "execute", '{"language": "python", "code": "1"}')
    codes, _ = written([Text("Hm."), call, Text("</think>Done.")])
    assert [code.content for code in codes] == ["1"]


def test_a_closing_tag_that_is_quoted_withdraws_nothing() -> None:
    codes, _ = written([Text("```python\nprint(1)\n```\nThe tag `</think>` ends it.")])
    assert [code.content.strip() for code in codes] == ["print(1)"]


def written(deltas: Sequence[Delta]) -> tuple[list[Message], list[Message]]:
    """The code that is offered, and all messages of the reply as they are at its end."""
    resolve = lambda word: LANGUAGES.get(word.strip().lower())  # noqa: E731
    parser, writer = ReplyParser(resolve, fences=True), ReplyBuilder(resolve)
    found = [part for delta in deltas for part in parser.feed(delta)] + parser.finish()
    events = [event for part in found for event in writer.feed(part)] + list(writer.finish(cut=False))
    messages = {e.message.id: e.message for e in events if isinstance(e, MessageRecorded)}
    return writer.codes, list(messages.values())


PIECES = {
    "a name in two pieces": [("c", "pyt", ""), ("", "hon", ""), ("", "", '{"code": "1"}')],
    "the rest of a name with the arguments": [("c", "pyt", ""), ("", "hon", '{"code": "1"}')],
    "the name once more behind the arguments": [("c", "python", '{"code": "1"} python')],
    "the usual name behind the arguments": [("c", "python", '{"code": "1"} execute')],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
def test_a_function_named_like_a_language_is_that_language(pieces: list[tuple[str, str, str]]) -> None:
    deltas = [ToolCallPiece(0, call, name, arguments) for call, name, arguments in pieces]
    assert as_lists(read(deltas, fences=False)) == [["code", "python", "c", "1", True]]


def test_words_behind_the_arguments_of_a_call_are_words() -> None:
    deltas = [ToolCallPiece(0, "c", "python", '{"code": "1"} Done with python.')]
    assert as_lists(read(deltas, fences=False))[1:] == [["said", " Done with python."]]


def test_words_after_a_whole_call_do_not_wait_for_the_end_of_the_reply() -> None:
    parser = ReplyParser(LANGUAGES.get, False)
    arguments = json.dumps({"language": "python", "code": "1"})
    parts = parser.feed(ToolCallPiece(0, "a", "execute", arguments))
    parts += parser.feed(Text("That is all.\n"))
    assert TextPart("That is all.\n") in join(parts)


def test_calls_of_one_index_without_ids_are_told_apart_by_their_names() -> None:
    deltas = [ToolCallPiece(0, None, name, '{"code": "1"}') for name in ("python", "shell")]
    codes = [line[1:] for line in as_lists(read(deltas, fences=False))]
    assert codes == [["python", "call_1", "1", True], ["shell", "call_2", "1", True]]


def test_pieces_with_one_id_are_one_call_although_their_index_grows() -> None:
    first, second = '{"language": "python", "co', 'de": "1"}'
    deltas = [ToolCallPiece(0, "c", "execute", first), ToolCallPiece(1, "c", None, second)]
    assert as_lists(read(deltas, fences=False)) == [["code", "python", "c", "1", True]]


def test_two_calls_are_told_apart_by_their_ids_where_their_indexes_grow() -> None:
    deltas = [
        ToolCallPiece(0, "c", "execute", '{"language": "python", "co'),
        ToolCallPiece(1, "c", None, 'de": "1"}'),
        ToolCallPiece(2, "d", "execute", '{"language": "python", "co'),
        ToolCallPiece(3, "d", None, 'de": "2"}'),
    ]
    codes = [line[2:4] for line in as_lists(read(deltas, fences=False)) if line[0] == "code"]
    assert codes == [["c", "1"], ["d", "2"]]


def test_a_line_that_was_begun_before_a_call_does_not_go_on_after_it() -> None:
    call = ToolCallPiece(0, "a", "python", '{"code": "1"}')
    deltas: list[Delta] = [Text("See `a"), call, Text("```python\n2\n```\n")]
    codes = [part for part in as_lists(read(deltas, fences=True)) if part[0] == "code"]
    assert codes == [["code", "python", "a", "1", True], ["code", "python", None, "2", True]]


@pytest.mark.parametrize("before", ["Output:", "So.\nOutput:", "So.\n\nThis prints:\n\n"])
def test_what_the_words_before_announce_as_output_is_no_code(before: str) -> None:
    text = f"{before}\n```\nls -la\n```\n"
    assert as_lists(read([Text(text)], fences=True)) == [["said", text]]
    # As any other block it would be.
    other = text.replace(before, "Run:")
    assert as_lists(read([Text(other)], fences=True))[1] == ["code", "shell", None, "ls -la", True]


def test_a_call_right_behind_inline_code_is_read_whole() -> None:
    call = '{"name": "execute", "arguments": {"language": "python", "code": "1"}}'
    parts = as_lists(read([Text(f"`a`{call}")], fences=False))
    assert parts == [["said", "`a`"], ["code", "python", None, "1", True]]
    assert as_lists(read([Text(f"`{call}`")], fences=False)) == [["said", f"`{call}`"]]


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [
        ('<tool_call>functions.python:0\n{"code": "1"}\n</tool_call>', "python", "1"),
        (
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.shell:1<|tool_call_argument_begin|>"
                '{"code": "ls"}<|tool_call_end|><|tool_calls_section_end|>'
            ),
            "shell",
            "ls",
        ),
        ('<tool_call>{"code": "print("a")", "language": "python"}</tool_call>', "python", 'print("a")'),
        (
            (
                '<tool_call>{"name": "execute", "x": {"a": [1]}, "arguments": {"language": "python", '
                '"code": "f("x, y")"}}</tool_call>'
            ),
            "python",
            'f("x, y")',
        ),
        ("<execute_python>\n```\nprint(1)\n```\n</execute_python>", "python", "print(1)"),
        ("<execute>\n```shell\nls\n```\n</execute>", "shell", "ls"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_call_between_marks_is_read_with_its_name_and_its_quotes(
    text: str, language: str, code: str, size: int
) -> None:
    pieces = [Text(text[at : at + size]) for at in range(0, len(text), size)]
    assert as_lists(read(pieces, fences=False)) == [["code", language, None, code, True]]


@pytest.mark.parametrize("arguments", ['language="python", code="1"', 'execute("python", "1")'])
def test_arguments_in_the_syntax_of_python_are_read(arguments: str) -> None:
    call = ToolCallPiece(0, "a", "execute", arguments)
    assert as_lists(read([call, Finish("stop")], fences=False)) == [["code", "python", "a", "1", True]]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('{language: "python", code: "1\n2"}', "1\n2"),
        ("language: python\ncode: '1'", "1"),
        ('language: python\ncode: "', '"'),
    ],
)
def test_arguments_that_are_nearly_json_are_read(arguments: str, code: str) -> None:
    call = ToolCallPiece(0, "a", "execute", arguments)
    assert as_lists(read([call, Finish("stop")], fences=False)) == [["code", "python", "a", code, True]]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("behind", ["", "\nDone. (It is all.)"])
@pytest.mark.parametrize("marks", ["[{}]", "<tool_call>{}</tool_call>", "{}"])
def test_a_call_ends_after_its_three_quotation_marks_however_it_is_cut(
    marks: str, behind: str, size: int
) -> None:
    code = 'print(")")\nx = ""\n'
    text = marks.format(f'execute(language="python", code="""{code}""")') + behind
    pieces = [Text(text[at : at + size]) for at in range(0, len(text), size)]
    said = [["said", behind]] if behind else []
    assert as_lists(read(pieces, fences=False)) == [["code", "python", None, code, True], *said]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["ls", "my file"], "ls 'my file'"),
        (["ls", "a"], "ls a"),
        (["cd x", "ls"], "cd x\nls"),
        (["ls"], "ls"),
        (["my program"], "my program"),
        (["/bin/bash", "-lc", "ls | wc"], "ls | wc"),
        (["bash", "-x", "ls"], "bash -x ls"),
        (["python", "-c", "print(1)"], "python -c 'print(1)'"),
        (["bash", "-c", "ls", "a"], "bash -c ls a"),
    ],
)
def test_a_list_of_words_is_one_command_and_a_list_of_lines_is_several(command: list[str], code: str) -> None:
    call = ToolCallPiece(0, "a", "shell", json.dumps({"command": command}))
    assert as_lists(read([call, Finish("stop")], fences=False)) == [["code", "shell", "a", code, True]]


@pytest.mark.parametrize("word", ["", "python"])
def test_what_was_typed_at_prompts_of_python_is_code(word: str) -> None:
    text = f"```{word}\n>>> for i in 'ab':\n...     print(i)\n>>> x\n```"
    parts = as_lists(read([Text(text), Finish("stop")], fences=True))
    assert parts == [["code", "python", None, "for i in 'ab':\n    print(i)\nx", True]]


@pytest.mark.parametrize("action", ["python", "execute"])
@pytest.mark.parametrize("given", ["```python\nprint(1)\n```", "print(1)", "`print(1)`", "`` print(1) ``"])
def test_the_input_of_an_action_is_code_with_and_without_a_fence(action: str, given: str) -> None:
    text = f"Thought: x\nAction: {action}\nAction Input: {given}\n"
    parts = as_lists(read([Text(text), Finish("stop")], fences=False))
    assert parts[1:] == [["code", "python", None, "print(1)", True]]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('execute("1", language="python")', "1"),
        # Which language it is, or what the code is, is not known: it is offered as it came.
        ('execute("1")', 'execute("1")'),
        ('execute(language="python")', 'execute(language="python")'),
        ('execute("python", "1", "2")', 'execute("python", "1", "2")'),
    ],
)
def test_a_call_in_the_syntax_of_python_needs_language_and_code(arguments: str, code: str) -> None:
    call = ToolCallPiece(0, "a", "execute", arguments)
    assert as_lists(read([call, Finish("stop")], fences=False)) == [["code", "python", "a", code, True]]


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("info", ["text", ""])
def test_a_block_that_shows_both_tags_of_a_thought_is_none(info: str, size: int) -> None:
    text = f"So:\n```{info}\nIt begins with <think>\nplan\n</think>\n```\nDone.\n"
    pieces = [Text(text[at : at + size]) for at in range(0, len(text), size)]
    assert as_lists(read(pieces, fences=True)) == [["said", text]]
