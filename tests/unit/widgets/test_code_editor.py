"""The code editor: colours, marks, keys and undo, on the bytes that it was given."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from cProfile import Profile

import pytest
from pygments.token import Token
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widgets.text_area import Selection

from oi_tui.themes import DARK
from oi_tui.widgets.editor.code_editor import CodeEditor

CODE = "def f(x):\n    return x\n"


class EditorApp(App[None]):
    BINDINGS = [Binding("escape", "left", "Leave"), Binding("f5", "done", "Done")]

    def __init__(self, text: str, language: str | None) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = "oi-dark"
        self.editor = CodeEditor(text, language)
        self.left = self.done = 0

    def compose(self) -> ComposeResult:
        yield self.editor

    def on_mount(self) -> None:
        self.editor.styles.border = ("none", "black")
        self.editor.styles.padding = 0
        self.editor.focus()

    def action_left(self) -> None:
        self.left += 1

    def action_done(self) -> None:
        self.done += 1


@asynccontextmanager
async def editing(
    text: str = CODE, language: str | None = "python"
) -> AsyncIterator[tuple[Pilot[None], CodeEditor]]:
    app = EditorApp(text, language)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        yield pilot, app.editor


def render_lines(editor: CodeEditor) -> list[str]:
    return ["".join(segment.text for segment in editor.render_line(y)).rstrip() for y in range(8)]


def ink(editor: CodeEditor, line: int, text: str) -> str:
    styles = [segment.style for segment in editor.render_line(line) if segment.text == text]
    assert styles, list(editor.render_line(line))
    return str(styles[0])


async def test_lines_are_numbered_and_coloured_and_the_caret_line_is_marked() -> None:
    async with editing() as (_, editor):
        assert render_lines(editor)[:4] == ["> 1  def f(x):", "  2      return x", "  3", ""]
        look = editor.look
        assert ink(editor, 1, "return") == str(look.token(Token.Keyword))


@pytest.mark.parametrize("language", ["ruby", "applescript", "powershell", "r", "klingon", None])
async def test_any_language_can_be_edited(language: str | None) -> None:
    async with editing("puts 'x'\nend", language) as (pilot, editor):
        await pilot.press("a")
        assert editor.code == "aputs 'x'\nend"
        assert render_lines(editor)[0] == "> 1~ aputs 'x'"


async def test_enter_keeps_the_indentation_and_deepens_it_after_a_colon() -> None:
    async with editing("if x:") as (pilot, editor):
        await pilot.press("end", "enter", "a", "enter", "b")
        assert editor.code == "if x:\n    a\n    b"


async def test_tab_indents_and_shift_tab_takes_it_back_for_all_selected_lines() -> None:
    async with editing("a\nb\nc") as (pilot, editor):
        editor.selection = Selection((0, 0), (1, 1))
        await pilot.press("tab")
        assert editor.code == "    a\n    b\nc"
        await pilot.press("shift+tab")
        assert editor.code == "a\nb\nc"
        await pilot.press("ctrl+z")
        assert editor.code == "    a\n    b\nc"


async def test_the_keyboard_is_never_trapped() -> None:
    async with editing() as (pilot, editor):
        await pilot.press("escape", "f5")
        app = pilot.app
        assert isinstance(app, EditorApp)
        assert (app.left, app.done) == (1, 1)
        assert editor.code == CODE


async def test_keys_that_come_in_a_burst_act_in_their_order() -> None:
    async with editing("a\nb\nc") as (pilot, editor):
        for key, character in [("down", None), ("end", None), ("x", "x"), ("home", None), ("y", "y")]:
            pilot.app.post_message(events.Key(key, character))
        await pilot.pause()
        await pilot.pause()
        assert editor.code == "a\nybx\nc"


async def test_changed_lines_are_marked_until_they_are_changed_back() -> None:
    async with editing() as (pilot, editor):
        assert not editor.modified
        await pilot.press("x")
        assert editor.modified
        assert editor.changed == {0}
        await pilot.press("ctrl+z")
        assert not editor.modified
        assert editor.changed == set()
        await pilot.press("ctrl+y")
        assert editor.changed == {0}


async def test_a_removed_line_counts_as_a_change() -> None:
    async with editing("a\nb\nc") as (pilot, editor):
        await pilot.press("down", "ctrl+shift+k")
        assert editor.code == "a\nc"
        assert editor.modified


async def test_invisible_characters_are_spelled_and_the_caret_stands_where_it_is_drawn() -> None:
    async with editing("a\u202eb\x1bc\td") as (pilot, editor):
        assert render_lines(editor)[0] == "> 1  a⟨U+202E⟩b␛c    d"
        await pilot.press("end")
        assert editor.cursor_screen_offset == Offset(5 + len("a⟨U+202E⟩b␛c    d"), 0)
        await pilot.click(editor, offset=(5 + 9, 0))
        assert editor.cursor_location == (0, 2)


async def test_only_newlines_break_lines_and_nothing_is_lost() -> None:
    odd = "a\u2028b\x0cc\x85d\r\ne\n\n"
    async with editing(odd) as (_, editor):
        assert editor.document.line_count == 4
        assert editor.code == odd


async def test_the_colour_of_what_follows_changes_with_an_open_string() -> None:
    async with editing("x = 1\ny = 2") as (pilot, editor):
        before = ink(editor, 1, "2")
        await pilot.press(*'"""')
        assert not [segment for segment in editor.render_line(1) if segment.text == "2"]
        await pilot.press("backspace", "backspace", "backspace")
        assert ink(editor, 1, "2") == before


