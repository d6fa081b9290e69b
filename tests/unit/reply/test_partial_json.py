"""JSON is read while it arrives, also where it is not quite valid."""

import json
from typing import Any

import pytest

from oi_tui.engine.reply.partial_json import JsonEvent, PartialJsonParser


def read(
    *pieces: str, keys: tuple[str, ...] = (), finish: bool = False, **more: bool
) -> tuple[PartialJsonParser, list[tuple[str, str, str]]]:
    """What is found in a text that comes in these pieces; pieces of a string are joined."""
    events: list[JsonEvent] = []
    parser = PartialJsonParser(frozenset(keys), events.append, **more)
    for piece in pieces:
        parser.feed(piece)
    if finish:
        parser.finish()
    found: list[Any] = []
    for event in events:
        path = "/".join(event.path)
        if event.kind == "text" and found and found[-1][:2] == ["text", path]:
            found[-1][2] += event.text
        else:
            found.append([event.kind, path, event.text])
    return parser, [tuple(item) for item in found]


def text_of(*pieces: str, **more: Any) -> str:
    """The text of the only string."""
    _, found = read(*pieces, **more)
    return "".join(text for kind, _, text in found if kind == "text")


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_valid_document_is_read_to_its_end(size: int) -> None:
    document = '{"A": [1, [], {}, "x"], "b": {"c": null, "d": "y\\"z"}, "e": [[], -1.5e3]} rest'
    parser, found = read(*(document[at : at + size] for at in range(0, len(document), size)))
    assert (parser.done, parser.failed, parser.rest) == (True, False, " rest")
    assert found == [
        ("object", "", ""),
        ("array", "a", ""),
        ("literal", "a/[]", "1"),
        ("array", "a/[]", ""),
        ("close", "a/[]", ""),
        ("object", "a/[]", ""),
        ("close", "a/[]", ""),
        ("text", "a/[]", "x"),
        ("string", "a/[]", ""),
        ("close", "a", ""),
        ("object", "b", ""),
        ("literal", "b/c", "null"),
        ("text", "b/d", 'y"z'),
        ("string", "b/d", ""),
        ("close", "b", ""),
        ("array", "e", ""),
        ("array", "e/[]", ""),
        ("close", "e/[]", ""),
        ("literal", "e/[]", "-1.5e3"),
        ("close", "e", ""),
        ("close", "", ""),
    ]


@pytest.mark.parametrize(
    "text", ["[1,]", '{"a": 1,}', "{a: 1}", "{'a': 'x'}", '{"a": 1 "b": 2}', '["a" "b"]', "[[1], ]", "[`a`]"]
)
def test_what_is_nearly_json_is_read_too(text: str) -> None:
    parser, _ = read(text)
    assert (parser.done, parser.failed) == (True, False)


@pytest.mark.parametrize(
    "text", ["hello", "[hello]", "[1 2]", "{1: 2}", '{"a" 1}', '{"a": 1; }', "{`a`: 1}", "`a`", "]", "}"]
)
def test_what_cannot_be_json_fails(text: str) -> None:
    parser, _ = read(text, finish=True)
    assert (parser.done, parser.failed) == (False, True)


@pytest.mark.parametrize(("depth", "done"), [(40, True), (41, False)])
def test_a_document_may_be_forty_deep(depth: int, done: bool) -> None:
    parser, _ = read("[" * depth + "]" * depth)
    assert (parser.done, parser.failed) == (done, not done)


@pytest.mark.parametrize(("size", "failed"), [(98, False), (99, True)])
def test_a_key_has_less_than_a_hundred_letters(size: int, failed: bool) -> None:
    parser, _ = read('{"' + "k" * size + '": 1}')
    assert parser.failed is failed
    parser, _ = read('{"' + "k" * 98)
    assert not parser.failed


