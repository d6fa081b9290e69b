"""The address of a server, and its records as events."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from oi_tui.attach.address import AddressError, parse
from oi_tui.attach.records import RecordReader
from oi_tui.engine.events import (
    FileCopied,
    FilesChanged,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RunReported,
    TurnEnded,
)
from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.messages import (
    Displayed,
    InputReceived,
    InputRequested,
    LineReached,
    Message,
    Printed,
    Report,
    RunEnded,
    Started,
    Starting,
    Stopping,
    ValueBegan,
    ValueEnded,
)
from oi_tui.server.wire import encode_event


@pytest.mark.parametrize(
    ("typed", "base", "socket", "token"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", None, "own"),
        ("localhost:9000", "http://localhost:9000", None, "own"),
        ("https://[::1]:8000/", "https://[::1]:8000", None, "own"),
        ("http://127.0.0.1:8000/#token=abc", "http://127.0.0.1:8000", None, "abc"),
        ("/run/oi.sock", "http://localhost", "/run/oi.sock", "own"),
    ],
)
def test_an_address_is_a_url_a_host_or_a_socket(
    typed: str, base: str, socket: str | None, token: str
) -> None:
    found = parse(typed, {"INTERPRETER_API_KEY": "own"})
    assert (found.base, found.token) == (base, token)
    assert (str(found.socket) if found.socket else None) == socket
    assert token not in repr(found)


def test_a_socket_in_the_home_of_an_unknown_user_is_a_relative_path() -> None:
    assert parse("~nobody-of-this-name/s.sock", {}).socket == Path.cwd() / "~nobody-of-this-name" / "s.sock"


@pytest.mark.parametrize(
    "typed",
    ["ftp://a", "http://a:99999", "http://a/path", "http://", "http://me:secret@a", "", "http://[::1"],
)
def test_what_is_no_address_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(AddressError, match="--attach") as refusal:
        parse(typed, {})
    assert "secret" not in str(refusal.value)


def message(id: str, content: str, **more: Any) -> dict[str, Any]:
    return Message(role="assistant", type="message", id=id, content=content, **more).to_dict()


def test_a_state_that_comes_again_shows_only_what_is_new() -> None:
    records = RecordReader()
    state = {"event": "state", "busy": True, "messages": [message("a", "one"), message("b", "tw")]}
    first = list(records.events(state))
    assert [type(event) for event in first] == [
        MessageStarted,
        MessageGrew,
        MessageRecorded,
        MessageStarted,
        MessageGrew,
    ]
    again = {**state, "busy": False, "messages": [message("a", "one"), message("b", "two")]}
    grown, recorded = records.events(again)
    assert grown == MessageGrew("b", "o")
    assert isinstance(recorded, MessageRecorded)


def test_output_goes_on_behind_what_a_slow_terminal_missed() -> None:
    def state(content: str) -> dict[str, Any]:
        output = Message(role="computer", type="console", format="output", id="a", content=content)
        return {"event": "state", "busy": True, "messages": [output.to_dict()]}

    records = RecordReader()
    list(records.events(state("1\n2\n")))
    (grown,) = records.events(state("1\n… 5 lines not shown …\n7\n"))
    assert grown == MessageGrew("a", "\n… 5 lines not shown …\n7\n")
    recorded = {"event": "message.recorded", "message": state("1\n… 6 lines not shown …\n8\n")["messages"][0]}
    assert [type(event) for event in records.events(recorded)] == [MessageRecorded]
    # It was shown whole by then, so that a later state adds nothing.
    assert list(records.events(state("1\n… 6 lines not shown …\n8\n"))) == []


def test_a_text_that_grew_is_not_shown_a_second_time_when_it_is_recorded() -> None:
    records = RecordReader()
    started = list(records.events({"event": "message.started", "message": message("a", "")}))
    grown = list(records.events({"event": "message.grew", "id": "a", "text": "one"}))
    recorded = list(records.events({"event": "message.recorded", "message": message("a", "one")}))
    assert [type(event) for event in started + grown + recorded] == [
        MessageStarted,
        MessageGrew,
        MessageRecorded,
    ]


@pytest.mark.parametrize(
    "record",
    [
        {"event": "message.grew"},
        {"event": "message.recorded", "message": 3},
        {"event": "state", "messages": 7},
        {"event": "files.changed", "changes": [{}]},
        {"event": "run.reported", "id": "a", "report": "stopping"},
        {"event": "turn.ended"},
    ],
)
def test_a_broken_record_is_a_sentence_and_no_failure(record: dict[str, Any]) -> None:
    (reported,) = RecordReader().events(record)
    assert isinstance(reported, Noticed)
    assert "does not understand" in reported.text


def test_what_a_newer_server_sends_besides_is_ignored() -> None:
    records = RecordReader()
    assert list(records.events({"event": "plan.made", "steps": []})) == []
    assert list(records.events({"event": "run.reported", "id": "a", "report": "new"})) == []
    assert list(records.events({"event": "turn.ended", "outcome": "done", "more": 1})) == [TurnEnded("done")]


def test_every_report_of_a_run_is_read_as_it_was_sent() -> None:
    reports: list[Report] = [
        Starting(),
        Started(),
        LineReached(3),
        InputRequested("Name? ", False),
        InputReceived(),
        Stopping("terminate", 2.0, "variables"),
        RunEnded("failed", 0.5, "NameError"),
        Printed("out"),
        Displayed("base64.png", "aGk="),
        ValueBegan("display", "chart"),
        ValueEnded(),
    ]
    assert {type(report) for report in reports} == set(get_args(Report))
    for report in reports:
        record = json.loads(json.dumps(encode_event(RunReported("a", report), "s")))
        assert list(RecordReader().events(record)) == [RunReported("a", report)]


def test_files_and_copies_are_read_as_they_were_sent() -> None:
    changes = FileChange("a.csv", "created"), FileChange("b.csv", "changed"), FileChange("c.csv", "deleted")
    for event in (
        FilesChanged("a", ChangeSet("a", "", changes, "Large folders were left out.")),
        FileCopied("a.csv", 512, 1024),
    ):
        record = json.loads(json.dumps(encode_event(event, "s")))
        assert list(RecordReader().events(record)) == [event]
    record = {"event": "files.changed", "id": "a", "changes": [{"path": "x", "what": "renamed"}]}
    (read,) = RecordReader().events(record)
    assert isinstance(read, FilesChanged)
    assert read.change_set.changes == (FileChange("x", "changed"),)
