"""Code in colours: nothing lost, nothing hidden, whatever the language."""

import sys
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.token import Token

from oi_tui.text import escape_controls
from oi_tui.themes import DARK
from oi_tui.widgets.conversation.code import (
    Highlighter,
    draw_code_line,
    find_changed_lines,
    find_lexer,
    lex_line,
    mark_active,
    measure_gutter,
)
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.widgets.truncate import measure_width

LOOK = get_styles(DARK)
LANGUAGES = [
    "python",
    "shell",
    "bash",
    "javascript",
    "html",
    "r",
    "ruby",
    "applescript",
    "powershell",
    "java",
    "react",
    "php",
    "c",
]
ATOMS = [
    "def f(",
    " x ",
    "'",
    '"',
    '"""',
    "{ ",
    "}",
    "\\",
    "$(",
    "`",
    "/*",
    "*/",
    "# ",
    "<a href='",
    "\t",
    "\u202e",
    "\x1b",
    "\x00",
    "é",
    "你",
    ";",
    "\n",
]


def rows_of(code: str, width: int = 40, language: str = "python") -> list[Row]:
    highlighter, lines = Highlighter(language), code.split("\n")
    gutter = measure_gutter(len(lines))
    return [
        row
        for index in range(len(lines))
        for row in draw_code_line(
            index + 1, highlighter.pieces(index, lines.__getitem__), LOOK, width, gutter
        )
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_of_the_application_has_colours(language: str) -> None:
    assert find_lexer(language) is not None


def test_colours_do_not_wait_for_languages_that_are_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "oi_tui.runtimes.languages", ModuleType("half of it"))
    assert find_lexer("python") is not None
    assert find_lexer("js") is not None


def test_an_unknown_language_is_plain() -> None:
    assert find_lexer("klingon") is None
    assert find_lexer(None) is None
    assert lex_line(None, "x = 1", ("root",)) == ([(Token.Text, "x = 1")], ("root",))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([*LANGUAGES, "yaml", "irb", "pycon", "make", "unknown"]),
    st.lists(st.sampled_from(ATOMS)),
)
def test_tokens_are_the_whole_line_in_every_language(language: str, atoms: list[str]) -> None:
    stack: tuple[str, ...] = ("root",)
    for line in "".join(atoms).split("\n"):
        pieces, stack = lex_line(find_lexer(language), line, stack)
        assert "".join(text for _, text in pieces) == line


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120))
def test_rows_of_code_are_safe_and_fit(code: str) -> None:
    for row in rows_of(code, 30):
        assert measure_width(row.plain) <= 30
        assert escape_controls(row.plain) == row.plain
        assert "\t" not in row.plain


def test_invisible_characters_are_spelled_out_and_marked() -> None:
    row = rows_of("x = 1 # \u202e\x1b[2J\r", 60)[0]
    assert row.plain == "  1  x = 1 # ⟨U+202E⟩␛[2J␍"
    marked = [segment.text for segment in row.segments if segment.style is LOOK.hidden]
    assert marked == ["⟨U+202E⟩", "␛", "␍"]


def test_separators_that_are_not_newlines_do_not_break_lines() -> None:
    assert [row.plain for row in rows_of("a # \u2028b\x0cc\x85d", 60)] == ["  1  a # ⟨U+2028⟩b␌c⟨U+0085⟩d"]


def test_nothing_is_hidden_to_the_right() -> None:
    rows = rows_of("x = 1" + " " * 200 + "HIDDEN", 40)
    assert all(row.plain.startswith("   ↳ ") for row in rows[1:])
    assert "".join(row.text or "" for row in rows) == "x = 1" + " " * 200 + "HIDDEN"


def test_a_string_that_goes_on_is_a_string_in_the_next_line() -> None:
    highlighter, lines = Highlighter("python"), ['x = """one', "two", '"""', "y = 2"]
    kinds = [highlighter.pieces(index, lines.__getitem__)[0][0] for index in range(4)]
    assert kinds[1] in Token.Literal.String
    assert kinds[3] in Token.Name


def test_after_an_edit_the_lines_below_are_read_again() -> None:
    lines = ["x = 1", "y = 2"]
    highlighter = Highlighter("python")
    assert highlighter.pieces(1, lines.__getitem__)[0][0] in Token.Name
    lines[0] = 'x = """'
    highlighter.forget_from(0)
    assert highlighter.pieces(1, lines.__getitem__)[0][0] in Token.Literal.String


def test_the_active_line_has_a_mark_besides_its_colour() -> None:
    row = mark_active(rows_of("x = 1")[0], LOOK)
    assert row.plain == "> 1  x = 1"
    assert row.fill is LOOK.code_active


def test_changed_lines_are_found() -> None:
    assert find_changed_lines(["a", "b", "c"], ["a", "x", "b", "c"]) == {1}
    assert find_changed_lines(["a", "b"], ["a", "b"]) == set()
    assert find_changed_lines(["a"] * 500, ["b"] * 500) == set(range(500))
