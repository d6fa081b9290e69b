"""Every language that the application runs has colours, in the conversation and in the editor."""

from dataclasses import dataclass, replace

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult

from oi_tui.messages import Message
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.themes import THEMES
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.widgets.editor.code_editor import CodeEditor


@dataclass(frozen=True)
class Sample:
    """A piece of code, and one word of it for each kind: all five must look otherwise than plain words."""

    code: str
    keyword: str
    string: str
    #: A number, or what else stands out.
    other: str
    comment: str
    plain: str


C_LIKE = Sample('if (total > 12) { show("words"); } // remark', "if", '"words"', "12", "// remark", "total")
SAMPLES = {
    "python": Sample('if total > 12: show("words")  # remark', "if", '"words"', "12", "# remark", "total"),
    "shell": Sample(
        'if test $? -eq 12; then ls "words"; fi # remark', "if", '"words"', "12", "# remark", "ls"
    ),
    "zsh": Sample('if test $? -eq 12; then ls "words"; fi # remark', "if", '"words"', "12", "# remark", "ls"),
    "sql": Sample(
        "select total, 'words' from t limit 12 -- remark", "select", "'words'", "12", "-- remark", "total"
    ),
    "javascript": C_LIKE,
    "typescript": C_LIKE,
    "deno": C_LIKE,
    "bun": C_LIKE,
    "html": Sample(
        '<p class="words">total</p> <!-- remark -->', "p", '"words"', "class", "<!-- remark -->", "total"
    ),
    "react": C_LIKE,
    "r": Sample('if (total > 12) { show("words") } # remark', "if", '"words"', "12", "# remark", "total"),
    "octave": Sample('if total > 12 disp("words") end % remark', "if", '"words"', "12", "% remark", "total"),
    "julia": Sample('if total > 12 "words" end # remark', "if", '"words"', "12", "# remark", "total"),
    "java": C_LIKE,
    "ruby": Sample('if total > 12 then "words" end # remark', "if", '"words"', "12", "# remark", "total"),
    "perl": Sample('if (total > 12) { "words"; } # remark', "if", '"words"', "12", "# remark", "total"),
    "lua": Sample(
        'if total > 12 then show("words") end -- remark', "if", '"words"', "12", "-- remark", "total"
    ),
    "c": C_LIKE,
    "cpp": C_LIKE,
    "rust": C_LIKE,
    "go": C_LIKE,
    "php": replace(C_LIKE, code='<?php if ($total > 12) { show("words"); } // remark', plain="$total"),
    "powershell": Sample(
        'if ($total -gt 12) { show "words" } # remark', "if", "words", "$total", "# remark", "show"
    ),
    "applescript": Sample(
        'if total > 12 then say "words" -- remark', "if", '"words"', "12", "-- remark", "total"
    ),
}


def find_style(segments: list[Segment], text: str) -> Style:
    """The style of the first character of `text`."""
    line = "".join(segment.text for segment in segments)
    place = line.index(text)
    for segment in segments:
        if place < len(segment.text):
            assert segment.style is not None
            style = segment.style
            return Style(color=style.color, bold=style.bold or None, italic=style.italic or None)
        place -= len(segment.text)
    raise AssertionError(text)


def kinds(segments: list[Segment], sample: Sample) -> dict[str, Style]:
    words = ("keyword", "string", "other", "comment", "plain")
    return {word: find_style(segments, getattr(sample, word)) for word in words}


def check(found: dict[str, Style]) -> None:
    plain = found.pop("plain")
    assert {word for word, style in found.items() if style == plain} == set()
    assert len({found["keyword"], found["string"], found["comment"]}) == 3


class Screen(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name

    def compose(self) -> ComposeResult:
        yield CodeEditor()


def test_every_language_has_a_sample() -> None:
    assert [language.name for language in LANGUAGES] == list(SAMPLES)


NAMES = [(language.name, name) for language in LANGUAGES for name in (language.name, *language.aliases)]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize(("language", "name"), NAMES, ids=[name for _, name in NAMES])
def test_kinds_of_words_look_different_in_the_conversation(language: str, name: str, theme: object) -> None:
    sample = SAMPLES[language]
    message = Message(role="assistant", type="code", format=name, content=sample.code, state="queued")
    row = CellBlock(message, 1).rows(100, get_styles(theme))[1]  # type: ignore[arg-type]
    check(kinds(row.segments, sample))


@pytest.mark.parametrize("language", SAMPLES)
def test_they_look_different_while_they_are_written(language: str) -> None:
    sample = SAMPLES[language]
    cell = CellBlock(Message(role="assistant", type="code", format=language, state="writing"), 1)
    for character in sample.code:
        cell.grow(character)
        rows = cell.rows(100, get_styles(THEMES[0]))
    check(kinds(rows[1].segments, sample))


async def test_they_look_different_in_the_editor() -> None:
    app = Screen()
    async with app.run_test(size=(100, 10)) as pilot:
        editor = app.query_one(CodeEditor)
        for language, sample in SAMPLES.items():
            editor.open(f"\n{sample.code}\n", language)
            await pilot.pause()
            check(kinds(list(editor.render_line(1)), sample))
