"""What one piece of code may do while it runs, and what is recorded of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from oi_tui.engine.events import ApprovalRequested, FilesChanged, Reject, Run
from oi_tui.engine.llm.base import Text
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.engine.tools import NO_TOOLS
from oi_tui.file_changes.snapshots import ChangeSet, FileChange, Snapshots
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.messages import Message, Printed, Report, RunEnded
from tests.fakes import Computer, Llm, call

CODE = Message(role="assistant", type="code", content="a", format="python", id="code")


def make_session(computer: Computer, *replies: Any, watcher: FileWatcher | None = None) -> Session:
    journal = Store.create_unsaved(cwd="/", model="test")
    profile = Profile(model="openai/test")
    return Session(profile, Llm(*replies), computer, journal, [CODE], watcher=watcher)


def look_during_run(computer: Computer, look: Callable[[], object]) -> list[object]:
    """What `look` returns while code runs."""
    seen: list[object] = []
    run = computer.run

    def run_and_look(*arguments: Any) -> Iterator[Report]:
        for report in run(*arguments):
            seen.append(look())
            yield report

    computer.run = run_and_look  # type: ignore[method-assign]
    return seen


@pytest.mark.parametrize(("language", "names"), [("python", ["github.search"]), ("shell", [])])
def test_the_tools_that_code_names_can_be_called_only_in_languages_that_can_and_while_it_runs(
    language: str, names: list[str]
) -> None:
    computer = Computer()
    execution = make_session(computer).execution
    seen = look_during_run(computer, lambda: sorted(execution.callable_tools.named))
    list(execution.run(CODE.replace(content="tools.github.search()", format=language)))
    assert seen == [names] * 2
    assert execution.callable_tools is NO_TOOLS


def test_after_a_run_nothing_is_left_of_what_it_could_ask_the_model() -> None:
    computer = Computer()
    execution = make_session(computer).execution
    seen = look_during_run(computer, lambda: execution.cell_requests)
    list(execution.run(CODE))
    assert len(set(map(id, seen))) == 1
    assert execution.cell_requests is not seen[0]
    assert execution.cell_requests.most == 0


@pytest.mark.parametrize(
    ("by_person", "state", "decision"), [(True, "rejected", "rejected"), (False, "skipped", None)]
)
def test_code_that_nobody_could_be_asked_about_is_skipped_and_not_rejected(
    by_person: bool, state: str, decision: str | None
) -> None:
    session = make_session(Computer(), [call("b")], [Text("ok")])
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            event.reply(Reject("No terminal.", by_person=by_person))
    (code,) = [message for message in session.messages if message.content == "b"]
    assert (code.state, code.decision, code.reason) == (state, decision, "No terminal.")


class LeftRun:
    """A run that was left running on a target and ends now."""

    message = "watched"
    code = CODE

    def reports(self) -> Iterator[Report]:
        yield Printed("the rest")
        yield RunEnded("finished", 2.0)


def test_the_rest_of_a_run_on_another_machine_is_recorded_with_its_place_and_its_files(
    tmp_path: Path,
) -> None:
    computer = Computer()
    computer.targets.use("ssh:gpu1")
    files = computer.target_files = Mock()  # type: ignore[assignment]
    files.pop_changes.return_value = ChangeSet("watched", "/scratch", (FileChange("a.txt", "created"),))
    snapshots = Snapshots(tmp_path / "snapshots")
    session = make_session(computer, watcher=FileWatcher(snapshots, tmp_path))
    events = list(session.execution.follow(CODE, LeftRun().reports(), "watched"))
    files.watch.assert_called_once_with("watched")
    (changed,) = [event for event in events if isinstance(event, FilesChanged)]
    assert (changed.id, changed.change_set.id) == ("code", "code")
    assert snapshots.find_change_set("code") is not None
    code, output = session.messages
    assert code.where == "on ssh:gpu1 as ana, /scratch"
    assert (code.state, code.seconds) == ("finished", 2.0)
    assert output.content == "the rest"


def test_the_rest_of_a_run_is_recorded_where_no_files_are_watched() -> None:
    computer = Computer()
    session = make_session(computer)
    events = list(session.execution.follow(CODE, LeftRun().reports(), "watched"))
    assert not any(isinstance(event, FilesChanged) for event in events)
    assert [message.state for message in session.messages] == ["finished", None]
    assert session.messages[0].where is None


def test_an_edit_that_gives_back_the_model_s_own_code_is_no_edit() -> None:
    session = make_session(Computer(), [call("b")], [Text("ok")])
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            event.reply(Run("b"))
    (code,) = [message for message in session.messages if message.content == "b"]
    assert (code.decision, code.proposed) == ("approved", None)