async def test_a_long_line_scrolls_sideways_with_the_caret() -> None:
    async with editing("x = " + "1234567890" * 20 + "END") as (pilot, editor):
        await pilot.press("end")
        await pilot.pause()
        assert render_lines(editor)[0].endswith("END")
        assert render_lines(editor)[0].startswith("> 1 ")


async def test_a_paste_of_many_lines_is_one_step_to_undo() -> None:
    async with editing("") as (pilot, editor):
        pilot.app.post_message(events.Paste("\r".join(f"x{n} = {n}" for n in range(500))))
        await pilot.pause()
        assert editor.document.line_count == 500
        await pilot.press("ctrl+z")
        assert editor.code == ""


async def test_undo_brings_back_every_character() -> None:
    odd = "a\u2028b\x0cc\nd\r\ne"
    async with editing(odd) as (pilot, editor):
        await pilot.press("f7", "backspace")
        assert editor.code == ""
        await pilot.press("ctrl+z")
        assert editor.code == odd
        assert not editor.modified


async def test_lines_that_go_on_outside_the_view_are_marked_and_the_caret_stays_in_view() -> None:
    long = "".join(f"{number:04}" for number in range(30))
    async with editing(f"{long}\nshort\n") as (pilot, editor):
        assert render_lines(editor)[0].endswith("…")
        assert render_lines(editor)[1] == "  2  short"
        await pilot.press("end")
        await pilot.pause()
        first, second = render_lines(editor)[:2]
        assert first.startswith("> 1  …")
        assert first.endswith("0029")
        assert second == "  2  …"
        # The mark does not hide the caret, wherever in the line it stands.
        for _ in range(len(long)):
            await pilot.press("left")
            assert "reverse" in ink_of_caret(editor)
        assert render_lines(editor)[0].startswith("> 1  0000")


def ink_of_caret(editor: CodeEditor) -> str:
    return " ".join(str(segment.style) for segment in editor.render_line(0))


async def test_wrapped_lines_are_shown_whole_and_edited_in_their_place() -> None:
    words = " ".join(f"word{number:02}" for number in range(20))
    async with editing(f"first\n{words}\n\tlast") as (pilot, editor):
        await pilot.press("down", "alt+z")
        await pilot.pause()
        lines = render_lines(editor)
        assert lines[1].startswith("> 2  word00 word01")
        assert lines[2].startswith("   ↳ word")
        assert lines[4] == "  3      last"
        assert "".join(line[5:].ljust(55) for line in lines[1:4]).split() == words.split()
        assert not any("…" in line for line in lines)

        # The caret goes by rows; a click goes to the character under it; what is typed stands there.
        await pilot.press("down")
        assert editor.cursor_screen_offset.y == 2
        column = lines[3].index("word19")
        await pilot.click(CodeEditor, offset=Offset(column, 3))
        assert editor.selection.end == (1, words.index("word19"))
        assert editor.cursor_screen_offset == Offset(column, 3)
        await pilot.press("x", "end")
        assert editor.code.split("\n")[1] == words.replace("word19", "xword19")
        assert render_lines(editor)[1].startswith("> 2~ word00")
        assert editor.cursor_screen_offset == Offset(column + 7, 3)

        await pilot.press("ctrl+home", "alt+z")
        await pilot.pause()
        assert render_lines(editor)[2] == "  3      last"
        assert render_lines(editor)[1].endswith("…")


async def test_an_undo_that_removes_wrapped_lines_leaves_the_caret_in_the_text() -> None:
    async with editing("one") as (pilot, editor):
        await pilot.press("alt+z", "end")
        editor.replace_once("\n".join(["word " * 30] * 5), *editor.selection)
        await pilot.pause()
        assert editor.row_count > 5
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert editor.code == "one"
        assert editor.row_count == 1
        assert render_lines(editor)[0].startswith("> 1  one")


async def test_hidden_characters_that_do_not_fit_are_reported_in_wrapped_lines() -> None:
    async with editing("\u202e" * 40) as (pilot, editor):
        await pilot.press("alt+z")
        await pilot.pause()
        assert render_lines(editor)[0].endswith("…")


@pytest.mark.parametrize(("size", "taken"), [(300_000, True), (5_000_000, False)])
async def test_a_paste_that_would_stop_the_screen_is_refused_with_a_notice(size: int, taken: bool) -> None:
    async with editing("") as (pilot, editor):
        sent = "x = 1234\n" * (size // 9)
        editor.post_message(events.Paste(sent))
        await pilot.pause()
        assert bool(editor.text) is taken
        told = [notice.message for notice in pilot.app._notifications]
        refused = f"The editor takes pastes of up to 300,000 characters; this one has {len(sent):,}."
        assert told == ([] if taken else [f"{refused} Save it in a file, and let the code read that."])
        await pilot.press("y")
        assert editor.text.endswith("y")


@pytest.mark.slow
@pytest.mark.parametrize("wrapped", [False, True], ids=["cut", "wrapped"])
@pytest.mark.parametrize("piece", ["abcdefghi ", "中文字符é\t"], ids=["letters", "wide"])
async def test_a_key_at_the_end_of_a_huge_line_does_not_draw_the_whole_line(
    piece: str, wrapped: bool
) -> None:
    line = piece * (200_000 // len(piece))
    async with editing(line) as (pilot, editor):
        editor.soft_wrap = wrapped
        editor.move_cursor(editor.document.end)
        await pilot.press("x")
        await pilot.pause()
        profile = Profile()
        profile.enable()
        await pilot.press("y")
        await pilot.pause()
        profile.disable()
        assert editor.code == line + "xy"
        calls = [entry for entry in profile.getstats() if not isinstance(entry.code, str)]
        assert sum(entry.callcount for entry in calls if "oi_tui" in entry.code.co_filename) < 20_000
