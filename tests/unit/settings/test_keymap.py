"""Keys can be changed; what is wrong with that is told in words."""

import pytest

import oi_tui.app  # noqa: F401 -- its keys count, too
from oi_tui.engine.settings.key_bindings import find_problem, parse
from oi_tui.screens.help import BLOCK_KEYS
from oi_tui.screens.keymap import describe_names, is_key, list_bindings, read_chosen
from oi_tui.widgets.conversation.transcript import Transcript


def test_lines_name_what_gets_which_keys() -> None:
    text = "# mine\ncommand.new: ctrl+t\n\n conversation.copy : x , X\n"
    assert parse(text) == {"command.new": "ctrl+t", "conversation.copy": "x,X"}


@pytest.mark.parametrize("text", ["command.new", "command.new:", ": x", "command.new: ctrl t"])
def test_a_line_of_another_form_is_refused(text: str) -> None:
    assert find_problem(text) is not None
    assert find_problem("command.new: ctrl+t") is None
    assert read_chosen(text)[0] == {}


def test_everything_with_a_key_has_a_name() -> None:
    names = list_bindings()
    assert {"command.new", "conversation.copy", "answer.run", "reader.search", "app.help"} <= names.keys()
    assert "command.new" in describe_names({})
    assert "* command.new" in describe_names({"command.new": "ctrl+t"})


def test_what_is_right_is_taken() -> None:
    assert read_chosen("command.new: ctrl+t\nconversation.copy: x") == (
        {"command.new": "ctrl+t", "conversation.copy": "x"},
        [],
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("command.nwe: ctrl+t", "Did you mean command.new?"),
        ("zzz: ctrl+t", "unknown action zzz"),
        ("command.new: cntrl+t", "unknown key cntrl+t"),
        ("command.new: ctrl+r", "command.conversations and command.new"),
        ("conversation.copy: v", "conversation.copy and conversation.view"),
    ],
)
def test_what_is_wrong_is_reported(text: str, words: str) -> None:
    assert any(words in item for item in read_chosen(text)[1])


def test_two_keys_may_change_places() -> None:
    text = "command.new: ctrl+r\ncommand.conversations: ctrl+n"
    assert read_chosen(text)[1] == []


@pytest.mark.parametrize(
    "key", ["a", "?", "question_mark", "ctrl+t", "ctrl+shift+f5", "f12", "space", "escape"]
)
def test_keys_have_names(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize("key", ["", "ctrl+", "ctrll+a", "f99x", "\x1b", " ", "no_such_key"])
def test_other_names_are_none(key: str) -> None:
    assert not is_key(key)


def test_no_key_has_two_meanings_in_one_place() -> None:
    meanings: dict[tuple[str, str], set[str]] = {}
    for name, places in list_bindings().items():
        for owner, binding in places:
            meanings.setdefault((owner.__name__, binding.key), set()).add(name)
    assert meanings
    assert {place: names for place, names in meanings.items() if len(names) > 1} == {}


def test_help_tells_every_letter_of_a_block() -> None:
    reported = {key for keys, _ in BLOCK_KEYS for key in keys.replace(" / ", " ").split()}
    letters = {
        binding.key
        for name, places in list_bindings().items()
        for owner, binding in places
        if owner is Transcript and binding.show and len(binding.key) == 1 and name != "conversation.help"
    }
    assert letters
    assert letters <= reported