@pytest.mark.parametrize(("text", "done"), [("12", False), ("12 ", True), ("true", False), ("nan,", True)])
def test_a_number_or_a_word_may_go_on(text: str, done: bool) -> None:
    assert read(text)[0].done is done
    parser, found = read(text, finish=True)
    assert parser.done
    assert found == [("literal", "", text.strip(" ,"))]


def test_no_number_is_endless() -> None:
    assert not read("[" + "1" * 63)[0].failed
    assert read("[" + "1" * 64)[1][-1] == ("literal", "[]", "1" * 64)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a\nb\tc\\d\/e\"f", 'a\nb\tc\\d/e"f'),
        (r"\u00e9\u20ac", "é€"),
        (r"\ud83d\ude00!", "😀!"),
        (r"\ud83dx", "\ufffdx"),
        (r"\ud83d\u0041", "\ufffdA"),
        (r"\ude00", "\ufffd"),
        (r"\udbff\udfff", "\U0010ffff"),
        (r"\ud800\udc00", "\U00010000"),
        (r"\ud83d\ud83d\ude00", "\ufffd😀"),
        (r"\uzzzz", r"\uzzzz"),
        (r"\q", r"\q"),
        ("a\nb", "a\nb"),
    ],
)
def test_what_is_escaped_is_read_as_json_reads_it_or_stays(written: str, text: str, size: int) -> None:
    document = f'"{written}"'
    assert text_of(*(document[at : at + size] for at in range(0, len(document), size))) == text


@pytest.mark.parametrize(("written", "text"), [("a\\", "a\\"), ("a\\u00", "a\\u00"), ("\\ud83d", "\ufffd")])
def test_what_is_cut_within_an_escape_is_given_out_at_the_end(written: str, text: str) -> None:
    assert text_of(f'"{written}').rstrip("a") == ""
    assert text_of(f'"{written}', finish=True) == text


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ('{"code": "print("a")"}', 'print("a")'),
        ('{"code": "f("a", 1)"}', 'f("a", 1)'),
        ('{"code": "d = {"k": 1}"}', 'd = {"k": 1}'),
        ('{"code": "a"  }', "a"),
        ('{"code": "x["a"]", "language": "python"}', 'x["a"]'),
        ('{"code": "a" "language": "python"}', "a"),
        ("{'code': 'it\\'s'}", "it's"),
        ('{"code": """a "b" c"""}', 'a "b" c'),
        ('{"code": `a "b"`}', 'a "b"'),
    ],
)
def test_quotes_that_are_not_escaped_belong_to_the_string(document: str, text: str) -> None:
    parser, found = read(document, keys=("language",), finish=True)
    assert parser.done
    assert "".join(t for kind, path, t in found if (kind, path) == ("text", "code")) == text


def test_without_patience_a_quote_that_is_not_escaped_is_no_json() -> None:
    parser, _ = read('{"code": "print("a")"}', patient=False)
    assert parser.failed


def test_where_more_may_follow_a_broken_string_ends_at_the_end_of_its_brackets() -> None:
    call = '{"code": "f("a")"}'
    for after in ("\nDone.", "</tool_call>", "```", '{"code": "2"}'):
        parser, _ = read(call + after, alone=False)
        assert (parser.done, parser.rest) == (True, after)
    # Words on the same line may be the code's own.
    assert not read(call + " and more", alone=False)[0].done
    assert not read(call + "\nDone.", alone=True)[0].done


def test_a_string_knows_whether_its_own_quote_ended_it() -> None:
    assert read('"a"')[0].closed
    assert not read('"a', finish=True)[0].closed


def test_who_listens_can_stop_the_reading() -> None:
    events: list[JsonEvent] = []

    def listen(event: JsonEvent) -> None:
        events.append(event)
        if event.path == ("b",):
            parser.stop()

    parser = PartialJsonParser(frozenset(), listen)
    parser.feed(json.dumps({"a": 1, "b": 2, "c": 3}))
    assert parser.failed
    assert [event.path for event in events] == [(), ("a",), ("b",)]
