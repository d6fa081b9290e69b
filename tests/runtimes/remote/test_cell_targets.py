"""Cells that name the target on which they run, beside the one of all others."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.engine import cell_target
from oi_tui.engine.events import ApprovalRequested, Event, FilesChanged, Noticed, Reject, Run
from oi_tui.engine.export.formats import FORMATS
from oi_tui.engine.llm.base import Delta, Text
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.file_changes.snapshots import Snapshots
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.messages import Message
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote.target import TargetError
from tests.fakes import Llm, call
from tests.runtimes.playing import play
from tests.servers.sshd import HOST

Make = Callable[..., Computer]
THERE = "command:env PLACE=there"
ELSEWHERE = "command:env PLACE=elsewhere"


def make_session(
    computer: Computer,
    *replies: Sequence[Delta],
    watcher: FileWatcher | None = None,
    **settings: object,
) -> Session:
    profile = Profile(model="openai/test", **settings)  # type: ignore[arg-type]
    journal = Store.create_unsaved(cwd="/", model="test")
    return Session(profile, Llm(*replies), computer, journal, watcher=watcher)


def run_turn(session: Session, *answers: Run | Reject | None) -> tuple[list[Event], list[tuple[str, str]]]:
    """The events of a turn, and of each question the code and where the computer would run it."""
    given, asked, seen = list(answers), [], []
    for event in session.turn("go"):
        seen.append(event)
        if isinstance(event, ApprovalRequested):
            asked.append((event.message.content, session.where))
            assert event.reply((given.pop(0) if given else None) or Run(event.message.content))
    return seen, asked


def cells(session: Session) -> list[Message]:
    return [message for message in session.messages if message.type == "code"]


def printed(session: Session) -> list[str]:
    return [m.content.strip() for m in session.messages if m.role == "computer" and m.type == "console"]


def test_a_cell_runs_where_its_first_line_says_and_each_place_keeps_its_variables(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    assert computer.targets.names == ("local", THERE)
    show = "import os; x = globals().get('x', 0) + 1; print(x, os.environ.get('PLACE'))"
    on = cell_target.join(THERE, show)
    session = make_session(computer, *([call(code)] for code in (show, on, on, show)), [Text("Done.")])
    _, asked = run_turn(session)
    assert printed(session) == ["1 None", "1 there", "2 there", "2 None"]
    there = computer.inspector.inspect("python", "x")
    assert there
    assert there.preview == "2"
    wheres = [cell.where for cell in cells(session)]
    assert [bool(where) for where in wheres] == [False, True, True, False]
    assert [where for _, where in asked] == [where or "" for where in wheres]
    assert (computer.targets.home, computer.where) == ("local", "")


def test_line_numbers_of_errors_count_the_line_that_names_the_target(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    session = make_session(computer, [call(cell_target.join(THERE, "x = 1\n1 / 0"))], [Text("Done.")])
    run_turn(session)
    assert "line 3" in printed(session)[0]
    assert "ZeroDivisionError" in printed(session)[0]


def test_files_are_listed_where_a_cell_runs_and_in_no_other_place(make: Make, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    target = f"command:env -C {there}"
    computer = make(cwd=here)
    computer.targets.connect(target)
    code = f"for folder in {[str(here), str(there)]}: print(1, file=open(folder + '/%s', 'w'))"
    plain = "print(1)"
    codes = [cell_target.join(target, code % "a"), code % "b", plain, cell_target.join(target, plain)]
    watcher = FileWatcher(Snapshots(paths.data() / "snapshots"), here)
    session = make_session(computer, *([call(code)] for code in codes), [Text("Done.")], watcher=watcher)
    events, _ = run_turn(session)
    lists = [event for event in events if isinstance(event, FilesChanged)]
    assert [event.id for event in lists] == [cell.id for cell in cells(session)[:2]]
    sets = [event.change_set for event in lists]
    assert [(item.folder, item.target) for item in sets] == [(str(there), target), (str(here), "")]
    assert [[change.path for change in item.changes] for item in sets] == [["a"], ["b"]]
    # What the steps were is known later, wherever the files are.
    assert [watcher.snapshots.find_change_set(event.id) for event in lists] == sets


def test_what_is_granted_on_a_target_counts_on_no_other(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    computer.targets.connect(ELSEWHERE)
    one, two = cell_target.join(THERE, "print(1)"), cell_target.join(ELSEWHERE, "print(2)")
    codes = [one, one.replace("1", "3"), two, "print(4)", one.replace("1", "5")]
    session = make_session(computer, *([call(code)] for code in codes), [Text("Done.")])
    events, asked = run_turn(session, Run(one, grant=Permission("language", "python")))
    # Only what runs there was granted there; a visit elsewhere does not end it.
    assert [code for code, _ in asked] == [one, two, "print(4)"]
    assert printed(session) == ["1", "3", "2", "4", "5"]
    (granted,) = session.permissions.in_force
    assert granted.words.startswith("all python on env PLACE=there as ")
    notices = [event.text for event in events if isinstance(event, Noticed)]
    assert any("on env PLACE=there" in text for text in notices)
    session.permissions.revoke(granted)
    assert session.permissions.in_force == ()


@pytest.mark.parametrize("scope", ["everything", "language"])
def test_what_is_granted_to_the_session_does_not_count_on_the_target_of_a_cell(
    make: Make, scope: str
) -> None:
    computer = make()
    computer.targets.connect(THERE)
    on = cell_target.join(THERE, "print(2)")
    session = make_session(computer, [call("print(1)")], [call(on)], [call("print(3)")], [Text("Done.")])
    _, asked = run_turn(session, Run("print(1)", grant=Permission(scope, "python")))  # type: ignore[arg-type]
    assert [code for code, _ in asked] == ["print(1)", on]
    assert printed(session) == ["1", "2", "3"]


def test_auto_run_granted_on_the_target_of_a_cell_stays_there_and_can_be_turned_off(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    on = cell_target.join(THERE, "print(1)")
    session = make_session(computer, [call(on)], [call(on)], [call("print(2)")], [Text("Done.")], [call(on)])
    _, asked = run_turn(session, Run(on, grant=Permission("everything", "python")))
    assert [code for code, _ in asked] == [on, "print(2)"]
    assert not session.auto_run
    session.auto_run = False
    _, asked = run_turn(session)
    assert [code for code, _ in asked] == [on]


def test_a_cell_whose_place_is_edited_is_asked_for_again_with_the_other_place(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    code = "import os; print(os.environ.get('PLACE'))"
    on = cell_target.join(THERE, code)
    session = make_session(computer, [call(code)], [Text("Done.")])
    _, asked = run_turn(session, Run(on, grant=Permission("language", "python")), None)
    assert [code for code, _ in asked] == [code, on]
    assert asked[0][1] == ""
    assert asked[1][1].startswith("on env PLACE=there")
    assert printed(session) == ["there"]
    (cell,) = cells(session)
    assert (cell.decision, cell.proposed) == ("edited", code)
    # What was granted with the answer to the question about the other place does not count.
    assert session.permissions.in_force == ()


def test_a_cell_on_a_target_that_is_not_connected_does_not_run_and_says_why(
    make: Make, tmp_path: Path
) -> None:
    computer = make()
    proof = tmp_path / "started"
    on = cell_target.join(f"command:touch {proof}", "print(1)")
    session = make_session(computer, [call(on)], [Text("Done.")], auto_run=True)
    _, asked = run_turn(session)
    assert asked == []
    (cell,) = cells(session)
    assert cell.state == "failed"
    assert "is not connected. Connected: local." in (cell.reason or "")
    assert not proof.exists()
    list(session.run("python", on))
    assert not proof.exists()
    assert printed(session) == []


def test_of_two_targets_of_one_name_none_is_chosen_and_both_are_named(make: Make) -> None:
    computer = make()
    both = ("command:/usr/bin/env A=1", "command:env A=1")
    for target in both:
        computer.targets.connect(target)
    session = make_session(computer, [call(cell_target.join("env A=1", "print(1)"))], [Text("Done.")])
    _, asked = run_turn(session)
    assert asked == []
    (cell,) = cells(session)
    words = f"“env A=1” may be {both[0]} or {both[1]}: write one of them."
    assert words in (cell.reason or "")
    assert computer.targets.detach("env A=1") == words


def test_a_rejected_cell_leaves_the_computer_where_it_was(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    session = make_session(computer, [call(cell_target.join(THERE, "print(1)"))])
    run_turn(session, Reject("", stop=True))
    assert computer.where == ""
    assert printed(session) == []
    computer.targets.use(THERE)
    assert computer.targets.home == THERE


def test_the_target_of_the_session_cannot_change_while_a_cell_asks_elsewhere(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    with computer.at(THERE), pytest.raises(TargetError, match="Code is running"):
        computer.targets.use(ELSEWHERE)
    assert computer.targets.home == "local"


def test_a_session_elsewhere_runs_single_cells_on_this_machine(make: Make) -> None:
    computer = make(target=THERE)
    code = "import os; print(os.environ.get('PLACE'))"
    session = make_session(computer, [call(cell_target.join("local", code))], [call(code)], [Text("Done.")])
    _, asked = run_turn(session)
    assert printed(session) == ["None", "there"]
    assert asked[0][1] == ""
    assert [cell.where is None for cell in cells(session)] == [True, False]


def test_the_model_is_told_of_other_targets_only_where_there_are_some(make: Make) -> None:
    computer = make()
    assert not any("%%on" in note for note in computer.notes)
    computer.targets.connect(THERE)
    (note,) = [note for note in computer.notes if "%%on" in note]
    assert f"local, {THERE}" in note
    # The title names it as well.
    assert computer.explain_refusal_at("env PLACE=there") is None
    computer.targets.connect(ELSEWHERE)
    assert computer.targets.names == ("local", THERE, ELSEWHERE)


def test_a_lost_connection_of_a_cell_is_made_again_and_its_variables_are_lost(make: Make) -> None:
    computer = make()
    computer.targets.connect(THERE)
    with computer.at(THERE):
        play(computer, "python", "x = 1")
        assert computer.targets.remote
        computer.targets.remote.link.drop("for a test")  # type: ignore[attr-defined]
    assert [loss.language for loss in computer.pop_losses()] == ["python"]
    with computer.at(THERE):
        assert "NameError" in play(computer, "python", "x").text


@pytest.mark.parametrize("name", ["script", "notebook"])
def test_an_export_has_the_place_of_a_cell_as_a_comment(name: str) -> None:
    code = Message(
        role="assistant", type="code", format="python", content="%%on ssh:gpu1\nx = 1\n", state="finished"
    )
    written = FORMATS[name].write("title", [code])
    assert "# on ssh:gpu1" in written
    assert "%%on" not in written


@pytest.mark.parametrize(
    ("code", "target", "body"),
    [
        ("print(1)", "", "print(1)"),
        ("%%on ssh:gpu1\nprint(1)", "ssh:gpu1", "\nprint(1)"),
        ("\n  %%on   a b \r\nx\ny", "a b", "\n\nx\ny"),
        ("%%on gpu1", "gpu1", ""),
        ("%%once x\ny", "", "%%once x\ny"),
        ("x\n%%on gpu1\ny", "", "x\n%%on gpu1\ny"),
        ("%%on\ny", "", "%%on\ny"),
    ],
)
def test_the_first_line_names_the_target(code: str, target: str, body: str) -> None:
    assert cell_target.split(code) == (target, body)


@pytest.mark.needs("ssh", "sshd")
@pytest.mark.usefixtures("path_with_ssh")
def test_code_on_a_target_is_judged_by_the_files_there(make: Make, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "a.csv").touch()
    (there / "out").symlink_to("/etc")
    computer = make(target=f"ssh:{HOST}{there}")
    plain, leads_out = "print(open('a.csv').read())", "open('out/x', 'w')"
    # What ran last is seen by the next question.
    codes = [plain, leads_out, "open('a.csv', 'w')", "open('json.py', 'w').write('')", "import json"]
    (there / "sub").mkdir()
    (there / "sub" / "b.csv").touch()
    codes += ["import os; os.chdir('sub')", "open('b.csv', 'w')"]
    session = make_session(computer, *([call(code)] for code in codes), [Text("Done.")])
    findings = []
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            code = event.message.content
            findings.append(scan_code("python", code, tmp_path, session.earlier).sentences)
            assert event.reply(Reject("no", stop=False) if code == leads_out else Run(code))
    assert findings == [
        [],
        ["writes outside of the folder: out/x (line 1)"],
        ["overwrites: a.csv (line 1)"],
        ["writes files: json.py"],
        ["not checked: json.py in this folder may be loaded"],
        ["not checked: os.chdir(…) (line 1), json.py in this folder may be loaded"],
        ["overwrites: b.csv (line 1)", "not checked: effects of earlier code"],
    ]
