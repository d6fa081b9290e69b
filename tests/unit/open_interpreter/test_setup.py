"""Everything of Open Interpreter on this machine, found and brought in at once."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from oi_tui import paths, profiles
from oi_tui.cli import main
from oi_tui.engine.models import llamafile
from oi_tui.engine.open_interpreter import conversations, setup
from oi_tui.engine.open_interpreter import profiles as theirs
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.skills import SkillLibrary
from oi_tui.engine.storage.store import Store

DEFAULT = "llm:\n  model: demo\n  api_key: sk-1234567890\nauto_run: True\nmax_budget: 2\nversion: 0.2.5\n"


@pytest.fixture
def original() -> Path:
    """The folders of somebody who used Open Interpreter since 0.1."""
    new, _, old = theirs.list_configurations()
    for folder in (new / "profiles", new / "conversations", new / "models", old / "conversations"):
        folder.mkdir(parents=True)
    (new / "profiles" / "default.yaml").write_text(DEFAULT)
    (new / "profiles" / "work.yaml").write_text("llm.temperature: 0.5\n")
    (new / "profiles" / "data.json").write_text('{"llm": {"model": "demo"}}')
    (new / "profiles" / "mine.py").write_text(
        "from interpreter import interpreter\ninterpreter.loop = True\n"
    )
    (new / "skills").mkdir()
    (new / "skills" / "greet.py").write_text("def greet(): ...\n")
    (new / "models" / "tiny.llamafile").write_text("x")
    words = [{"role": "user", "type": "message", "content": "hello"}]
    for place in (new, old):
        (place / "conversations" / f"hello__{place.name}.json").write_text(
            json.dumps(words * len(place.name))
        )
    (old / "config.yaml").write_text("model: gpt-4\ntemperature: 0.2\n")
    (old / "party.yaml").write_text("temperature: 0.9\n")
    oldest = conversations.list_folders()[-1]
    oldest.mkdir(parents=True)
    (oldest / "September_20_2023_10-00-00.json").write_text(json.dumps([{"role": "user", "message": "Hi"}]))
    return new.parent


def digest(folder: Path) -> str:
    """A sum over all names, times and contents."""
    found = [
        (str(path), path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
        if "interpreter" in str(path).lower()
    ]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def test_what_is_there_is_described_with_what_it_would_change(original: Path) -> None:
    found = setup.detect(Store(paths.conversations()))
    text = "\n".join(found.describe())
    assert "6 profiles: data.json, default.yaml, mine.py, work.yaml, party.yaml, config.yaml" in text
    assert "3 conversations" in text
    assert "1 llamafile" in text
    assert "1 skill" in text
    assert "The model is demo." in text
    assert "llm.max_budget: 2" in text
    assert "auto_run on: code from the model would run on this machine without asking" in text
    assert "sk-1234567890" not in text


def test_everything_is_brought_in_once_and_nothing_of_theirs_changes(
    original: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = digest(original)
    assert main.main(["--import"]) == 0
    words = capsys.readouterr().out
    assert "default.yaml: imported; use it with --profile oi-default\n  It sets auto_run" in words
    assert "oi-default is the default profile now." in words
    profile, path = profiles.open_profile(None)
    assert path == paths.profiles() / "oi-default.yaml"
    assert (profile.model, profile.max_budget, profile.auto_run) == ("demo", 2.0, True)
    assert profiles.open_profile("work")[0].temperature == 0.5
    assert profiles.open_profile("data")[0].model == "demo"
    assert profiles.open_profile("oi-config")[0].model == "gpt-4"
    for name in ("mine", "mine.py"):
        assert profiles.open_profile(name, lambda _: True)[0].loop
    assert profiles.open_profile("party")[0].temperature == 0.9
    assert len(Store(paths.conversations()).list_summaries()) == 3
    assert [path.name for path in llamafile.list_files()] == ["tiny.llamafile"]
    assert [skill.name for skill in SkillLibrary(Path("/")).list_all()] == ["greet"]
    assert digest(original) == before
    assert main.main(["--import"]) == 0
    assert capsys.readouterr().out == "Nothing new was found in Open Interpreter's folders.\n"


def test_what_could_not_be_brought_in_is_named_with_the_reason(
    original: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    skills = original / "open-interpreter" / "skills"
    (skills / "latin.py").write_bytes(b"def caf\xe9(): ...\n")

    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    assert main.main(["--import"]) == 0
    words = capsys.readouterr().out
    assert "1 skill imported; %skills lists them." in words
    why = "not UTF-8 text (byte 0xe9); save it as UTF-8"
    assert f"The skill latin.py was not imported: {why}" in words
    assert "tiny.llamafile could not be linked: Operation not permitted" in words


def test_a_profile_that_is_not_brought_in_yet_is_named_with_the_way(
    original: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("work", "work.yaml", "mine.py"):
        with pytest.raises(ProfileError, match=r"Open Interpreter has one .* oi-tui --import imports it"):
            profiles.find(name)
    assert main.main(["--profiles"]) == 0
    assert capsys.readouterr().out.endswith("oi-tui --import imports it.\n")


def test_without_open_interpreter_there_is_nothing_to_offer() -> None:
    assert not setup.detect(Store(paths.conversations()))


def write_conversation(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}__x.json").write_text(
        json.dumps([{"role": "user", "type": "message", "content": name * 3}])
    )


def list_titles(folder: Path) -> list[str]:
    return sorted(summary.title for summary in Store(folder).list_summaries())


def test_conversations_in_a_folder_that_a_profile_names_are_found(original: Path, tmp_path: Path) -> None:
    write_conversation(tmp_path / "work talks", "work")
    (theirs.find_folder() / "work.yaml").write_text(f"conversation_history_path: {tmp_path}/work talks\n")
    (theirs.find_folder() / "odd.yaml").write_text("conversation_history_path: [1]\n")
    (theirs.find_folder() / "torn.yaml").write_text("conversation_history_path: [\n")
    assert setup.detect(Store(paths.conversations())).conversations == 4
    assert main.main(["--import"]) == 0
    assert "work" in list_titles(paths.conversations())


@pytest.mark.parametrize(
    "line",
    [
        "interpreter.conversation_history_path = '{}'",
        "interpreter.conversation_history_path = os.path.expanduser('{}')",
        "interpreter.conversation_history_path = str(Path('{}'))",
        "folder = '{}'\ninterpreter.conversation_history_path = f'{{folder}}/'",
        "interpreter = OpenInterpreter(conversation_history_path='{}')",
    ],
)
def test_a_python_profile_names_a_folder_of_conversations_without_being_run(
    tmp_path: Path, line: str
) -> None:
    theirs.find_folder().mkdir(parents=True)
    write_conversation(tmp_path / "script talks", "mine")
    begin = f"import os\nfrom pathlib import Path\nPath('{tmp_path}/ran').touch()\n"
    (theirs.find_folder() / "mine.py").write_text(begin + line.format(tmp_path / "script talks"))
    assert setup.detect(Store(paths.conversations())).conversations == 1
    assert main.main(["--import"]) == 0
    assert list_titles(paths.conversations()) == ["mine"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("value", ["", "1", "make()", "(", "Path.home() / 'nothing here'", "'\\0'"])
def test_a_python_profile_whose_folder_cannot_be_told_is_imported_alone(value: str) -> None:
    theirs.find_folder().mkdir(parents=True)
    (theirs.find_folder() / "mine.py").write_text(f"interpreter.conversation_history_path = {value}\n")
    found = setup.detect(Store(paths.conversations()))
    assert (len(found.profiles), found.conversations) == (1, 0)
    assert main.main(["--import"]) == 0


def test_the_home_in_a_python_profile_is_that_of_the_person() -> None:
    theirs.find_folder().mkdir(parents=True)
    write_conversation(Path.home() / "talks", "mine")
    code = "from pathlib import Path\ninterpreter.conversation_history_path = str(Path.home() / 'talks')\n"
    (theirs.find_folder() / "mine.py").write_text(code)
    assert setup.detect(Store(paths.conversations())).conversations == 1


def test_conversations_go_where_the_new_default_profile_looks_for_them(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    write_conversation(kept, "mine")
    (theirs.find_folder() / "default.yaml").write_text(f"{DEFAULT}conversation_history_path: {kept}\n")
    assert main.main(["--import"]) == 0
    assert len(list_titles(kept)) == 4
    assert list_titles(paths.conversations()) == []
    assert json.loads((kept / "mine__x.json").read_text())[0]["content"] == "mine" * 3
    capsys.readouterr()
    assert main.main(["--import"]) == 0
    assert capsys.readouterr().out == "Nothing new was found in Open Interpreter's folders.\n"


def test_a_folder_given_by_hand_is_read_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_conversation(tmp_path / "copy", "plain")
    write_conversation(tmp_path / "copy" / "conversations", "below")
    assert main.main(["--import", str(tmp_path / "copy")]) == 0
    assert capsys.readouterr().out == "2 conversations of Open Interpreter imported.\n"
    assert list_titles(paths.conversations()) == ["below", "plain"]
    assert main.main(["--import", str(tmp_path / "none")]) == 2
    assert "--import expects a folder with conversations; " in capsys.readouterr().err


@pytest.mark.usefixtures("original")
def test_an_import_in_a_terminal_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main.main(["--import"]) == 0
    steps = capsys.readouterr().err.split("\r")
    assert steps == ["", *(f"{done} of 3 conversations" for done in (1, 2, 3)), "\x1b[K"]


def test_the_report_of_a_profile_that_cannot_be_read_names_it_once(tmp_path: Path) -> None:
    source, target = tmp_path / "broken.yaml", tmp_path / "ours"
    source.write_text('llm:\n  model: "x\n   bad\n')
    [report] = theirs.import_profiles([source], target)
    assert str(report).startswith("broken.yaml: not imported: line ")
    assert str(report).count("broken.yaml") == 1
