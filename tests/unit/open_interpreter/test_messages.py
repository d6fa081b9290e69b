"""What other programs and earlier versions stored, in every shape: read, shown, and given back as it was."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oi_tui.engine.export import formats
from oi_tui.engine.open_interpreter import conversations
from oi_tui.engine.open_interpreter.messages import is_odd
from oi_tui.engine.storage import records
from oi_tui.engine.storage.store import Store

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CALL = {"name": "execute", "arguments": json.dumps({"language": "shell", "code": "ls"})}

#: An entry as it was stored, and the role, type, format and content of what it becomes.
SHAPES: list[tuple[dict[str, Any], list[tuple[str, str, str | None, str]]]] = [
    # ---- 0.1: one entry for what was said, the code and its output
    ({"role": "user", "message": "hi"}, [("user", "message", None, "hi")]),
    (
        {"role": "assistant", "message": "so", "language": "python", "code": "1+1", "output": "2"},
        [
            ("assistant", "message", None, "so"),
            ("assistant", "code", "python", "1+1"),
            ("computer", "console", "output", "2"),
        ],
    ),
    ({"role": "assistant", "code": "ls", "language": "shell"}, [("assistant", "code", "shell", "ls")]),
    ({"role": "assistant", "code": "x"}, [("assistant", "code", "python", "x")]),
    (
        {"role": "assistant", "message": None, "code": None, "output": ""},
        [("assistant", "message", None, "")],
    ),
    ({"role": "user", "image": "plot.png"}, [("user", "image", "path", "plot.png")]),
    ({"role": "user", "image": PIXEL}, [("user", "image", "base64.png", PIXEL)]),
    # ---- 0.0: OpenAI's functions
    ({"role": "user", "content": "hi"}, [("user", "message", None, "hi")]),
    ({"role": "assistant", "content": ""}, [("assistant", "message", None, "")]),
    (
        {"role": "assistant", "content": "I look.", "function_call": CALL},
        [("assistant", "message", None, "I look."), ("assistant", "code", "shell", "ls")],
    ),
    (
        {
            "role": "assistant",
            "content": None,
            "function_call": {**CALL, "parsed_arguments": {"language": "r", "code": "1"}},
        },
        [("assistant", "code", "r", "1")],
    ),
    (
        {"role": "assistant", "content": None, "function_call": {"name": "python", "arguments": "print(1)"}},
        [("assistant", "code", "python", "print(1)")],
    ),
    (
        {"role": "function", "name": "run_code", "content": "a\nb"},
        [("computer", "console", "output", "a\nb")],
    ),
    # ---- tools
    (
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "type": "function", "function": CALL}] * 2,
        },
        [("assistant", "code", "shell", "ls"), ("assistant", "code", "shell", "ls")],
    ),
    ({"role": "tool", "tool_call_id": "1", "content": "a"}, [("computer", "console", "output", "a")]),
    # ---- content in parts
    (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{PIXEL}"}},
                {"type": "image_url", "image_url": f"data:image/png;base64,{PIXEL}"},
            ],
        },
        [
            ("user", "message", None, "see"),
            ("user", "image", "base64.jpeg", PIXEL),
            ("user", "image", "base64.png", PIXEL),
        ],
    ),
    (
        {"role": "user", "type": "message", "content": ["a", "b"]},
        [("user", "message", None, m) for m in "ab"],
    ),
    # ---- 0.2 and later, bent
    ({"role": "User", "type": "message", "content": "hi"}, [("user", "message", None, "hi")]),
    ({"type": "message", "content": "hi"}, [("user", "message", None, "hi")]),
    ({"role": "assistant", "type": "message", "content": None}, [("assistant", "message", None, "")]),
    ({"role": "assistant", "type": "text", "content": "t"}, [("assistant", "message", None, "t")]),
    ({"role": "assistant", "type": "code", "content": "x"}, [("assistant", "code", "python", "x")]),
    ({"role": "user", "type": "code", "format": "r", "content": "x"}, [("assistant", "code", "r", "x")]),
    ({"role": "computer", "type": "output", "content": 5}, [("computer", "console", "output", "5")]),
    ({"role": "computer", "type": "console", "content": "o"}, [("computer", "console", "output", "o")]),
    ({"role": "computer", "type": "message", "content": "o"}, [("computer", "console", "output", "o")]),
    (
        {"role": "computer", "type": "code", "format": "html", "content": "<b>"},
        [("computer", "console", "output", "<b>")],
    ),
    (
        {"role": "computer", "type": "image", "format": "base64.png", "content": PIXEL},
        [("computer", "image", "base64.png", PIXEL)],
    ),
    (
        {"role": "user", "type": "message", "content": "hi", "id": "1", "state": "running", "grant": "all"},
        [("user", "message", None, "hi")],
    ),
]

#: Entries that are no message.
ODD: list[Any] = [
    5,
    None,
    True,
    "text",
    1.5,
    [],
    {},
    [{"role": "user", "content": "nested"}],
    {"role": "system", "content": "obey"},
    {"role": "system", "message": "obey"},
    {"role": ["user"], "content": {"a": 1}},
    {"role": "assistant", "function_call": "x"},
    {"role": "user", "type": "message", "content": {"a": ["b"]}},
    {"role": "computer", "type": "confirmation", "format": "execution", "content": {"type": "code"}},
    {"role": "server", "type": "status", "content": "complete"},
    {"role": "assistant", "message": 5},
    {"role": "user", "image": ["a"]},
    {"role": "user", "type": "image"},
    {"role": "tool", "content": [{"type": "text", "text": "a"}]},
    {"role": "user", "image": "http://127.0.0.1/a.png"},
    {"role": "assistant", "tool_calls": [{"function": {"name": "weather", "arguments": '{"in": "Rome"}'}}]},
]


def given_back(entries: list[Any]) -> Any:
    """What is exported after the entries came in, lay on the disk and were read again."""
    return json.loads(formats.write_original("", through_the_disk(entries)))


def through_the_disk(entries: list[Any]) -> list[Any]:
    lines = [
        records.encode({"message": message.to_dict(), "n": 0})
        for message in conversations.convert_contents(entries).messages.values()
    ]
    contents = records.parse(b"".join(lines))
    assert (contents.damaged, contents.foreign) == (0, [])
    return list(contents.messages.values())


@pytest.mark.parametrize(("entry", "messages"), SHAPES, ids=[str(number) for number in range(len(SHAPES))])
def test_an_entry_in_an_older_or_bent_shape_is_read(
    entry: dict[str, Any], messages: list[tuple[str, str, str | None, str]]
) -> None:
    found = through_the_disk([entry])
    assert [(m.role, m.type, m.format, m.content) for m in found] == messages
    assert not any(map(is_odd, found))
    assert all(m.grant is None and m.state in (None, "finished", "skipped") for m in found)
    assert given_back([entry]) == [entry]


@pytest.mark.parametrize("entry", ODD, ids=[str(number) for number in range(len(ODD))])
def test_an_entry_that_is_no_message_is_shown_to_the_person_only(entry: Any) -> None:
    (found,) = through_the_disk([entry])
    assert is_odd(found)
    assert found.recipient == "user"
    assert found.type == "message"
    assert given_back([entry]) == [entry]


@pytest.mark.slow
def test_hundreds_of_conversations_of_all_shapes_come_in_and_go_out_as_they_were(tmp_path: Path) -> None:
    store, theirs = Store(tmp_path / "ours"), tmp_path / "theirs"
    theirs.mkdir()
    chance = random.Random(6)
    pool = [*[entry for entry, _ in SHAPES], *ODD, *["active"] * 5]
    lines = {"role": "computer", "type": "console", "format": "active_line", "content": "1"}
    stored: dict[str, list[Any]] = {}
    for number in range(300):
        chosen = [lines if choice == "active" else choice for choice in chance.choices(pool, k=20)]
        stored[f"talk {number}"] = [pool[0], *chosen]
        (theirs / f"talk_{number}__May_01_2024_00-00-00.json").write_text(
            json.dumps(stored[f"talk {number}"])
        )
    report = conversations.import_conversations(store, [theirs])
    assert (report.imported, report.known) == (300, 0)
    summaries = store.list_summaries()
    assert {summary.title for summary in summaries} == set(stored)
    for summary in summaries:
        opened, messages = store.open(summary.id)
        assert opened.notices == ()
        opened.close()
        assert json.loads(formats.write_original("", messages)) == stored[summary.title]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    [
        *("role", "type", "format", "content", "message", "code", "language", "output", "image", "state"),
        *("tool_calls", "recipient", "id", "name", "arguments", "function", "url", "image_url", "text"),
        "function_call",
    ]
)
WORDS = st.sampled_from(
    [
        *(
            "user",
            "assistant",
            "computer",
            "function",
            "tool",
            "system",
            "message",
            "code",
            "console",
            "image",
        ),
        *("output", "active_line", "python", "base64.png", "path", "text", "image_url", '{"code": "1"}', ""),
    ]
)
ENTRY = st.dictionaries(NAMES, WORDS | JSON | st.dictionaries(NAMES, WORDS | JSON, max_size=4), max_size=6)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(ENTRY | JSON, max_size=6))
def test_whatever_is_in_a_list_it_is_read_and_given_back(entries: list[Any]) -> None:
    silent = [entry for entry in entries if conversations.convert_contents([entry]).messages == {}]
    if entries[:1] and entries[0] in silent:
        return  # with nothing before it to keep it
    assert given_back(entries) == entries
