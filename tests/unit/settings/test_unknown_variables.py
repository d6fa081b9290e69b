"""Environment variables: one list of names, and a sentence for each name that is not on it."""

import re
from pathlib import Path

import pytest

from oi_tui.engine.settings.profile import Profile, ProfileError, list_settings
from oi_tui.engine.settings.unknown_variables import check_names
from oi_tui.system import environment_names

ROOT = Path(__file__).parents[3]
DECLARED = environment_names.ALL | {setting.variable for setting in list_settings() if setting.variable}
LIMITS = [setting for setting in list_settings() if setting.limits]


def notes(**environment: str) -> tuple[str, ...]:
    return Profile().with_environment(environment).notes


def named_in(*folders: str) -> set[str]:
    """Every name of ours that the files in these folders contain."""
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in files if path.suffix != ".pyc")
    return {name for text in texts for name in re.findall(r"\bOI_TUI_[A-Z][A-Z_]*[A-Z]\b", text)}


def test_every_name_in_the_code_is_declared() -> None:
    comments = {"OI_TUI_SANDBOX"}  # named in a comment that says why it is not used
    assert named_in("oi_tui") - comments <= DECLARED


@pytest.mark.slow
def test_every_declared_name_is_used() -> None:
    lists = (ROOT / "oi_tui/system/environment_names.py").read_text(encoding="utf-8")
    for name, value in vars(environment_names).items():
        if isinstance(value, str) and value.startswith("OI_TUI_") and value != environment_names.PREFIX:
            assert f'{name} = "{value}"' in lists
            uses = [path for path in (ROOT / "oi_tui").rglob("*.py") if f".{name}" in path.read_text("utf-8")]
            assert uses, f"{value} is declared and not used"
    assert set(environment_names.FOR_TESTS) <= named_in("tests")


def test_known_names_and_foreign_names_are_not_mentioned() -> None:
    values = dict.fromkeys(environment_names.ALL, "1")
    assert notes(**values, OI_TUI_MODEL="x", HOME="/", OI_TRUTH="1", OPENAI_API_KEY="sk-x") == ()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("OI_TUI_MODLE", "has no effect; did you mean OI_TUI_MODEL?"),
        ("OI_TUI_APIKEY", "has no effect; did you mean OI_TUI_API_KEY?"),
        ("oi_tui_theme", "has no effect; did you mean OI_TUI_THEME?"),
        ("OI_TUIMODEL", "has no effect; did you mean OI_TUI_MODEL?"),
        ("OI_TUI_HOEM", "has no effect; did you mean OI_TUI_HOME?"),
        ("OI_TUI_TEMPERATURE", "has no effect; to set llm.temperature, use --temperature or a profile"),
        ("OI_TUI_MOUS", "has no effect; to set mouse, use --mouse or a profile"),
        ("OI_TUI_XYZZY", "has no effect: oi-tui does not know it"),
        ("OI_TUI_\x1b[2J", "has no effect: oi-tui does not know it"),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest_one(name: str, sentence: str) -> None:
    (note,) = notes(**{name: "1"})
    assert note.startswith("The environment variable ")
    assert note.endswith(sentence)
    assert "\x1b" not in note


def test_an_empty_variable_counts_as_not_set() -> None:
    assert notes(OI_TUI_MODLE="", OI_TUI_OFFLINE="") == ()


@pytest.mark.parametrize("setting", LIMITS, ids=lambda item: item.name)
def test_a_limit_in_the_environment_stops_the_start(setting) -> None:
    name = f"OI_TUI_{setting.name.upper()}"
    for written in (name, name.lower(), name[:-2] + name[-1]):
        with pytest.raises(ProfileError) as caught:
            notes(**{written: "true"})
        assert str(caught.value).startswith(f"environment variable {written}: is not read by oi-tui; to set ")
        assert setting.long_flag in str(caught.value)


def test_a_misspelt_limit_is_not_taken_for_something_harmless() -> None:
    for name in ("OI_TUI_OFLINE", "OI_TUI_OFF_LINE", "OI_TUI_SANDBX", "OI_TUI_BUDGET", "OI_TUI_MAXBUDGET"):
        with pytest.raises(ProfileError, match="oi-tui does not start while a limit is not understood"):
            check_names({name: "1"}, list_settings())
