"""Going on with another profile within a conversation."""

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from oi_tui import paths, profiles
from oi_tui.actions.switch_profile import ProfileSwitcher
from oi_tui.engine.credentials.trust import Trust
from oi_tui.engine.settings.profile import Profile
from oi_tui.workspace import Workspace
from tests.servers.files import FileServer


class Place:
    """Does what takes time at once, and answers questions as it was told to."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.shown: list[str] = []
        self.asked: list[str] = []
        self.answer = True
        self.before_yes: Callable[[], object] = lambda: None

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        self.shown.append(("! " if warning else "") + text)

    def confirm(self, question: str, details: Sequence[str], act: Callable[[], None]) -> None:
        self.asked.append("\n".join([question, *details]))
        self.before_yes()
        if self.answer:
            act()

    def run_then(self, work: Callable[[], Any], then: Callable[[Any], object]) -> None:
        then(work())

    def apply_profile(self, profile: Profile) -> None:
        self.workspace.use(profile)

    def switch_auto_run(self, on: bool | None) -> None:
        self.workspace.session.auto_run = bool(on)


@pytest.fixture
def folder() -> Path:
    return paths.make_private(paths.profiles())


@pytest.fixture
def place(folder: Path) -> Iterator[Place]:
    workspace = Workspace(Profile().with_changes("flag", temperature=0.5), folder / "default.yaml")
    yield Place(workspace)
    workspace.close()


def switched(place: Place, name: str) -> Profile:
    ProfileSwitcher(place, place.workspace).switch_to(name)
    return place.workspace.profile


def test_the_conversation_goes_on_with_the_profile_named_and_flags_still_win(
    place: Place, folder: Path
) -> None:
    (folder / "work.yaml").write_text("llm:\n  model: a/b\n  temperature: 1.5\nfoo: 1\n")
    session = place.workspace.session
    profile = switched(place, "work")
    assert (profile.model, profile.temperature) == ("a/b", 0.5)
    assert place.workspace.session is session
    assert session.profile is profile
    assert place.workspace.profile_path == folder / "work.yaml"
    assert place.shown == [
        "Switched to profile work; the model is a/b.",
        "! In your profile: line 4: foo is not a setting",
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrok", "did you mean work?"),
        ("./nowhere.yaml", "there is no profile ./nowhere.yaml"),
        ("broken", "line 1: auto_run: expected true or false"),
        ("../x", "there is no profile ../x"),
        ("ftp://x/y", "only http and https"),
        ("x.json", "there is no profile"),
    ],
)
def test_what_cannot_be_used_leaves_all_as_it_is(place: Place, folder: Path, name: str, words: str) -> None:
    (folder / "work.yaml").write_text("")
    (folder / "broken.yaml").write_text("auto_run: maybe\n")
    before = place.workspace.profile
    assert switched(place, name) is before
    assert place.workspace.profile_path == folder / "default.yaml"
    assert place.shown[-1].startswith("! The profile was not changed: ")
    assert words in place.shown[-1]


def test_a_program_is_shown_whole_and_trusted_by_its_exact_text(place: Place, folder: Path) -> None:
    path = folder / "mine.py"
    path.write_text("interpreter.llm.model = 'a/one'\n")
    place.answer = False
    assert switched(place, "mine").model != "a/one"
    assert "Trust and use exactly these 1 lines?" in place.asked[0]
    assert "   1  interpreter.llm.model = 'a/one'" in place.asked[0]
    assert "It runs with your permissions." in place.asked[0]
    place.answer = True
    assert switched(place, "mine").model == "a/one"
    assert place.workspace.profile_path is None
    switched(place, "default")
    assert switched(place, "mine").model == "a/one"
    assert len(place.asked) == 2
    path.write_text("interpreter.llm.model = 'a/two'\n")
    assert switched(place, "mine").model == "a/two"
    assert "a/two" in place.asked[2]


def test_what_was_shown_is_what_is_used(place: Place, folder: Path) -> None:
    path = folder / "mine.py"
    path.write_text("interpreter.llm.model = 'a/shown'\n")
    place.before_yes = lambda: path.write_text("interpreter.llm.model = 'a/evil'\n")
    assert switched(place, "mine").model == "a/shown"
    place.answer = False
    assert switched(place, "mine").model == "a/shown"
    assert "a/evil" in place.asked[-1]


def test_a_profile_from_the_network_is_shown_first(place: Place) -> None:
    with FileServer(b"llm.model: net/x\n") as server:
        assert switched(place, f"{server.root}/p.yaml").model == "net/x"
    assert "This profile comes from the network." in place.asked[0]
    assert "   1  llm.model: net/x" in place.asked[0]


def test_what_cannot_be_remembered_is_used_all_the_same(
    place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("read-only")

    monkeypatch.setattr(Trust, "accept", refuse)
    (folder / "mine.py").write_text("interpreter.llm.model = 'a/one'\n")
    assert switched(place, "mine").model == "a/one"


def test_a_function_of_a_profile_answers_from_then_on_and_no_longer(place: Place, folder: Path) -> None:
    (folder / "mine.py").write_text(
        "def say(messages, **_):\n"
        "    yield {'choices': [{'delta': {'content': 'from the function'}}]}\n"
        "interpreter.llm.completions = say\n"
    )
    switched(place, "mine")
    session = place.workspace.session
    list(session.turn("hello"))
    assert [message.content for message in session.messages] == ["hello", "from the function"]
    assert place.workspace.model.is_chosen
    (folder / "offline.yaml").write_text("llm.model: openai/x\noffline: true\n")
    switched(place, "offline")
    list(session.turn("and now"))
    assert [message.content for message in session.messages].count("from the function") == 1


def test_auto_run_by_hand_ends_with_a_profile_that_does_not_say_so(place: Place, folder: Path) -> None:
    place.workspace.session.auto_run = True
    (folder / "work.yaml").write_text("")
    switched(place, "work")
    assert not place.workspace.session.auto_run


def test_the_newest_wish_counts(place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "one.yaml").write_text("llm.model: a/one\n")
    (folder / "two.yaml").write_text("llm.model: a/two\n")
    waiting: list[Callable[[], object]] = []

    def later(work: Callable[[], Any], then: Callable[[Any], object]) -> None:
        waiting.append(functools.partial(then, work()))

    monkeypatch.setattr(place, "run_then", later)
    switching = ProfileSwitcher(place, place.workspace)
    switching.switch_to("one")
    switching.switch_to("two")
    for act in reversed(waiting):
        act()
    assert place.workspace.profile.model == "a/two"


def test_programs_are_among_the_names(folder: Path) -> None:
    (folder / "mine.py").write_text("")
    assert "mine.py" in profiles.list_names()
    assert profiles.find("mine.py") == folder / "mine.py"
