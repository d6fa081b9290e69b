"""The page of --help: complete, grouped, and no wider than it may be."""

import pytest

from oi_tui.cli import flags, help_page
from oi_tui.engine.settings.profile import list_settings


def test_every_flag_is_on_it_under_a_heading() -> None:
    page = help_page.write_page(flags.make_parser())
    lines = page.splitlines()
    for setting in list_settings():
        assert setting.long_flag[2:] in page
        assert setting.section in lines
    for flag in ("--plain", "--stdin", "--doctor [FILE]", "--resume [ID]", "--profile [NAME]", "--demo"):
        assert flag in page
    assert "Exit codes" in lines


@pytest.mark.parametrize("width", [50, 80, 100])
def test_no_line_is_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(help_page, "_find_width", lambda: width)
    lines = help_page.write_page(flags.make_parser()).splitlines()
    # A flag's own name is never cut.
    assert not [line for line in lines if len(line) > width and not line.startswith("  -")]
    assert not [line for line in lines if line != line.rstrip()]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The longest reply, in tokens.", "the longest reply, in tokens"),
        ("Run code. Whatever.", "run code"),
        ("A name: x, ... The rest. More.", "a name: x, ... The rest"),
        ("USD are meant", "USD are meant"),
    ],
)
def test_the_first_sentence_is_what_a_list_needs(text: str, first: str) -> None:
    assert help_page._extract_first_sentence(text) == first
