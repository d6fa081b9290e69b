"""Languages that a profile names: found by reading, run once they are trusted, in a process of their own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.custom_languages import CustomLanguages
from oi_tui.engine.credentials.trust import Trust
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import Choices
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.workspace import Workspace
from tests.runtimes.playing import play

Make = Callable[..., Computer]
SHOUT = """
import collections, itertools, os
import time
open("canary", "a").close()

class Shout:
    name = "Shout"
    aliases = ["loud"]
    system_message = "Shout prints what you write."

    def __init__(self, computer):
        self.count = 0

    def run(self, code):
        self.count += 1
        print("printed", self.count)
        yield {"type": "console", "format": "active_line", "content": 1}
        yield {"type": "console", "format": "output", "content": code.upper() + "\\n"}
        if code == "wait":
            print("go")
            time.sleep(60)
        if code == "hang":
            # In C, where no interrupt is seen once "go" is there.
            told = map(os.write, [1], [b"go\\n"])
            collections.deque(itertools.chain(told, itertools.repeat(0)), 0)
        if code == "break":
            raise ValueError("oops")
        if code == "odd":
            yield 3
        if code == "ask":
            yield "hello " + input("name? ")
        if code == "image":
            yield {"type": "image", "format": "base64.png", "content": "aGk="}
        if code == "die":
            os._exit(7)

    def stop(self):
        open("stopped", "w").close()

    def terminate(self):
        open("ended", "w").close()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shout.py").write_text(SHOUT)
    return tmp_path


def own(folder: Path, *entries: str) -> CustomLanguages:
    return CustomLanguages(entries, Choices(), folder, Trust(folder / "config" / "trusted.json"))


@pytest.fixture
def computer(make: Make, folder: Path) -> Computer:
    """A computer whose only language is trusted."""
    found = own(folder, "shout.py")
    assert found.problems == []
    shown = found.show("shout")
    assert shown
    assert "It is trusted until" in found.trust(shown)
    return make(declared=found.languages)


def test_nothing_of_it_runs_before_it_was_shown_and_trusted(make: Make, folder: Path) -> None:
    found = own(folder, "shout.py:Shout")
    computer = make(declared=found.languages)
    assert (computer.languages, computer.resolve("loud")) == ((), "shout")
    played = play(computer, "shout", "hello")
    assert played.state == "failed"
    assert "%languages trust shout" in played.reason
    shown = found.show("Shout")
    assert shown
    assert shown.text == SHOUT
    assert not (folder / "canary").exists()
    found.trust(shown)
    assert computer.languages == ("shout",)
    assert computer.notes == ("Shout prints what you write.",)
    assert play(computer, "shout", "hello").text == "printed 1\nHELLO\n"


def test_a_changed_file_is_not_trusted_any_more(make: Make, folder: Path) -> None:
    found = own(folder, "shout.py")
    shown = found.show("shout")
    assert shown
    found.trust(shown)
    (folder / "shout.py").write_text(SHOUT + "\nopen('evil', 'w')\n")
    assert "which you do not trust yet" in play(make(declared=found.languages), "shout", "x").reason
    assert not (folder / "evil").exists()


def test_what_changed_after_it_was_shown_is_not_what_is_trusted(make: Make, folder: Path) -> None:
    found = own(folder, "shout.py")
    shown = found.show("shout")
    assert shown
    (folder / "shout.py").write_text(SHOUT + "\nopen('evil', 'w')\n")
    found.trust(shown)
    assert play(make(declared=found.languages), "shout", "x").state == "failed"


def test_it_remembers_and_its_line_is_marked(computer: Computer) -> None:
    first = play(computer, "shout", "a")
    assert (first.text, first.lines, first.state) == ("printed 1\nA\n", [1, None], "finished")
    assert play(computer, "loud", "b").text == "printed 2\nB\n"
    assert [item.format for item in play(computer, "shout", "image").shown] == ["base64.png"]


