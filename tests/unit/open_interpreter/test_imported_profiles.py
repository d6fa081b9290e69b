"""Profiles of Open Interpreter, copied with a report."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.cli import main
from oi_tui.engine.open_interpreter import profiles
from oi_tui.engine.settings.profile import Profile

#: In the shape of the original's default profile.
DEFAULT = """\
### OPEN INTERPRETER CONFIGURATION FILE
llm:
  model: "gpt-4o"
  temperature: 0
  # api_key: ...  # Your API key, if the API requires it
  custom_instructions: "in the wrong place"
computer:
  import_computer_api: True
auto_run: False
max_output: 2800
version: 0.2.5
"""


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = profiles.find_folder()
    folder.mkdir(parents=True)
    (folder / "default.yaml").write_text(DEFAULT)
    return folder


def test_a_profile_comes_over_whole_and_what_has_no_effect_is_reported(theirs: Path) -> None:
    (found,) = profiles.import_profiles(profiles.list_profiles(), paths.profiles())
    assert found.name == "oi-default"
    assert found.unknown == ("llm.custom_instructions is now custom_instructions",)
    place = paths.profiles() / "oi-default.yaml"
    wrong = '  custom_instructions: "in the wrong place"\n'
    right = "custom_instructions: in the wrong place\n"
    assert place.read_text() == DEFAULT.replace(wrong, "") + right
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert Profile.load(place) == Profile(
        model="gpt-4o", temperature=0.0, import_computer_api=True, custom_instructions="in the wrong place"
    )
    assert not (paths.profiles() / "default.yaml").exists()


def test_what_cannot_be_taken_says_why_and_nothing_of_ours_is_replaced(theirs: Path) -> None:
    (theirs / "bad.yaml").write_text("auto_run: 'yes'\n")
    (theirs / "local.py").write_text("raise SystemExit")
    os.mkfifo(theirs / "pipe.yml")
    mine = paths.profiles() / "oi-default.yaml"
    paths.make_private(mine.parent)
    mine.write_text("llm.model: mine\n")
    reported = {
        item.source.name: item.problem
        for item in profiles.import_profiles(profiles.list_profiles(), paths.profiles())
    }
    assert reported == {
        "bad.yaml": "bad.yaml, line 1: auto_run: expected true or false, not 'yes'",
        "default.yaml": "the profile oi-default already exists",
        "local.py": None,
        "pipe.yml": f"{theirs / 'pipe.yml'}: not a regular file",
    }
    assert mine.read_text() == "llm.model: mine\n"


def test_the_command_line_imports_and_lists(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--import_profiles"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("default.yaml: imported; use it with --profile oi-default\n  llm.custom")
    (paths.profiles() / "broken.yaml").write_text("a: b: c\n")
    assert main.main(["--profiles"]) == 0
    assert capsys.readouterr().out.startswith(
        f"Profiles in {paths.shorten(paths.profiles())}:\n"
        "  broken               cannot be used: not readable as YAML: "
        "an unexpected colon. Text with a colon needs quotes, and a setting a space behind its colon\n"
        "  default              model gpt-4o (default)\n"
        "  oi-default           model gpt-4o\n"
        "Ready-made:\n  anthropic            Anthropic\n"
    )


def test_without_the_original_there_is_nothing_to_import(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--import-profiles"]) == 0
    assert capsys.readouterr().out.startswith("There are no profiles in ")


def test_a_copy_of_one_of_their_own_profiles_that_nobody_changed_is_not_brought_in(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "interpreter.os = True"
    monkeypatch.setattr(profiles, "_COPIES", {hashlib.sha256(text.encode()).hexdigest()[:32]})
    (theirs / "os.py").write_text(f"{text}\n\nversion: 0.2.1  # Profile version (do not modify)")
    (theirs / "local.py").write_text(f"{text}  # mine\n")
    assert {path.name for path in profiles.list_profiles()} >= {"local.py"}
    assert "os.py" not in {path.name for path in profiles.list_profiles()}
