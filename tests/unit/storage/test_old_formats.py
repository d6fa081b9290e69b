"""Files as earlier versions wrote them, which every later version must open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oi_tui import paths
from oi_tui.engine.storage import records
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message

#: Version 1, byte for byte; never to be changed.
FIRST = (
    '{"oi_tui":1,"id":"0123456789abcdef","created":1700000000.5,"cwd":"/data","model":"gpt-4o",'
    '"title":"Count","n":0}\n'
    '{"message":{"role":"user","type":"message","content":"Count","id":"a","created":1700000000.5},"n":1}\n'
    '{"message":{"role":"assistant","type":"code","content":"","format":"python","id":"b",'
    '"created":1700000001.0,"state":"writing","call":"c1"},"n":2}\n'
    '{"grow":"b","at":0,"text":"print(1)","n":2}\n'
    '{"message":{"role":"assistant","type":"code","content":"print(1)","format":"python","id":"b",'
    '"created":1700000001.0,"state":"finished","decision":"approved","seconds":0.25,"call":"c1"},"n":2}\n'
    '{"message":{"role":"computer","type":"console","content":"1\\n","format":"output","id":"d",'
    '"created":1700000002.0,"parent":"b"},"n":3}\n'
    '{"message":{"role":"user","type":"message","content":"taken back","id":"e","created":3.0},"n":4}\n'
    '{"forget":["e"],"n":3}\n'
    '{"title":"Count to one","n":3}\n'
)


def test_a_conversation_of_the_first_version_opens_and_goes_on() -> None:
    store = Store(paths.conversations())
    path = paths.make_private(store.folder) / "0123456789abcdef.jsonl"
    path.write_text(FIRST)
    opened, found = store.open("0123456789abcdef")
    assert [(m.role, m.type, m.content, m.state) for m in found] == [
        ("user", "message", "Count", None),
        ("assistant", "code", "print(1)", "finished"),
        ("computer", "console", "1\n", None),
    ]
    assert (found[1].decision, found[1].seconds, found[1].call) == ("approved", 0.25, "c1")
    assert found[2].parent == "b"
    assert opened.notices == ()
    opened.put(Message(role="user", type="message", content="and on"))
    opened.close()
    assert path.read_text().startswith(FIRST)
    assert [m.content for m in store.read(opened.id)][-1] == "and on"
    assert Path(path).stat().st_mode & 0o777 == 0o644  # as it was found; the folder is closed to others
    assert store.folder.stat().st_mode & 0o077 == 0


def test_a_conversation_of_a_newer_version_is_opened_as_a_copy_and_stays_as_it_is() -> None:
    store = Store(paths.conversations())
    path = paths.make_private(store.folder) / "0123456789abcdef.jsonl"
    newer = FIRST.replace('{"oi_tui":1', '{"oi_tui":7', 1) + '{"mood":"good","n":3}\n'
    path.write_text(newer)
    opened, found = store.open("0123456789abcdef")
    assert [m.content for m in found] == ["Count", "print(1)", "1\n"]
    assert opened.id != "0123456789abcdef"
    assert "written by a newer version of oi-tui; you are in a copy" in opened.notices[0]
    opened.put(Message(role="user", type="message", content="and on"))
    opened.close()
    assert path.read_text() == newer
    assert [m.content for m in store.read(opened.id)] == ["Count", "print(1)", "1\n", "and on"]
    assert store.read_contents(opened.id).foreign == [b'{"mood":"good","n":3}']


def test_a_file_of_the_first_version_is_brought_up_to_date_as_it_is_read_and_goes_on_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def second(record: dict[str, Any]) -> dict[str, Any] | None:
        match record:
            case {"message": {"type": "message", "content": content, **rest}}:
                return {**record, "message": {**rest, "type": "message", "content": f"{content}!"}}
            case {"title": _} if "oi_tui" not in record:
                return None
        return record

    store = Store(paths.conversations())
    path = paths.make_private(store.folder) / "0123456789abcdef.jsonl"
    path.write_text(FIRST)
    monkeypatch.setattr(records, "VERSION", 2)
    monkeypatch.setitem(records.UPGRADES, 1, second)
    opened, found = store.open("0123456789abcdef")
    assert (opened.title, opened.notices) == ("Count", ())
    assert [m.content for m in found] == ["Count!", "print(1)", "1\n"]
    opened.put(Message(role="user", type="message", content="and on"))
    opened.put(Message(role="user", type="message", content="and on"))
    opened.close()
    added = path.read_text().removeprefix(FIRST).splitlines()
    assert added[0].startswith('{"oi_tui":2,"n":4,"crc":"')
    assert len(added) == 3
    # What was written in version 2 is left as it is, what came before is brought up to date again.
    assert [m.content for m in store.read(opened.id)] == ["Count!", "print(1)", "1\n", "and on", "and on"]
    monkeypatch.setattr(records, "VERSION", 1)
    assert store.open(opened.id)[0].id != "0123456789abcdef"


def test_a_record_is_brought_up_to_date_by_every_version_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def upgrade(version: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
        return lambda record: {**record, "cwd": f"{record.get('cwd')} {version}"}

    monkeypatch.setattr(records, "VERSION", 3)
    for version in (1, 2):
        monkeypatch.setitem(records.UPGRADES, version, upgrade(version))
    assert records.parse(FIRST.encode()).header["cwd"] == "/data 1 2"