def test_it_may_ask_a_person(computer: Computer) -> None:
    played = play(computer, "shout", "ask", answers=("you\n",))
    assert played.asked[0].prompt == "name? "
    assert played.text.endswith("hello you")


def test_stopping_it_calls_stop_and_keeps_the_memory(computer: Computer, folder: Path) -> None:
    played = play(computer, "shout", "wait", stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert (folder / "stopped").exists()
    assert play(computer, "shout", "x").text == "printed 2\nX\n"


def test_what_heeds_nothing_is_killed_and_begins_anew(computer: Computer) -> None:
    played = play(computer, "shout", "hang", stop_at="go\r\n", insists=True)
    assert played.state == "lost"
    assert played.seconds < 10
    assert play(computer, "shout", "x").text == "printed 1\nX\n"


def test_its_errors_are_failed_runs_with_the_last_lines(computer: Computer) -> None:
    played = play(computer, "shout", "break")
    assert (played.state, played.reason) == ("failed", "ValueError: oops")
    assert played.text.startswith("printed 1\nBREAK\nTraceback")
    assert 'shout.py", line' in played.text
    assert "class_driver" not in played.text
    odd = play(computer, "shout", "odd")
    assert (odd.state, odd.reason) == ("failed", "ValueError: run() yielded 3, which is not a chunk")


def test_its_death_is_reported(computer: Computer) -> None:
    assert play(computer, "shout", "die").state == "lost"
    assert play(computer, "shout", "x").text == "printed 1\nX\n"


def test_ending_it_calls_terminate(computer: Computer, folder: Path) -> None:
    play(computer, "shout", "x")
    computer.reset()
    assert (folder / "ended").exists()


def test_a_module_is_found_beside_the_profile_and_where_python_looks(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "loud.py").write_text(SHOUT)
    found = own(folder, "package.loud:Shout")
    assert (found.problems, [language.name for language in found.languages]) == ([], ["shout"])
    assert "class Nothing not found" in own(folder, "json.decoder:Nothing").problems[0]


@pytest.mark.parametrize(
    ("entry", "text", "problem"),
    [
        ("gone.py", "", "file not found:"),
        ("no_such_module_here:Shout", "", "module no_such_module_here not found"),
        ("not a module", "", "name a file"),
        ("bad.py", "class (", "is not valid Python"),
        ("bad.py", "x = 1", "no class is a language"),
        ("bad.py:Shout", "x = 1", "class Shout not found"),
        ("bad.py:Half", "class Half:\n    name = 'half'\n    def run(self): 0", "lacks stop and terminate"),
        ("bad.py:Half", "class Half:\n    name = 3\n    run = stop = terminate = None", "lacks name and run"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_reported_and_costs_nothing_else(
    folder: Path, entry: str, text: str, problem: str
) -> None:
    (folder / "bad.py").write_text(text)
    found = own(folder, entry, "shout.py")
    assert [language.name for language in found.languages] == ["shout"]
    assert len(found.problems) == 1
    assert entry in found.problems[0]
    assert problem in found.problems[0]


def test_a_profile_brings_its_languages(folder: Path) -> None:
    path = folder / "mine.yaml"
    path.write_text("computer:\n  custom_languages:\n    - shout.py\n    - gone.py\n")
    workspace = Workspace(Profile.load(path), path)
    try:
        assert workspace.computer.resolve("shout") == "shout"
        assert any("gone.py" in remark for remark in workspace.remarks)
        assert any(
            item.name == "shout" and item.program is None for item in workspace.computer.check_availability()
        )
    finally:
        workspace.close()


def test_a_language_with_the_alias_of_another_replaces_it_in_the_list(make: Make, folder: Path) -> None:
    (folder / "shout.py").write_text(SHOUT.replace('"loud"', '"python"'))
    computer = make(declared=(*LANGUAGES, *own(folder, "shout.py").languages))
    listed = {found.name: found.about for found in computer.check_availability()}
    assert "python" not in listed
    assert listed["shout"].startswith("Shout is in ")
    assert play(computer, "python", "x").reason == listed["shout"]
