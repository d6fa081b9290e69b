"""How a person is told to get a language: by the package manager that they have."""

import dataclasses

import pytest

from oi_tui.runtimes import installing
from oi_tui.runtimes.availability import Availability, describe
from oi_tui.runtimes.installing import MANAGERS, explain_how_to_get
from oi_tui.runtimes.languages import LANGUAGES, ruby


@pytest.mark.parametrize(
    ("managers", "root", "sentence"),
    [
        ({"apt"}, True, "Install it with: apt install ruby"),
        ({"apt"}, False, "Install it with: sudo apt install ruby"),
        ({"dnf"}, False, "Install it with: sudo dnf install ruby"),
        ({"pacman"}, False, "Install it with: sudo pacman -S ruby"),
        ({"apk"}, True, "Install it with: apk add ruby"),
        ({"zypper"}, True, "Install it with: zypper install ruby"),
        ({"brew"}, False, "Install it with: brew install ruby"),
        ({"brew", "apt"}, True, "Install it with: apt install ruby"),
        (set(), True, ruby.LANGUAGE.hint),
    ],
)  # fmt: skip
def test_the_command_is_that_of_the_package_manager_which_is_here(
    managers: set[str], root: bool, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing.os, "geteuid", lambda: 0 if root else 1000)
    assert explain_how_to_get(ruby.LANGUAGE, lambda name: name if name in managers else None) == sentence


def test_what_the_package_manager_does_not_have_is_hinted_at() -> None:
    language = dataclasses.replace(ruby.LANGUAGE, packages={"apt": "ruby"})
    assert explain_how_to_get(language, lambda name: name if name == "dnf" else None) == language.hint


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_language_says_how_to_get_it(language) -> None:
    assert language.hint.endswith(".")
    assert set(language.packages) <= set(MANAGERS)


def test_no_two_languages_have_the_same_name_or_alias() -> None:
    words = [word for item in LANGUAGES for word in (item.name, *item.aliases)]
    assert sorted(words) == sorted(set(words))
    assert words == [word.lower() for word in words]


def test_the_languages_are_reported_in_columns_and_the_missing_ones_below() -> None:
    text = describe(
        [
            Availability("python", "Python 3.12", "/bin/python3", True),
            Availability("lua", "Lua 5.4", "/bin/lua", False),
            Availability("ruby", "Ruby is not installed. Install it with: apt install ruby", None, True),
        ]
    )
    assert text.splitlines() == [
        "language  version      line  program",
        "python    Python 3.12  yes   /bin/python3",
        "lua       Lua 5.4      no    /bin/lua",
        "(line: the running line is marked)",
        "Not available:",
        "  ruby: Ruby is not installed. Install it with: apt install ruby",
    ]
