"""What looks like something else in code is told apart."""

import pytest

from oi_tui.text import find_lookalikes, normalise_line_ends
from oi_tui.widgets.conversation.code import find_mixed_identifiers


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("paypal", set()),
        ("p\u0430ypal", {"\u0430"}),
        ("\u0440\u043e\u0440", set("\u0440\u043e")),  # Cyrillic letters that spell "pop"
        ("\u043f\u0440\u0438\u0432\u0435\u0442", set()),  # "privet": a Russian word
        ("\uff4fs", {"\uff4f"}),  # fullwidth: Python runs os
        ("\U0001d428\U0001d42c", {"\U0001d428", "\U0001d42c"}),  # mathematical bold: os again
        ("\u03b1", set()),
        ("\u0394t", set()),
        ("\u03c3_x", set()),
        ("c\u03bfunt", {"\u03bf"}),
        ("na\u00efve", set()),
        ("\u5909\u6570", set()),
    ],
)
def test_letters_that_pass_for_latin_ones_are_found(identifier: str, expected: set[str]) -> None:
    assert find_lookalikes(identifier) == expected


def test_words_in_strings_and_comments_are_no_names() -> None:
    code = "x = '\u0440\u043e\u0440'  # \u0430\n"
    assert find_mixed_identifiers(code, "python") == []
    assert find_mixed_identifiers(f"{code}\u0440\u043e\u0440 = 1", "python") == [
        "CYRILLIC SMALL LETTER O in \u0440\u043e\u0440",
        "CYRILLIC SMALL LETTER ER in \u0440\u043e\u0440",
    ]


@pytest.mark.parametrize("language", ["python", "javascript", "java", "lua"])
def test_a_carriage_return_is_a_line_end_in_languages_that_take_it_for_one(language: str) -> None:
    assert normalise_line_ends("a # \rb\r\nc\n", language) == "a # \nb\nc\n"


@pytest.mark.parametrize("language", ["shell", "bash", "perl", "ruby", None])
def test_a_carriage_return_stays_where_it_is_none(language: str | None) -> None:
    assert normalise_line_ends("a # \rb\n", language) == "a # \rb\n"
