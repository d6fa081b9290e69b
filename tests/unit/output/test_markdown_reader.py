"""In plain lines a reply can be read aloud: its Markdown is words, however it was cut on its way."""

import pytest

from oi_tui.engine.events import MessageGrew, MessageRecorded, MessageStarted
from oi_tui.messages import Message
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.markdown_reader import MarkdownReader

REPLY = """# Sizes of *files*

Some **bold and `code **x**`** words; snake_case_names, 2 * 3 * 4 and __init__ stay.
* [docs](https://example.org/a) + ![plot](b.png)
> ~~old~~ new

| Name | Size |
|:-----|-----:|
| **a** | 3 |
| b \\| c | `4` |

---
```python
x = a ** b  # * stays *
```
3. end **open
"""
READ = """Sizes of files

Some bold and code **x** words; snake_case_names, 2 * 3 * 4 and __init__ stay.
- docs (https://example.org/a) + plot (b.png)
old new

Table: Name, Size.
Name: a; Size: 3
Name: b | c; Size: 4


x = a ** b  # * stays *
3. end **open
"""


@pytest.mark.parametrize("length", [1, 2, 3, 7, 10_000])
def test_marks_are_not_read_aloud(length: int) -> None:
    reader = MarkdownReader()
    pieces = [reader.read(REPLY[at : at + length]) for at in range(0, len(REPLY), length)]
    assert "".join(pieces) + reader.finish() == READ


def test_words_without_marks_are_written_as_they_come() -> None:
    reader = MarkdownReader()
    assert reader.read("These are so") == "These are "
    assert reader.read("me words, **fat") == ""
    assert reader.read("** ones") == ""
    assert reader.finish() == "some words, fat ones"


@pytest.mark.parametrize("sign", ["*a ", "`a ", "# ", "[a](", "| ", "` `` ```", " ", "- "])
def test_no_reply_takes_long(sign: str) -> None:
    reader = MarkdownReader()
    reply = sign * 100_000
    whole = reader.read(f"{reply}\n")
    pieces = "".join(reader.read(reply[at : at + 1_000]) for at in range(0, len(reply), 1_000))
    assert whole == f"{reply}\n"
    assert len(pieces + reader.finish()) > len(reply) - 3_000
    reader.read(f"{sign * (2_000 // len(sign))}\n")


@pytest.mark.parametrize(("indent", "shown"), [("  ", "  so big\n  - yes"), ("", "so **big**\n* yes")])
def test_only_where_a_person_is_asked(indent: str, shown: str) -> None:
    lines: list[str] = []
    handler = PlainEventHandler(lines.append, lines.append, lambda _: "", echoes=False, indent=indent)
    message = Message(role="assistant", type="message", content="so **big**\n* yes")
    handler.handle_event(MessageStarted(message))
    handler.handle_event(MessageGrew(message.id, message.content))
    handler.handle_event(MessageRecorded(message))
    assert "".join(lines).endswith(f"{shown}\n")
